"""The trace of a training run: which merge served which language, and what every language cost over time.

As a table it has one row per step; row 0 is the state before the first merge:

    step  language  left   right  count  vocab_size  cost:eng_Latn  cost:tel_Telu
    0     null      null   null   null          256          129.4          341.2
    1     tel_Telu  \\xe0  \\xb0  83172         257          129.4          251.0

Costs (tokens per line) are recorded at every power of two, at least every 0.1% of the merges, and at the end; between
those they are null. `own_cost:code` is a cost in a unit of its own: tokens per line-equivalent, for a language with a
ratio among languages with dev text. It decides who is served, but no Gini includes it. Merges from before the run have
no language and no count.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity.bpe.merges import join_merges
from pairity.errors import PairityError
from pairity.training.engine import Learned
from pairity.training.measure import Measure

COST = "cost:"
OWN_COST = "own_cost:"

NEVER_SERVED = 100
"""Report a language that was never served if an equal share would have been this many merges. In a shorter run, it is
right to leave cheap languages to the end. For a language with a ratio, which the user chose, 1 is enough."""

STUCK_SERVICES = 100
"""A language is stuck if it was served this often ..."""
STUCK_GAIN = 0.0005
"""... while its cost fell by less than this share: it spends merges that do not help it."""

STARVED_PASSED = 0.5
"""A language is starved if a cheaper one was served in its place in more than this share of the parity merges ..."""
STARVED_SHARE = 0.25
"""... it got less than this share of what each would get if all were served equally often ..."""
STARVED_COST = 1.05
"""... and its final cost is above this many times the mean. Causes: it ran out of pairs, or dev files are misnamed."""


@dataclass(frozen=True)
class Trace:
    """The steps of a run as columns; `costs` has one row for each of `sampled` and one column per language."""

    languages: tuple[str, ...]
    left: Sequence[bytes]
    right: Sequence[bytes]
    served: npt.NDArray[np.int32]
    count: npt.NDArray[np.uint64]
    vocab_size: npt.NDArray[np.int64]
    sampled: npt.NDArray[np.int64]
    costs: npt.NDArray[np.float64]
    set_apart: frozenset[str] = frozenset()
    """Languages whose costs are in a unit of their own (`measure.set_apart`)."""

    def __len__(self) -> int:
        return len(self.served)

    @property
    def learned(self) -> npt.NDArray[np.bool_]:
        """For each merge, whether this run learned it; others existed before."""
        return self.count > 0

    def services(self) -> dict[str, int]:
        """How many merges served each language."""
        number = np.bincount(self.served[self.served >= 0], minlength=len(self.languages))
        return dict(zip(self.languages, number.tolist(), strict=True))

    def final_costs(self) -> dict[str, float]:
        """Cost of each measured language at the end."""
        last = self.costs[-1] if len(self.costs) else np.full(len(self.languages), np.nan)
        return {
            name: float(cost) for name, cost in zip(self.languages, last, strict=True) if not np.isnan(cost)
        }

    def compared(self) -> npt.NDArray[np.bool_]:
        """For each language, whether its cost can be compared with the others."""
        return np.array([language not in self.set_apart for language in self.languages], bool)

    def never_served(self) -> list[str]:
        """Languages that were never served, in a run in which each could have been."""
        services = self.services()
        share = sum(services.values()) / len(self.languages)
        return [
            language
            for language, merges in services.items()
            if not merges and share >= (1 if language in self.set_apart else NEVER_SERVED)
        ]

    def stuck(self) -> dict[str, int]:
        """Language -> merges spent on it while its cost hardly moved (STUCK_SERVICES, STUCK_GAIN)."""
        found = {}
        for index, language in enumerate(self.languages):
            served = np.concatenate([[0], np.cumsum(self.served == index)])[self.sampled]
            cost = self.costs[:, index]
            later = np.searchsorted(served, served + STUCK_SERVICES)
            spent = 0
            until = 0
            for start in np.flatnonzero(later < len(served)):
                end = later[start]
                if cost[end] > cost[start] * (1 - STUCK_GAIN):
                    spent += int(served[end] - max(served[start], until))
                    until = int(served[end])
            if spent:
                found[language] = spent
        return found

    def starved(self) -> dict[str, float]:
        """Language -> its cost over the mean, where others were served in its place (STARVED_...)."""
        costs = self.final_costs()
        services = self.services()
        fair = sum(services.values()) / len(self.languages)
        if fair == 0 or len(costs) < 2:
            return {}
        mean = sum(costs.values()) / len(costs)
        passed = self._passed_over()
        return {
            language: cost / mean
            for language, cost in costs.items()
            if cost > STARVED_COST * mean
            and services[language] < STARVED_SHARE * fair
            and passed[language] > STARVED_PASSED
        }

    def _passed_over(self) -> dict[str, float]:
        """Language -> the share of the parity merges at which it cost more than the one that was served."""
        before = np.flatnonzero(self.sampled < len(self))
        served = self.served[self.sampled[before]]
        before, served = before[served >= 0], served[served >= 0]
        if not len(before):  # too few parity merges: no costs were sampled before them
            return dict.fromkeys(self.languages, 0.0)
        costlier = self.costs[before] > self.costs[before, served][:, None]
        return dict(zip(self.languages, costlier.mean(axis=0).tolist(), strict=True))

    def table(self) -> Any:
        """The trace as a `pyarrow.Table`."""
        names = pa.array(self.languages, pa.string())
        served = pa.array(self.served, mask=self.served < 0)
        columns = {
            "step": pa.array(np.arange(len(self) + 1)),
            "language": after_start(pa.DictionaryArray.from_arrays(served, names).cast(pa.string())),
            "left": after_start(pa.array(self.left, pa.binary())),
            "right": after_start(pa.array(self.right, pa.binary())),
            "count": after_start(pa.array(self.count.astype(np.int64), mask=~self.learned)),
            "vocab_size": pa.array(self.vocab_size),
        }
        for index, language in enumerate(self.languages):
            cost = np.full(len(self) + 1, np.nan)
            cost[self.sampled] = self.costs[:, index]
            columns[self.column(language)] = pa.array(cost, mask=np.isnan(cost))
        return pa.table(columns)

    def column(self, language: str) -> str:
        """The name of the column with the costs of a language."""
        return (OWN_COST if language in self.set_apart else COST) + language

    @classmethod
    def from_table(cls, table: Any) -> "Trace":
        """The inverse of `table`; raises an error if this is not a trace."""
        wanted = ("language", "left", "right", "count", "vocab_size")
        missing = [name for name in wanted if name not in table.column_names]
        if missing or not len(table):
            what = f"it has no column {missing[0]!r}" if missing else "it has no rows"
            raise PairityError(f"this is not the trace of a training run: {what}.")
        names = [name for name in table.column_names if name.startswith((COST, OWN_COST))]
        languages = tuple(name.partition(":")[2] for name in names)
        steps = table.slice(1)
        index = {language: i for i, language in enumerate(languages)}
        columns = [table[name].to_numpy() for name in names]
        costs = np.array(columns, np.float64).reshape(len(languages), len(table)).T
        sampled = np.flatnonzero(~np.isnan(costs).all(axis=1))
        return cls(
            languages=languages,
            left=steps["left"].to_pylist(),
            right=steps["right"].to_pylist(),
            served=np.array([index.get(name, -1) for name in steps["language"].to_pylist()], dtype=np.int32),
            count=steps["count"].fill_null(0).to_numpy().astype(np.uint64),
            vocab_size=table["vocab_size"].to_numpy(),
            sampled=sampled,
            costs=costs[sampled],
            set_apart=frozenset(name.removeprefix(OWN_COST) for name in names if name.startswith(OWN_COST)),
        )


def trace_of(
    learned: Learned,
    measures: Mapping[str, Measure],
    languages: Sequence[str],
    *,
    first_tokens: Sequence[bytes],
    special_tokens: int,
    apart: Iterable[str] = (),
) -> Trace:
    """Turn the engine's ids and token counts into tokens and costs."""
    pairs = learned.steps.pairs.tolist()
    tokens, made = join_merges(pairs, first_tokens)
    highest = np.maximum.accumulate([len(first_tokens) - 1, *made])
    unmeasured = (np.nan, 1.0)
    scale = [(m.units, m.ratio) if (m := measures.get(language)) else unmeasured for language in languages]
    units, ratios = np.array(scale).T
    return Trace(
        languages=tuple(languages),
        left=[tokens[left] for left, _ in pairs],
        right=[tokens[right] for _, right in pairs],
        served=learned.steps.served,
        count=learned.steps.count,
        vocab_size=(highest + 1 + special_tokens).astype(np.int64),
        sampled=learned.sampled,
        costs=learned.token_counts.astype(np.float64) * ratios / units,
        set_apart=frozenset(apart),
    )


def after_start(column: Any) -> Any:
    """A column of the steps with a null in front, for row 0."""
    return pa.concat_arrays([pa.nulls(1, column.type), column])
