"""Counts made by hand or by another program, as tables or dicts, with every row checked."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairity.counts.values import MAX_COUNT, Array, LanguageCounts, distinct, weighted
from pairity.errors import PairityError
from pairity.text.columns import text_buffers
from pairity.text.inputs import COUNTS_COLUMNS
from pairity.text.mistakes import check_language


def from_table(table: Any, where: str, lines: Mapping[str, int]) -> dict[str, LanguageCounts]:
    """Counts from rows of (language, pretoken, count), without the sizes of the text."""
    return {
        language: measured(*rows, lines.get(language))
        for language, rows in rows_by_language(table, where).items()
    }


def from_dict(language: str, data: Any, lines: int | None) -> LanguageCounts:
    check_language(language, "the counts given")
    pretokens: list[bytes] = []
    numbers: list[int] = []
    for row, (pretoken, number) in enumerate(data.items(), start=1):
        where = f"the counts given for {language!r}, row {row} ({pretoken!r})"
        if not isinstance(pretoken, str | bytes) or not pretoken:
            raise PairityError(f"{where}: a pre-token must be a string or bytes, and not empty.")
        if (
            isinstance(number, bool)
            or not hasattr(number, "__index__")
            or not 0 < operator.index(number) <= MAX_COUNT
        ):
            raise PairityError(
                f"{where}: a count must be a whole number above 0 and below 2**63, not {number!r}."
            )
        try:
            pretokens.append(pretoken.encode() if isinstance(pretoken, str) else pretoken)
        except UnicodeEncodeError:
            raise PairityError(
                f"{where}: not UTF-8, because it contains a lone surrogate. Give bytes instead."
            ) from None
        numbers.append(operator.index(number))
    if not pretokens:
        raise PairityError(
            f"no counts for {language!r}: the mapping is empty. Add some, or leave out {language}."
        )
    return measured(
        *distinct(language, pa.array(pretokens, pa.large_binary()), np.array(numbers, np.uint64)), lines
    )


def rows_by_language(table: Any, where: str) -> dict[str, tuple[Any, Array]]:
    """Language -> its distinct pre-tokens and counts, in the order in which languages first appear."""
    names, pretokens, counts = check_columns(table, where)
    encoded = names.dictionary_encode().combine_chunks()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    if (codes[1:] < codes[:-1]).any():
        by_language = np.argsort(codes, kind="stable")
        codes = codes[by_language]
        pretokens, counts = pretokens.take(pa.array(by_language)), counts[by_language]
    bounds = np.searchsorted(codes, np.arange(len(encoded.dictionary) + 1, dtype=codes.dtype))
    rows = {}
    try:
        languages = encoded.dictionary.to_pylist()
    except UnicodeDecodeError as error:
        raise PairityError(f"{where}: the name of a language is not UTF-8 ({error}).") from None
    for code, language in enumerate(languages):
        check_language(language, where)
        start, stop = bounds[code], bounds[code + 1]
        rows[language] = distinct(language, pretokens.slice(start, stop - start), counts[start:stop])
    return rows


def check_columns(table: Any, where: str) -> tuple[Any, Any, Array]:
    """The three columns as (ChunkedArray, LargeBinaryArray, numpy array); every row is checked."""
    missing = [name for name in COUNTS_COLUMNS if name not in table.column_names]
    if missing:
        raise PairityError(
            f"{where} has no column {missing[0]!r}; there are: {', '.join(table.column_names)}. "
            "Counts have language, pretoken, count."
        )
    for name in COUNTS_COLUMNS:
        if table.column_names.count(name) > 1:
            raise PairityError(
                f"{where} has {table.column_names.count(name)} columns {name!r}. Rename all but one."
            )
    if not table.num_rows:
        raise PairityError(f"{where} is empty: it has no rows.")
    language, pretoken, number = (table.column(name) for name in COUNTS_COLUMNS)
    if not pa.types.is_integer(number.type):
        raise PairityError(f"{where}: the column 'count' holds {number.type}, not whole numbers.")
    try:
        language = language.cast(pa.large_string())
        if pa.types.is_dictionary(pretoken.type):
            pretoken = pretoken.cast(pretoken.type.value_type)
        pretoken = pretoken.cast(pa.large_binary()).combine_chunks()
    except pa.ArrowException as error:
        raise PairityError(
            f"{where}: 'language' must be strings and 'pretoken' bytes or strings ({error})."
        ) from error
    number = number.combine_chunks()

    def refuse(rows: Any, what: str) -> None:
        row = pc.index(rows, pa.scalar(True)).as_py()
        if row >= 0:
            raise PairityError(f"{where}, row {row + 1}, language {language[row].as_py()!r}: {what}")

    for name, column in zip(COUNTS_COLUMNS, (language, pretoken, number), strict=True):
        if column.null_count:
            refuse(pc.is_null(column), f"{name!r} is null. Remove the row or fill it.")
    refuse(pc.equal(language, ""), "the language has no name.")
    counts = number.to_numpy(zero_copy_only=False)
    wrong = (counts <= 0) | (counts > MAX_COUNT)
    refuse(pa.array(wrong), "a count must be a whole number above 0 and below 2**63. Remove the row.")
    refuse(pc.equal(pc.binary_length(pretoken), 0), "the pre-token is empty. Remove the row.")
    return language, pretoken, counts.astype(np.uint64)


def measured(pretokens: Any, counts: Array, lines: int | None) -> LanguageCounts:
    """Counts with sizes: bytes and characters follow from the pre-tokens, lines must be given."""
    data, offsets_buffer = text_buffers(pretokens)
    offsets = np.frombuffer(offsets_buffer, np.int64)
    raw = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    starts = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])  # characters before each byte
    chars = np.diff(starts[offsets - offsets[0]])
    return LanguageCounts(
        pretokens, counts, lines, bytes=weighted(np.diff(offsets), counts), chars=weighted(chars, counts)
    )
