"""The adapter for tiktoken: encodings, tables of ranks, and Mistral's tekken.json."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pairity.bpe.model import NO_ID
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.formats.tiktoken import RankTable
from pairity.judging.arrays import Ids, Integers
from pairity.judging.protocol import Adapter, joined, plain
from pairity.threads import thread_count


class TiktokenTokenizer(Adapter):
    """A `tiktoken.Encoding`."""

    def __init__(self, encoding: Any, name: str, threads: int | None) -> None:
        super().__init__(name, int(encoding.n_vocab))
        self._encoding = encoding
        # tiktoken gives its threads one line at a time, which costs more than it saves if lines are short.
        self._threads = 1 if threads is None else thread_count(threads)
        self._special = {encoding.encode_single_token(token) for token in encoding.special_tokens_set}

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        if self._threads == 1:
            return joined(self._encoding.encode_ordinary(line) for line in lines)
        return joined(self._encoding.encode_ordinary_batch(lines, num_threads=self._threads))

    def decode(self, ids: Sequence[int]) -> bytes:
        return bytes(self._encoding.decode_bytes(plain(ids)))

    def token_bytes(self, token: int) -> bytes | None:
        return None if token in self._special else bytes(self._encoding.decode_single_token_bytes(token))

    def pretoken_counts(self, lines: list[str]) -> Integers | None:
        regex = importlib.import_module("regex")  # tiktoken depends on it
        try:
            pattern = regex.compile(self._encoding._pat_str)
        except (regex.error, ValueError):  # tiktoken's own engine understands more
            return None
        return np.array([len(pattern.findall(line)) for line in lines], dtype=np.int64)


def of_ranks(table: RankTable, name: str, threads: int | None) -> TiktokenTokenizer:
    """A table of ranks, run by tiktoken."""
    tiktoken = load_extra("tiktoken", f"the tokenizer {table.place}")
    ranks, specials = dict(table.ranks), dict(table.special_tokens)
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise PairityError(
            f"{table.place} has no token for {len(missing)} of the 256 bytes: tiktoken cannot encode with it."
        )
    if len(set(ranks.values())) < len(ranks) or not 0 <= max([*ranks.values(), *specials.values()]) < NO_ID:
        raise PairityError(
            f"{table.place} is damaged: two tokens have the same rank, or a rank is out of range."
        )
    try:
        encoding = tiktoken.Encoding(
            name, pat_str=table.pattern, mergeable_ranks=ranks, special_tokens=specials
        )
    except Exception as error:  # ValueError for a bad pattern, and others
        raise PairityError(f"tiktoken refuses the pattern given for {table.place}: {error}") from error
    return TiktokenTokenizer(encoding, name, threads)
