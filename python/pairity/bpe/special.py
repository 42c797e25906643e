"""Special tokens: names that stand for themselves, and reserved ones for later.

reserved(2)          -> ["<|reserved_0|>", "<|reserved_1|>"]
padding(1000, 128)   -> 24, for a vocabulary of 1024
"""

from collections.abc import Iterable

from pairity.errors import PairityError

RESERVED = "<|reserved_"
"""The prefix of the names of reserved tokens."""


def check_names(tokens: Iterable[str]) -> tuple[str, ...]:
    """The tokens as given; each must be a non-empty string, given only once."""
    if isinstance(tokens, str):
        raise PairityError(f"special tokens must be a list: [{tokens!r}].")
    seen: dict[str, None] = {}
    for token in tokens:
        if not isinstance(token, str):
            raise PairityError(f"special tokens must be strings, but {token!r} is {type(token).__name__}.")
        if not token:
            raise PairityError("a special token is empty. Give it a name such as '<|endoftext|>'.")
        if token in seen:
            raise PairityError(f"the special token {token!r} is given twice. Leave one out.")
        try:
            token.encode()
        except UnicodeEncodeError:
            raise PairityError(
                f"the special token {token!r} has a lone surrogate, which is not text."
            ) from None
        seen[token] = None
    return tuple(seen)


def reserved(count: int) -> list[str]:
    """Names of tokens for later use, so that the vocabulary need not grow then."""
    return [f"{RESERVED}{i}|>" for i in range(count)]


def padding(vocab_size: int, pad_to: int) -> int:
    """How many more tokens make `vocab_size` a multiple of `pad_to`: hardware likes 64 and 128."""
    if pad_to < 1:
        raise PairityError(f"pad_to is {pad_to}: give at least 1.")
    return -vocab_size % pad_to
