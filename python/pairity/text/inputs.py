"""What SOURCEs resolve to: the files or lines of each language, or existing counts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

import pyarrow as pa

from pairity.errors import PairityError
from pairity.text.addresses import Place

FileKind = Literal["txt", "jsonl", "csv", "tsv", "parquet", "words"]

STDIN = Path("/dev/stdin")

COUNTS_COLUMNS = ("language", "pretoken", "count")
"""The columns of counts, in a file or in a table."""


class AlreadyCounted:
    """Marks values that hold counts instead of text; their classes are in `pairity.counts`, after this room."""


@dataclass(frozen=True)
class TextFile:
    """One file of texts: `kind` says how it is laid out, `codec` how it is compressed, if at all.

    `once`: a pipe, which can be read only once; its size is unknown, and 0 here.
    """

    path: Place
    kind: FileKind
    codec: str | None
    size: int
    once: bool = False

    @property
    def is_local(self) -> bool:
        return isinstance(self.path, Path)

    @property
    def is_sized(self) -> bool:
        """Whether the size is known; not every server tells it."""
        return self.size > 0 or (self.is_local and not self.once)

    def open(self) -> Any:
        if not isinstance(self.path, Path):
            return self.path.open()
        if self.once and self.path == STDIN:  # a socket cannot be opened by name
            return open(0, "rb", closefd=False)
        return self.path.open("rb")


@dataclass(frozen=True)
class TextInput:
    """The text of one language; or, if `language` is "", of the languages that its records name.

    `named`: the user named the language; it does not come from the name of a file or folder.
    `alone`: a file given by itself, not found in a folder.
    """

    language: str
    origin: str
    named: bool
    files: tuple[TextFile, ...] = ()
    lines: Iterable[object] | None = None
    alone: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class CountsInput:
    """Existing counts: a Parquet file, or an object (with `language` if it holds only that one)."""

    origin: str
    data: Any
    language: str | None = None


@dataclass(frozen=True)
class Resolved:
    """SOURCEs with every name looked up, in the order of the languages."""

    inputs: tuple[TextInput | CountsInput, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


PARQUET_DAMAGE = (OSError, ValueError, KeyError, OverflowError, MemoryError, pa.ArrowException)
"""What reading a damaged Parquet file may raise."""


def refuse_broken(path: Place, kind: str, error: Exception, place: str = "") -> NoReturn:
    if isinstance(error, PermissionError | FileNotFoundError | IsADirectoryError) and error.errno:
        raise PairityError(f"cannot read {path}: {os.strerror(error.errno)}.") from error
    raise PairityError(
        f"{path}{place}: broken {kind} file ({error}). Create or download it again."
    ) from error
