"""Sizing: the larger vocabulary that meets targets which this one cannot.

One run at the largest size contains all smaller ones, so trying a size only means truncating. (Hybrids, whose classical
part is a share of their size, are trained at each size.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pairity.experiments.knobs import CLASSICAL, Setting
from pairity.experiments.targets import Measured, Target

LOOKS: Final = 6
"""Sizes to try first, at equal ratios: a target may be met at some of them and missed again above."""
LOOKS_OF_HYBRIDS: Final = 2
STEPS: Final = 3
NEAR: Final = 1.02
"""Sizes that differ by no more than this factor count as equal."""


@dataclass(frozen=True)
class Needed:
    """The result for larger vocabularies: `setting` meets the targets at `vocab_size`, but not at `too_small`."""

    setting: str
    vocab_size: int | None
    """None: no size that was tried is enough; `too_small` is the largest of them."""
    too_small: int
    all_learned: bool = False
    """Whether `too_small` is all that can be learned from the text."""


def needed_size(
    measured: Callable[[Setting, int], tuple[Measured, int]],
    setting: Setting,
    targets: Sequence[Target],
    size: int,
    largest: int,
) -> Needed:
    """`measured` gives the results of a setting at a size and the number of tokens, which is less if the text runs out.

    Targets relative to classical BPE refer to classical BPE of the same size.
    """
    relative = any(target.relative for target in targets)

    def meets(at: int) -> bool:
        found = measured(setting, at)[0]
        classical = measured(CLASSICAL, at)[0] if relative else found
        return all(target.is_met(found, classical) for target in targets)

    if relative:
        measured(CLASSICAL, largest)  # the largest first: all others are truncated from it
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
    """Between two sizes by ratio, with three digits: halfway between 8,000 and 32,000 is 16,000."""
    return high if share == 1 else int(float(f"{low * (high / low) ** share:.3g}"))
