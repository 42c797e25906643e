"""Sizes: which larger vocabulary meets targets that are out of reach.

One run at the largest size holds all smaller ones, as its beginnings, so that looking at a size is cutting there.
(Hybrids, whose classical part is a share of their size, are trained at each.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pairity.experiments.knobs import CLASSICAL, Setting
from pairity.experiments.targets import Measured, Target

LOOKS: Final = 6
"""Sizes that are looked at first, evenly by ratio: a target may be met at some of them and missed again above."""
LOOKS_OF_HYBRIDS: Final = 2
STEPS: Final = 3
NEAR: Final = 1.02
"""Sizes that differ by no more than this factor are as good as one."""


@dataclass(frozen=True)
class Needed:
    """What was seen of larger vocabularies: `setting` meets the targets at `vocab_size`, and not yet at `too_small`."""

    setting: str
    vocab_size: int | None
    """None: at no size that was looked at, of which `too_small` is the largest."""
    too_small: int
    all_learned: bool = False
    """The text has no more tokens to give than `too_small`."""


def needed_size(
    measured: Callable[[Setting, int], tuple[Measured, int]],
    setting: Setting,
    targets: Sequence[Target],
    size: int,
    largest: int,
) -> Needed:
    """`measured` tells what a setting gives at a size, and how many tokens there are: text may have no more to learn.

    Targets against classical BPE are against that of the same size.
    """
    relative = any(target.relative for target in targets)

    def meets(at: int) -> bool:
        found = measured(setting, at)[0]
        classical = measured(CLASSICAL, at)[0] if relative else found
        return all(target.is_met(found, classical) for target in targets)

    if relative:
        measured(CLASSICAL, largest)  # the largest first: all others are cut from it
    end = min(largest, measured(setting, largest)[1])
    if end <= size:
        return Needed(setting.name, None, end, all_learned=True)
    looks = LOOKS_OF_HYBRIDS if setting.kind == "hybrid" else LOOKS
    low, high = size, None
    for look in range(1, looks + 1):
        at = between(size, end, look / looks)
        if at > low and meets(at):
            high = at
            break
        low = max(low, at)
    if high is None:
        return Needed(setting.name, None, low, all_learned=end < largest)
    for _ in range(STEPS):
        middle = between(low, high, 0.5)
        if high <= low * NEAR or not low < middle < high:
            break
        low, high = (low, middle) if meets(middle) else (middle, high)
    return Needed(setting.name, high, low)


def between(low: int, high: int, share: float) -> int:
    """By ratio, with three digits: halfway between 8,000 and 32,000 is 16,000."""
    return high if share == 1 else int(float(f"{low * (high / low) ** share:.3g}"))
