"""Text of every language, in blocks of whole lines or records, handed to as many threads as there are.

.txt holds one text a line; .jsonl and .parquet one text a record, in the column `text_column`. All but
Parquet may be gzip or zstd files. Memory stays at a few blocks, whatever the size of the corpus.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.text.sources import CountsInput, Kind, TextFile, TextInput, refuse_broken, resolve

Progress = Callable[[int, int, str], None]  # bytes done, bytes in all, the language at work

# Large enough that taking a block costs nothing beside counting it, small enough that Ctrl-C, which waits for
# the blocks in work, is felt at once even with a slow user-given pattern.
BLOCK_BYTES = 2 << 20

LINE_BYTES = 1 << 12  # most lines are shorter

MOST_THREADS = 1024


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


@dataclass
class _Stream:
    """One file being read. Threads take its blocks in turn and work on them at the same time."""

    order: int
    language: str
    file: TextFile
    blocks: Iterator[tuple[int, Block]]  # with how many bytes of the file are read
    lock: threading.Lock = field(default_factory=threading.Lock)
    done: int = 0
    threads: int = 0
    finished: bool = False

    def take(self) -> Block | None:
        with self.lock:
            self.done, block = next(self.blocks, (self.file.size, None))
            return block


def read(
    inputs: Sequence[TextInput],
    feed: Callable[[str, Block], None],
    ended: Callable[[str], None] = lambda language: None,
    *,
    text_column: str = "text",
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Call `feed(language, block)` for all text, from `threads` threads at once and in no defined order.

    `ended(language)` is called once for each language when all its text was fed, by the thread that fed the last of
    it; not after an error.
    Threads begin with the largest files, one each. When no file is left, they help with those still being
    read: one reads and decompresses, the others work on the blocks, so one big file keeps all of them busy.
    Iterables are read by the calling thread, as their owner expects. The first error or Ctrl-C ends it all.
    """
    number = thread_count(threads)
    ordered = [(part.language, file) for part in inputs for file in part.files]
    streams = [
        _Stream(n, lang, file, _file_blocks(file, text_column)) for n, (lang, file) in enumerate(ordered)
    ]
    waiting = sorted(streams, key=lambda stream: stream.file.size)  # the largest is popped first
    left = Counter([stream.language for stream in streams])  # how many sources of a language are not yet read
    left.update(part.language for part in inputs if part.lines is not None)
    choosing = threading.Lock()
    failures: list[tuple[int, int, BaseException]] = []
    stop = threading.Event()
    total = sum(stream.file.size for stream in streams)
    now = streams[0].language if streams else ""

    def choose() -> _Stream | None:
        with choosing:
            if waiting:
                stream = waiting.pop()
            else:
                being_read = [stream for stream in streams if stream.threads and not stream.finished]
                if not being_read:
                    return None
                stream = min(being_read, key=lambda stream: (stream.threads, -stream.file.size))
            stream.threads += 1
            return stream

    def leave(stream: _Stream) -> None:
        with choosing:
            stream.finished = True
            stream.threads -= 1
            if stream.threads:
                return
        close(stream.language)

    def close(language: str) -> None:
        with choosing:
            left[language] -= 1
            last = not left[language]
        if last and not stop.is_set():
            ended(language)

    def work() -> None:
        nonlocal now
        while not stop.is_set() and (stream := choose()):
            now = stream.language
            first = -1
            try:
                while not stop.is_set() and (block := stream.take()):
                    first = block.first
                    feed(stream.language, _parse(block, stream.file.kind, text_column))
                leave(stream)
            except BaseException as error:
                failures.append((stream.order, first, error))
                stop.set()

    def report() -> None:
        if progress:
            progress(sum(stream.done for stream in streams), total, now)

    def meanwhile() -> None:
        for part in inputs:
            for block in _iterable_blocks(part.language, part.lines or (), text_column):
                if stop.is_set():
                    return
                feed(part.language, block)
                report()
            if part.lines is not None:
                close(part.language)

    for part in inputs:
        if part.language not in left:  # a pattern that found no file
            ended(part.language)
    _in_threads(work, stop, number if streams else 0, meanwhile, report)
    if failures:
        # Threads may find several; the first in a broken file is the same in every run.
        raise min(failures, key=lambda failure: failure[:2])[2]
    report()


def _in_threads(
    work: Callable[[], None],
    stop: threading.Event,
    threads: int,
    meanwhile: Callable[[], None],
    report: Callable[[], None],
) -> None:
    """Run `work` in threads and `meanwhile` in this one, and wait for all; Ctrl-C or an error sets `stop`."""
    crew = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    try:
        for thread in crew:
            thread.start()
        meanwhile()
        for thread in crew:
            while thread.is_alive():
                thread.join(0.05)
                report()
    except BaseException:
        stop.set()
        until = time.monotonic() + 0.5
        for thread in crew:
            thread.join(max(0.0, until - time.monotonic()))
        raise


def thread_count(threads: int | None) -> int:
    """All cores that this process may use, if not said otherwise."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise PairityError(f"threads must be at least 1, not {threads}.")
    if threads > MOST_THREADS:
        raise PairityError(
            f"threads must be at most {MOST_THREADS}, not {threads}: more than cores only wait."
        )
    return threads


def read_texts(
    sources: Any,
    *,
    text_column: str = "text",
    errors: Literal["strict", "replace"] = "strict",
    languages: Iterable[str] | None = None,
) -> dict[str, list[str]]:
    """All texts of every language, in order, in memory: for test sets, where lines are aligned.

    {"eng_Latn": ["First line.", ...], "deu_Latn": ["Erste Zeile.", ...]}
    """
    texts: dict[str, list[str]] = {}
    for part in resolve(sources, languages).inputs:
        if isinstance(part, CountsInput):
            raise PairityError(f"{part.origin} holds counts, and here text is needed: give the text files.")
        found = texts[part.language] = []
        for file in part.files:
            for _, block in _file_blocks(file, text_column):
                found += _decode(_parse(block, file.kind, text_column), errors)
        if part.lines is not None:
            for block in _iterable_blocks(part.language, part.lines, text_column):
                found += _decode(block, errors)
        if not any(found):
            raise PairityError(no_text(part, len(found)))
    return texts


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


def _decode(block: Block, errors: str) -> list[str]:
    if block.lines is None:
        raw = block.texts.to_pylist()
    else:
        raw = block.lines.removesuffix(b"\n").split(b"\n")
        raw = [line.removesuffix(b"\r") for line in raw]
    texts = []
    for index, text in enumerate(raw):
        try:
            texts.append(text.decode("utf-8", errors))
        except UnicodeDecodeError as error:
            raise PairityError(not_utf8(block.place(index), error.start)) from None
    return texts


def _file_blocks(file: TextFile, text_column: str) -> Iterator[tuple[int, Block]]:
    return _parquet_blocks(file, text_column) if file.kind == "parquet" else _line_blocks(file)


def _line_blocks(file: TextFile) -> Iterator[tuple[int, Block]]:
    """Whole lines of a text file, about BLOCK_BYTES at a time (more where a line is longer)."""
    if file.codec and not file.size:
        raise PairityError(
            f"{file.path}: broken {file.codec} file (it has no bytes). Make or fetch it again."
        )
    line = 0
    try:
        with pa.OSFile(str(file.path)) as raw:
            parts = _inflated_lines(raw, file.codec) if file.codec else _plain_lines(raw)
            for part in parts:
                lines = part if line else _without_mark(part, file.path)
                if lines:
                    yield raw.tell(), Block(str(file.path), "line", line, lines)
                # Lines are short, so `bytes.count` would take longer, and hold the GIL.
                line += int(np.count_nonzero(np.frombuffer(lines, np.uint8) == ord("\n")))
    except (OSError, pa.ArrowException) as error:
        ended = f", near line {line + 1}" if file.codec else ""
        refuse_broken(file.path, file.codec or "text", error, ended)


def _plain_lines(raw: pa.NativeFile) -> Iterator[bytes]:
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


def _inflated_lines(raw: pa.NativeFile, codec: str) -> Iterator[bytes]:
    pieces: list[bytes] = []  # of a line not yet ended
    stream = pa.CompressedInputStream(raw, codec)
    while data := stream.read(BLOCK_BYTES):
        if cut := data.rfind(b"\n") + 1:
            yield b"".join([*pieces, data[:cut]])
            pieces = []
        pieces.append(data[cut:])
    if rest := b"".join(pieces):
        yield rest


def _without_mark(data: bytes, path: Path) -> bytes:
    """The start of a file without the UTF-8 byte order mark; what is plainly no UTF-8 text is refused."""
    for magic, what, fix in (
        (b"\x1f\x8b", "gzip data", "name it .gz"),
        (b"\x28\xb5\x2f\xfd", "zstd data", "name it .zst"),
        (b"\xff\xfe", "UTF-16 text", "convert it to UTF-8"),
        (b"\xfe\xff", "UTF-16 text", "convert it to UTF-8"),
    ):
        if data.startswith(magic):
            raise PairityError(f"{path}, line 1: this is {what}, not UTF-8: {fix}.")
    return data.removeprefix(b"\xef\xbb\xbf")


def _parquet_blocks(file: TextFile, text_column: str) -> Iterator[tuple[int, Block]]:
    row = 0
    try:
        # Without checksums, which not every writer makes, damage inside a page may pass for other text.
        with pq.ParquetFile(file.path, page_checksum_verification=True) as parquet:
            schema = parquet.schema_arrow
            if text_column not in schema.names:
                _refuse_column(str(file.path), text_column, schema.names)
            kind = schema.field(text_column).type
            if pa.types.is_dictionary(kind):
                kind = kind.value_type
            if not any(is_kind(kind) for is_kind in _TEXT_TYPES):
                raise PairityError(
                    f"{file.path}: the column {text_column!r} holds {kind}, not text. {_COLUMN_FIX}"
                )
            rows = parquet.metadata.num_rows
            for batch in parquet.iter_batches(
                _rows_a_block(parquet, text_column), columns=[text_column], use_threads=False
            ):
                column = batch.column(0)
                if pa.types.is_dictionary(column.type):
                    column = column.dictionary_decode()
                if column.null_count:
                    missing = row + pc.index(pc.is_null(column), pa.scalar(True)).as_py()
                    raise PairityError(
                        f"{file.path}, row {missing + 1}: {text_column!r} is null. Remove such rows."
                    )
                texts = column.cast(pa.large_binary())
                yield file.size * row // rows, Block(str(file.path), "row", row, texts=texts)
                row += len(texts)
    except (OSError, pa.ArrowException) as error:
        refuse_broken(file.path, "Parquet", error, f", near row {row + 1}")


_TEXT_TYPES = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
)
_COLUMN_FIX = "Name the column that holds the text with text_column (--text-column)."


def _rows_a_block(parquet: Any, text_column: str) -> int:
    """Rows that make about BLOCK_BYTES, from the sizes in the footer."""
    metadata = parquet.metadata
    size = 0
    for group in range(metadata.num_row_groups):
        chunks = (metadata.row_group(group).column(i) for i in range(metadata.num_columns))
        size += sum(chunk.total_uncompressed_size for chunk in chunks if chunk.path_in_schema == text_column)
    return int(min(max(BLOCK_BYTES * metadata.num_rows // max(size, 1), 16), 1 << 16))


def _refuse_column(where: str, text_column: str, columns: Iterable[str]) -> NoReturn:
    raise PairityError(f"{where}: no column {text_column!r}; there are: {', '.join(columns)}. {_COLUMN_FIX}")


def _parse(block: Block, kind: Kind, text_column: str) -> Block:
    """JSON lines to texts; other blocks are ready as they are."""
    if kind != "jsonl" or block.lines is None:
        return block
    texts = _json_texts_fast(block.lines, text_column)
    if texts is not None:
        return Block(block.where, "line", block.first, texts=texts)
    return _json_texts(block, block.lines, text_column)


def _json_texts_fast(lines: bytes, text_column: str) -> Any | None:
    """The texts by Arrow's parser, which does not hold the GIL; None where the slow parser must look."""
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(lines),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=pa.schema([(text_column, pa.large_string())]),
                unexpected_field_behavior="ignore",
            ),
        )
    except (pa.ArrowException, OverflowError):
        return None
    texts = table.column(text_column).combine_chunks()
    # Arrow does not insist on one record a line. As `}{` is nowhere valid inside JSON, lines that all begin
    # with `{` and end with `}` cut no record in two, and then as many records as lines means one on each.
    lines = lines.removesuffix(b"\n")
    breaks = lines.count(b"\n")
    one_a_line = breaks == lines.count(b"}\n{") == len(texts) - 1 and lines[:1] == b"{" and lines[-1:] == b"}"
    if not one_a_line or texts.null_count:
        return None
    return texts.cast(pa.large_binary())


def _json_texts(block: Block, lines: bytes, text_column: str) -> Block:
    """The texts line by line: skips blank lines, and says exactly where a record is wrong."""
    texts: list[bytes] = []
    numbers: list[int] = []
    for number, line in enumerate(lines.split(b"\n")):
        if line.strip():
            texts.append(_json_text(line, block.place(number), text_column))
            numbers.append(block.first + number)
    return Block(block.where, "line", block.first, texts=pa.array(texts, pa.large_binary()), numbers=numbers)


def _json_text(line: bytes, place: str, text_column: str) -> bytes:
    try:
        # Bytes that are not UTF-8 pass through here and are judged where all text is.
        record = json.loads(line.decode("utf-8", "surrogateescape"))
    except json.JSONDecodeError as error:
        raise PairityError(
            f"{place}, column {error.colno}: not JSON ({error.msg}). A .jsonl file has one record a line."
        ) from None
    except (ValueError, RecursionError) as error:
        raise PairityError(f"{place}, column 1: this JSON cannot be read ({error}).") from None
    if not isinstance(record, dict):
        raise PairityError(
            f'{place}: not a JSON object such as {{"{text_column}": "..."}}, but {_json_type(record)}.'
        )
    if text_column not in record:
        _refuse_column(place, text_column, record)
    text = record[text_column]
    if not isinstance(text, str):
        raise PairityError(f"{place}: {text_column!r} is {_json_type(text)}, not a string. {_COLUMN_FIX}")
    return _to_bytes(text)


def _json_type(value: object) -> str:
    names = {bool: "true or false", dict: "an object", list: "a list", str: "a string", type(None): "null"}
    return names.get(type(value), "a number")


def _to_bytes(text: str) -> bytes:
    """UTF-8; lone surrogates become bytes that are not, so that they are found and named like any other."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _iterable_blocks(language: str, lines: Iterable[object], text_column: str) -> Iterator[Block]:
    """Lines from Python: strings, UTF-8 bytes, or records with a text column, as `datasets` gives."""
    where = f"the lines given for {language!r}"
    texts: list[bytes] = []
    size = first = 0

    def block() -> Block:
        return Block(where, "item", first, texts=pa.array(texts, pa.large_binary()))

    for index, item in enumerate(lines):
        text = _item_bytes(item, f"{where}, item {index + 1}", text_column)
        texts.append(text)
        size += len(text) + 16
        if size >= BLOCK_BYTES:
            yield block()
            texts, size, first = [], 0, index + 1
    if texts:
        yield block()


def _item_bytes(item: object, place: str, text_column: str) -> bytes:
    """One line as bytes without its line end, so that an open file may be given as well as a list."""
    if isinstance(item, Mapping):
        if text_column not in item:
            _refuse_column(place, text_column, map(str, item))
        item = item[text_column]
    if isinstance(item, str):
        item = _to_bytes(item)
    if not isinstance(item, bytes):
        raise PairityError(f"{place} is {type(item).__name__}, not a string.")
    return item[:-1].removesuffix(b"\r") if item.endswith(b"\n") else item
