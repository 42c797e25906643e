"""Where labels, ticks and crowded dots go, in pixels: computed once, the same in every output."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

Box = tuple[float, float, float, float]
"""Left, right, top, bottom."""

# XML does not allow these characters; in a text they crash the renderer, and Python with it.
NOT_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# The approximate size of a letter, a line of text and a dot.
LETTER = 7.0
LINE = 14.0
DOT = 8.0


def printable(text: str, length: int = 60) -> str:
    """Free text as a label: one line, shortened if needed, without characters that XML forbids."""
    plain = NOT_XML.sub("", " ".join(text.split()))
    return plain if len(plain) <= length else plain[: length - 1].rstrip() + "…"


def beside(
    names: Sequence[tuple[str, float, float]], size: tuple[float, float], lines: Sequence[Box] = ()
) -> list[tuple[str, float, float] | None]:
    """Where the name of each point goes: alignment and position; None if there is no room for it.

    It is the nearest position around the point that covers neither a point nor another name and crosses no line. A
    legend names all points, so a point without such a position is drawn without a name.
    """
    taken = [(x - DOT, x + DOT, y - DOT, y + DOT) for _, x, y in names]
    found: list[tuple[str, float, float] | None] = []
    for name, x, y in names:
        long = len(name) * LETTER
        free = []
        for down in (-10, 20, -24, 34, -38, 48):
            for align, start, left in (("left", x + 4, x + 4), ("right", x - 4, x - 4 - long)):
                box = (left, left + long, y + down - 11, y + down + 2)
                outside = box[0] < 0 or box[1] > size[0] or box[2] < 0 or box[3] > size[1]
                if not outside and not any(overlap(box, other) for other in [*taken, *lines]):
                    free.append((box, (align, start, y + down)))
        taken += [box for box, _ in free[:1]]
        found.append(free[0][1] if free else None)
    return found


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def clear_of_each_other(heights: Sequence[float]) -> list[float]:
    """The heights of one or two labels, moved apart if they would touch."""
    if len(heights) < 2 or abs(heights[0] - heights[1]) >= LINE:
        return list(heights)
    middle = sum(heights) / 2
    return [middle - LINE / 2, middle + LINE / 2]


def sideways(heights: Sequence[float], step: float, most: float) -> list[float]:
    """How far each dot of a column moves aside, in steps, to avoid covering another.

    >>> sideways([10, 11, 12, 40], step=8, most=20)
    [0, -8, 8, 0]
    """
    steps = range(1, int(most / step) + 1)
    shifts = [0, *(side * count * step for count in steps for side in (-1, 1))]
    placed: list[tuple[float, float]] = []
    for height in heights:
        taken = [shift for other, shift in placed if abs(other - height) < DOT]
        placed.append((height, next((shift for shift in shifts if shift not in taken), 0)))
    return [shift for _, shift in placed]


def log_ticks(low: float, high: float, most: float) -> list[float]:
    """Round numbers between the ends of a logarithmic axis, at most about `most` of them.

    >>> log_ticks(300, 20_000, 8)
    [500, 1000, 2000, 5000, 10000, 20000]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    dense = [] if high / low >= 20 else [(1, 1.5, 2, 3, 5, 7)]
    for leads in (*dense, (1, 2, 5), (1,)):
        found = [lead * 10.0**power for power in powers for lead in leads]
        found = [int(value) if value >= 10 else round(value, 9) for value in found if low <= value <= high]
        if len(found) <= most:
            break
    return found


CHANGES = (-0.9, -0.75, -0.5, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.5, 1, 2, 5, 10, 20, 50, 100)
"""Changes that an axis may label; those closest to 0 matter most."""


def ratio_ticks(low: float, high: float, most: float) -> list[float]:
    """Ratios at round changes between the ends of a logarithmic axis, at least about 1/`most` of it apart.

    >>> ratio_ticks(0.5, 6, 5)
    [0.5, 1, 2, 6]
    """
    apart = math.log(high / low) / most
    found: list[float] = []
    for change in sorted(CHANGES, key=abs):
        ratio = 1 + change
        if low <= ratio <= high and all(abs(math.log(ratio / other)) >= apart for other in found):
            found.append(ratio)
    return sorted(found)
