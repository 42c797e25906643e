"""The error for mistakes of the user, the warning about a result, and how their messages list names."""

from collections.abc import Iterable


class PairityError(ValueError):
    """The input cannot be used; the message names it and says what to do."""


class PairityWarning(UserWarning):
    """The result is valid, but not everything that was asked for."""


def raise_unless_its_own(error: BaseException) -> None:
    """Raise again what must end the program; anything else is a failure of the other library's tokenizer.

    A panic in Rust code arrives as a BaseException, so those have to be caught, but not Ctrl-C or a lack of memory.
    """
    if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError):
        raise error


def did_you_mean(near: Iterable[str]) -> str:
    """ " Did you mean tam_Taml or tel_Telu?", to append to a sentence; empty if nothing is near."""
    names = " or ".join(near)
    return names and f" Did you mean {names}?"


def as_typed(pattern: str) -> str:
    """'\\S+|\\s+' for \\S+|\\s+: in quotes, with its backslashes as they were typed, which `repr` would double."""
    return "'" + "".join(one if one.isprintable() else repr(one)[1:-1] for one in pattern) + "'"


def quoted(names: Iterable[str]) -> str:
    """'eng_Latn', 'deu_Latn': all of them, so that the user can fix everything at once."""
    return ", ".join(map(repr, names))


def listed(names: Iterable[str], most: int = 8) -> str:
    """eng_Latn, deu_Latn, ... (and 22 more)"""
    found = list(names)
    rest = f" (and {len(found) - most} more)" if len(found) > most else ""
    return ", ".join(found[:most]) + rest
