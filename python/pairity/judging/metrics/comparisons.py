"""Multiple comparisons: how likely a difference is by chance, corrected for the number of comparisons."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pairity.judging.arrays import Floats


def p_value(samples: Floats) -> float:
    """Two-sided, for a difference and its resamples: twice the share of resamples on the other side of 0.

    If none is on the other side, that share only says "small"; how small then follows from the normal distribution
    with the mean and standard deviation of the resamples. NaN without resamples.

    >>> p_value(np.array([2.0, 1.0, 2.0, 3.0, -1.0]))
    0.8
    """
    drawn = samples[1:]
    if not len(drawn) or not np.all(np.isfinite(samples)):
        return math.nan
    at_most = 2 / (len(drawn) + 1)
    beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    if beyond:
        return min(1.0, (beyond + 1) * at_most)
    error = float(drawn.std())
    distance = abs(float(drawn.mean())) / error if error > 0 else math.inf
    return min(at_most, math.erfc(distance / math.sqrt(2)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: an upper bound on the chance that ANY difference called clear at this level is not real.

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on; none may be below the one before it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found = [math.nan] * len(p_values)
    known = sorted((p, index) for index, p in enumerate(p_values) if not math.isnan(p))
    highest = 0.0
    for rank, (p, index) in enumerate(known):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
        found[index] = highest
    return found
