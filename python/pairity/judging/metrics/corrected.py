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

HOLDING_TRUTHS, HOLDING_DRAWS = 8, 200
# Of extremes; the last quarter is kept for what is not drawn: that none of the shapes is right. With half, intervals
# near zero are often too long; with all, those of long tails are too short.
OF_THE_REST = 0.75
FEW_LINES = 10  # below, a variance is taken to be as uncertain as that of normal noise at least


@dataclass
class Noisy:
    """Costs, (1 + resamples) x languages as `Sums` has them; draws of the noise of each language, relative to its cost;
    of the noise common to all, a factor per draw; and the standard error of each language."""

    costs: Floats
    noise: Floats | None = None
    common: Floats | None = None
    errors: Floats | None = None
    seed: int = 0

    def draws(self, statistic: Statistic) -> Floats:
        """The statistic of the costs as they are, and then its corrected resamples, for differences of two."""
        return statistic(self.corrected)

    def samples(self, statistic: Statistic, of_extremes: bool = False) -> Floats:
        """The same for the interval of the value itself, which lies in it and is higher than the truth as a rule.

        What hangs on the extreme languages alone depends on the shape of the costs: none that is possible is left out.
        """
        if self.noise is None or self.common is None:
            return self.draws(statistic)
        noise = self.common * np.maximum(1.0 + self.noise, 0.05)  # a cost is above 0, however large its noise
        if not of_extremes:
            return holding(statistic, statistic(self.corrected), self.corrected[1:], noise)
        possible = self.corrected_by_shape()
        return widest([holding(statistic, statistic(one), one[1:], noise, OF_THE_REST) for one in possible])

    @cached_property
    def corrected(self) -> Floats:
        """Row 0: the costs. The others: resamples of what they would be without noise."""
        if self.noise is None or self._fits is None:
            return self.costs
        random = np.random.default_rng([self.seed, *self.costs.shape])
        return self._resamples(self._fits.draws(self.costs[0] * self.noise, random))

    def corrected_by_shape(self) -> list[Floats]:
        """The same for every shape of costs that is not refuted."""
        if self.noise is None or self._fits is None:
            return [self.costs]
        random = np.random.default_rng([self.seed, *self.costs.shape])
        drawn = self._fits.draws_of_each(self.costs[0] * self.noise, random)
        return [self._resamples(one) for one in drawn]

    @cached_property
    def _fits(self) -> shapes.Fits | None:
        return None if self.errors is None else shapes.Fits.of(self.costs[0], self.errors)

    def _resamples(self, drawn: Floats) -> Floats:
        above_zero = np.maximum(drawn, self.costs[0].min() / 2)  # as costs are
        return np.concatenate([self.costs[:1], self.common * above_zero])


Deviations = Callable[[], Iterator[Floats]]
"""For each language, by how much of its cost each line deviates from it. Asked for several times, language by language,
so that no table of all lines and languages is ever in memory."""


def noisy(costs: Floats, lines: Deviations | None, seed: int = 0) -> Noisy:
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
        # Of the noise of a language, its share in the mean of all was left out as common.
        factor = np.sqrt(languages / (languages - 1))
        errors = standard_errors(lines)
        own = (np.sqrt(shared) * own + np.sqrt(1.0 - shared) * factor * apart) * errors / own.std(axis=0)
        errors = factor * errors
    else:
        errors = own.std(axis=0)
    return Noisy(costs, own, common, costs[0] * errors, seed)


def widest(samples: list[Floats]) -> Floats:
    """Samples whose percentile interval of any level holds those of all that are given."""
    ranked = np.sort([one[1:] for one in samples], axis=1)
    middle = ranked.shape[1] // 2
    return np.concatenate([samples[0][:1], ranked[:, :middle].min(axis=0), ranked[:, middle:].max(axis=0)])


def holding(
    statistic: Statistic, samples: Floats, truths: Floats, noise: Floats, of_the_rest: float = 1.0
) -> Floats:
    """Samples whose percentile interval of any level holds their first, the value, and misses the truth as often as it
    should.

    `truths` are what the other samples are of. An interval that holds its value cannot miss a truth above it. If this
    were the truth, how often would the value lie below it? That is all that the upper tail can miss, and where it is
    less than half of what is asked for, the lower tail misses the rest, or as much of it as is given. Samples below the
    value move up accordingly.
    """
    value, order = samples[0], np.argsort(samples[1:], kind="stable")
    ranked = samples[1:][order]
    below = int(np.searchsorted(ranked, value))
    if below == 0:
        return samples
    levels = np.arange(1, len(ranked) + 1) / (len(ranked) + 1)
    places = np.unique((np.linspace(0, 1, HOLDING_TRUTHS) ** 2 * (below - 1)).astype(np.int64))
    seen = statistic(truths[order[places]][:, None, :] * noise[:HOLDING_DRAWS])
    value_below = (seen < ranked[places][:, None]).mean(axis=1)
    upper = np.interp(np.arange(below), places, value_below)
    wanted = levels[:below]
    lower = np.where(wanted <= upper, wanted, (wanted + of_the_rest * upper) / (1 + of_the_rest))
    lower = np.maximum.accumulate(lower)
    after = levels[below] if below < len(ranked) else 1.0
    found = samples.copy()
    found[1:][order] = np.interp(
        levels,
        np.concatenate([lower, [lower[-1] + 1e-9, after - 1e-9], levels[below:]]),
        np.concatenate([ranked[:below], [value, value], ranked[below:]]),
    )
    return found


def standard_errors(lines: Deviations) -> Floats:
    """Of the cost of each language, relative to it, noise common to all languages left out.

    With few lines these are uncertain themselves, and a language whose noise looks small by chance would weigh too
    much. So they are shrunk towards each other by as much as their differences are chance.
    """
    common: Floats = np.asarray(sum(lines())) / sum(1 for _ in lines())
    # Of the text, that each line is. In differences of two tokenizers lengths cancel out: lines then count alike.
    share = (1.0 + common) / len(common)
    squares = share**2
    # Noise is measured from the same mean that has it. The factor is n / (n - 1) where lines are equally long.
    unbiased = squares.sum() / (squares * (1.0 + squares.sum() - 2.0 * share)).sum()
    variances, uncertainties = [], []
    for line in lines():
        square = (line - common) ** 2
        variances.append(unbiased * square.mean() / len(common))
        uncertainties.append((unbiased / len(common)) ** 2 * square.var() / len(common))
        if (
            len(common) < FEW_LINES
        ):  # two lines are equally far from their mean, and look as if nothing were uncertain
            uncertainties[-1] = max(uncertainties[-1], 2 * variances[-1] ** 2 / (len(common) - 1))
    variance, spread = np.array(variances), np.var(variances)
    real = max(0.0, 1.0 - np.mean(uncertainties) / spread) if spread > 0 else 0.0
    found: Floats = np.sqrt(variance.mean() + real * (variance - variance.mean()))
    return found


def shared_noise(own: Floats, lines: Deviations) -> float:
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
