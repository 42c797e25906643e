"""What training starts from when it continues a table: its tokens as training numbers them, and pre-tokens in tokens.

The merges of a trained tokenizer can be applied again one after the other. Other tables, such as that of Llama 3, have
merges that use tokens of a higher rank, or tokens that no merge makes. With those, every pre-token starts as the
encoder cuts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairity.bpe.alphabet import BYTE_ORDER
from pairity.errors import PairityError

if TYPE_CHECKING:
    from pairity.bpe.model import BpeModel


@dataclass(frozen=True, eq=False)
class Start:
    """Training's numbers: 0 to 255 the bytes in `alphabet.BYTE_ORDER`, then the other tokens of the table."""

    ids: Sequence[int]
    """Number -> id in the table."""
    pairs: npt.NDArray[np.uint32]
    """The merges of the table, one row (left, right) of numbers each."""
    as_encoded: bool
    """Whether pre-tokens start as the encoder cuts them, because applying the merges in order gives other tokens."""


def start_of(model: BpeModel) -> Start:
    try:
        pairs, ids = one_after_the_other(model)
    except PairityError:
        pass
    else:
        if not (model.whole_pretokens and model.unmerged()):
            return Start(ids, pairs, as_encoded=False)
    of_bytes = [model.vocabulary[bytes([byte])] for byte in BYTE_ORDER]
    ids = [*of_bytes, *sorted(set(model.vocabulary.values()).difference(of_bytes))]
    numbers = np.zeros(len(model.tokens), np.uint32)
    numbers[ids] = np.arange(len(ids), dtype=np.uint32)
    return Start(ids, numbers[model.merges[:, :2]], as_encoded=True)


def one_after_the_other(model: BpeModel) -> tuple[npt.NDArray[np.uint32], list[int]]:
    """The merges as training numbers them, and the id of every number. Raises an error if training cannot make them."""
    theirs = {model.vocabulary[bytes([byte])]: number for number, byte in enumerate(BYTE_ORDER)}
    pairs = np.empty((len(model.merges), 2), np.uint32)
    for step, (left, right, new) in enumerate(model.merges.tolist()):
        for part in (left, right):
            if part not in theirs:
                raise PairityError(
                    f"training cannot reproduce these merges: merge {step} uses {model.tokens[part]!r}, "
                    "which no earlier merge makes."
                )
        pairs[step] = theirs[left], theirs[right]
        theirs.setdefault(new, len(theirs))
    for token, token_id in model.vocabulary.items():
        if token_id not in theirs:
            raise PairityError(
                f"training cannot reproduce these merges: no merge makes the token {token!r} (id {token_id})."
            )
    return pairs, list(theirs)
