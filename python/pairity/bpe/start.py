"""What training starts from when it continues a table: its tokens as training numbers them, and pre-tokens in tokens.

The merges of a trained tokenizer can be applied again one after the other. Other tables, such as that of Llama 3, have
merges that use tokens of a higher rank, or tokens that no merge makes. With those, every pre-token starts as the
encoder cuts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairity.bpe.alphabet import BYTE_ORDER
from pairity.errors import PairityError


@dataclass(frozen=True, eq=False)
class Start:
    """Training's numbers: 0 to 255 the bytes in `alphabet.BYTE_ORDER`, then the other tokens of the table."""

    ids: Sequence[int]
    """Number -> id in the table."""
    pairs: npt.NDArray[np.uint32]
    """The merges of the table, one row (left, right) of numbers each."""
    as_encoded: bool
    """Whether pre-tokens start as the encoder cuts them, because applying the merges in order gives other tokens."""


def in_order(
    tokens: Sequence[bytes], vocabulary: Mapping[bytes, int], merges: npt.NDArray[np.uint32]
) -> Start:
    """The merges one after the other. Raises an error if training cannot make them."""
    theirs = {vocabulary[bytes([byte])]: number for number, byte in enumerate(BYTE_ORDER)}
    pairs = np.empty((len(merges), 2), np.uint32)
    for step, (left, right, new) in enumerate(merges.tolist()):
        for part in (left, right):
            if part not in theirs:
                raise PairityError(
                    f"training cannot reproduce these merges: merge {step} uses {tokens[part]!r}, "
                    "which no earlier merge makes."
                )
        pairs[step] = theirs[left], theirs[right]
        theirs.setdefault(new, len(theirs))
    for token, token_id in vocabulary.items():
        if token_id not in theirs:
            raise PairityError(
                f"training cannot reproduce these merges: no merge makes the token {token!r} (id {token_id})."
            )
    return Start(list(theirs), pairs, as_encoded=False)


def as_encoded(
    tokens: Sequence[bytes], vocabulary: Mapping[bytes, int], merges: npt.NDArray[np.uint32]
) -> Start:
    """Every pre-token as the encoder cuts it."""
    of_bytes = [vocabulary[bytes([byte])] for byte in BYTE_ORDER]
    ids = [*of_bytes, *sorted(set(vocabulary.values()).difference(of_bytes))]
    numbers = np.zeros(len(tokens), np.uint32)
    numbers[ids] = np.arange(len(ids), dtype=np.uint32)
    return Start(ids, numbers[merges[:, :2]], as_encoded=True)
