"""The adapter for pairity's own tokenizers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pairity.judging.arrays import Ids, Integers
from pairity.judging.protocol import Adapter
from pairity.tokenizer.contents import share_of_global_merges
from pairity.tokenizer.tokenizer import Tokenizer


class PairityTokenizer(Adapter):
    """A `pairity.Tokenizer`."""

    def __init__(self, tokenizer: Tokenizer, name: str, threads: int | None) -> None:
        super().__init__(name, len(tokenizer))
        self._tokenizer = tokenizer
        self._threads = threads
        self._special = set(tokenizer.special_tokens.values())

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        return self._tokenizer.encode_flat(lines, disallowed_special=(), threads=self._threads)

    def decode(self, ids: Sequence[int]) -> bytes:
        return self._tokenizer.decode_bytes(ids)

    def token_bytes(self, token: int) -> bytes | None:
        return None if token in self._special else self._tokenizer.token_of(token)

    def pretoken_counts(self, lines: list[str]) -> Integers:
        return np.array([len(self._tokenizer.pretokenize(line)) for line in lines], dtype=np.int64)

    @property
    def smallest_size(self) -> int:
        return self._tokenizer.model.smallest_size

    @property
    def share_of_global_merges(self) -> float | None:
        return share_of_global_merges(self._tokenizer.record)

    def truncated(self, vocab_size: int, name: str) -> PairityTokenizer:
        return PairityTokenizer(self._tokenizer.truncate(vocab_size), name, self._threads)

    def steered_by(self, lines: list[str]) -> bool:
        return self._tokenizer.steered_by(lines)


def open_own(folder: Path, name: str, threads: int | None) -> PairityTokenizer:
    """A folder that `Tokenizer.save` wrote."""
    return PairityTokenizer(Tokenizer.load(folder), name, threads)
