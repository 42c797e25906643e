"""The trace of a training run, thinned to what an eye can see: costs, fairness and who was served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pairity.errors import PairityError
from pairity.formats.folder import read_trace
from pairity.judging.metrics import gini
from pairity.training.trace import Trace

POINTS = 160  # more do not fit next to each other on a screen
STRETCHES = 60


@dataclass(frozen=True)
class Race:
    """One run. `costs` has a row for each of `sizes`; `served` is (first, last, language, merges, of)."""

    languages: list[str]
    sizes: list[int]
    costs: list[list[float | None]]
    gini: list[float | None]
    worst: list[str]
    worst_cost: list[float | None]
    served: list[tuple[int, int, str | None, int, int]]
    services: dict[str, int]
    set_apart: list[str] = field(default_factory=list)
    """Languages whose costs are in a unit of their own: they are in no Gini, and never the worst."""

    @property
    def by_services(self) -> list[str]:
        """Languages, the most often served first."""
        return sorted(self.services, key=lambda code: (-self.services[code], code))

    @property
    def nobody_served(self) -> str:
        return "no language was served: every merge was the most frequent pair over all languages together"


def races_of(tokenizers: Mapping[str, Any]) -> dict[str, Race]:
    """The runs of the tokenizers that carry a trace: {name: Tokenizer or folder} -> {name: Race}."""
    traces = {name: find_trace(one) for name, one in tokenizers.items()}
    return {name: race(trace) for name, trace in traces.items() if trace is not None}


def find_trace(tokenizer: Any) -> Trace | None:
    """The trace a tokenizer carries: its own `trace`, or trace.parquet in its folder; None without one."""
    if isinstance(tokenizer, str | Path):
        other_kind = set(":@=") & set(str(tokenizer))  # tiktoken:NAME and the like
        if not Path(tokenizer).exists() and not other_kind:
            raise PairityError(f"no tokenizer at {str(tokenizer)!r}: there is no such file or folder.")
        table = read_trace(Path(tokenizer))
    else:
        table = getattr(tokenizer, "trace", None)
    return table if table is None or isinstance(table, Trace) else Trace.from_table(table)


def race(trace: Trace) -> Race:
    """Thin a trace."""
    languages = list(trace.languages)
    sizes = trace.vocab_size[trace.sampled]
    chosen = spread(sizes)
    thinned = trace.costs[chosen]
    comparable = np.where(trace.compared(), thinned, np.nan)
    measured = [row[~np.isnan(row)] for row in comparable]
    worst = [int(np.nanargmax(row)) for row in comparable]
    return Race(
        languages=languages,
        sizes=sizes[chosen].tolist(),
        costs=[[None if np.isnan(cost) else float(cost) for cost in row] for row in thinned],
        gini=[float(gini(row)) if len(row) > 1 else None for row in measured],
        worst=[languages[index] for index in worst],
        worst_cost=[float(row[index]) for row, index in zip(thinned, worst, strict=True)],
        served=stretches(
            [languages[served] if served >= 0 else None for served in trace.served[trace.learned].tolist()],
            int((~trace.learned).sum()),
        ),
        services=trace.services(),
        set_apart=[language for language in languages if language in trace.set_apart],
    )


def spread(sizes: Any) -> Any:
    """The indexes of the sizes nearest to POINTS sizes evenly spaced on a log scale, including both ends."""
    if len(sizes) <= POINTS:
        return np.arange(len(sizes))
    wanted = np.geomspace(max(1, sizes[0]), sizes[-1], POINTS)
    nearest = np.searchsorted(sizes, wanted).clip(0, len(sizes) - 1)
    return np.unique(np.concatenate([[0], nearest, [len(sizes) - 1]]))


def stretches(served: list[str | None], before: int) -> list[tuple[int, int, str | None, int, int]]:
    """How often each language was served, in STRETCHES of the merges after the first `before`."""
    edges = np.unique(np.linspace(0, len(served), min(STRETCHES, len(served)) + 1).astype(int)).tolist()
    found = []
    for start, end in pairwise(edges):
        for code, merges in sorted(
            Counter(served[start:end]).items(), key=lambda item: (item[0] is None, item[0])
        ):
            found.append((before + start + 1, before + end, code, merges, end - start))
    return found
