"""What a file is, by its name: how it is laid out, how it is compressed, what language it is named after.

format_of("eng_Latn.jsonl.zst")   -> ("jsonl", "zstd")
stem_of("dir/eng_Latn.jsonl.zst") -> "eng_Latn"

A pipe is read like a file of its suffix. /dev/stdin and the shell's <(...), which is /dev/fd/63 or so, are text.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.text.inputs import COUNTS_COLUMNS, PARQUET_DAMAGE, Kind, TextFile, refuse_broken

KINDS: dict[str, Kind] = {
    ".txt": "txt",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
CODECS = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bz2"}
READABLE = ".txt, .jsonl, .csv, .tsv (plain, .gz, .zst, .xz or .bz2) or .parquet"
DOCUMENTATION = ("README", "LICENSE", "LICENCE", "NOTICE", "COPYING", "CITATION", "CHANGELOG")
OPEN_FILES = ("/dev", "/dev/fd", "/proc/self/fd")
"""Where the system lists what this process has open: such names have no suffix."""


def text_file(path: Path) -> TextFile:
    found = format_of(path)
    if found is None:
        refuse_kind(path)
    kind, codec = found
    if is_stream(path):
        if kind == "parquet":
            raise PairityError(
                f"{path} is a pipe, and Parquet cannot be read from one: its list of contents is at its end. "
                "Write it to a file first."
            )
        return TextFile(path, kind, codec, 0, once=True)
    if not path.is_file():
        raise PairityError(
            f"{path} is not a file: it may be a broken link, or a socket. Remove it or hide it (_{path.name})."
        )
    return TextFile(path, kind, codec, path.stat().st_size)


def is_stream(path: Path) -> bool:
    """Whether it is a pipe or a terminal: of unknown size, and readable once."""
    return path.is_fifo() or path.is_char_device()


def is_open_file(path: Path) -> bool:
    return str(path.parent) in OPEN_FILES


def format_of(path: Path) -> tuple[Kind, str | None] | None:
    """None for what cannot be read."""
    name, codec = Path(path.name), CODECS.get(path.suffix.lower())
    if codec:
        name = name.with_suffix("")
    kind = KINDS.get(name.suffix.lower())
    if kind is None and is_open_file(path):
        return "txt", None
    if kind is None or (kind == "parquet" and codec):
        return None
    return kind, codec


def stem_of(path: Path) -> str:
    name = Path(path.name)
    if name.suffix.lower() in CODECS:
        name = name.with_suffix("")
    return name.stem if name.suffix.lower() in KINDS else name.name


def is_documentation(path: Path) -> bool:
    return path.suffix.lower() == ".md" or path.name.partition(".")[0].upper() in DOCUMENTATION


def is_counts_file(path: Path) -> bool:
    try:
        return set(COUNTS_COLUMNS) <= set(pq.read_schema(path).names)
    except PARQUET_DAMAGE as error:
        refuse_broken(path, "Parquet", error)


def refuse_kind(path: Path) -> NoReturn:
    raise PairityError(
        f"{path}: this kind of file cannot be read. Text must end in {READABLE}; "
        f"convert it, move it away or hide it (_{path.name})."
    )
