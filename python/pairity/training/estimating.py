"""Estimated ratios: how many bytes a language would need to say what a dev line says.

From a few dev lines, which translate the first lines of the other languages:

    these 20 lines have 2,870 bytes, and those of the others 94% of what 20 of their lines have on average
    -> 2870 / (20 * 0.94) = 152.7

Without dev lines: a dev line has about the same number of characters in all languages of a script, and the train text
tells the bytes per character.

    Hindi next to Marathi, and no other language in Devanagari: 126.0 characters * 2.60 bytes = 327.6

docs/ratios.py measures both, and alternatives that were dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median

import numpy as np

from pairity import _core
from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError
from pairity.languages import SCRIPTS

ENOUGH = 10_000
"""How many pre-tokens to look at to find the script of a text."""


@dataclass(frozen=True)
class LineEstimate:
    """Bytes of a line-equivalent, and the languages whose dev lines it was estimated from."""

    bytes: float
    languages: tuple[str, ...]
    lines: int | None = None
    """How many dev lines of the language itself were used; None: it had none."""
    is_rough: bool = False
    """No other language shares its script, so the estimate uses all of them."""


def estimate(train: LanguageCounts, dev: Mapping[str, LanguageCounts]) -> LineEstimate | None:
    """From the train text of a language; None if no dev text records its number of lines.

    Here and below, fractions are exact and rounded once at the end, so every machine gets the same result.
    """
    most = max((counts.lines or 0 for counts in dev.values()), default=0)
    whole = {language: counts for language, counts in dev.items() if most and counts.lines == most}
    if not whole:
        return None
    related = relatives(train, whole)
    chars = median(Fraction(whole[language].chars, most) for language in related or whole)
    found = float(chars * Fraction(train.bytes, train.chars or 1))
    return LineEstimate(found, tuple(related or whole), is_rough=not related)


def estimate_by_lines(language: str, sizes: Mapping[str, Sequence[int]]) -> LineEstimate:
    """From the first dev lines; `sizes` are the bytes of each dev line of every language."""
    own, lines = sum(sizes[language]), len(sizes[language])
    most = max((len(sizes[other]) for other in sizes if other != language), default=0)
    others = [other for other in sizes if len(sizes[other]) == most and other != language]
    first = sum(sum(sizes[other][:lines]) for other in others)
    if lines > most or not (own and first):
        raise PairityError(
            f"the ratio of {language!r} is auto, but its dev text ({lines} lines, {own} bytes) cannot be "
            f"compared with the first lines of others ({most} lines, {first} bytes up to there): give "
            f"translations of these lines in the same order, or leave out the dev text of {language!r}."
        )
    every = sum(sum(sizes[other]) for other in others)
    return LineEstimate(float(Fraction(own * every, first * most)), tuple(others), lines)


def relatives(text: LanguageCounts, others: Mapping[str, LanguageCounts]) -> Sequence[str]:
    """The languages in the script of the text or, if there are none, in its family of scripts."""
    script, scripts = script_of(text), {language: script_of(counts) for language, counts in others.items()}
    for kind in (str, family_of):
        if found := [language for language in others if kind(scripts[language]) == kind(script)]:
            return found
    return []


def script_of(counts: LanguageCounts) -> str:
    """ "Latn", from the text itself: a language may have any name. Empty if no character has a script."""
    ends = np.cumsum(counts.counts)
    evenly = np.arange(0, counts.total, max(1, counts.total // ENOUGH), dtype=np.uint64)
    words = counts.pretokens.take(np.searchsorted(ends, evenly, side="right")).to_pylist()
    found = _core.script_of(b" ".join(words).decode(errors="replace"))
    return found[0] if found else ""


def family_of(script: str) -> str:
    """ "Deva" -> "Brahmic" """
    return SCRIPTS.get(script, (script, script))[1]
