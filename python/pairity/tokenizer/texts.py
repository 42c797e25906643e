"""Prepare texts for the encoder, which takes a tuple of them without lone surrogates."""

from collections.abc import Callable, Iterable
from typing import Literal, TypeVar

from pairity.errors import PairityError
from pairity.text.columns import check_errors

Text = str | bytes
Errors = Literal["strict", "replace"]
T = TypeVar("T")


def with_errors(work: Callable[[tuple[Text, ...]], T], texts: tuple[Text, ...], errors: Errors) -> T:
    """The result of `work`. Lone surrogates are an error or, if `errors` says so, U+FFFD."""
    check_errors(errors)
    try:
        return work(texts)
    except ValueError as error:
        if errors == "strict" or not isinstance(error, UnicodeEncodeError):
            raise explained(error) from None
    return with_errors(work, tuple(map(without_surrogates, texts)), "strict")


def explained(error: ValueError) -> PairityError:
    if isinstance(error, UnicodeEncodeError):
        return PairityError(
            f"the text has a lone surrogate (U+{ord(error.object[error.start]):04X} at character "
            f"{error.start}), which is not a character. Pass errors='replace' to read it as U+FFFD."
        )
    return PairityError(str(error))


def without_surrogates(text: Text) -> Text:
    """Replace pairs of surrogates by their character, and lone ones by U+FFFD."""
    if isinstance(text, bytes):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def as_texts(texts: Iterable[Text]) -> tuple[Text, ...]:
    """As a tuple, which nobody can change while other threads read it."""
    if isinstance(texts, str | bytes):
        raise PairityError("give a list of texts; for one text write [text].")
    return tuple(texts)
