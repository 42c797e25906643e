"""How much of the vocabulary is used, and how often."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairity.judging.metrics.metric import POOLED, Metric


@dataclass(frozen=True)
class Frequencies:
    """How often each token was seen, in any order, and how many tokens the vocabulary has."""

    counts: npt.ArrayLike
    vocab_size: int

    @property
    def tokens(self) -> float:
        return float(np.sum(self.counts))

    @property
    def types(self) -> int:
        """The number of distinct tokens seen."""
        return int(np.count_nonzero(np.asarray(self.counts)))


def vocabulary_utilisation(seen: Frequencies) -> float:
    """Types / |V|: the share of the vocabulary that occurs in the text."""
    return seen.types / seen.vocab_size if seen.vocab_size > 0 else math.nan


def type_token_ratio(seen: Frequencies) -> float:
    """Types / tokens: distinct tokens seen, divided by all tokens seen."""
    return seen.types / seen.tokens if seen.tokens else math.nan


def average_token_rank(seen: Frequencies) -> float:
    """sum_r r * f_r / sum_r f_r with f_1 >= f_2 >= ...: the mean over token occurrences of the token's rank by
    frequency, 1 = most frequent, among the types seen.

    The order among equals does not change it.
    """
    ordered = np.sort(np.asarray(seen.counts, dtype=np.float64))[::-1]
    if not ordered.sum():
        return math.nan
    return float(ordered @ np.arange(1, len(ordered) + 1) / ordered.sum())


VOCABULARY: list[Metric[[Frequencies], float]] = [
    Metric(
        name="vocabulary_utilisation",
        family="vocabulary",
        function=vocabulary_utilisation,
        unit="share",
        better="higher",
        title="types / |V|",
        short_title="Vocabulary used",
        over_languages=POOLED,
        decimals=1,
        percent=True,
        main=True,
        per_language=True,
        paper_column=3,
    ),
    Metric(
        name="type_token_ratio",
        family="vocabulary",
        function=type_token_ratio,
        unit="share",
        better="higher",
        title="types / tokens",
        short_title="Type-token ratio",
        over_languages=POOLED,
        decimals=4,
        main=True,
        per_language=True,
        paper_column=2,
    ),
    Metric(
        name="average_token_rank",
        family="vocabulary",
        function=average_token_rank,
        unit="rank",
        better="higher",
        title="mean frequency rank of the tokens seen",
        short_title="Average token rank",
        over_languages=POOLED,
        decimals=0,
    ),
]
