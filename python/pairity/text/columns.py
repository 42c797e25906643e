"""What records of every format share: a column with the text, text as bytes, and the treatment of broken text."""

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import pyarrow as pa

from pairity.errors import PairityError

FIXES = (
    "Name the column that holds the text with text_column (--text-column).",
    "Name the column that holds the language with language_column (--language-column).",
)
"""Advice for a missing first column (the text) and a missing second one (the language)."""


def refuse_column(where: str, column: str, columns: Iterable[str], fix: str) -> NoReturn:
    raise PairityError(f"{where}: no column {column!r}; there are: {', '.join(columns)}. {fix}")


def value_in(record: Mapping[str, Any], column: str, where: str, fix: str) -> Any:
    """The value under a name, or under a path: {"message": {"text": "hi"}}, "message.text" -> "hi" """
    if column in record:
        return record[column]
    found: Any = record
    for name in column.split("."):
        if not isinstance(found, Mapping) or name not in found:
            refuse_column(where, column, map(str, record), fix)
        found = found[name]
    return found


def refuse_double(where: str, text_column: str, columns: Iterable[str]) -> None:
    """Refuse a table with two columns of the same name."""
    if (number := list(columns).count(text_column)) > 1:
        raise PairityError(f"{where}: there are {number} columns {text_column!r}. Rename all but one.")


def check_errors(errors: str) -> None:
    """Refuse a value of `errors`, the treatment of invalid text, that does not exist."""
    if errors not in ("strict", "replace"):
        raise PairityError(f"errors is {errors!r}: give 'strict' or 'replace'.")


def to_utf8(text: str) -> bytes:
    """UTF-8. Lone surrogates become invalid bytes, which are then found and reported like any others."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def text_buffers(texts: Any) -> tuple[pa.Buffer, pa.Buffer]:
    """A LargeBinaryArray as its bytes and its n + 1 offsets."""
    _, offsets, data = texts.buffers()
    size = (len(texts) + 1) * 8
    return data or pa.py_buffer(b""), offsets.slice(texts.offset * 8, size) if offsets else pa.py_buffer(
        bytes(8)
    )
