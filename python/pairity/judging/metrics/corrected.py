"""Resamples of what compares languages, corrected for what the noise of lines adds to inequality.

Costs are measured on some lines, and their noise makes languages look less alike than they are: a Gini coefficient is
too high by some amount, and that of a resample by more, because it holds the noise twice. Near zero a percentile
interval then lies above its own estimate, and above the truth. What is done about it:

1. The noise of each language is what its lines show. Languages share it only as far as the lines show that they do:
   with fewer lines than languages, most of the correlation in a table of lines is chance.
2. Every resample of the costs is replaced by costs as they may be without noise (`shapes`).
3. The resamples of a statistic are the statistic of these.

docs/statistics.md has the simulations that this was chosen by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pairity.judging.arrays import Floats
from pairity.judging.metrics import shapes

Statistic = Callable[[Floats], Floats]
"""From costs along the last axis to one number."""


@dataclass
class Noisy:
    """Costs, (1 + resamples) x languages as `Sums` has them; draws of the noise of each language, relative to its cost;
    and of the noise common to all, a factor per draw."""

    costs: Floats
    noise: Floats | None = None
    common: Floats | None = None
    seed: int = 0

    def samples(self, statistic: Statistic) -> Floats:
        """The statistic of the costs as they are, and then its corrected resamples."""
        return statistic(self.corrected)

    @cached_property
    def corrected(self) -> Floats:
        """Row 0: the costs. The others: resamples of what they would be without noise."""
        if self.noise is None or self.common is None:
            return self.costs
        return corrected(self.costs, self.noise, self.common, self.seed)


Lines = Callable[[], Iterator[Floats]]
"""For each language, by how much of its cost each line deviates from it. Asked for several times, language by language,
so that no table of all lines and languages is ever in memory."""


def noisy(costs: Floats, lines: Lines | None, seed: int = 0) -> Noisy:
    """Costs with their noise; `lines` is None where languages were resampled independently of each other."""
    resamples, languages = costs.shape[0] - 1, costs.shape[1]
    # Without resamples, noise, or a cost, there is nothing to correct.
    if resamples < 2 or languages < 2 or not np.all(np.isfinite(costs)) or not np.all(costs > 0):
        return Noisy(costs)
    relative = costs[1:] / costs[0]
    common = relative.mean(axis=1, keepdims=True)  # all languages dearer or cheaper: no inequality
    # A quotient, not a difference: longer lines make all costs of a resample larger, and their noise with them.
    own = relative / common - 1.0
    if not np.all(own.std(axis=0) > 1e-12):
        return Noisy(costs)
    if lines is not None:
        shared = shared_noise(own, lines)
        # The noise of each language from another resample: as large as before, and independent of the others.
        order = np.tile(np.arange(resamples)[:, None], languages)
        np.random.default_rng([seed, languages]).permuted(order, axis=0, out=order)
        apart = np.take_along_axis(own, order, axis=0)
        own = np.sqrt(shared) * own + np.sqrt(1.0 - shared) * apart
        own *= standard_errors(lines) / own.std(axis=0)
    return Noisy(costs, own, common, seed)


def corrected(costs: Floats, noise: Floats, common: Floats, seed: int = 0) -> Floats:
    """Row 0: the costs. The others: resamples of what they would be without noise, which are above 0 as costs are."""
    random = np.random.default_rng([seed, *costs.shape])
    drawn = np.maximum(shapes.draws(costs[0], costs[0] * noise, random), costs[0].min() / 2)
    return np.concatenate([costs[:1], common * drawn])


def standard_errors(lines: Lines) -> Floats:
    """Of the cost of each language, relative to it, noise common to all languages left out.

    With few lines these are uncertain themselves, and a language whose noise looks small by chance would weigh too
    much. So they are shrunk towards each other by as much as their differences are chance.
    """
    common = sum(lines()) / sum(1 for _ in lines())
    share = (1.0 + common) / len(common)  # of the text, that each line is
    squares = share**2
    # Noise is measured from the same mean that has it. The factor is n / (n - 1) where lines are equally long.
    unbiased = squares.sum() / (squares * (1.0 + squares.sum() - 2.0 * share)).sum()
    variances, uncertainties = [], []
    for line in lines():
        square = (line - common) ** 2
        variances.append(unbiased * square.mean() / len(common))
        uncertainties.append((unbiased / len(common)) ** 2 * square.var() / len(common))
    variance, spread = np.array(variances), np.var(variances)
    real = max(0.0, 1.0 - np.mean(uncertainties) / spread) if spread > 0 else 0.0
    found: Floats = np.sqrt(variance.mean() + real * (variance - variance.mean()))
    return found


def shared_noise(own: Floats, lines: Lines) -> float:
    """By how much the correlations between languages must shrink so that their squares have the right sum.

    Each estimated correlation is off by chance, which adds to the sum of squares; what it adds is estimated from the
    fourth moments of the lines (as in tests of high-dimensional covariance matrices), with no normality assumed.
    """
    resamples, languages = own.shape
    pairs = languages * (languages - 1)
    standard = own / own.std(axis=0)
    found = float(((standard.T @ standard / resamples) ** 2).sum()) - languages - pairs / resamples
    common = sum(lines()) / languages
    squares, fourths = np.zeros_like(common), np.zeros_like(common)
    count = len(common)
    if count < 3:
        return 1.0
    for line in lines():
        deviation = line - common
        size = deviation.std(ddof=1)
        square = (deviation / size) ** 2 if size > 0 else np.zeros_like(deviation)
        squares += square
        fourths += square**2
    by_chance = float((squares**2 - fourths).sum())
    real = (found * (count - 1) ** 2 - by_chance) / (count * (count - 1))
    return float(np.sqrt(min(1.0, real / found))) if found > 0 and real > 0 else 0.0
