"""The interface that judging needs, and the base class of the adapters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from pairity.judging.arrays import Ids, Integers


@runtime_checkable
class TokenizerLike(Protocol):
    """Any class with these five members can be judged.

    Two optional members are used if they exist: `pretoken_counts(lines) -> array | None` (for the floor that a
    pre-tokenizer sets) and `steered_by(lines) -> bool` (for the leak guard).
    """

    @property
    def name(self) -> str: ...

    @property
    def vocab_size(self) -> int:
        """One more than the highest id, special tokens included: the rows that a model's embedding needs.

        128,256 for Llama 3, whether it is opened as an object or as its file, which lists 128,000 ranks and no special
        tokens. For a file of ranks with unknown special tokens, only the ranks count.
        """

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        """All ids one after another, and n + 1 offsets: line i is ids[offsets[i]:offsets[i + 1]].

        Nothing is added (BOS, EOS), truncated or padded, and a special token in the text is plain text.
        """

    def decode(self, ids: Sequence[int]) -> str | bytes: ...

    def token_bytes(self, token: int) -> bytes | None:
        """The bytes of a token; None for unknown and special tokens, which stand for no text of their own."""


def steered_by(tokenizer: object, lines: list[str]) -> bool:
    """Like the method, for tokenizers that may lack it."""
    ask = getattr(tokenizer, "steered_by", None)
    return ask is not None and bool(ask(lines))


class Adapter:
    """The base class of adapters: a name and a vocabulary size; pre-tokens and dev text are unknown."""

    def __init__(self, name: str, vocab_size: int) -> None:
        self._name = name
        self._vocab_size = vocab_size

    @property
    def name(self) -> str:
        return self._name

    @property
    def vocab_size(self) -> int:
        return self._vocab_size

    def pretoken_counts(self, lines: list[str]) -> Integers | None:
        """The number of pre-tokens of every line; None if the tokenizer does not expose its pre-tokenizer."""
        return None

    def steered_by(self, lines: list[str]) -> bool:
        """Whether exactly these lines steered the training, as far as the tokenizer knows."""
        return False


class Renamed(Adapter):
    """A tokenizer under another name."""

    def __init__(self, tokenizer: TokenizerLike, name: str) -> None:
        super().__init__(name, tokenizer.vocab_size)
        self._inner = tokenizer

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        return self._inner.encode_lines(lines)

    def decode(self, ids: Sequence[int]) -> str | bytes:
        return self._inner.decode(ids)

    def token_bytes(self, token: int) -> bytes | None:
        return self._inner.token_bytes(token)

    def pretoken_counts(self, lines: list[str]) -> Integers | None:
        count = getattr(self._inner, "pretoken_counts", None)
        return None if count is None else count(lines)

    def steered_by(self, lines: list[str]) -> bool:
        return steered_by(self._inner, lines)


def joined(per_line: Iterable[Sequence[int]]) -> tuple[Ids, Integers]:
    """[[5, 6], [], [7]] -> ids [5, 6, 7], offsets [0, 2, 2, 3]."""
    rows = [np.asarray(row, dtype=np.uint32) for row in per_line]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return (np.concatenate(rows) if rows else np.zeros(0, dtype=np.uint32)), offsets


def plain(ids: Sequence[int]) -> list[int]:
    """A list of Python integers, as the libraries need it; a list is returned unchanged."""
    return ids if isinstance(ids, list) else [int(token) for token in ids]
