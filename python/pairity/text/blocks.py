"""Files and iterables as blocks: whole lines or records, a few megabytes at a time.

.txt holds one text per line; the others one text per record, in the column `text_column`. All but Parquet may be
compressed. Memory stays at a few blocks, whatever the size of the corpus.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.text import delimited, jsonl
from pairity.text.columns import COLUMN_FIX, refuse_column, refuse_double, to_utf8, value_in
from pairity.text.inputs import PARQUET_DAMAGE, TextFile, TextInput, refuse_broken
from pairity.text.options import TextReading

# Large enough that taking a block costs nothing beside counting it, small enough that Ctrl-C, which waits for
# the blocks in work, is felt at once even with a slow user-given pattern.
BLOCK_BYTES = 2 << 20

LINE_BYTES = 1 << 12  # most lines are shorter


@dataclass(frozen=True)
class Block:
    """Some texts of one input: whole lines as they stand in the file, or an Arrow array of texts."""

    where: str
    unit: Literal["line", "row", "item"]
    first: int
    lines: bytes | None = None
    texts: Any = None  # pa.LargeBinaryArray
    numbers: Sequence[int] | None = None  # of the texts, where they do not simply follow `first`

    def place(self, index: int) -> str:
        """Where text `index` of this block stands: `train/eng_Latn.txt, line 17`."""
        number = self.first + index if self.numbers is None else self.numbers[index]
        return f"{self.where}, {self.unit} {number + 1}"


def file_blocks(file: TextFile, how: TextReading) -> Iterator[tuple[int, Block]]:
    if file.kind == "parquet":
        return parquet_blocks(file, how.text_column)
    if file.codec and not file.size and not file.once:
        refuse_broken(file.path, file.codec, EOFError("it has no bytes"))
    return delimited_blocks(file, how.text_column) if file.kind in ("csv", "tsv") else line_blocks(file)


STREAM_DAMAGE = (OSError, EOFError, lzma.LZMAError, pa.ArrowException)
"""What reading a damaged file may raise, compressed or not."""


def line_blocks(file: TextFile) -> Iterator[tuple[int, Block]]:
    """Whole lines of a text file, about BLOCK_BYTES at a time (more where a line is longer)."""
    line = 0
    try:
        with open_raw(file) as raw:
            whole = file.codec is None and not file.once
            for part in plain_lines(raw) if whole else streamed_lines(decompressed(raw, file.codec)):
                lines = part if line else without_mark(part, file.path)
                if lines:
                    yield 0 if file.once else raw.tell(), Block(str(file.path), "line", line, lines)
                # Lines are short, so `bytes.count` would take longer, and hold the GIL.
                line += int(np.count_nonzero(np.frombuffer(lines, np.uint8) == ord("\n")))
    except STREAM_DAMAGE as error:
        ended = f", near line {line + 1}" if file.codec else ""
        refuse_broken(file.path, file.codec or "text", error, ended)


def delimited_blocks(file: TextFile, text_column: str) -> Iterator[tuple[int, Block]]:
    row = 0
    try:
        with open_raw(file) as raw:
            kind: Literal["csv", "tsv"] = "csv" if file.kind == "csv" else "tsv"
            stream = decompressed(raw, file.codec)
            for texts in delimited.batches(stream, kind, text_column, str(file.path)):
                yield 0 if file.once else raw.tell(), Block(str(file.path), "row", row, texts=texts)
                row += len(texts)
    except STREAM_DAMAGE as error:
        broken = file.kind if "CSV" in str(error) else file.codec or file.kind
        refuse_broken(file.path, broken, error, f", near row {row + 1}")


def decompressed(raw: pa.NativeFile, codec: str | None) -> Any:
    if codec == "xz":  # Arrow has no reader for it
        return lzma.LZMAFile(raw)
    return raw if codec is None else pa.CompressedInputStream(raw, codec)


def open_raw(file: TextFile) -> pa.NativeFile:
    """Arrow opens only what it can seek in."""
    return pa.PythonFile(file.path.open("rb"), "r") if file.once else pa.OSFile(str(file.path))


def plain_lines(raw: pa.NativeFile) -> Iterator[bytes]:
    """The end of a block's last line is looked for first, so that the block is read as it is and never copied."""
    start = 0
    while True:
        end = start + BLOCK_BYTES
        raw.seek(end)
        while more := raw.read(LINE_BYTES):
            newline = more.find(b"\n") + 1
            end += newline or len(more)
            if newline:
                break
        raw.seek(start)
        if lines := raw.read(end - start):
            yield lines
        if len(lines) < end - start:
            return
        start = end


def streamed_lines(stream: Any) -> Iterator[bytes]:
    pieces: list[bytes] = []  # of a line not yet ended
    while data := stream.read(BLOCK_BYTES):
        if cut := data.rfind(b"\n") + 1:
            yield b"".join([*pieces, data[:cut]])
            pieces = []
        pieces.append(data[cut:])
    if rest := b"".join(pieces):
        yield rest


def without_mark(data: bytes, path: Path) -> bytes:
    """The start of a file without the UTF-8 byte order mark; what is plainly no UTF-8 text is refused."""
    for magic, what, fix in (
        (b"\x1f\x8b", "gzip data", "name it .gz"),
        (b"\x28\xb5\x2f\xfd", "zstd data", "name it .zst"),
        (b"\xfd7zXZ\x00", "xz data", "name it .xz"),
        (b"BZh91AY&SY", "bzip2 data", "name it .bz2"),
        (b"\xff\xfe", "UTF-16 text", "convert it to UTF-8"),
        (b"\xfe\xff", "UTF-16 text", "convert it to UTF-8"),
    ):
        if data.startswith(magic):
            raise PairityError(f"{path}, line 1: this is {what}, not UTF-8: {fix}.")
    start = data[:LINE_BYTES]
    if start.count(0) > max(8, len(start) // 4):  # half of the bytes of English text
        raise PairityError(
            f"{path}, line 1: this looks like UTF-16, since many of its bytes are 0: convert it to UTF-8."
        )
    return data.removeprefix(b"\xef\xbb\xbf")


TEXT_TYPES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
)


def parquet_blocks(file: TextFile, text_column: str) -> Iterator[tuple[int, Block]]:
    row = 0
    try:
        # Without checksums, which not every writer makes, damage inside a page may pass for other text.
        with pq.ParquetFile(file.path, page_checksum_verification=True) as parquet:
            schema = parquet.schema_arrow
            refuse_double(str(file.path), text_column, schema.names)
            inner = [] if text_column in schema.names else text_column.split(".")[1:]
            kind = type_at(schema, text_column, str(file.path))
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            if not any(is_kind(kind) for is_kind in TEXT_TYPES):
                raise PairityError(
                    f"{file.path}: the column {text_column!r} holds {kind}, not text. {COLUMN_FIX}"
                )
            rows = parquet.metadata.num_rows
            for batch in parquet.iter_batches(
                rows_per_block(parquet), columns=[text_column], use_threads=False
            ):
                column = pc.struct_field(batch.column(0), inner) if inner else batch.column(0)
                if pa.types.is_dictionary(column.type):
                    column = column.dictionary_decode()
                if column.null_count:
                    missing = row + pc.index(pc.is_null(column), pa.scalar(True)).as_py()
                    raise PairityError(
                        f"{file.path}, row {missing + 1}: {text_column!r} is null. Remove such rows."
                    )
                texts = column.cast(pa.large_binary())
                yield file.size * row // max(rows, 1), Block(str(file.path), "row", row, texts=texts)
                row += len(texts)
    except PairityError:
        raise
    except PARQUET_DAMAGE as error:
        refuse_broken(file.path, "Parquet", error, f", near row {row + 1}")


def type_at(schema: pa.Schema, text_column: str, where: str) -> pa.DataType:
    """Of a column, or of a field inside one: "message.text"."""
    if text_column in schema.names:
        return schema.field(text_column).type
    fields: Any = schema
    for name in text_column.split("."):
        names = [field.name for field in fields]
        if names.count(name) != 1:
            refuse_column(where, text_column, schema.names)
        found = fields.field(names.index(name)).type
        fields = found if pa.types.is_struct(found) else pa.struct([])
    return found


def rows_per_block(parquet: Any) -> int:
    """Rows that make about BLOCK_BYTES, or less where there are other columns, from the sizes in the footer.

    The footer knows the size of each column too, but asking for it in a damaged file ends the process.
    """
    metadata = parquet.metadata
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return int(min(max(BLOCK_BYTES * metadata.num_rows // max(size, 1), 16), 1 << 16))


def parse(block: Block, file: TextFile, how: TextReading) -> Block:
    """JSON lines to texts; other blocks are ready as they are."""
    if file.kind != "jsonl" or block.lines is None:
        return block
    texts, numbers = jsonl.texts(block.lines, how.text_column, block.place)
    first = None if numbers is None else [block.first + number for number in numbers]
    return Block(block.where, "line", block.first, texts=texts, numbers=first)


def iterable_blocks(language: str, lines: Iterable[object], how: TextReading) -> Iterator[Block]:
    """Lines from Python: strings, UTF-8 bytes, or records with a text column, as `datasets` gives."""
    where = f"the lines given for {language!r}"
    texts: list[bytes] = []
    size = first = 0

    def block() -> Block:
        return Block(where, "item", first, texts=pa.array(texts, pa.large_binary()))

    for index, item in enumerate(lines):
        text = item_bytes(item, f"{where}, item {index + 1}", how.text_column)
        texts.append(text)
        size += len(text) + 16
        if size >= BLOCK_BYTES:
            yield block()
            texts, size, first = [], 0, index + 1
    if texts:
        yield block()


def item_bytes(item: object, place: str, text_column: str) -> bytes:
    """One line as bytes without its line end, so that an open file may be given as well as a list."""
    if isinstance(item, Mapping):
        item = value_in(item, text_column, place)
    if isinstance(item, str):
        item = to_utf8(item)
    if not isinstance(item, bytes):
        raise PairityError(f"{place} is {type(item).__name__}, not a string.")
    return item[:-1].removesuffix(b"\r") if item.endswith(b"\n") else item


def no_text(part: TextInput, lines: int) -> str:
    """The sentence about an input that is empty."""
    blank = f"holds {lines} blank lines and nothing else" if lines else "is empty"
    return (
        f"no text for {part.language!r}: {part.origin} {blank}. Give it text, or leave {part.language} out."
    )


def not_utf8(place: str, column: int) -> str:
    """The sentence about text in another encoding."""
    return (
        f"{place}: not UTF-8 (byte {column + 1}). Convert the text, or read it with errors='replace' "
        "(--replace-invalid)."
    )
