"""How the vocabulary is used. `frequencies` are the counts of the distinct tokens seen, in any order."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt


def vocabulary_utilisation(frequencies: npt.ArrayLike, vocab_size: int) -> float:
    """Types / |V|: the share of the vocabulary that occurs in the text."""
    return _types(frequencies) / vocab_size if vocab_size > 0 else math.nan


def type_token_ratio(frequencies: npt.ArrayLike) -> float:
    """Types / tokens."""
    tokens = float(np.sum(frequencies))
    return _types(frequencies) / tokens if tokens else math.nan


def average_token_rank(frequencies: npt.ArrayLike) -> float:
    """Mean over token occurrences of the token's rank by frequency, 1 = most frequent, among the types seen.

    sum_r r * f_r / sum_r f_r with f_1 >= f_2 >= ...; the order among equals does not change it.
    """
    ordered = np.sort(np.asarray(frequencies, dtype=np.float64))[::-1]
    if not ordered.sum():
        return math.nan
    return float(ordered @ np.arange(1, len(ordered) + 1) / ordered.sum())


def _types(frequencies: npt.ArrayLike) -> int:
    return int(np.count_nonzero(np.asarray(frequencies)))
