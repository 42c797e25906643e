"""Resamples of what compares languages, corrected for what the noise of lines adds to inequality.

Costs are measured on some lines, and their noise makes languages look less alike than they are: a Gini coefficient is
too high by some amount, and that of a resample by more, because it holds the noise twice. Near zero a percentile
interval then lies above its own estimate, and above the truth. What is done about it:

1. The noise is what the resamples show. Languages share it only as far as the lines show that they do: with fewer
   lines than languages, most of the correlation in a table of lines is chance.
2. What the costs could be without noise is estimated from both (maximum likelihood, any shape: some languages may be
   far off and the others alike), and a path goes from all languages alike over these costs to those observed.
3. For each step of the path, noise is added and the median of the statistic taken. Read backwards, this says which
   true value an observed one stands for.
4. The resamples are drawn around the point of the path that explains the observed value, and each is read backwards.
5. All this hangs on the costs that happened to be observed. So it is done again for some of these resamples, as if they
   had been observed, and where the results differ more than the resamples themselves, those are spread as much.

docs/statistics.md has the simulations that this was chosen by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from pairity.judging.arrays import Floats

Statistic = Callable[[Floats], Floats]
"""From costs along the last axis to one number."""

# Of the deconvolution. With fewer iterations, intervals cover less often where some languages are far off.
ATOMS, ITERATIONS = 60, 500
MEDIANS = 250  # resamples that the medians along the path are taken from
# How often all is done again, and with how much less work: only how far the results are apart is of interest.
REPEATS, REPEAT_ITERATIONS, REPEAT_MEDIANS = 40, 200, 60


@dataclass
class Noisy:
    """Costs, (1 + resamples) x languages as `Sums` has them; draws of their noise, relative to them; and the standard
    error of each language, noise common to all left out."""

    costs: Floats
    noise: Floats | None = None
    errors: Floats | None = None
    _samples: dict[Statistic, Floats] = field(default_factory=dict)

    def samples(self, statistic: Statistic) -> Floats:
        """The statistic of the costs as they are, and then its corrected resamples."""
        if self.noise is None or self.errors is None:
            return statistic(self.costs)
        if statistic not in self._samples:
            self._samples[statistic] = corrected(statistic, self.costs, self.noise, self.errors)
        return self._samples[statistic]


Lines = Callable[[], Iterator[Floats]]
"""For each language, by how much of its cost each line deviates from it. Asked for twice, language by language, so that
no table of all lines and languages is ever in memory."""


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
        shared, count = shared_noise(own, lines), len(next(lines()))
        # The noise of each language from another resample: as large as before, and independent of the others.
        order = np.tile(np.arange(resamples)[:, None], languages)
        np.random.default_rng([seed, languages]).permuted(order, axis=0, out=order)
        apart = np.take_along_axis(own, order, axis=0)
        # The variance of resamples divides by n; an unbiased one, by n - 1.
        own = np.sqrt(count / (count - 1)) * (np.sqrt(shared) * own + np.sqrt(1.0 - shared) * apart)
    return Noisy(costs, common * (1.0 + own) - 1.0, costs[0] * own.std(axis=0))


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


def corrected(statistic: Statistic, costs: Floats, noise: Floats, errors: Floats) -> Floats:
    """Row 0: the statistic of the costs. The others: resamples of what it would be without noise."""
    observed = statistic(costs)[:1]
    path = path_to(costs[0], deconvolved(costs[0], errors))
    scale = Scale.of(statistic, path, noise[:MEDIANS])
    place = float(np.interp(scale.read_backwards(observed), scale.true, np.arange(len(path)))[0])
    before = min(int(place), len(path) - 2)
    fitted = path[before] + (place - before) * (path[before + 1] - path[before])
    drawn = scale.read_backwards(statistic(with_noise(fitted, noise)))
    as_if_observed = np.maximum(with_noise(fitted, noise[:REPEATS]), costs[0].min() / 2)  # a cost is above 0
    spread, spread_again = drawn.std(), repeated(statistic, as_if_observed, noise, errors).std()
    if 0 < spread < spread_again:
        drawn = np.median(drawn) + spread_again / spread * (drawn - np.median(drawn))
    return np.concatenate([observed, np.maximum(drawn, scale.true[0])])


def repeated(statistic: Statistic, costs: Floats, noise: Floats, errors: Floats) -> Floats:
    """What the correction would make of each row of costs, had it been observed."""
    without_noise = deconvolved(costs, errors, REPEAT_ITERATIONS)
    scales = (
        Scale.of(statistic, path_to(row, inner), noise[-REPEAT_MEDIANS:])
        for row, inner in zip(costs, without_noise, strict=True)
    )
    return np.array(
        [scale.read_backwards(value) for scale, value in zip(scales, statistic(costs), strict=True)]
    )


@dataclass(frozen=True)
class Scale:
    """Which values are seen for which true ones, both ascending, step by step along a path."""

    true: Floats
    seen: Floats

    @classmethod
    def of(cls, statistic: Statistic, path: Floats, noise: Floats) -> Scale:
        seen = np.median(statistic(with_noise(path[:, None, :], noise)), axis=1)
        return cls(np.maximum.accumulate(statistic(path)), np.maximum.accumulate(seen))

    def read_backwards(self, values: Floats) -> Floats:
        """The true value where the median is `values`; beyond the path, with the correction at its end."""
        found: Floats = np.maximum(values - np.interp(values, self.seen, self.seen - self.true), self.true[0])
        return found


def with_noise(costs: Floats, noise: Floats) -> Floats:
    noised: Floats = np.maximum(costs * (1.0 + noise), 0.0)
    return noised


def path_to(costs: Floats, without_noise: Floats) -> Floats:
    """From all languages alike over the costs without noise to those observed and beyond: steps x languages."""
    mean = costs.mean()
    inner, outer = without_noise - without_noise.mean(), costs - mean
    steps = [share * inner for share in np.linspace(0, 1, 7)[:-1]]
    steps += [(1 - share) * inner + share * outer for share in np.linspace(0, 1, 5)]
    steps += [share * outer for share in (1.25, 1.5)]
    path: Floats = np.maximum(mean + np.stack(steps), costs.min() / 2)  # a cost is above 0
    return path


def deconvolved(costs: Floats, errors: Floats, iterations: int = ITERATIONS) -> Floats:
    """Costs as they may be without noise: the distribution of highest likelihood (Kiefer and Wolfowitz, 1956), by EM.

    It is not the best guess for each language but right for all together: guesses would be too much alike. Each row of
    costs, if there are several, is taken by itself.
    """
    rows = np.atleast_2d(costs)
    low, high = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    atoms = low + (high - low) * np.linspace(0, 1, ATOMS)
    distance = ((rows[:, :, None] - atoms[:, None, :]) / errors[:, None]) ** 2
    likelihood = np.exp(-0.5 * (distance - distance.min(axis=2, keepdims=True)))
    transposed = np.ascontiguousarray(likelihood.swapaxes(1, 2))
    weights = np.full((*atoms.shape, 1), 1.0 / ATOMS)
    languages = rows.shape[1]
    for _ in range(iterations):
        weights = weights * (transposed @ (1.0 / (likelihood @ weights))) / languages
    expected = ((likelihood @ (weights * atoms[:, :, None])) / (likelihood @ weights))[:, :, 0]
    places = (np.arange(languages) + 0.5) / languages
    found = np.empty_like(rows)
    for i, row in enumerate(rows):
        found[i, np.lexsort((row, expected[i]))] = np.interp(places, np.cumsum(weights[i]), atoms[i])
    return found.reshape(costs.shape)
