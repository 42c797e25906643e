"""The verdict of a tuning in words: what was chosen and why, or what would be needed."""

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
    needed: Needed | None,
    vocab_size: int,
) -> str:
    """The verdict; empty without targets."""
    if not targets:
        return ""
    asked = " and ".join(target.text for target in targets)
    own = [point for point in points if point.kind != OTHER]
    for point in own:
        if point.chosen:
            meeting = sum(not one.misses for one in own)
            why = f"of the {meeting} settings that meet" if meeting > 1 else "the only setting that meets"
            best = f", it has {BEST[aim(targets)]}" if meeting > 1 else ""
            return f"{point.name} ({point.options}): {why} {asked}{best}."
    said = [f"No setting meets {asked} at {vocab_size:,} tokens."]
    if len(targets) > 1:
        said += [alone(target, own) for target in targets]
    for point in own:
        if point.closest:
            said.append(f"The closest is {point.name}, which misses {' and '.join(point.misses)}.")
    said.append(about_sizes(needed))
    return " ".join(said)


def alone(target: Target, own: Sequence[Point]) -> str:
    """Which settings meet one of several targets."""
    meeting = [point.name for point in own if target.text not in point.misses]
    return f"{target.text} on its own is met by {listed(meeting, 4) if meeting else 'none'}."


def about_sizes(needed: Needed | None) -> str:
    further = "To look further, give a larger number with largest (--largest)."
    if needed is None:
        return f"No larger vocabulary was tried. {further}"
    if needed.vocab_size is None:
        end = ", the most that this text allows." if needed.all_learned else f". {further}"
        return (
            f"No larger vocabulary that was tried helps: {needed.setting} still misses a target at "
            f"{needed.too_small:,} tokens{end}"
        )
    return (
        f"About {needed.vocab_size:,} tokens would be enough: {needed.setting} meets all targets there, "
        f"but not at {needed.too_small:,}."
    )
