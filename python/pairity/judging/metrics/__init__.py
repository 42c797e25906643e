"""The metrics, one module per family: functions with their formulas, and the entries that describe them.

    compression   cost, rates, fertility, floor      of `Sums` over lines
    fairness      Gini, worst/best, premium, change  of the costs of the languages
    vocabulary, entropy                              of token `Frequencies`
    integrity     characters cut by tokens           of `Utf8Integrity`
    lines         round trip, failures               of `Lines`
    morphology    MorphScore                         of a `MorphScore`

METRICS has all entries by name, in the order of the tables. To add a metric, write a function
and add an entry to the list below it.
"""

from pairity.judging.metrics.compression import COMPRESSION, FERTILITY, FLOOR
from pairity.judging.metrics.entropy import ENTROPY
from pairity.judging.metrics.fairness import (
    AGAINST_BASELINE,
    AGAINST_REFERENCE,
    EXTREMES,
    INEQUALITY,
    gini,
    lorenz,
)
from pairity.judging.metrics.integrity import INTEGRITY
from pairity.judging.metrics.lines import FAILURES, ROUND_TRIP
from pairity.judging.metrics.metric import AnyMetric, Metric
from pairity.judging.metrics.morphology import MORPHOLOGY, MORPHOLOGY_PAPER
from pairity.judging.metrics.vocabulary import VOCABULARY

__all__ = ["FAMILIES", "METRICS", "Metric", "gini", "lorenz"]

METRICS: dict[str, AnyMetric] = {
    metric.name: metric
    for entries in (
        COMPRESSION,
        INEQUALITY,
        EXTREMES,
        AGAINST_REFERENCE,
        AGAINST_BASELINE,
        FERTILITY,
        VOCABULARY,
        ENTROPY,
        MORPHOLOGY,
        MORPHOLOGY_PAPER,
        INTEGRITY,
        ROUND_TRIP,
        FLOOR,
        FAILURES,
    )
    for metric in entries
}
FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(metric.family for metric in METRICS.values()))
