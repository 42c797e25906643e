"""Where labels, ticks and crowded dots go, in pixels: computed once, so that every output has them alike."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""Left, right, top, bottom."""
Point = tuple[float, float]
LETTER = 7.0
"""About the width of a letter."""
LINE = 14.0
"""About the height of a line of text."""
DOT = 8.0
"""About the height of a dot."""


def printable(text: str, length: int = 60) -> str:
    """A free text as a label: one line without control characters, cut where it is too long."""
    kept = (
        " " if mark.isspace() else mark
        for mark in text
        if mark.isspace() or unicodedata.category(mark) not in ("Cc", "Cs")
    )
    plain = " ".join("".join(kept).split())
    return plain if len(plain) <= length else plain[: length - 1].rstrip() + "…"


def beside(
    texts: Sequence[str], points: Sequence[Point], size: Point, lines: Sequence[Box] = ()
) -> list[tuple[str, float, float]]:
    """Alignment and place of a name beside each point.

    Of the places around a point the nearest that covers neither a point nor another name, nor a line where
    that can be had too.
    """
    taken = [(x - 8, x + 8, y - 7, y + 7) for x, y in points]
    found = []
    for text, (x, y) in zip(texts, points, strict=True):
        long = len(text) * LETTER
        places = []
        for down in (-10, 20, -24, 34, -38, 48):
            for align, start, left in (("left", x + 4, x + 4), ("right", x - 4, x - 4 - long)):
                box = (left, left + long, y + down - 11, y + down + 3)
                outside = box[0] < 0 or box[1] > size[0] or box[2] < 0 or box[3] > size[1]
                covers = sum(overlap(box, other) for other in taken)
                crosses = sum(overlap(box, line) for line in lines)
                places.append(((outside, covers, crosses), box, (align, start, y + down)))
        _, box, place = min(places, key=lambda one: one[0])
        taken.append(box)
        found.append(place)
    return found


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def clear_of_each_other(heights: Sequence[float]) -> list[float]:
    """The heights of two labels, moved apart where they would touch."""
    if len(heights) < 2 or abs(heights[0] - heights[1]) >= LINE:
        return list(heights)
    middle = sum(heights) / 2
    return [middle - LINE / 2, middle + LINE / 2]


def sideways(heights: Sequence[float], step: float, most: float) -> list[float]:
    """How far each dot of a column moves aside, in steps, so as not to cover another.

    >>> sideways([10, 11, 12, 40], step=8, most=20)
    [0, -8, 8, 0]
    """
    shifts: list[float] = [0]
    while abs(shifts[-1]) + step <= most:
        shifts += [-abs(shifts[-1]) - step, abs(shifts[-1]) + step]
    placed: list[Point] = []
    for height in heights:
        taken = [shift for other, shift in placed if abs(other - height) < DOT]
        placed.append((height, next((shift for shift in shifts if shift not in taken), 0)))
    return [shift for _, shift in placed]


def log_ticks(low: float, high: float, most: float) -> list[float]:
    """Round numbers between two ends of a logarithmic axis, at most about `most` of them.

    >>> log_ticks(300, 20_000, 8)
    [500, 1000, 2000, 5000, 10000, 20000]
    """
    for leads in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
        if len(leads) == 6 and high / low >= 20:
            continue
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [float(f"{lead}e{power}") for power in powers for lead in leads]
        found = [int(value) if value == int(value) else value for value in found if low <= value <= high]
        if len(found) <= most or len(leads) == 1:
            return found
    return []
