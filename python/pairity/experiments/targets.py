"""Targets: limits for a tokenizer, parsed from text and checked before any work.

    eng_Latn<=+5%   English takes at most 5% more tokens than under classical BPE of the same size
    eng_Latn<=45    at most 45 tokens per line
    worst<=45       the same for the most expensive language
    mean<=40        the mean of the languages
    every<=+10%     no language takes more than 10% more than under classical BPE
    gini<=0.01      the Gini coefficient

All are upper limits, so each can be met on its own; whether all can be met at once is found by trying.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from statistics import fmean
from typing import Final

from pairity.errors import PairityError, did_you_mean, listed, quoted
from pairity.experiments.experiment import nearest
from pairity.judging.scores import Scores
from pairity.languages import meant

FAIRNESS: Final = ("gini", "worst")
"""Targets about fairness; the others are about prices."""
WORDS: Final = (*FAIRNESS, "mean", "every")
EXAMPLES: Final = '"eng_Latn<=+5%", "gini<=0.01" or "worst<=45"'

SIGN = re.compile(r"<=|≤|>=|≥|==|[<>=]")
NUMBER = re.compile(r"(?P<number>[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)(?P<percent>%?)", re.IGNORECASE)


@dataclass(frozen=True)
class Measured:
    """The cost of each language in tokens per line, and values derived from it."""

    costs: Mapping[str, float]
    gini: float
    rate: float
    """Lines per token, all languages together."""

    @classmethod
    def of(cls, scores: Scores, name: str) -> Measured:
        gini, rate = scores.value(name, "gini"), scores.value(name, "compression_rate_line")
        if gini is None or rate is None:
            raise PairityError(f"the evaluation text gives no Gini coefficient for {name}: is it empty?")
        return cls(scores.costs(name), gini, rate)

    @property
    def worst(self) -> float:
        return max(self.costs.values())

    @property
    def mean(self) -> float:
        return fmean(self.costs.values())


@dataclass(frozen=True)
class Target:
    """`limit` is a number of tokens per line or a Gini coefficient; or, if `relative`, a change from classical."""

    text: str
    what: str
    """One of WORDS, or a language."""
    limit: float
    relative: bool

    def value(self, found: Measured, classical: Measured) -> float:
        """The value as a share of the limit: the target is met up to 1."""
        if self.what == "every":
            highest = max(found.costs[code] / classical.costs[code] for code in found.costs)
            return highest / (1 + self.limit)
        here, there = (self.measure(one) for one in (found, classical))
        allowed = there * (1 + self.limit) if self.relative else self.limit
        return here / allowed if allowed else (inf if here else 1.0)

    def measure(self, found: Measured) -> float:
        return found.costs[self.what] if self.what not in WORDS else float(getattr(found, self.what))

    def is_met(self, found: Measured, classical: Measured) -> bool:
        return self.value(found, classical) <= 1

    @property
    def is_fairness(self) -> bool:
        return self.what in FAIRNESS


def read_targets(words: Sequence[str]) -> tuple[Target, ...]:
    """Parse targets. Mistakes that do not depend on the languages are errors here."""
    if isinstance(words, str):
        words = [words]
    found = [read_target(word) for word in words]
    for number, one in enumerate(found):
        for other in found[:number]:
            if (one.what, one.relative) == (other.what, other.relative):
                raise PairityError(f"{other.text!r} and {one.text!r} limit the same thing: leave one out.")
    return tuple(found)


def read_target(text: str) -> Target:
    if not isinstance(text, str):
        raise PairityError(f"the target {text!r} is not text: give {EXAMPLES}.")
    sign = SIGN.search(text)
    what, rest = (text[: sign.start()].strip(), text[sign.end() :].strip()) if sign else (text.strip(), "")
    written = NUMBER.fullmatch(rest)
    if sign is None or not what or written is None:
        raise PairityError(f"the target {text!r} cannot be read: give {EXAMPLES}.")
    if sign[0] not in ("<=", "≤"):
        raise PairityError(
            f"the target {text!r} has {sign[0]!r}: a target is a limit, as in '{what}<={rest}'."
        )
    number, relative = float(written["number"]), bool(written["percent"])
    if relative and rest[0] not in "+-":
        raise PairityError(
            f"the target {text!r} has no sign: a percentage is a change from classical BPE, as in "
            f"'{what}<=+{rest}' or '{what}<=-{rest}'."
        )
    target = Target(f"{what}<={rest}", what, number / 100 if relative else number, relative)
    check_number(target)
    return target


def check_number(target: Target) -> None:
    """Refuse limits that nothing can meet, or that everything meets."""
    if not isfinite(target.limit):
        raise PairityError(f"the target {target.text!r} limits nothing: give a number that can be reached.")
    if target.relative:
        if target.limit <= -1:
            what = (
                "needs a Gini coefficient of 0 or less"
                if target.what == "gini"
                else "leaves no tokens at all"
            )
            raise PairityError(f"the target {target.text!r} {what}: give more than -100%.")
    elif target.what == "every":
        raise PairityError(
            f"the target {target.text!r} needs a change from classical BPE, as in 'every<=+10%'; for "
            f"tokens per line, write 'worst<={target.text.partition('<=')[2]}'."
        )
    elif target.what == "gini" and not 0 < target.limit < 1:
        raise PairityError(
            f"the target {target.text!r} cannot be reached or limits nothing: a Gini coefficient is "
            "between 0 and 1, and 0.01 is low."
        )
    elif target.limit <= 0:
        raise PairityError(f"the target {target.text!r} leaves no tokens at all: give tokens per line.")


def check_languages(targets: Sequence[Target], languages: Collection[str]) -> None:
    for target in targets:
        if target.what not in (*WORDS, *languages):
            raise PairityError(f"the target {target.text!r} {unknown(target.what, languages, WORDS)}")


def unknown(code: str, languages: Collection[str], words: Sequence[str] = ()) -> str:
    """The rest of an error about a language that is not evaluated."""
    hint = did_you_mean(meant(code, languages)) or nearest(code, words)
    known = f"; or write {quoted(words)}" if words else ""
    return (
        f"names {code!r}, which train, dev and the evaluation text do not all have.{hint} They share "
        f"{listed(languages)}{known}."
    )


def check_floors(targets: Sequence[Target], floors: Mapping[str, float]) -> None:
    """Refuse limits that no vocabulary can meet: `floors` are the pre-tokens per line of every language."""
    for target in targets:
        if target.relative or target.what == "gini":
            continue
        floor, whose = floor_of(target, floors)
        if target.limit < floor:
            raise PairityError(
                f"no vocabulary can meet the target {target.text!r}: {whose} {floor:.2f} pre-tokens per "
                "line, and a token never crosses their boundaries. Allow more tokens, or use another "
                "pre-tokenizer."
            )


def floor_of(target: Target, floors: Mapping[str, float]) -> tuple[float, str]:
    """The lowest possible value for a target, and whose it is."""
    if target.what == "mean":
        return fmean(floors.values()), "the mean of the languages is"
    code = max(floors, key=floors.__getitem__) if target.what == "worst" else target.what
    return floors[code], f"{code} has"


def missed(targets: Sequence[Target], found: Measured, classical: Measured) -> list[str]:
    return [target.text for target in targets if not target.is_met(found, classical)]


def aim(targets: Sequence[Target]) -> str:
    """What to optimize among settings that meet the targets: compression if fairness is limited, else fairness."""
    return "rate" if any(target.is_fairness for target in targets) else "gini"
