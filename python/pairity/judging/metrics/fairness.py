"""How equally languages are treated, given the cost of each in tokens per aligned line.

The functions take costs along the last axis, so one call handles all bootstrap resamples.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pairity.errors import PairityError
from pairity.judging.arrays import Floats
from pairity.judging.metrics.metric import ACROSS, MEAN, Metric


def gini(costs: npt.ArrayLike) -> Floats:
    """With costs c_1 <= ... <= c_n: (1/n) * (n + 1 - 2 * sum_i (n + 1 - i) c_i / sum_i c_i).

    Every language has the same weight. 0: all pay alike. One language alone has no inequality to speak of:
    that is an error, never 0.
    """
    ordered = np.sort(checked_costs(costs), axis=-1)
    n = ordered.shape[-1]
    if n < 2:
        raise PairityError(f"a Gini coefficient compares languages: it needs at least 2, got {n}.")
    weights = np.arange(n, 0, -1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        value: Floats = (n + 1 - 2 * (ordered * weights).sum(axis=-1) / ordered.sum(axis=-1)) / n
    # Equal costs must give exactly 0, not the rounding error of the sum.
    return np.where(ordered[..., 0] == ordered[..., -1], np.where(ordered[..., 0] > 0, 0.0, np.nan), value)


def lorenz(costs: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The Lorenz curve: share of languages (cheapest first), and the share of all cost that falls on them.

    >>> lorenz([3, 1])[1].tolist()
    [0.0, 0.25, 1.0]
    """
    ordered = np.sort(checked_costs(costs))
    if ordered.ndim != 1 or not len(ordered) or not ordered.sum() > 0:
        raise PairityError("a Lorenz curve needs the cost of at least one language, and one of them above 0.")
    share = np.concatenate([[0.0], np.cumsum(ordered) / ordered.sum()])
    return np.linspace(0.0, 1.0, len(share)), share


def worst_best(costs: npt.ArrayLike) -> Floats:
    """c_max / c_min: how many times more the most expensive language pays than the cheapest.

    Shows what a Gini coefficient can hide: one starved language among many.
    """
    costs = checked_costs(costs)
    if costs.shape[-1] < 2:
        raise PairityError(f"worst/best compares languages: it needs at least 2, got {costs.shape[-1]}.")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(costs.max(axis=-1) / costs.min(axis=-1), dtype=np.float64)


def worst_language(costs: Mapping[str, float]) -> str:
    """argmax_l c(l): the language with the highest cost; of equals the one named first."""
    return max(costs, key=lambda language: costs[language])


def best_language(costs: Mapping[str, float]) -> str:
    """argmin_l c(l): the language with the lowest cost; of equals the one named first."""
    return min(costs, key=lambda language: costs[language])


def premium(costs: npt.ArrayLike, reference_costs: npt.ArrayLike) -> Floats:
    """c(l) / c(reference language): how many times the reference language's price is paid (Petrov et al., 2023)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(checked_costs(costs) / checked_costs(reference_costs), dtype=np.float64)


def change(costs: npt.ArrayLike, baseline_costs: npt.ArrayLike) -> Floats:
    """c / c_baseline - 1 for the same text: -0.1 means 10% fewer tokens than the baseline tokenizer needs."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(checked_costs(costs) / checked_costs(baseline_costs) - 1.0, dtype=np.float64)


def change_worst(costs: npt.ArrayLike, baseline_costs: npt.ArrayLike) -> Floats:
    """max_l (c(l) / c_baseline(l) - 1): the change of the language that loses most."""
    return np.asarray(change(costs, baseline_costs).max(axis=-1), dtype=np.float64)


def checked_costs(costs: npt.ArrayLike) -> Floats:
    array = np.asarray(costs, dtype=np.float64)
    if np.any(array < 0):
        raise PairityError("a cost is a number of tokens per line and cannot be negative.")
    return array


# From the costs of all languages to one number.
INEQUALITY: list[Metric[[Floats], Floats]] = [
    Metric(
        name="gini",
        family="fairness",
        function=gini,
        unit="",
        better="lower",
        title="Gini coefficient of the costs of the languages",
        short_title="Gini",
        over_languages=ACROSS,
        decimals=4,
        main=True,
        paper_column=6,
        paired=True,
    ),
    Metric(
        name="worst_best",
        family="fairness",
        function=worst_best,
        unit="ratio",
        better="lower",
        title="highest cost / lowest cost",
        short_title="Worst / best",
        over_languages=ACROSS,
        decimals=3,
        main=True,
        paper_column=7,  # not in the paper, but it shows what a Gini coefficient can hide
        paired=True,
        of_extremes=True,
    ),
]

# From the costs of all languages to one of the languages. The row has its name and its cost.
EXTREMES: list[Metric[[Mapping[str, float]], str]] = [
    Metric(
        name="worst_language",
        family="fairness",
        function=worst_language,
        unit="tokens/line",
        better="lower",
        title="the language with the highest cost, and that cost",
        short_title="Most expensive language",
        over_languages=ACROSS,
        decimals=2,
        main=True,
    ),
    Metric(
        name="best_language",
        family="fairness",
        function=best_language,
        unit="tokens/line",
        better="neither",
        title="the language with the lowest cost, and that cost",
        short_title="Cheapest language",
        over_languages=ACROSS,
        decimals=2,
        main=True,
    ),
]

# From the costs of all languages and that of the reference language.
AGAINST_REFERENCE: list[Metric[[Floats, Floats], Floats]] = [
    Metric(
        name="premium",
        family="fairness",
        function=premium,
        unit="ratio",
        better="lower",
        title="cost / cost of the reference language",
        short_title="Token premium",
        over_languages=MEAN,
        decimals=3,
        main=True,
        per_language=True,
    ),
]

# From the costs of all languages under two tokenizers.
AGAINST_BASELINE: list[Metric[[Floats, Floats], Floats]] = [
    Metric(
        name="change",
        family="fairness",
        function=change,
        unit="share",
        better="lower",
        title="cost / cost under the baseline tokenizer - 1",
        short_title="Change in cost",
        over_languages=MEAN,
        decimals=1,
        percent=True,
        signed=True,
        main=True,
        per_language=True,
    ),
    Metric(
        name="change_worst",
        family="fairness",
        function=change_worst,
        unit="share",
        better="lower",
        title="the largest rise in cost against the baseline tokenizer",
        short_title="Largest rise in cost",
        over_languages=ACROSS,
        decimals=1,
        percent=True,
        signed=True,
        main=True,
        of_extremes=True,
    ),
]
