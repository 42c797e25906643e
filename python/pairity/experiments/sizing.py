"""Sizes: which larger vocabulary meets targets that are out of reach.

One run at the largest size holds all smaller ones, as its beginnings, so that looking at a size is cutting there.
(Hybrids, whose classical part is a share of their size, are trained at each.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pairity.experiments.knobs import CLASSICAL, Setting
from pairity.experiments.targets import Measured, Target

STEPS: Final = 6
NEAR: Final = 1.02
"""Sizes that differ by no more than this factor are as good as one."""


@dataclass(frozen=True)
class Needed:
    """What was seen of larger vocabularies: `setting` meets the targets at `vocab_size`, and not yet at `too_small`."""

    setting: str
    vocab_size: int | None
    """None: not up to `too_small`, the largest that was looked at."""
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

    def look(at: int) -> tuple[bool, int]:
        found, tokens = measured(setting, at)
        classical = measured(CLASSICAL, at)[0] if relative else found
        return all(target.is_met(found, classical) for target in targets), tokens

    met, tokens = look(largest)
    if not met:
        return Needed(setting.name, None, max(tokens, size), all_learned=tokens < largest)
    low, high = size, tokens
    for _ in range(STEPS):
        middle = int(float(f"{math.sqrt(low * high):.3g}"))
        if high <= low * NEAR or not low < middle < high:
            break
        low, high = (low, middle) if look(middle)[0] else (middle, high)
    return Needed(setting.name, high, low)
