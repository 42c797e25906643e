"""What costs may be without the noise of lines: draws from the shapes that the observed costs do not refute.

A shape is a distribution of true costs in one to four groups, normal within each group: all languages around one
cost; some far off and the others alike, on one side or on both; groups that differ, alike inside. An observed cost has
the noise of its own language on top. Each shape is fitted by maximum likelihood (EM). What all languages contribute to
is drawn from the simpler shapes in turn, each weighing as much as the criterion of Hannan and Quinn (1979) says: more
groups must pay for themselves. What hangs on single languages differs too much from shape to shape for that, so there
are draws from each shape that is not refuted.

A draw is made in two steps. First the shape: which language is in which group, and the mean and the variance of each
group. The variance is the one under which the observed scatter has the rank of a random one: it is 0 where even that is
less than noise alone would make. Then the costs: of what a language is away from its group, the share that is not
noise, and noise. Where noise is small, that share is 1, and the draws are the resamples themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pairity.judging.arrays import Floats

Labels = npt.NDArray[np.int64]

# More change nothing that the simulations of docs/statistics.md can see.
FIRST_ITERATIONS, ITERATIONS, NEWTON_STEPS = 15, 80, 3
# With more, groups that hardly differ run into each other, and end as one that is spread out.
SWEEPS = 2
REFUTED = 2.0  # a shape whose log-likelihood is less than the highest by more than this


@dataclass(frozen=True)
class Shape:
    """Groups of languages. They all have the same variance, or each has its own; the same goes for means."""

    groups: int
    same_variance: bool
    same_mean: bool = False

    @property
    def parameters(self) -> int:
        means, variances = (1 if same else self.groups for same in (self.same_mean, self.same_variance))
        return self.groups - 1 + means + variances

    def pooled(self, values: Floats) -> Floats:
        """Sums over all groups, in place of each, where groups have the same variance: rows x groups."""
        return summed(values) if self.same_variance else values

    def centres(self, weighted: Floats, weights: Floats) -> Floats:
        """Means of groups, given the sums of weighted costs and of weights in each."""
        if self.same_mean:
            weighted, weights = summed(weighted), summed(weights)
        return weighted / (weights + 1e-300)


def summed(values: Floats) -> Floats:
    """The sum over all groups, in place of each."""
    return np.broadcast_to(values.sum(axis=1, keepdims=True), values.shape)


SHAPES = (Shape(1, True), Shape(2, True), Shape(2, False), Shape(3, True), Shape(4, True))
# Tails as long as true ones are, on both sides or on one. The outermost languages hang on them; the others hardly do.
ALSO_OF_EXTREMES = (Shape(2, False, same_mean=True), Shape(3, False))


@dataclass(frozen=True)
class Groups:
    """Shares, means and variances of groups: fits (or draws) x groups."""

    shares: Floats
    means: Floats
    variances: Floats

    def log_likelihoods(self, costs: Floats, noise: Floats) -> Floats:
        """Of each language in each group, but for a constant: fits x languages x groups; `noise` is a variance."""
        total = self.variances[:, None, :] + noise[:, None]
        distance = (costs[:, None] - self.means[:, None, :]) ** 2 / total
        with np.errstate(divide="ignore"):  # a group without a language
            found: Floats = np.log(self.shares)[:, None, :] - 0.5 * (distance + np.log(total))
        return found

    def rows(self, which: Labels) -> Groups:
        return Groups(self.shares[which], self.means[which], self.variances[which])


@dataclass(frozen=True)
class Fits:
    """Every shape as it fits the observed costs best, with the log-likelihood; `noise` is the variance of each
    language."""

    costs: Floats
    noise: Floats
    groups: list[Groups]
    likelihoods: Floats

    @classmethod
    def of(cls, costs: Floats, errors: Floats) -> Fits:
        fits = [fitted(shape, costs, errors**2) for shape in (*SHAPES, *ALSO_OF_EXTREMES)]
        return cls(costs, errors**2, [groups for _, groups in fits], np.array([each for each, _ in fits]))

    def draws(self, noise: Floats, random: np.random.Generator) -> Floats:
        """Costs as they may be without noise, as many times as there are draws of noise: draws x languages."""
        penalty = max(2.0, 2 * np.log(np.log(len(self.costs))))  # of few languages as much as Akaike's
        parameters = np.array([shape.parameters for shape in SHAPES])
        score = self.likelihoods[: len(SHAPES)] - penalty / 2 * parameters
        weights = np.exp(score - score.max())
        places = (random.permutation(len(noise)) + 0.5) / len(noise)
        chosen = np.searchsorted(np.cumsum(weights / weights.sum())[:-1], places)
        found = np.empty_like(noise)
        others = random.permutation(noise)  # what the scatter of a random observation is made of
        for i in range(len(SHAPES)):
            rows = np.flatnonzero(chosen == i)
            if len(rows):
                found[rows] = self._drawn(i, noise[rows], others[rows], random)
        return found

    def draws_of_each(self, noise: Floats, random: np.random.Generator) -> list[Floats]:
        """The same for every shape by itself that is not refuted."""
        possible = np.flatnonzero(self.likelihoods >= self.likelihoods.max() - REFUTED)
        return [self._drawn(int(i), noise, random.permutation(noise), random) for i in possible]

    def _drawn(self, i: int, noise: Floats, others: Floats, random: np.random.Generator) -> Floats:
        shape = (*SHAPES, *ALSO_OF_EXTREMES)[i]
        return drawn(shape, self.groups[i], self.costs, self.noise, noise, others, random)


def fitted(shape: Shape, costs: Floats, noise: Floats) -> tuple[float, Groups]:
    """The log-likelihood and the groups of the best fit, from several starts: neighbours are in the same group,
    or those equally far from the middle."""
    languages = len(costs)
    few, some = max(1, languages // 15), max(1, languages // 5)
    cuts = sorted({few, some, languages // 2, languages - some, languages - few})
    apart = -np.abs(costs - np.median(costs)) if shape.same_mean else costs
    rank = np.argsort(np.argsort(apart, kind="stable"))
    chosen = list(combinations(cuts, shape.groups - 1)) or [tuple(range(1, shape.groups))]
    starts = np.stack([np.searchsorted(np.array(each), rank, side="right") for each in chosen])
    membership = 0.98 * (starts[:, :, None] == np.arange(shape.groups)) + 0.02 / shape.groups
    size = membership.sum(axis=1)
    means = (membership * costs[:, None]).sum(axis=1) / size
    within = (membership * ((costs[:, None] - means[:, None, :]) ** 2 - noise[:, None])).sum(axis=1) / size
    groups = Groups(size, means, np.maximum(within, 0.05 * noise.mean()))  # EM never leaves a variance of 0
    for _ in range(FIRST_ITERATIONS):
        groups, membership, likelihood = improved(shape, groups, membership, costs, noise)
    best = np.array([likelihood.argmax()])
    groups, membership = groups.rows(best), membership[best]
    for _ in range(ITERATIONS - FIRST_ITERATIONS):
        groups, membership, likelihood = improved(shape, groups, membership, costs, noise)
    return float(likelihood[0]), groups


def improved(
    shape: Shape, groups: Groups, membership: Floats, costs: Floats, noise: Floats
) -> tuple[Groups, Floats, Floats]:
    """One iteration of EM: the groups, how far each language belongs to each, and the log-likelihood."""
    groups = maximised(shape, groups.variances, membership, costs, noise)
    logs = groups.log_likelihoods(costs, noise)
    highest = logs.max(axis=2, keepdims=True)
    membership = np.exp(logs - highest)
    total = membership.sum(axis=2, keepdims=True)
    return groups, membership / total, (highest + np.log(total)).sum(axis=(1, 2))


def maximised(shape: Shape, variances: Floats, membership: Floats, costs: Floats, noise: Floats) -> Groups:
    """The M step: groups from the languages in them, given what variance they had before."""
    total = variances[:, None, :] + noise[:, None]
    real = variances[:, None, :] / total
    weights = membership / total
    size = membership.sum(axis=1) + 1e-12
    means = shape.centres((weights * costs[:, None]).sum(axis=1), weights.sum(axis=1))
    without_noise = (real * (costs[:, None] - means[:, None, :])) ** 2 + real * noise[:, None]
    variances = (membership * without_noise).sum(axis=1) / size
    shares = size / size.sum(axis=1, keepdims=True)
    if shape.same_variance:
        variances = shape.pooled(shares * variances)
    return Groups(shares, means, variances)


def drawn(
    shape: Shape,
    fit: Groups,
    costs: Floats,
    variance: Floats,
    noise: Floats,
    others: Floats,
    random: np.random.Generator,
) -> Floats:
    """Draws of costs under one shape: in turn who is in which group, and the means and variances of the groups."""
    groups = fit.rows(np.zeros(len(noise), dtype=np.int64))
    for sweep in range(SWEEPS):
        labels = labels_of(groups, costs, variance, random)
        members = Members(labels, shape.groups)
        of_language = np.take_along_axis(groups.variances, labels, axis=1)
        real = of_language / (of_language + variance)
        # A random observation under these variances, and its scatter around the means of the groups.
        by_chance = np.sqrt(real) * random.normal(size=noise.shape)
        by_chance += np.sqrt((1 - real) / variance) * np.roll(others, sweep, axis=0)
        scatter = members.sum(by_chance**2) - members.sum(by_chance) ** 2 / np.maximum(members.sizes, 1)
        if shape.same_mean:
            scatter = members.sum((by_chance - by_chance.mean(axis=1, keepdims=True)) ** 2)
        groups = explained(shape, members, costs, variance, scatter, fit, random)
    of_language = np.take_along_axis(groups.variances, labels, axis=1)
    means = np.take_along_axis(groups.means, labels, axis=1)
    real = of_language / (of_language + variance)
    if not shape.same_mean:
        # Alone in its group, a language is uncertain by its own noise; by the draws of it, not by those of the mean.
        real[np.take_along_axis(members.sizes, labels, axis=1) == 1] = 1.0
    found: Floats = means + real * (costs - means) + np.sqrt(real) * noise
    return found


def labels_of(groups: Groups, costs: Floats, noise: Floats, random: np.random.Generator) -> Labels:
    """Draws of the group of each language: draws x languages."""
    rows, count = groups.means.shape
    if count == 1:
        return np.zeros((rows, len(costs)), dtype=np.int64)
    logs = groups.log_likelihoods(costs, noise)
    up_to = np.cumsum(np.exp(logs - logs.max(axis=2, keepdims=True)), axis=2)
    place = random.random((rows, len(costs))) * up_to[:, :, -1]
    labels: Labels = (place[:, :, None] > up_to[:, :, :-1]).sum(axis=2)
    return labels


class Members:
    """Which language is in which group, in every draw."""

    def __init__(self, labels: Labels, groups: int) -> None:
        self.labels = labels
        self._shape = (len(labels), groups)
        self._places = (labels + groups * np.arange(len(labels))[:, None]).ravel()
        self.sizes = self.sum(np.ones(labels.shape))

    def sum(self, values: Floats) -> Floats:
        """Over the languages of each group: draws x groups."""
        size = self._shape[0] * self._shape[1]
        found: Floats = np.bincount(self._places, values.ravel(), size).astype(np.float64)
        return found.reshape(self._shape)


def explained(
    shape: Shape,
    members: Members,
    costs: Floats,
    noise: Floats,
    scatter: Floats,
    fit: Groups,
    random: np.random.Generator,
) -> Groups:
    """Groups whose variances are such that the scatter of the costs, each relative to its variance, is as given.

    The scatter falls with the variance, and ever more slowly, so Newton's steps do not pass the solution from below.
    """
    scatter = np.maximum(shape.pooled(scatter), 1e-9)
    everywhere = np.broadcast_to(costs, members.labels.shape)
    means = shape.centres(members.sum(everywhere), members.sizes)

    def together(values: Floats) -> Floats:
        return shape.pooled(members.sum(values))

    def away() -> Floats:
        found: Floats = (costs - np.take_along_axis(means, members.labels, axis=1)) ** 2
        return found

    largest = 1e3 * costs.var() + noise.max()
    variances = np.clip(together(away()) / scatter - noise.mean(), 0.0, largest)
    for _ in range(NEWTON_STEPS):
        weights = 1 / (np.take_along_axis(variances, members.labels, axis=1) + noise)
        means = shape.centres(members.sum(weights * costs), members.sum(weights))
        relative = away() * weights
        slope = together(relative * weights)
        step = np.where(slope > 0, (together(relative) - scatter) / (slope + 1e-300), 0.0)
        variances = np.clip(variances + step, 0.0, largest)
    weights = 1 / (np.take_along_axis(variances, members.labels, axis=1) + noise)
    precision = members.sum(weights)
    means = shape.centres(members.sum(weights * costs), precision)
    by_chance = random.normal(size=(len(means), 1 if shape.same_mean else shape.groups))
    if shape.same_mean:
        precision = summed(precision)
    means = means + by_chance / np.sqrt(np.where(precision == 0, 1.0, precision))
    if not (shape.same_variance or shape.same_mean):
        variances = np.where(members.sizes == 1, 0.0, variances)  # one language has no scatter
    shares = random.standard_gamma(members.sizes + 0.5)
    return Groups(
        shares / shares.sum(axis=1, keepdims=True),
        np.where(precision == 0, fit.means, means),
        np.where(members.sizes == 0, fit.variances, variances),
    )
