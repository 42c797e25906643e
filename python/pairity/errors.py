"""What a user's mistake raises, what a user should hear about a result, and how both list names."""

from collections.abc import Iterable


class PairityError(ValueError):
    """The input cannot be used; the message names it and says what to do."""


class PairityWarning(UserWarning):
    """The result is valid, but not everything that was asked for."""


def raise_unless_its_own(error: BaseException) -> None:
    """For what a tokenizer of another library raised: all is its own failure but what ends a program.

    A panic in Rust code arrives as a BaseException, so those have to be caught; Ctrl-C and a lack of memory must not.
    """
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
        raise error


def did_you_mean(near: Iterable[str]) -> str:
    """ " Did you mean tam_Taml or tel_Telu?", to go after a sentence; nothing if nothing is near."""
    names = " or ".join(near)
    return names and f" Did you mean {names}?"


def quoted(names: Iterable[str]) -> str:
    """'eng_Latn', 'deu_Latn': all of them, for a mistake that is to be mended in one go."""
    return ", ".join(map(repr, names))


def listed(names: Iterable[str], most: int = 8) -> str:
    """eng_Latn, deu_Latn, ... (and 22 more)"""
    found = list(names)
    rest = f" (and {len(found) - most} more)" if len(found) > most else ""
    return ", ".join(found[:most]) + rest
