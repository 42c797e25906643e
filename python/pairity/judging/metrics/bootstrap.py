"""Bootstrap over aligned lines: every language and every tokenizer sees the SAME resampled line ids.

A resample of n lines is a row of n counts (how often each line was drawn), so all sums of all resamples are
one matrix product: counts (resamples x lines) @ columns (lines x columns).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pairity.errors import PairityError
from pairity.judging.arrays import Floats

BLOCK_BYTES = 1 << 26  # of resample counts at a time; sets of resamples are kept up to four blocks in all


FEWEST = 20
"""With fewer resamples, even the lowest and the highest hold well below 95% of what could have been drawn."""


def check_resamples(resamples: int) -> None:
    if resamples < FEWEST and resamples != 0:
        raise PairityError(
            f"resamples is {resamples}: give at least {FEWEST} for 95% intervals, such as 1000, or 0 for none."
        )


class Bootstrap:
    """Draws resamples of lines. The same seed, number of lines and stream give the same resamples, always."""

    def __init__(self, resamples: int, seed: int) -> None:
        check_resamples(resamples)
        self.resamples = resamples
        self.seed = seed
        self._kept: dict[tuple[int, int], list[Floats]] = {}

    def sums(self, columns: Floats, stream: int = 0) -> Floats:
        """Sums over the rows of (lines x columns): row 0 over the lines as they are, then one row per resample.

        Languages that are not aligned pass a stream of their own, so that they are resampled independently.
        """
        lines = len(columns)
        drawn = [block @ columns for block in self._blocks(lines, stream)]
        return np.concatenate([columns.sum(axis=0, keepdims=True), *drawn])

    def _blocks(self, lines: int, stream: int) -> Iterator[Floats]:
        key = (lines, stream)
        if key in self._kept:
            yield from self._kept[key]
            return
        size = self.resamples * lines * 8
        small = size <= 4 * BLOCK_BYTES
        rows = max(1, BLOCK_BYTES // (8 * max(lines, 1)))
        random = np.random.default_rng([self.seed, stream])
        kept: list[Floats] = []
        for start in range(0, self.resamples, rows):
            block = np.empty((min(rows, self.resamples - start), lines), dtype=np.float64)
            for row in block:  # row by row: the draws must not depend on the size of a block
                row[:] = np.bincount(random.integers(lines, size=lines), minlength=lines)
            if small:
                kept.append(block)
            yield block
        if small:
            while (
                self._kept
                and size + sum(held.nbytes for each in self._kept.values() for held in each) > 4 * BLOCK_BYTES
            ):
                del self._kept[next(iter(self._kept))]
            self._kept[key] = kept


def interval(samples: Floats, level: float = 0.95) -> tuple[float, float, float]:
    """Value, low and high of samples whose first is the value: the percentile interval of the others, which holds it.

    NaN for low and high where nothing was resampled.
    """
    value, drawn = samples[0], samples[1:]
    if not len(drawn):
        return float(value), math.nan, math.nan
    tail = 50 * (1 - level)
    # Weibull's positions, k / (resamples + 1): others cut tails that are too long when there are few resamples.
    # There is no number between two that are infinite: a language that cost no token.
    with np.errstate(invalid="ignore"):
        low, high = np.percentile(drawn, [tail, 100 - tail], method="weibull")
    return float(value), float(np.minimum(low, value)), float(np.maximum(high, value))
