"""The verdict of a tuning: what was chosen and why, or what would be needed, in words."""

from __future__ import annotations

from collections.abc import Sequence

from pairity.errors import listed
from pairity.experiments.sizing import Needed
from pairity.experiments.targets import Target, aim
from pairity.reporting.pareto import OTHER, Point

BEST = {"gini": "the lowest Gini coefficient", "rate": "the most lines per token"}


def verdict_of(
    targets: Sequence[Target],
    points: Sequence[Point],
    closest: Point | None,
    needed: Needed | None,
    vocab_size: int,
) -> str:
    """Empty where there are no targets."""
    if not targets:
        return ""
    asked = " and ".join(target.text for target in targets)
    own = [point for point in points if point.kind != OTHER]
    for point in own:
        if point.chosen:
            meeting = sum(not one.misses for one in own)
            why = f"of the {meeting} settings that meet" if meeting > 1 else "it alone meets"
            best = f", it has {BEST[aim(targets)]}" if meeting > 1 else ""
            return f"{point.name} ({point.options}): {why} {asked}{best}."
    assert closest is not None
    said = [f"No setting meets {asked} at {vocab_size:,} tokens."]
    if len(targets) > 1:
        said += [alone(target, own) for target in targets]
    said.append(f"Closest is {closest.name}, which misses {' and '.join(closest.misses)}.")
    if needed is not None:
        said.append(about_sizes(needed))
    return " ".join(said)


def alone(target: Target, own: Sequence[Point]) -> str:
    """Who meets one of several targets."""
    meeting = [point.name for point in own if target.text not in point.misses]
    return f"{target.text} alone is met by {listed(meeting, 4) if meeting else 'none'}."


def about_sizes(needed: Needed) -> str:
    if needed.vocab_size is None:
        return f"With more tokens {needed.setting} does not meet it either, up to {needed.too_small:,}."
    return f"With {needed.vocab_size:,} tokens {needed.setting} meets it; with {needed.too_small:,} it does not yet."
