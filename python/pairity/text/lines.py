"""Lines of .txt and .jsonl files, plain or compressed. A line too long for memory comes in parts."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from pairity import _core
from pairity.errors import PairityError
from pairity.text import blocks
from pairity.text.blocks import Block, not_utf8
from pairity.text.inputs import TextFile, refuse_broken
from pairity.text.options import TextReading

STREAM_DAMAGE = (OSError, EOFError, lzma.LZMAError, pa.ArrowException)
"""What reading a damaged file may raise, compressed or not."""

Broken = Callable[[PairityError, Block, int], None]
"""Called for a broken line or record with the error, the block and the index in it. Raises it, unless it is skipped."""


def line_blocks(file: TextFile, how: TextReading, broken: Broken) -> Iterator[tuple[int, Block]]:
    """(bytes read so far, lines), about BLOCK_BYTES of lines at a time, or more if a line is longer."""
    reader = LineReader(file, how, broken)
    try:
        with open_raw(file) as raw:
            # Kept in a variable, because it closes the file when it is garbage-collected.
            stream = decompressed(raw, file.codec)
            quick = file.codec is None and file.is_local and not file.once
            pieces = plain_pieces(raw) if quick else iter(lambda: stream.read(blocks.BLOCK_BYTES), b"")
            for block in reader.blocks(pieces):
                yield raw.tell(), block
    except STREAM_DAMAGE as error:
        ended = f", near line {reader.line + 1}" if file.codec else ""
        refuse_broken(file.path, file.codec or "text", error, ended)


class LineReader:
    """Joins the pieces in which a file is read into whole lines."""

    def __init__(self, file: TextFile, how: TextReading, broken: Broken) -> None:
        self.line = 0
        self._file = file
        self._how = how
        self._broken = broken
        self._long = False
        """Inside a line of which some parts were already handed out."""

    def blocks(self, pieces: Iterator[bytes]) -> Iterator[Block]:
        held: list[bytes] = []  # the beginning of a line whose end is not read yet
        size = 0
        started = passing = False  # passing over a broken line
        for piece in pieces:
            data = piece if started else without_mark(piece, str(self._file.path))
            started = True
            end = data.find(b"\n") + 1
            if end and (passing or self._long or (size + end > self._how.max_line and self.refuses())):
                if self._long:
                    yield self.block(b"".join([*held, data[:end]]), part=True)
                else:
                    self.line += 1
                data, held, size = data[end:], [], 0
                passing = self._long = False
            if passing or not data:
                continue
            if cut := data.rfind(b"\n") + 1:
                yield self.block(b"".join([*held, data[:cut]]) if held else data[:cut])
                data, held, size = data[cut:], [], 0
            if data:
                held.append(data)
                size += len(data)
            if size > self._how.max_line:
                parts = self.cut(b"".join(held))
                passing, held, size = parts is None, [], 0
                self._long = not passing
                if parts:
                    head, rest = parts
                    yield self.block(head, part=True, goes_on=True)
                    held, size = [rest], len(rest)
        if held:
            yield self.block(b"".join(held), part=self._long)

    def block(self, lines: bytes, *, part: bool = False, goes_on: bool = False) -> Block:
        made = Block(str(self._file.path), "line", self.line, lines, part=part, goes_on=goes_on)
        # Lines are short, so `bytes.count` would be slower, and it holds the GIL.
        self.line += int(np.count_nonzero(np.frombuffer(lines, np.uint8) == ord("\n")))
        return made

    def cut(self, beginning: bytes) -> tuple[bytes, bytes] | None:
        """Split the beginning of a long line into a finished part and the rest. None: skip the line."""
        at = Block(str(self._file.path), "line", self.line, part=self._long)
        size = f"{at.place(0)}: longer than {self._how.max_line:,} bytes"
        cut = self._how.cut
        try:
            if self._file.kind != "txt":
                raise PairityError(f"{size}. Split the record, or leave it out.")
            if cut is None:
                raise PairityError(f"{size}. Split it into several lines.")
            parts = _core.cut_long(cut.pattern, beginning, nfc=cut.normalize == "nfc")
            if parts is None:
                raise PairityError(
                    f"{size}, and there is no place to split it: the pre-tokenizer ({cut}) is not a named "
                    "one, or finds no end of a pre-token. Split it into several lines."
                )
            return parts
        except _core.NotUtf8Error as error:
            column = None if self._long else error.column
            self._broken(PairityError(not_utf8(at.place(0), column)), at, 0)
        except PairityError as error:
            self._broken(error, at, 0)
        return None

    def refuses(self) -> bool:
        """Whether a long line, though complete, counts as broken; if so, report it."""
        return self._file.kind != "txt" and self.cut(b"") is None


def open_raw(file: TextFile) -> Any:
    """Pipes are opened by Python, since Arrow opens only seekable files."""
    if file.once:
        return CountedPipe(file.open())
    return pa.OSFile(str(file.path)) if file.is_local else pa.PythonFile(file.open(), "r")


class CountedPipe:
    """A pipe that counts the bytes read from it."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._read = 0

    def __enter__(self) -> CountedPipe:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        self._read += len(data)
        return data

    def tell(self) -> int:
        return self._read

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False


def decompressed(raw: Any, codec: str | None) -> Any:
    if codec == "xz":  # Arrow has no reader for it
        return lzma.LZMAFile(raw)
    if codec is None:
        return raw
    return pa.CompressedInputStream(pa.PythonFile(raw, "r") if isinstance(raw, CountedPipe) else raw, codec)


def plain_pieces(raw: Any) -> Iterator[bytes]:
    """Pieces of whole lines, unless one is very long. The line end is found before reading, so nothing is copied."""
    start = 0
    while True:
        end = start + blocks.BLOCK_BYTES
        raw.seek(end)
        while end - start < 2 * blocks.BLOCK_BYTES and (more := raw.read(blocks.LINE_BYTES)):
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


def without_mark(data: bytes, path: str) -> bytes:
    """The start of a file without its UTF-8 byte order mark. Refuse what clearly is not UTF-8 text."""
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
    start = data[: blocks.LINE_BYTES]
    if start.count(0) > max(8, len(start) // 4):  # UTF-16: half of the bytes of English text
        raise PairityError(
            f"{path}, line 1: this looks like UTF-16, because many of its bytes are 0: convert it to UTF-8."
        )
    return data.removeprefix(b"\xef\xbb\xbf")
