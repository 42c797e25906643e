"""In-memory sources as blocks: lines, records, Arrow tables, Hugging Face datasets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from pairity.errors import PairityError
from pairity.text import blocks
from pairity.text.blocks import Block
from pairity.text.columns import FIXES, to_utf8, value_in
from pairity.text.lines import Broken
from pairity.text.options import TextReading
from pairity.text.records import check_schema, named, texts_of
from pairity.text.words import WordList

ROWS = 1000
"""Rows of a dataset to take at a time; the default of the `datasets` library."""


def iterable_blocks(
    language: str, lines: Iterable[object], how: TextReading, broken: Broken
) -> Iterator[Block]:
    where = f"the lines given for {language!r}" if language else "the records given"
    columns = how.columns_of(language)
    if isinstance(lines, WordList):
        return lines.blocks(language)
    if (tables := tables_of(lines)) is not None:
        return table_blocks(tables, columns, where)
    return item_blocks(lines, columns, where, broken)


def tables_of(lines: Any) -> Any:
    """The rows as Arrow tables, if their owner can provide them: then no row becomes a Python object."""
    if hasattr(lines, "__arrow_c_stream__"):  # Arrow, polars, DuckDB
        return iter(pa.RecordBatchReader.from_stream(lines))
    if hasattr(lines, "with_format") and hasattr(lines, "iter"):  # Dataset and IterableDataset of `datasets`
        return lines.with_format("arrow").iter(batch_size=ROWS)
    return None


def table_blocks(tables: Iterator[Any], columns: Sequence[str], where: str) -> Iterator[Block]:
    row = 0
    for table in tables:
        check_schema(table.schema, columns, where)
        for batch in table.to_batches(ROWS) if isinstance(table, pa.Table) else [table]:
            found = [texts_of(batch, column) for column in columns]
            yield Block(where, "row", row, **named(found))
            row += len(batch)


def item_blocks(
    lines: Iterable[object], columns: Sequence[str], where: str, broken: Broken
) -> Iterator[Block]:
    """Strings, UTF-8 bytes, or records with the columns."""
    rows: list[list[bytes]] = []
    numbers: list[int] = []
    size = 0

    def block() -> Block:
        arrays = [pa.array([row[n] for row in rows], pa.large_binary()) for n in range(len(columns))]
        return Block(where, "item", numbers[0], numbers=numbers, **named(arrays))

    for index, item in enumerate(lines):
        try:
            row = item_bytes(item, f"{where}, item {index + 1}", columns)
        except PairityError as error:
            broken(error, Block(where, "item", index), 0)
            continue
        rows.append(row)
        numbers.append(index)
        size += sum(map(len, row)) + 16
        if size >= blocks.BLOCK_BYTES:
            yield block()
            rows, numbers, size = [], [], 0
    if rows:
        yield block()


def item_bytes(item: object, place: str, columns: Sequence[str]) -> list[bytes]:
    """One line or record as bytes, without a line end: an open file works as well as a list."""
    if isinstance(item, Mapping):
        found = [value_in(item, column, place, fix) for column, fix in zip(columns, FIXES, strict=False)]
    elif len(columns) > 1:
        raise PairityError(f"{place} is {type(item).__name__}, not a record with the column {columns[1]!r}.")
    else:
        found = [item]
    return [one_text(value, place) for value in found]


def one_text(value: object, place: str) -> bytes:
    if isinstance(value, str):
        value = to_utf8(value)
    if not isinstance(value, bytes):
        raise PairityError(f"{place} is {type(value).__name__}, not a string.")
    return value[:-1].removesuffix(b"\r") if value.endswith(b"\n") else value
