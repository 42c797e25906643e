"""The trace of a training run, thinned to what an eye can see: costs, fairness and who was served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.judging.metrics import gini

POINTS = 160  # more than that do not fit side by side on a screen
STRETCHES = 60
COST = "cost:"


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

    @property
    def by_services(self) -> list[str]:
        """Languages, the most often served first."""
        return sorted(self.services, key=lambda code: (-self.services[code], code))

    @property
    def nobody_served(self) -> str:
        return "nobody was served: every merge was the pair most frequent over all languages together"


def races_of(tokenizers: Mapping[str, Any]) -> dict[str, Race]:
    """The runs of the tokenizers that carry a trace: {name: Tokenizer or folder} -> {name: Race}."""
    traces = {name: trace_of(one) for name, one in tokenizers.items()}
    return {name: race(table) for name, table in traces.items() if table is not None}


def trace_of(tokenizer: Any) -> pa.Table | None:
    """The trace a tokenizer carries: its own `trace`, or trace.parquet in its folder; None without one."""
    if isinstance(tokenizer, str | Path):
        other_kind = set(":@=") & set(str(tokenizer))  # tiktoken:NAME and the like
        if not Path(tokenizer).exists() and not other_kind:
            raise PairityError(f"no tokenizer at {str(tokenizer)!r}: there is no such file or folder.")
        file = Path(tokenizer) / "trace.parquet"
        if not file.is_file():
            return None
        try:
            return pq.read_table(file)
        except (OSError, pa.ArrowException) as error:
            raise PairityError(
                f"{file} cannot be read as Parquet ({error}). Train again, or remove it."
            ) from error
    trace: Any = getattr(tokenizer, "trace", None)
    return trace.table() if hasattr(trace, "table") else trace


def race(table: pa.Table) -> Race:
    """Thin a trace; an error where the table is not a trace."""
    missing = [name for name in ("language", "vocab_size") if name not in table.column_names]
    if missing or not len(table):
        what = f"it has no column {missing[0]!r}" if missing else "it has no rows"
        raise PairityError(f"this is not the trace of a training run: {what}.")
    languages = [name.removeprefix(COST) for name in table.column_names if name.startswith(COST)]
    sizes = table["vocab_size"].to_numpy()
    costs = (
        np.stack([np.asarray(table[COST + code].to_numpy(), dtype=np.float64) for code in languages], axis=1)
        if languages
        else np.empty((len(table), 0))
    )
    chosen = spread(np.flatnonzero(~np.isnan(costs).all(axis=1)), sizes)
    served = table["language"].to_pylist()[1:]
    thinned = costs[chosen]
    measured = [row[~np.isnan(row)] for row in thinned]
    worst = [int(np.nanargmax(row)) for row in thinned]
    return Race(
        languages=languages,
        sizes=sizes[chosen].tolist(),
        costs=[[None if np.isnan(cost) else float(cost) for cost in row] for row in thinned],
        gini=[float(gini(row)) if len(row) > 1 else None for row in measured],
        worst=[languages[index] for index in worst],
        worst_cost=[float(row[index]) for row, index in zip(thinned, worst, strict=True)],
        served=stretches(served),
        services=count_services(languages, served),
    )


def count_services(languages: list[str], served: list[str | None]) -> dict[str, int]:
    counted = Counter(code for code in served if code is not None)
    return {
        code: counted[code] for code in [*languages, *(code for code in counted if code not in languages)]
    }


def spread(sampled: Any, sizes: Any) -> Any:
    """Of the sampled steps those nearest to POINTS sizes, evenly spaced on a log scale; the ends stay."""
    if len(sampled) <= POINTS:
        return sampled
    wanted = np.geomspace(max(1, sizes[sampled[0]]), sizes[sampled[-1]], POINTS)
    nearest = np.searchsorted(sizes[sampled], wanted).clip(0, len(sampled) - 1)
    return sampled[np.unique(np.concatenate([[0], nearest, [len(sampled) - 1]]))]


def stretches(served: list[str | None]) -> list[tuple[int, int, str | None, int, int]]:
    edges = np.unique(np.linspace(0, len(served), min(STRETCHES, len(served)) + 1).astype(int)).tolist()
    found = []
    for start, end in pairwise(edges):
        for code, merges in sorted(
            Counter(served[start:end]).items(), key=lambda item: (item[0] is None, item[0])
        ):
            found.append((start + 1, end, code, merges, end - start))
    return found
