"""Rényi entropy and efficiency of the unigram distribution of tokens."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from pairity.errors import PairityError
from pairity.judging.metrics.metric import POOLED, Metric
from pairity.judging.metrics.vocabulary import Frequencies


def renyi_entropy(seen: Frequencies, alpha: float) -> float:
    """H = log2(sum p^alpha) / (1 - alpha), in bits; for alpha = 1 Shannon's -sum p log2 p, for alpha = inf the
    min-entropy -log2(max p).
    """
    if math.isnan(alpha) or alpha < 0:
        raise PairityError(f"the order of a Rényi entropy must be 0 or more, got {alpha}.")
    counts = np.asarray(seen.counts, dtype=np.float64)
    counts = counts[counts > 0]
    if not len(counts):
        return math.nan
    p = counts / counts.sum()
    if alpha == 1:
        bits = -float(np.sum(p * np.log2(p)))
    elif math.isinf(alpha):
        bits = -math.log2(float(p.max()))
    else:
        # Relative to the largest p, so that p^a does not underflow for a large order.
        top = float(p.max())
        bits = (alpha * math.log2(top) + math.log2(float(np.sum((p / top) ** alpha)))) / (1 - alpha)
    return max(bits, 0.0)  # a single type has 0 bits, not -0


def renyi_efficiency(seen: Frequencies, alpha: float) -> float:
    """H / log2(|V|), with |V| the size of the whole vocabulary (Zouhar et al., 2023)."""
    return renyi_entropy(seen, alpha) / math.log2(seen.vocab_size) if seen.vocab_size > 1 else math.nan


def renyi_efficiency_paper(seen: Frequencies, alpha: float) -> float:
    """H / log2(types): normalised by the types OBSERVED, as in the column "Rényi" of the paper's tables."""
    return renyi_entropy(seen, alpha) / math.log2(seen.types) if seen.types > 1 else math.nan


ENTROPY: list[Metric[[Frequencies], float]] = [
    Metric(
        name="renyi_entropy_1",
        family="entropy",
        function=partial(renyi_entropy, alpha=1.0),
        unit="bits",
        better="neither",
        title="Shannon entropy",
        short_title="Shannon entropy",
        over_languages=POOLED,
        decimals=3,
    ),
    Metric(
        name="renyi_entropy_2",
        family="entropy",
        function=partial(renyi_entropy, alpha=2.0),
        unit="bits",
        better="neither",
        title="Rényi entropy of order 2",
        short_title="Rényi entropy (2)",
        over_languages=POOLED,
        decimals=3,
    ),
    Metric(
        name="renyi_entropy_2.5",
        family="entropy",
        function=partial(renyi_entropy, alpha=2.5),
        unit="bits",
        better="neither",
        title="Rényi entropy of order 2.5",
        short_title="Rényi entropy (2.5)",
        over_languages=POOLED,
        decimals=3,
    ),
    Metric(
        name="renyi_entropy_inf",
        family="entropy",
        function=partial(renyi_entropy, alpha=math.inf),
        unit="bits",
        better="neither",
        title="min-entropy",
        short_title="Min-entropy",
        over_languages=POOLED,
        decimals=3,
    ),
    Metric(
        name="renyi_efficiency_2.5",
        family="entropy",
        function=partial(renyi_efficiency, alpha=2.5),
        unit="share",
        better="higher",
        title="H_2.5 / log2 |V|",
        short_title="Rényi efficiency (2.5)",
        over_languages=POOLED,
        decimals=4,
        main=True,
        per_language=True,
    ),
    Metric(
        name="renyi_efficiency_paper_2.5",
        family="entropy",
        function=partial(renyi_efficiency_paper, alpha=2.5),
        unit="share",
        better="higher",
        title="H_2.5 / log2 (types observed)",
        short_title="Rényi (2.5, paper)",
        over_languages=POOLED,
        decimals=4,
        paper_column=5,
    ),
]
