"""How text is read, as one frozen value: the columns, and the treatment of broken, duplicate and long lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypedDict

from pairity.errors import PairityError, quoted
from pairity.text.columns import check_errors
from pairity.text.pretokenizers import Pretokenization

LONGEST_LINE = 64 << 20


class GivenReading(TypedDict, total=False):
    """What a caller may set about reading text."""

    text_column: str | Mapping[str, str]
    """The column of the text in records, such as message.text, or {language: its column}. Default: text."""
    errors: Literal["strict", "replace"]
    """Bytes that are not UTF-8 are an error, or are read as U+FFFD and counted. Default: strict."""
    language_column: str | None
    """The column that names the language of each record, in a SOURCE without a language (a file, a folder, records, a
    dataset) that holds several."""
    on_error: Literal["stop", "skip"]
    """Broken lines and records are an error, or are skipped and reported. Default: stop."""
    dedup: Literal["lines"] | None
    """With "lines", duplicate texts of a language are skipped."""


def check_given(function: str, given: Mapping[str, object], known: type = GivenReading) -> None:
    """Refuse unknown keywords, as Python would if the function listed those of `known` itself."""
    names = known.__annotations__
    name = min(given.keys() - names.keys(), default=None)
    if name is not None:
        close = ["choose"] if name == "languages" else get_close_matches(name, names, n=1)
        advice = f". Did you mean {close[0]!r}?" if close else ""
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{advice}")


@dataclass(frozen=True, kw_only=True)
class TextReading:
    """Made once from what the user set, and passed on whole to everything that reads text."""

    text_column: str | Mapping[str, str] = "text"
    """Field or column of the text in records of every format, such as message.text; or {language: its own}."""
    errors: Literal["strict", "replace"] = "strict"
    """Bytes that are not UTF-8 are an error, or become U+FFFD."""
    language_column: str | None = None
    """Field or column that names the language of each record, in files with several languages."""
    on_error: Literal["stop", "skip"] = "stop"
    """A broken line or record is an error, or is skipped and reported."""
    dedup: Literal["lines"] | None = None
    """With "lines", each text of a language counts once, however often it occurs."""
    dedup_memory: int | None = None
    """Bytes for finding duplicates; texts beyond that wait on disk. None: a quarter of the machine's memory."""
    max_line: int = LONGEST_LINE
    """Longer lines of .txt are cut between two pre-tokens; longer lines of .jsonl are broken."""
    cut: Pretokenization | None = None
    """How long lines are cut; None: they count as broken."""

    def __post_init__(self) -> None:
        check_errors(self.errors)
        columns = self.text_column
        names = [columns] if isinstance(columns, str) else [*columns, *columns.values()]
        if not all(isinstance(name, str) and name for name in names):
            raise PairityError(
                f"text_column is {columns!r}: give the name of a column, or {{language: name}}."
            )
        if self.language_column is not None:
            if not isinstance(self.language_column, str) or not self.language_column:
                raise PairityError(f"language_column is {self.language_column!r}: give the name of a column.")
            if not isinstance(columns, str):
                raise PairityError(
                    "text_column has a name per language, but with language_column a file holds several "
                    "languages: give one name for all."
                )
        if self.on_error not in ("stop", "skip"):
            raise PairityError(f"on_error is {self.on_error!r}: give 'stop' or 'skip'.")
        if self.dedup not in (None, "lines"):
            raise PairityError(f"dedup is {self.dedup!r}: give 'lines', or leave it out.")

    def columns_of(self, language: str) -> tuple[str, ...]:
        """The text column; and the language column, if the records name their language (`language` is "")."""
        if not isinstance(self.text_column, str):
            return (self.text_column.get(language, "text"),)
        if not language and self.language_column is not None:
            return self.text_column, self.language_column
        return (self.text_column,)

    def check_languages(self, languages: Iterable[str]) -> None:
        """Refuse a column for a language that does not exist."""
        if isinstance(self.text_column, str):
            return
        if unknown := sorted(self.text_column.keys() - set(languages)):
            raise PairityError(
                f"text_column has a name for {quoted(unknown)}, but there is no such text. Check the "
                "language."
            )

    @property
    def room(self) -> int | None:
        """Bytes for finding duplicates; None if duplicates are kept."""
        if self.dedup is None:
            return None
        if self.dedup_memory is not None:
            return self.dedup_memory
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
