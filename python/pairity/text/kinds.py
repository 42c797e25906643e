"""What the name of a file tells: its format, its compression and its language.

format_of("eng_Latn.jsonl.zst")   -> ("jsonl", "zstd")
stem_of("dir/eng_Latn.jsonl.zst") -> "eng_Latn"

A pipe is read by its suffix, like a file. /dev/stdin and the shell's <(...), which is something like /dev/fd/63, are
plain text. `-` is standard input too, and may have a suffix that says what comes: `-.jsonl.zst`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.text.addresses import Place
from pairity.text.inputs import COUNTS_COLUMNS, PARQUET_DAMAGE, STDIN, FileKind, TextFile, refuse_broken

KINDS: dict[str, FileKind] = {
    ".words.tsv": "words",
    ".txt": "txt",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
CODECS = {".gz": "gzip", ".zst": "zstd", ".xz": "xz", ".bz2": "bz2"}
READABLE = ".txt, .jsonl, .csv, .tsv, .words.tsv (plain, .gz, .zst, .xz or .bz2) or .parquet"
DOCUMENTATION = ("README", "LICENSE", "LICENCE", "NOTICE", "COPYING", "CITATION", "CHANGELOG")
OPEN_FILES = ("/dev", "/dev/fd", "/proc/self/fd")
"""Where the system lists the open files of this process; names in there have no suffix."""


def text_file(path: Place) -> TextFile:
    found = format_of(path)
    if found is None:
        refuse_kind(path)
    kind, codec = found
    if not isinstance(path, Path):
        return TextFile(path, kind, codec, path.size())
    if is_stream(path):
        return stream_of(path, kind, codec)
    if not path.is_file():
        raise PairityError(
            f"{path} is not a file: it may be a broken link, or a socket. Remove it or hide it (_{path.name})."
        )
    return TextFile(path, kind, codec, path.stat().st_size)


def stream_of(path: Path, kind: FileKind, codec: str | None) -> TextFile:
    if kind == "parquet":
        raise PairityError(
            f"{path} is a pipe, and Parquet cannot be read from a pipe, because its index is at the end. "
            "Write it to a file first."
        )
    return TextFile(path, kind, codec, 0, once=True)


def standard_input(written: str, of_records: bool = False) -> TextFile | None:
    """`-`: lines of text (or records, as JSON lines); `-.csv.gz`: as a file of that ending; None for all else."""
    if written != "-" and not written.startswith("-."):
        return None
    if sys.__stdin__ is None or sys.__stdin__.closed:
        raise PairityError(
            f"{written} is standard input, which is closed: pipe text into it, or name a file."
        )
    if written == "-":
        return stream_of(STDIN, "jsonl" if of_records else "txt", None)
    found = format_of(Path(f"stdin{written[1:]}"))
    if found is None:
        raise PairityError(
            f"{written} names a format that cannot be read from standard input: after the -, write "
            f"{READABLE}."
        )
    return stream_of(STDIN, *found)


def is_stream(path: Place) -> bool:
    """Whether it is a pipe or a terminal: readable only once, and of unknown size."""
    return path.is_fifo() or path.is_char_device()


def is_open_file(path: Place) -> bool:
    return str(path.parent) in OPEN_FILES


def endings_of(name: str) -> tuple[str, str]:
    """The endings that say how a file is laid out and compressed: "a.jsonl.zst" -> (".jsonl", ".zst")"""
    lower = name.lower()
    codec = next((ending for ending in CODECS if lower.endswith(ending) and len(lower) > len(ending)), "")
    lower = lower.removesuffix(codec)
    return next(
        (ending for ending in KINDS if lower.endswith(ending) and len(lower) > len(ending)), ""
    ), codec


def format_of(path: Place) -> tuple[FileKind, str | None] | None:
    """(format, compression); None for a file that cannot be read."""
    kind, codec = endings_of(path.name)
    if not kind:
        return ("txt", None) if is_open_file(path) else None
    if kind == ".parquet" and codec:
        return None
    return KINDS[kind], CODECS.get(codec)


def stem_of(path: Place) -> str:
    return path.name[: len(path.name) - len("".join(endings_of(path.name)))]


def is_documentation(path: Place) -> bool:
    return path.suffix.lower() == ".md" or path.name.partition(".")[0].upper() in DOCUMENTATION


def is_counts_file(file: TextFile) -> bool:
    if file.kind != "parquet":
        return False
    try:
        schema = pq.read_schema(file.path if file.is_local else file.open())
        return set(COUNTS_COLUMNS) <= set(schema.names)
    except PARQUET_DAMAGE as error:
        refuse_broken(file.path, "Parquet", error)


def refuse_kind(path: Place) -> NoReturn:
    raise PairityError(
        f"{path}: this kind of file cannot be read. The name of a text file must end in {READABLE}; "
        f"convert the file, move it away or hide it (_{path.name})."
    )
