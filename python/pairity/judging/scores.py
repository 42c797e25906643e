"""The result of an evaluation: one tidy table, and what is needed to draw and to check it.

table        tokenizer, language (null: over all languages), metric, value, low, high, aggregation, unit, n,
note differences  the same for pairs: tokenizer minus `against`, resampled together
groups       the same by script family and by resource level
lengths      tokens of every line, per tokenizer and language (-1: the tokenizer failed on it)
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.judging import metrics
from pairity.languages import language as facts

Lengths = npt.NDArray[np.int64]

_VALUES = [
    ("metric", pa.string()),
    ("value", pa.float64()),
    ("low", pa.float64()),
    ("high", pa.float64()),
    ("aggregation", pa.string()),
    ("unit", pa.string()),
    ("n", pa.int64()),
    ("note", pa.string()),
]
TABLE = pa.schema([("tokenizer", pa.string()), ("language", pa.string()), *_VALUES])
DIFFERENCES = pa.schema(
    [("tokenizer", pa.string()), ("against", pa.string()), ("language", pa.string()), *_VALUES]
)
GROUPS = pa.schema([("tokenizer", pa.string()), ("grouping", pa.string()), ("group", pa.string()), *_VALUES])
TAX = pa.schema(
    [
        ("tokenizer", pa.string()),
        ("language", pa.string()),
        ("name", pa.string()),
        ("tokens_per_line", pa.float64()),
        ("premium", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("price", pa.float64()),
        ("extra", pa.float64()),
    ]
)


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval; the ends are None where no interval was made."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass
class Scores:
    """See the module. `meta` holds the settings, versions, text digests, failures and warnings."""

    table: pa.Table
    differences: pa.Table
    groups: pa.Table
    lengths: dict[str, dict[str, Lengths]]
    leaks: dict[str, list[str]] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def tokenizers(self) -> list[str]:
        return list(self.lengths)

    @property
    def languages(self) -> list[str]:
        return list(next(iter(self.lengths.values()), {}))

    @property
    def warnings(self) -> list[str]:
        """Everything a reader of these scores must know, in sentences."""
        return list(self.meta.get("warnings", []))

    def select(
        self, tokenizer: str | None = None, metric: str | None = None, *, per_language: bool | None = None
    ) -> pa.Table:
        """Rows of the table for a tokenizer, a metric, or both; with or without those per language."""
        rows = self.table
        if tokenizer is not None:
            rows = rows.filter(pc.equal(rows["tokenizer"], tokenizer))
        if metric is not None:
            rows = rows.filter(pc.equal(rows["metric"], metric))
        if per_language is not None:
            rows = rows.filter(
                pc.is_valid(rows["language"]) if per_language else pc.is_null(rows["language"])
            )
        return rows

    def interval(self, tokenizer: str, metric: str, language: str | None = None) -> Interval | None:
        """One value with its interval; None where it is not defined (its row's note says why). A row that is not
        there is an error.
        """
        rows = [row for row in self.select(tokenizer, metric).to_pylist() if row["language"] == language]
        if not rows:
            place = "over all languages" if language is None else f"for {language!r}"
            raise PairityError(f"these scores have no {metric!r} of {tokenizer!r} {place}.")
        row = rows[0]
        return None if row["value"] is None else Interval(row["value"], row["low"], row["high"])

    def value(self, tokenizer: str, metric: str, language: str | None = None) -> float | None:
        """One value, as `interval` gives it."""
        found = self.interval(tokenizer, metric, language)
        return None if found is None else found.value

    def costs(self, tokenizer: str) -> dict[str, float]:
        """Tokens per line of every language that has one."""
        rows = self.select(tokenizer, "cost", per_language=True).to_pylist()
        return {row["language"]: row["value"] for row in rows if row["value"] is not None}

    def lorenz(self, tokenizer: str) -> tuple[list[float], list[float]]:
        """The Lorenz curve of the costs: share of languages, share of all tokens."""
        share, cost = metrics.lorenz(list(self.costs(tokenizer).values()))
        return share.tolist(), cost.tolist()

    def difference(
        self, tokenizer: str, against: str, metric: str = "gini", language: str | None = None
    ) -> Interval:
        """`tokenizer` minus `against`, both on the same resampled lines."""
        for row in self.differences.to_pylist():
            if row["metric"] != metric or row["language"] != language or row["value"] is None:
                continue
            if (row["tokenizer"], row["against"]) == (tokenizer, against):
                return Interval(row["value"], row["low"], row["high"])
            if (row["tokenizer"], row["against"]) == (against, tokenizer):
                low, high = row["high"], row["low"]
                return Interval(-row["value"], None if low is None else -low, None if high is None else -high)
        raise PairityError(
            f"these scores have no difference in {metric!r} between {tokenizer!r} and {against!r}."
        )

    def save(self, folder: str | Path) -> None:
        """Writes scores, differences and groups as Parquet and CSV, lengths.npz and scores.json into
        `folder`.

        Every file is written beside its place and then renamed, so a reader never sees half of one.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in (
            ("scores", self.table),
            ("differences", self.differences),
            ("groups", self.groups),
        ):
            _write(folder / f"{name}.parquet", partial(pq.write_table, table))
            _write(folder / f"{name}.csv", partial(pyarrow.csv.write_csv, table))
        # Names of tokenizers are free text and file names are not: the arrays are numbered.
        places = [(tokenizer, language) for tokenizer in self.lengths for language in self.lengths[tokenizer]]
        arrays = {f"lengths_{i}": self.lengths[t][lang] for i, (t, lang) in enumerate(places)}
        _write(folder / "lengths.npz", lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]
        content = {"format": 1, "meta": self.meta, "leaks": self.leaks, "lengths": places}
        text = json.dumps(content, ensure_ascii=False, indent=1)
        _write(folder / "scores.json", lambda file: file.write(text.encode()))

    @classmethod
    def load(cls, folder: str | Path) -> Scores:
        """What `save` wrote."""
        folder = Path(folder)
        if not (folder / "scores.json").exists():
            raise PairityError(
                f"no scores in {folder}: there is no scores.json. Make them with `pairity eval -o {folder}`."
            )
        try:
            content = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
            tables = [
                pq.read_table(folder / f"{name}.parquet") for name in ("scores", "differences", "groups")
            ]
            lengths: dict[str, dict[str, Lengths]] = {}
            with np.load(folder / "lengths.npz", allow_pickle=False) as arrays:
                for index, (tokenizer, language) in enumerate(content["lengths"]):
                    lengths.setdefault(tokenizer, {})[language] = arrays[f"lengths_{index}"]
            return cls(tables[0], tables[1], tables[2], lengths, content["leaks"], content["meta"])
        except (OSError, KeyError, ValueError) as error:
            raise PairityError(f"the scores in {folder} are damaged ({error}). Make them again.") from error


def tax_table(scores: Scores, price_per_million: float | Mapping[str, float]) -> pa.Table:
    """What the same content costs in each language, for content that takes a million tokens in the reference
    language.

    `price` = price per million tokens * premium; `extra` = what is paid on top of the reference language's
    price.
    """
    rows = []
    for tokenizer in scores.tokenizers:
        price = price_per_million[tokenizer] if isinstance(price_per_million, Mapping) else price_per_million
        if not math.isfinite(price) or price < 0:
            raise PairityError(f"the price of {tokenizer!r} must be a number of 0 or more, got {price}.")
        costs = scores.costs(tokenizer)
        premiums = scores.select(tokenizer, "premium", per_language=True).to_pylist()
        if not premiums:
            raise PairityError(
                f"no token premium for {tokenizer!r}: there is no reference language or no parallel text. "
                "Evaluate with reference=LANGUAGE."
            )
        for row in premiums:
            if row["value"] is not None:
                rows.append(
                    {
                        "tokenizer": tokenizer,
                        "language": row["language"],
                        "name": facts(row["language"]).name,
                        "tokens_per_line": costs[row["language"]],
                        "premium": row["value"],
                        "low": row["low"],
                        "high": row["high"],
                        "price": price * row["value"],
                        "extra": price * (row["value"] - 1),
                    }
                )
    return pa.Table.from_pylist(rows, schema=TAX)


def _write(path: Path, write: Callable[[Any], object]) -> None:
    buffer = io.BytesIO()
    write(buffer)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(buffer.getvalue())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
