"""What records of every format share: a column with the text, text as bytes, and what becomes of broken text."""

from collections.abc import Iterable
from typing import NoReturn

from pairity.errors import PairityError

COLUMN_FIX = "Name the column that holds the text with text_column (--text-column)."


def refuse_column(where: str, text_column: str, columns: Iterable[str]) -> NoReturn:
    raise PairityError(f"{where}: no column {text_column!r}; there are: {', '.join(columns)}. {COLUMN_FIX}")


def check_errors(errors: str) -> None:
    """`errors` says what becomes of text that is not Unicode."""
    if errors not in ("strict", "replace"):
        raise PairityError(f"errors is {errors!r}: give 'strict' or 'replace'.")


def to_utf8(text: str) -> bytes:
    """UTF-8; lone surrogates become bytes that are not, so that they are found and named like any other."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
