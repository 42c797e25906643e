"""Sums over the lines of every language, from which costs, rates and fertility are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairity.judging.arrays import Floats, Integers, Mask
from pairity.judging.metrics.units import Units

COUNTED = ("tokens", "lines", "bytes", "chars", "words", "split_ratios", "split_lines", "pretokens")


@dataclass(frozen=True)
class Sums:
    """Every array is (1 + resamples) x languages; row 0 has the sums over the actual lines."""

    languages: Sequence[str]
    tokens: Floats
    lines: Floats
    bytes: Floats
    chars: Floats
    words: Floats
    split_ratios: Floats  # tokens / len(line.split()), for fertility as in the paper's tables
    split_lines: Floats  # lines with at least one such word
    pretokens: Floats  # NaN if the tokenizer does not expose its pre-tokenizer

    def of(self, codes: Sequence[str]) -> Sums:
        """The sums of some languages."""
        columns = [self.languages.index(code) for code in codes]
        return Sums(list(codes), *(array[:, columns] for array in self.arrays()))

    def pooled(self) -> Sums:
        """All languages as one."""
        return Sums(["all"], *(array.sum(axis=1, keepdims=True) for array in self.arrays()))

    def arrays(self) -> list[Floats]:
        return [getattr(self, name) for name in COUNTED]


def line_table(units: Units, lengths: Integers, keep: Mask, pretokens: Integers | None = None) -> Floats:
    """The input of `Sums`: one row per line, one column per name in COUNTED; zeros for lines that are not kept."""
    tokens = np.where(keep, lengths, 0)
    columns: dict[str, npt.ArrayLike] = {
        "tokens": tokens,
        "lines": keep,
        "bytes": units.bytes * keep,
        "chars": units.chars * keep,
        "words": units.words * keep,
        "split_ratios": np.where(units.split_words > 0, tokens / np.maximum(units.split_words, 1), 0.0),
        "split_lines": (units.split_words > 0) & keep,
        "pretokens": np.full(len(keep), np.nan) if pretokens is None else pretokens * keep,
    }
    return np.stack([np.asarray(columns[name], dtype=np.float64) for name in COUNTED], axis=1)


def ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """above / below; NaN (not zero, not an error) if nothing was counted."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)
