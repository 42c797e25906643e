"""How alike languages are treated, given the cost of each: tokens per aligned line.

The functions take costs along the last axis, so that all bootstrap resamples go through in one call.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pairity.errors import PairityError

Floats = npt.NDArray[np.float64]


def gini(costs: npt.ArrayLike) -> Floats:
    """Gini coefficient of the costs, every language with the same weight. 0: all pay alike. Lower is better.

    With c_1 <= ... <= c_n:   (1/n) * (n + 1 - 2 * sum_i (n + 1 - i) c_i / sum_i c_i)

    One language alone has no inequality to speak of: that is an error, never 0.
    """
    ordered = np.sort(_costs(costs), axis=-1)
    n = ordered.shape[-1]
    if n < 2:
        raise PairityError(f"a Gini coefficient compares languages: it needs at least 2, got {n}.")
    weights = np.arange(n, 0, -1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        value: Floats = (n + 1 - 2 * (ordered * weights).sum(axis=-1) / ordered.sum(axis=-1)) / n
    # All costs alike must give 0 and not the rounding error of the sum.
    return np.where(ordered[..., 0] == ordered[..., -1], np.where(ordered[..., 0] > 0, 0.0, np.nan), value)


def lorenz(costs: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The Lorenz curve: share of languages (cheapest first), and the share of all cost that falls on them.

    >>> lorenz([3, 1])[1].tolist()
    [0.0, 0.25, 1.0]
    """
    ordered = np.sort(_costs(costs))
    if ordered.ndim != 1 or not len(ordered) or not ordered.sum() > 0:
        raise PairityError("a Lorenz curve needs the cost of at least one language, and one of them above 0.")
    share = np.concatenate([[0.0], np.cumsum(ordered) / ordered.sum()])
    return np.linspace(0.0, 1.0, len(share)), share


def worst_best(costs: npt.ArrayLike) -> Floats:
    """c_max / c_min: how many times more the most expensive language pays than the cheapest. Lower is better.

    Shows what a Gini coefficient can hide: one starved language among many.
    """
    costs = _costs(costs)
    if costs.shape[-1] < 2:
        raise PairityError(f"worst/best compares languages: it needs at least 2, got {costs.shape[-1]}.")
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(costs.max(axis=-1) / costs.min(axis=-1), dtype=np.float64)


def worst_language(costs: Mapping[str, float]) -> str:
    """The language with the highest cost; of equals the one named first."""
    return max(costs, key=lambda language: costs[language])


def best_language(costs: Mapping[str, float]) -> str:
    """The language with the lowest cost; of equals the one named first."""
    return min(costs, key=lambda language: costs[language])


def premium(cost: npt.ArrayLike, reference_cost: npt.ArrayLike) -> Floats:
    """Token premium c(l) / c(reference): how often the reference language's price is paid (Petrov et al.,
    2023).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(_costs(cost) / _costs(reference_cost), dtype=np.float64)


def change(cost: npt.ArrayLike, baseline_cost: npt.ArrayLike) -> Floats:
    """c / c_baseline - 1 for the same text: -0.1 means 10 % fewer tokens than the baseline tokenizer
    needs.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(_costs(cost) / _costs(baseline_cost) - 1.0, dtype=np.float64)


def _costs(costs: npt.ArrayLike) -> Floats:
    array = np.asarray(costs, dtype=np.float64)
    if np.any(array < 0):
        raise PairityError("a cost is a number of tokens per line and cannot be negative.")
    return array
