"""Measuring: from the bits of every document to one table by language, and comparisons between tokenizers.

Bits per byte can be compared across tokenizers; a loss per token depends on the length of the tokens. On parallel text,
bits per line can also be compared across languages, since every line says the same in all of them.

    tokenizer  language  measure        value  low    high   text      seed  ...
    parity     tam_Taml  bits_per_byte  1.021  1.008  1.034  parallel  1

The table has the form of model scores, which `model_scores` reads.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pairity.errors import PairityError, listed
from pairity.files.writing import write_file
from pairity.judging.arrays import Floats
from pairity.judging.metrics.bootstrap import Bootstrap, interval
from pairity.judging.metrics.corrected import Statistic
from pairity.judging.metrics.fairness import gini

TABLE = pa.schema(
    [
        ("tokenizer", pa.string()),
        ("language", pa.string()),
        ("measure", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("random", pa.float64()),
        ("text", pa.string()),
        ("seed", pa.int64()),
        ("model", pa.string()),
        ("benchmarks", pa.string()),
        ("documents", pa.int64()),
        ("bytes", pa.int64()),
        ("tokens_seen", pa.int64()),
        ("bytes_seen", pa.int64()),
    ]
)
"""Model scores. `language` is null for the mean of all. Columns that do not apply to a measure are null or missing."""
OF_BITS = pa.schema([column for column in TABLE if column.name not in ("random", "benchmarks")])


@dataclass(frozen=True)
class Scored:
    """One model on one text: the bits and the bytes of every document, by language."""

    model: str
    tokenizer: str
    seed: int
    text: str
    bits: Mapping[str, Floats]
    bytes: Mapping[str, Floats]
    tokens_seen: int
    bytes_seen: int


def measure(scored: Sequence[Scored], *, resamples: int = 1000, seed: int = 0) -> pa.Table:
    """The table: a row per model, text, measure and language, and one for the mean of all languages.

    `bits_per_byte` is for every text, `bits_per_line` only for parallel text: in other text, lines say different
    things. Intervals are 95%, over documents; a line is a document.
    """
    bootstrap = Bootstrap(resamples, seed)
    rows = []
    for one in scored:
        aligned = len({len(bits) for bits in one.bits.values()}) == 1 and one.text == "parallel"
        samples = {}
        for stream, (language, bits) in enumerate(one.bits.items(), 1):
            columns = np.stack([bits, one.bytes[language], np.ones(len(bits))], 1)
            samples[language] = bootstrap.sums(columns, 0 if aligned else stream)
        for measure, below in (("bits_per_byte", 1), ("bits_per_line", 2)):
            if measure == "bits_per_line" and one.text != "parallel":
                continue
            costs = {language: sums[:, 0] / sums[:, below] for language, sums in samples.items()}
            rows += [row(one, measure, language, found) for language, found in costs.items()]
            rows.append(row(one, measure, None, np.mean(list(costs.values()), axis=0)))
    return pa.Table.from_pylist(rows, OF_BITS)


def row(one: Scored, measure: str, language: str | None, samples: Floats) -> dict[str, object]:
    value, low, high = interval(samples)
    sizes = list(one.bytes.values()) if language is None else [one.bytes[language]]
    return {
        "tokenizer": one.tokenizer,
        "language": language,
        "measure": measure,
        "value": value,
        "low": None if math.isnan(low) else low,
        "high": None if math.isnan(high) else high,
        "text": one.text,
        "seed": one.seed,
        "model": one.model,
        "documents": sum(len(size) for size in sizes),
        "bytes": int(sum(size.sum() for size in sizes)),
        "tokens_seen": one.tokens_seen,
        "bytes_seen": one.bytes_seen,
    }


# Between tokenizers: the same resampled lines for all, and the mean over seeds


@dataclass(frozen=True)
class Estimate:
    """A value, and `low` and `high` of its 95% interval over lines alone; `seeds` has the value of every seed."""

    value: float
    low: float
    high: float
    seeds: tuple[float, ...]

    @property
    def interval(self) -> tuple[float, float]:
        """95%, over lines and seeds, both of which could have been others. There are few seeds, so it uses Student's t.
        With one seed, it is over lines alone."""
        number = len(self.seeds)
        seeds = (
            student(number - 1) * float(np.std(self.seeds, ddof=1)) / math.sqrt(number) if number > 1 else 0.0
        )
        return (
            self.value - math.hypot(self.value - self.low, seeds),
            self.value + math.hypot(self.high - self.value, seeds),
        )

    @property
    def standard_error(self) -> float:
        """Of lines and of seeds together; with one seed, of lines alone."""
        lines = (self.high - self.low) / (2 * 1.96)
        spread = float(np.std(self.seeds, ddof=1)) if len(self.seeds) > 1 else 0.0
        return math.hypot(lines, spread / math.sqrt(len(self.seeds)))

    @property
    def smallest_visible(self) -> float:
        """The difference that such a run detects with 80% power, at the 5% level."""
        return (1.96 + 0.84) * self.standard_error


STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


def student(degrees: int) -> float:
    """The two-sided 95% quantile of Student's t; an approximation beyond the table."""
    return STUDENT[degrees - 1] if degrees <= len(STUDENT) else 1.96 + 2.7 / degrees


STATISTICS: dict[str, Statistic] = {
    "mean": lambda costs: costs.mean(-1),
    "spread": lambda costs: costs.std(-1),
    "gini": gini,
    "worst": lambda costs: costs.max(-1),
}


class Comparison:
    """Tokenizers on one text, all seeds of each. `unit`: "line" or "byte"."""

    def __init__(self, scored: Sequence[Scored], *, unit: str, resamples: int = 1000, seed: int = 0) -> None:
        self.languages = list(scored[0].bits)
        for one in scored:
            if different := set(self.languages) ^ set(one.bits):
                raise PairityError(
                    f"{one.model} and {scored[0].model} differ in languages: {listed(different)}."
                )
        bootstrap = Bootstrap(resamples, seed)
        self.costs: dict[str, dict[int, Floats]] = {}
        """Tokenizer -> seed -> (1 + resamples) x languages; the first row is for the actual lines."""
        aligned = scored[0].text == "parallel"
        for one in scored:
            columns = []
            for stream, language in enumerate(self.languages, 1):
                size = one.bytes[language] if unit == "byte" else np.ones(len(one.bits[language]))
                sums = bootstrap.sums(np.stack([one.bits[language], size], 1), 0 if aligned else stream)
                columns.append(sums[:, 0] / sums[:, 1])
            self.costs.setdefault(one.tokenizer, {})[one.seed] = np.stack(columns, 1)

    def overall(self, tokenizer: str, statistic: str, against: str | None = None) -> Estimate:
        """A statistic over languages; with `against`, the difference, over the seeds that both have."""
        found = self._of(tokenizer, STATISTICS[statistic])
        if against is not None:
            found = differences(found, self._of(against, STATISTICS[statistic]))
        return estimate(found)

    def of_language(self, tokenizer: str, language: str, against: str | None = None) -> Estimate:
        place = self.languages.index(language)
        found = self._of(tokenizer, lambda costs: costs[:, place])
        if against is not None:
            found = differences(found, self._of(against, lambda costs: costs[:, place]))
        return estimate(found)

    def worst_language(self, tokenizer: str) -> str:
        means = np.mean([costs[0] for costs in self.costs[tokenizer].values()], axis=0)
        return self.languages[int(means.argmax())]

    def _of(self, tokenizer: str, statistic: Statistic) -> dict[int, Floats]:
        return {seed: statistic(costs) for seed, costs in self.costs[tokenizer].items()}


def differences(one: Mapping[int, Floats], other: Mapping[int, Floats]) -> dict[int, Floats]:
    if not (both := sorted(set(one) & set(other))):
        raise PairityError("the two have no seed in common: train both with the same seeds.")
    return {seed: one[seed] - other[seed] for seed in both}


def estimate(samples: Mapping[int, Floats]) -> Estimate:
    value, low, high = interval(np.mean(list(samples.values()), axis=0))
    return Estimate(value, low, high, tuple(float(one[0]) for one in samples.values()))


def check_ending(path: Path) -> None:
    if path.suffix.lower() not in (".parquet", ".csv"):
        raise PairityError(f"{path}: a table is written as .parquet or .csv: choose one of these extensions.")


def write_table(table: pa.Table, path: Path) -> None:
    """Write .parquet or .csv, depending on the name."""
    check_ending(path)
    write = pq.write_table if path.suffix.lower() == ".parquet" else pyarrow.csv.write_csv
    write_file(path, lambda file: write(table, file))
