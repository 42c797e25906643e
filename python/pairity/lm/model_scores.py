"""Model scores: one table of how well models know each language, from any source, to show in a report.

    tokenizer,language,measure,value,low,high
    classical,tam_Taml,bits_per_byte,0.912,0.897,0.927
    parity,tam_Taml,bits_per_byte,0.894,0.880,0.908

The first four columns are required; others are as in `measuring.TABLE`. `pairity lm measure` and `pairity lm score`
write such tables.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from pairity.errors import PairityError, listed
from pairity.formats.json_files import unreadable
from pairity.lm.measuring import TABLE, Estimate
from pairity.text.inputs import PARQUET_DAMAGE, refuse_broken
from pairity.text.mistakes import check_language

NEEDED = ("tokenizer", "language", "measure", "value")
KINDS = (".csv", ".tsv", ".parquet")
LARGEST = 1e100
"""A larger number is a mistake, and its square would overflow."""


@dataclass(frozen=True)
class ModelScore:
    """One measure of the models of one tokenizer, the mean over their seeds. `language` is "" for all together."""

    tokenizer: str
    language: str
    measure: str
    text: str
    value: float
    low: float | None
    high: float | None
    random: float | None


@dataclass(frozen=True)
class CheckedRow:
    """A row that was read and checked; `where` names it."""

    where: str
    score: ModelScore
    seed: int | None
    benchmarks: frozenset[str]


def read_model_scores(path: str | Path) -> list[ModelScore]:
    """All scores of a table. Several seeds of a tokenizer become their mean, with an interval over seeds too."""
    path = Path(path)
    found: dict[tuple[str, ...], dict[int | None, CheckedRow]] = {}
    compared: dict[tuple[str, ...], list[CheckedRow]] = {}
    for where, cells in rows_of(path):
        row = checked(where, cells)
        one = row.score
        seeds = found.setdefault((one.tokenizer, one.language, one.measure, one.text), {})
        if row.seed in seeds:
            which = f"{one.measure} of {one.tokenizer!r} in {one.language or 'all languages'}"
            raise PairityError(
                f"{where}: {which} is already in {seeds[row.seed].where}. Keep one of them, or add a "
                "column 'seed' for models with several seeds."
            )
        seeds[row.seed] = row
        compared.setdefault((one.language, one.measure, one.text), []).append(row)
    if not found:
        raise PairityError(f"{path} has no rows: give one row per tokenizer, language and measure.")
    for rows in compared.values():
        refuse_different(rows)
    return [averaged([row.score for row in seeds.values()]) for seeds in found.values()]


def refuse_different(rows: Sequence[CheckedRow]) -> None:
    """Refuse to compare scores from different benchmarks or with different chance levels, as far as those are known."""
    with_names = [row for row in rows if row.benchmarks]
    for row in with_names:
        if row.benchmarks != with_names[0].benchmarks:
            refuse_pair(with_names[0], row, "benchmarks")
    with_random = [row for row in rows if row.score.random is not None]
    for row in with_random:
        if not math.isclose(row.score.random or 0, with_random[0].score.random or 0):
            refuse_pair(with_random[0], row, "random")


def refuse_pair(first: CheckedRow, second: CheckedRow, column: str) -> NoReturn:
    one = second.score
    raise PairityError(
        f"{second.where}: {one.measure} in {one.language or 'all languages'} cannot be compared with {first.where}: "
        f"their {column!r} differ. Score all models on the same benchmarks, or give the rows different texts."
    )


def averaged(seeds: Sequence[ModelScore]) -> ModelScore:
    """The mean over seeds. All are measured on the same documents, so it varies with documents as each seed does.

    If any seed lacks an interval, that variation is unknown, and the mean has no interval.
    """
    first = seeds[0]
    if len(seeds) == 1:
        return first
    values, lows, highs = ([getattr(one, name) for one in seeds] for name in ("value", "low", "high"))
    value = math.fsum(values) / len(values)
    low = high = None
    if None not in (*lows, *highs):
        ends = [math.fsum(some) / len(some) for some in (lows, highs)]
        low, high = Estimate(value, ends[0], ends[1], tuple(values)).interval
    return ModelScore(
        first.tokenizer, first.language, first.measure, first.text, value, low, high, first.random
    )


def rows_of(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """("scores.csv, row 2", {"tokenizer": "parity", ...}) for every row; the first line of a .csv is row 1."""
    if path.suffix.lower() not in KINDS:
        raise PairityError(
            f"{path}: model scores are a table in {listed(KINDS)}: choose one of these extensions."
        )
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    if path.suffix.lower() == ".parquet":
        yield from rows_of_parquet(path, data)
    else:
        yield from rows_of_text(path, data)


def rows_of_parquet(path: Path, data: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            check_columns(path, file.schema_arrow.names)
            rows = file.read().to_pylist()
    except PairityError:
        raise
    except PARQUET_DAMAGE as error:
        refuse_broken(path, "Parquet", error)
    for number, cells in enumerate(rows, 1):
        yield f"{path}, row {number}", cells


def rows_of_text(path: Path, data: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        text = io.StringIO(data.decode("utf-8-sig"), newline="")
    except UnicodeDecodeError as error:
        raise PairityError(f"{path} is not UTF-8, at byte {error.start}: save it as UTF-8.") from None
    if path.suffix.lower() == ".csv":
        reader = csv.reader(text, strict=True)
    else:
        reader = csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE)
    columns: list[str] = []
    for number in count(1):
        where = f"{path}, row {number}"
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise PairityError(f"{where} cannot be read: {error}. Fix it.") from None
        if cells is None:
            break
        if number == 1:
            columns = [cell.strip() for cell in cells]
            check_columns(path, columns)
        elif cells:
            if len(cells) != len(columns):
                raise PairityError(
                    f"{where} has {len(cells)} cells, but the first row has {len(columns)}: give one per "
                    "column."
                )
            yield where, dict(zip(columns, cells, strict=True))
    if not columns:
        check_columns(path, columns)


def check_columns(path: Path, columns: Sequence[str]) -> None:
    for name in NEEDED:
        if name not in columns:
            raise PairityError(
                f"{path} has no column {name!r}; it has: {', '.join(columns) or 'none'}. Model scores have "
                f"{listed(NEEDED)}."
            )
    for name in columns:
        if name not in TABLE.names:
            raise PairityError(
                f"{path} has a column {name!r}, which model scores do not have: name it as one of "
                f"{', '.join(TABLE.names)}, or leave it out."
            )
        if columns.count(name) > 1:
            raise PairityError(f"{path} has {columns.count(name)} columns {name!r}: keep one.")


def checked(where: str, cells: Mapping[str, Any]) -> CheckedRow:
    tokenizer, measure = (text_in(where, cells, name) for name in ("tokenizer", "measure"))
    for name, text in (("tokenizer", tokenizer), ("measure", measure)):
        if not text:
            raise PairityError(f"{where}, column {name!r} is empty: fill it, or remove the row.")
    language = text_in(where, cells, "language")
    if language:
        check_language(language, f"{where}, column 'language'")
    value, low, high, random = (number_in(where, cells, name) for name in ("value", "low", "high", "random"))
    if value is None:
        raise PairityError(f"{where}, column 'value' is empty: give a number, or remove the row.")
    if (low is None) != (high is None):
        missing = "low" if low is None else "high"
        raise PairityError(f"{where}, column {missing!r} is empty: an interval has two ends, or none.")
    if low is not None and high is not None:
        if low > high:
            raise PairityError(f"{where}: 'low' is {low:g}, above 'high', which is {high:g}. Swap them.")
        if not low <= value <= high:
            raise PairityError(
                f"{where}: 'value' is {value:g}, outside its interval from {low:g} to {high:g}. Fix one "
                "of them."
            )
    if measure == "accuracy":
        for name, number in (("value", value), ("random", random)):
            if number is not None and not 0 <= number <= 1:
                raise PairityError(
                    f"{where}, column {name!r} is {number:g}: an accuracy is between 0 and 1, so write "
                    "55% as 0.55."
                )
    seed = number_in(where, cells, "seed")
    if seed is not None and seed != int(seed):
        raise PairityError(f"{where}, column 'seed' is {seed:g}: give a whole number, or nothing.")
    text = text_in(where, cells, "text")
    for name, label in (("measure", measure), ("text", text)):
        if not label.isprintable():
            raise PairityError(
                f"{where}, column {name!r} is {label!r}, with characters that cannot be shown: leave them out."
            )
    score = ModelScore(tokenizer, language, measure, text, value, low, high, random)
    names = (name.strip() for name in text_in(where, cells, "benchmarks").split(","))
    return CheckedRow(where, score, None if seed is None else int(seed), frozenset(filter(None, names)))


def text_in(where: str, cells: Mapping[str, Any], name: str) -> str:
    cell = cells.get(name)
    if cell is None:
        return ""
    if not isinstance(cell, str):
        raise PairityError(f"{where}, column {name!r} is {cell!r}: give text.")
    return cell.strip()


def number_in(where: str, cells: Mapping[str, Any], name: str) -> float | None:
    cell = cells.get(name)
    if cell is None or cell == "":
        return None
    try:
        number = math.nan if isinstance(cell, bool) or "_" in str(cell) else float(cell)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= LARGEST:
        raise PairityError(f"{where}, column {name!r} is {cell!r}: give a number, such as 1.25.")
    return number
