"""Files as blocks: .txt has one text per line, the other formats one text per record, in a column.

All except Parquet may be compressed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.text import blocks, delimited, jsonl, words
from pairity.text.blocks import Block
from pairity.text.columns import FIXES, refuse_column, refuse_double
from pairity.text.inputs import PARQUET_DAMAGE, TextFile, refuse_broken
from pairity.text.lines import STREAM_DAMAGE, Broken, decompressed, line_blocks, open_raw
from pairity.text.options import TextReading


def file_blocks(
    file: TextFile, language: str, how: TextReading, broken: Broken
) -> Iterator[tuple[int, Block]]:
    """(bytes read so far, block) for all of a file. `language` is "" if the records name theirs."""
    if file.kind == "parquet":
        return parquet_blocks(file, how.columns_of(language))
    if file.codec and not file.size and not file.once and file.is_local:
        refuse_broken(file.path, file.codec, EOFError("it has no bytes"))
    if file.kind in ("csv", "tsv"):
        return delimited_blocks(file, how.columns_of(language), how, broken)
    return line_blocks(file, how, broken)


def parse(block: Block, file: TextFile, language: str, how: TextReading, broken: Broken) -> Block:
    """Turn JSON lines and word lists into texts; other blocks stay as they are."""
    if block.lines is None or file.kind not in ("jsonl", "words"):
        return block
    if file.kind == "words":
        return words.parse(block, language, broken)
    columns, numbers = jsonl.texts(
        block.lines,
        how.columns_of(language),
        block.place,
        lambda index, error: broken(error, block, index),
    )
    first = None if numbers is None else [block.first + number for number in numbers]
    return replace(block, lines=None, numbers=first, **named(columns))


def named(columns: Sequence[Any]) -> dict[str, Any]:
    """The columns that were read, as keyword arguments of `Block`."""
    return dict(zip(("texts", "labels"), columns, strict=False))


def delimited_blocks(
    file: TextFile, columns: Sequence[str], how: TextReading, broken: Broken
) -> Iterator[tuple[int, Block]]:
    row = 0
    where = str(file.path)

    def skip(number: int, error: PairityError) -> None:
        broken(error, Block(where, "row", number), 0)

    try:
        with open_raw(file) as raw:
            kind: Literal["csv", "tsv"] = "csv" if file.kind == "csv" else "tsv"
            stream = decompressed(raw, file.codec)
            passing = skip if how.on_error == "skip" else None
            for found in delimited.batches(stream, kind, columns, where, passing):
                yield raw.tell(), Block(where, "row", row, **named(found))
                row += len(found[0])
    except STREAM_DAMAGE as error:
        damaged = file.kind if "CSV" in str(error) else file.codec or file.kind
        refuse_broken(file.path, damaged, error, f", near row {row + 1}")


def parquet_blocks(file: TextFile, columns: Sequence[str]) -> Iterator[tuple[int, Block]]:
    row = 0
    where = str(file.path)
    try:
        # Damage inside a page can look like valid text, unless the writer stored checksums.
        place = file.path if file.is_local else file.open()
        with pq.ParquetFile(place, page_checksum_verification=True) as parquet:
            check_schema(parquet.schema_arrow, columns, where)
            rows = parquet.metadata.num_rows
            for batch in parquet.iter_batches(
                rows_per_block(parquet), columns=list(columns), use_threads=False
            ):
                found = [texts_of(batch, column) for column in columns]
                yield file.size * row // max(rows, 1), Block(where, "row", row, **named(found))
                row += len(batch)
    except PairityError:
        raise
    except PARQUET_DAMAGE as error:
        refuse_broken(file.path, "Parquet", error, f", near row {row + 1}")


TEXT_TYPES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
)


def check_schema(schema: pa.Schema, columns: Sequence[str], where: str) -> None:
    """Refuse a table without these columns, or with anything but text in them."""
    for column, fix in zip(columns, FIXES, strict=False):
        refuse_double(where, column, schema.names)
        kind = type_at(schema, column, where, fix)
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if not any(is_kind(kind) for is_kind in TEXT_TYPES):
            raise PairityError(f"{where}: the column {column!r} holds {kind}, not text. {fix}")


def type_at(schema: pa.Schema, column: str, where: str, fix: str) -> pa.DataType:
    """The type of a column, or of a field inside one: "message.text"."""
    if column in schema.names:
        return schema.field(column).type
    fields: Any = schema
    for name in column.split("."):
        names = [field.name for field in fields]
        if names.count(name) != 1:
            refuse_column(where, column, schema.names, fix)
        found = fields.field(names.index(name)).type
        fields = found if pa.types.is_struct(found) else pa.struct([])
    return found


def texts_of(batch: Any, column: str) -> Any:
    """A column of a record batch, or a field inside one, as bytes."""
    if column in batch.schema.names:
        texts = batch.column(column)
    else:
        first, *inner = column.split(".")
        texts = pc.struct_field(batch.column(first), inner)
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    return texts.cast(pa.large_binary())


def rows_per_block(parquet: Any) -> int:
    """Rows that add up to about BLOCK_BYTES (or less, if there are other columns), by the sizes in the footer.

    The footer also has the size of each column, but asking for it crashes the process if the file is damaged.
    """
    metadata = parquet.metadata
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return int(min(max(blocks.BLOCK_BYTES * metadata.num_rows // max(size, 1), 16), 1 << 16))
