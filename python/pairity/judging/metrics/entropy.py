"""Rényi entropy and efficiency of the unigram distribution of tokens."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pairity.errors import PairityError


def renyi_entropy(frequencies: npt.ArrayLike, alpha: float) -> float:
    """H_a in bits: log2(sum p^a) / (1 - a). a = 1: Shannon, -sum p log2 p. a = inf: min-entropy, -log2(max
    p).

    `frequencies` are the counts of the distinct tokens seen, in any order.
    """
    if math.isnan(alpha) or alpha < 0:
        raise PairityError(f"the order of a Rényi entropy must be 0 or more, got {alpha}.")
    counts = np.asarray(frequencies, dtype=np.float64)
    counts = counts[counts > 0]
    if not len(counts):
        return math.nan
    p = counts / counts.sum()
    if alpha == 1:
        bits = -float(np.sum(p * np.log2(p)))
    elif math.isinf(alpha):
        bits = -math.log2(float(p.max()))
    else:
        # Relative to the largest p, so that p^a cannot vanish for a large order.
        top = float(p.max())
        bits = (alpha * math.log2(top) + math.log2(float(np.sum((p / top) ** alpha)))) / (1 - alpha)
    return max(bits, 0.0)  # a single type has 0 bits, not -0


def renyi_efficiency(frequencies: npt.ArrayLike, alpha: float, vocab_size: int) -> float:
    """H_a / log2(|V|), with |V| the size of the whole vocabulary (Zouhar et al., 2023)."""
    return renyi_entropy(frequencies, alpha) / math.log2(vocab_size) if vocab_size > 1 else math.nan


def renyi_efficiency_paper(frequencies: npt.ArrayLike, alpha: float) -> float:
    """H_a / log2(types): normalised by the types OBSERVED, as in the column "Rényi" of the paper's tables."""
    types = int(np.count_nonzero(np.asarray(frequencies)))
    return renyi_entropy(frequencies, alpha) / math.log2(types) if types > 1 else math.nan
