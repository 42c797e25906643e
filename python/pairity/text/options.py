"""How text is read, as one frozen value: which columns hold what, and what becomes of broken text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from pairity.text.columns import check_errors


class GivenReading(TypedDict, total=False):
    """What a caller may say about the reading of text."""

    text_column: str
    errors: Literal["strict", "replace"]


@dataclass(frozen=True, kw_only=True)
class TextReading:
    """Made where a user says it, and handed on whole to all that reads text."""

    text_column: str = "text"
    """Field or column of the text, in records of every format; a path such as message.text."""
    errors: Literal["strict", "replace"] = "strict"
    """What becomes of bytes that are not UTF-8: an error, or U+FFFD."""

    def __post_init__(self) -> None:
        check_errors(self.errors)
