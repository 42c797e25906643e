"""Whether text survives: lines that decode to themselves, and lines on which the tokenizer fails."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pairity.judging.arrays import Ids, Integers, Mask
from pairity.judging.metrics.metric import POOLED, Metric


@dataclass(frozen=True)
class Lines:
    """The outcome of each line; a failure counts as lost text."""

    failed: Mask
    came_back: Mask | None  # None if nothing was decoded

    def __len__(self) -> int:
        return len(self.failed)


def round_trip(lines: Lines) -> float:
    """Lines with decode(encode(x)) == x / lines: 1 for a lossless tokenizer."""
    return math.nan if lines.came_back is None else float(np.mean(lines.came_back))


def failed_lines(lines: Lines) -> float:
    """The number of lines that the tokenizer could not encode."""
    return float(np.sum(lines.failed))


def comes_back(
    lines: Sequence[str],
    ids: Ids,
    offsets: Integers,
    decode: Callable[[Sequence[int]], str | bytes],
) -> tuple[Mask, Mask]:
    """For every line, whether decode(encode(line)) == line; and whether it lost text.

    A line that comes back in another normal form of Unicode has lost nothing.
    """
    same, lost = np.zeros((2, len(lines)), dtype=bool)
    for number, line in enumerate(lines):
        decoded = decode(ids[offsets[number] : offsets[number + 1]].tolist())
        text = decoded.decode(errors="replace") if isinstance(decoded, bytes) else decoded
        same[number] = decoded == (line.encode() if isinstance(decoded, bytes) else line)
        lost[number] = not same[number] and normal(text) != normal(line)
    return same, lost


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", text)


ROUND_TRIP: list[Metric[[Lines], float]] = [
    Metric(
        name="round_trip",
        family="round_trip",
        function=round_trip,
        unit="share",
        better="higher",
        title="lines with decode(encode(x)) == x",
        short_title="Round trip",
        over_languages=POOLED,
        decimals=1,
        percent=True,
        main=True,
        per_language=True,
    ),
]

FAILURES: list[Metric[[Lines], float]] = [
    Metric(
        name="failed_lines",
        family="failures",
        function=failed_lines,
        unit="lines",
        better="lower",
        title="lines that the tokenizer could not encode",
        short_title="Failed lines",
        over_languages=POOLED,
        decimals=0,
        per_language=True,
    ),
]
