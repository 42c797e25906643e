"""Where labels, ticks and crowded dots go, in pixels: computed once, the same in every output."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

Box = tuple[float, float, float, float]
"""Left, right, top, bottom."""

# XML does not allow these characters; in a text they crash the renderer, and Python with it.
NOT_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

# The approximate size of a letter, a line of text and a dot.
LETTER = 6.6
LINE = 14.0
DOT = 8.0


def printable(text: str, length: int = 60) -> str:
    """Free text as a label: one line, shortened if needed, without characters that XML forbids."""
    plain = NOT_XML.sub("", " ".join(text.split()))
    return plain if len(plain) <= length else plain[: length - 1].rstrip() + "…"


@dataclass(frozen=True)
class Spot:
    """Where a name goes."""

    align: str
    x: float
    y: float
    line: tuple[float, float, float, float] | None = None
    """From the point to a name that stands further away: x, y, x, y."""


def beside(
    names: Sequence[tuple[str, float, float]], size: tuple[float, float], lines: Sequence[Box] = ()
) -> list[Spot | None]:
    """Where the name of each point goes; None if there is no room for it.

    It is the first position around the point that covers neither a point nor another name, crosses no line, and is
    clearly nearer to this point than to any other. A name without such a position may stand further away, at the end
    of a line to its point that passes no other point or name; what remains is left to the legend or the tooltip.
    """
    taken = [*((x - DOT, x + DOT, y - DOT, y + DOT) for _, x, y in names), *lines]
    named: list[Box] = []
    found: list[Spot | None] = [None] * len(names)

    def free(box: Box) -> bool:
        inside = box[0] >= 0 and box[1] <= size[0] and box[2] >= 0 and box[3] <= size[1]
        return inside and not any(overlap(box, other) for other in [*named, *taken])

    for near in (True, False):
        for index, (name, x, y) in enumerate(names):
            if not name or found[index] is not None:
                continue
            # Points in the same place share their names.
            others = [(one, other) for _, one, other in names if math.hypot(one - x, other - y) > DOT / 4]
            for box, place in (around if near else further)(x, y, len(name) * LETTER):
                if not free(box):
                    continue
                if place.line is None:
                    own = away((x, y), box) + DOT / 2
                    fits = all(away(other, box) >= own for other in others)
                else:
                    passes = along([place.line[:2], place.line[2:]])
                    blocked = [*named, *(kept_free(other, (x, y)) for other in others)]
                    fits = not any(overlap(one, other) for one in passes for other in blocked)
                if fits:
                    found[index] = place
                    named += [box, *along([place.line[:2], place.line[2:]])] if place.line else [box]
                    break
    return found


def around(x: float, y: float, long: float) -> Iterator[tuple[Box, Spot]]:
    """The positions for a name of this length around a point, the best first: its box, alignment and position."""
    shifts = [("left", 4.0), ("right", -4.0), ("center", 0.0), ("center", long / 4), ("center", -long / 4)]
    for down in (-10, 20, 4, -16, 26, -22, 32):
        for align, shift in [("left", DOT + 1), ("right", -DOT - 1)] if down == 4 else shifts:
            at = x + shift
            left = at - {"left": 0.0, "right": long, "center": long / 2}[align]
            yield (left, left + long, y + down - 11, y + down + 2), Spot(align, at, y + down)


def further(x: float, y: float, long: float) -> Iterator[tuple[Box, Spot]]:
    """The positions for a name at the end of a line, the nearest first."""
    for reach in range(24, 80, 8):
        for angle in range(0, 360, 15):
            to_x, to_y = (
                x + reach * math.cos(math.radians(angle)),
                y + reach * math.sin(math.radians(angle)),
            )
            right = angle < 90 or angle > 270
            left = to_x + 2 if right else to_x - 2 - long
            line = (x, y, to_x, to_y)
            box = (left, left + long, to_y - 7, to_y + 6)
            yield box, Spot("left" if right else "right", to_x + (2 if right else -2), to_y + 4, line)


def kept_free(point: tuple[float, float], own: tuple[float, float]) -> Box:
    """The box around a point that the line of another, own point does not pass; near that, it is smaller."""
    half = min(DOT - 1, math.dist(point, own) / 2)
    return point[0] - half, point[0] + half, point[1] - half, point[1] + half


def away(point: tuple[float, float], box: Box) -> float:
    """How far a point is from a box."""
    x, y = point
    return math.hypot(max(box[0] - x, 0, x - box[1]), max(box[2] - y, 0, y - box[3]))


def along(vertices: Sequence[tuple[float, float]]) -> list[Box]:
    """A line as small boxes, which names should not cover."""
    found = []
    for (x, y), (to_x, to_y) in pairwise(vertices):
        steps = math.ceil(math.hypot(to_x - x, to_y - y) / 4) or 1
        for step in range(steps + 1):
            one, other = x + (to_x - x) * step / steps, y + (to_y - y) * step / steps
            found.append((one - 1, one + 1, other - 1, other + 1))
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
