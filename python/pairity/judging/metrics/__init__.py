"""The metrics: one function each, its formula in its docstring. `METRICS` lists what the score table
holds.
"""

from pairity.judging.metrics.catalogue import FAMILIES, METRICS, Metric
from pairity.judging.metrics.compression import (
    bits_per_byte,
    compression_rate,
    cost,
    cost_over_floor,
    fertility,
    fertility_paper,
    floor,
)
from pairity.judging.metrics.entropy import renyi_efficiency, renyi_efficiency_paper, renyi_entropy
from pairity.judging.metrics.fairness import (
    best_language,
    change,
    gini,
    lorenz,
    premium,
    worst_best,
    worst_language,
)
from pairity.judging.metrics.integrity import Utf8Integrity, round_trip, utf8_integrity
from pairity.judging.metrics.morphology import (
    MorphScore,
    MorphWord,
    morph_score,
    read_morph,
    read_morph_file,
    word_scores,
)
from pairity.judging.metrics.units import Units, count_units
from pairity.judging.metrics.vocabulary import average_token_rank, type_token_ratio, vocabulary_utilisation

__all__ = [
    "FAMILIES",
    "METRICS",
    "Metric",
    "MorphScore",
    "MorphWord",
    "Units",
    "Utf8Integrity",
    "average_token_rank",
    "best_language",
    "bits_per_byte",
    "change",
    "compression_rate",
    "cost",
    "cost_over_floor",
    "count_units",
    "fertility",
    "fertility_paper",
    "floor",
    "gini",
    "lorenz",
    "morph_score",
    "premium",
    "read_morph",
    "read_morph_file",
    "renyi_efficiency",
    "renyi_efficiency_paper",
    "renyi_entropy",
    "round_trip",
    "type_token_ratio",
    "utf8_integrity",
    "vocabulary_utilisation",
    "word_scores",
    "worst_best",
    "worst_language",
]
