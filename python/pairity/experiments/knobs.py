"""Knobs: settings in order from classical to equal costs, and the search along them for what meets targets.

    hybrid  classical, hybrid 0.9, 0.75, 0.5, 0.25, joint 0.5    the share of the merges that are classical
    fair    fair 0, 4, 16, 64, 150                               beta

Hybrids keep the cost of a large language near classical BPE; fair compresses best over all languages. Where a target
starts or stops being met along a knob, the search halves the gap a few times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from pairity.experiments.targets import Measured, Target, aim

JOINT: Final = 0.5
NEAR: Final = 0.01
"""Values that differ by less than this share count as equal."""

Step = Literal["up", "down"]
"""Towards equal costs, or towards classical."""


@dataclass(frozen=True)
class Setting:
    """A policy with its short name and its options for `pairity train`."""

    name: str
    kind: str
    given: Mapping[str, Any]
    """Its keys in a run of an experiment."""

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def options(self) -> str:
        """--method fair --beta 16"""
        return " ".join(
            f"--{key.replace('_', '-')} {value if isinstance(value, str) else format(value, 'g')}"
            for key, value in self.given.items()
            if (key, value) != ("method", "parity")
        )

    def run(self, **more: Any) -> dict[str, Any]:
        return {"name": self.name, **self.given, **more}


def fair(beta: float) -> Setting:
    return Setting(f"fair {beta:g}", "fair", {"method": "fair", "beta": float(f"{beta:g}")})


def hybrid(share: float) -> Setting:
    """`share` goes from 1, which is classical, to 0, with no classical merges."""
    if share == 1:
        return CLASSICAL
    if share == 0:
        return FAIREST
    settings = {"method": "parity", "joint": JOINT, "global_merges": float(f"{share:g}")}
    return Setting(f"hybrid {share:g}", "hybrid", settings)


CLASSICAL: Final = Setting("classical", "classical", {"method": "classical"})
FAIREST: Final = Setting(f"joint {JOINT:g}", "parity", {"method": "parity", "joint": JOINT})
PARITY: Final = Setting("parity", "parity", {"method": "parity"})


@dataclass(frozen=True)
class Knob:
    """`at` turns a value into a setting; `values` are in order, the most classical first."""

    at: Callable[[float], Setting]
    values: tuple[float, ...]
    between: Callable[[float, float], float]

    @property
    def settings(self) -> list[Setting]:
        return [self.at(value) for value in self.values]


def middle_share(one: float, other: float) -> float:
    return three_digits((one + other) / 2)


def middle_beta(one: float, other: float) -> float:
    """The geometric mean: 16 is as far from 64 as 64 from 256."""
    return three_digits(math.sqrt((one + 1) * (other + 1)) - 1)


def three_digits(value: float) -> float:
    """Rounded to three digits, as a person would write it."""
    return float(f"{value:.3g}")


KNOBS: Final = (
    Knob(hybrid, (1, 0.9, 0.75, 0.5, 0.25, 0), middle_share),
    Knob(fair, (0, 4, 16, 64, 150), middle_beta),
)
LADDER: Final = (CLASSICAL, *KNOBS[0].settings[1:-1], *KNOBS[1].settings, FAIREST, PARITY)
"""The settings that are always tried, in the order of the table."""


def in_order(settings: Sequence[Setting]) -> list[Setting]:
    """From classical to equal costs: hybrids by their share, fair by its beta."""

    def place(one: Setting) -> tuple[int, float]:
        value = one.given.get("beta", -one.given.get("global_merges", 0.0))
        return ("classical", "hybrid", "fair", "parity").index(one.kind), value

    return sorted(dict.fromkeys(settings), key=place)


def search(
    knob: Knob, targets: Sequence[Target], measure: Callable[[Setting], Measured], steps: int
) -> list[Setting]:
    """Further settings between those of the knob, measured to get closer to the best one that meets the targets."""
    classical = measure(CLASSICAL)
    values = knob.values
    ends = measure(knob.at(values[0])), measure(knob.at(values[-1]))

    def step(value: float, before: float, after: float) -> Step | None:
        around = measure(knob.at(before)), measure(knob.at(after))
        return step_from(measure(knob.at(value)), targets, classical, ends, around)

    ways = [
        step(*three) for three in zip(values, (values[0], *values), (*values[1:], values[-1]), strict=False)
    ]
    gaps = [
        gap
        for gap, ways_there in zip(pairwise(values), pairwise(ways), strict=True)
        if ways_there == ("up", "down")
    ]
    if not gaps:
        return []
    low, high = gaps[-1] if aim(targets) == "gini" else gaps[0]
    found: list[Setting] = []
    for _ in range(steps):
        value = knob.between(low, high)
        if math.isclose(value, low, rel_tol=NEAR) or math.isclose(value, high, rel_tol=NEAR):
            break
        found.append(knob.at(value))
        way = step(value, low, high)
        if way is None:
            break
        low, high = (value, high) if way == "up" else (low, value)
    return found


def step_from(
    found: Measured,
    targets: Sequence[Target],
    classical: Measured,
    ends: tuple[Measured, Measured],
    around: tuple[Measured, Measured],
) -> Step | None:
    """The direction to go from here: to where missed targets are met or, if none is missed, to where it is better.

    `ends` are the ends of the knob, which tell where a target is met. `around` are the neighbours, needed because
    compression may rise and fall along a knob. None if targets pull in both directions: nothing here meets them all.
    """
    wanted: set[Step] = {
        "down" if target.value(ends[1], classical) > target.value(ends[0], classical) else "up"
        for target in targets
        if not target.is_met(found, classical)
    }
    if not wanted:
        return "up" if aim(targets) == "gini" or around[1].rate > around[0].rate else "down"
    return wanted.pop() if len(wanted) == 1 else None


def choose(targets: Sequence[Target], tried: Mapping[str, Measured]) -> tuple[str | None, str | None]:
    """(the best that meets all targets, None), or (None, the closest one); (None, None) without targets.

    The best has the most lines per token if any target is about fairness, otherwise the lowest Gini coefficient.
    """
    if not targets:
        return None, None
    classical = tried[CLASSICAL.name]

    def excess(name: str) -> float:
        """By how much the target that is missed most is exceeded."""
        return max(target.value(tried[name], classical) for target in targets)

    meeting = [name for name in tried if excess(name) <= 1]
    if not meeting:
        return None, min(tried, key=excess)
    if aim(targets) == "gini":
        return min(meeting, key=lambda name: (tried[name].gini, -tried[name].rate)), None
    return max(meeting, key=lambda name: (tried[name].rate, -tried[name].gini)), None
