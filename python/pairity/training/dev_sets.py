"""Several dev sets: texts of different kinds that steer training together, by weight.

What counts in a set is the cost of a language relative to the others, so costs are divided by the mean of the set:

    cost of a language = the mean of the first set * sum over the sets of  share * cost in the set / mean of the set

The mean of a set is taken over its languages before the first merge, when every byte is a token, and stays fixed.
Updating it would only change how the sets weigh against each other, not how languages compare. So the cost is a sum of
tokens, each counted a whole number of times: the dev text of a language is ONE list of words, those of all sets with
their counts multiplied, and nothing after this module knows about sets.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from pairity.counts.values import LanguageCounts, sum_language
from pairity.errors import PairityError, listed, quoted
from pairity.training.comparing import is_positive
from pairity.training.measure import Measure

SCALE = 2**48
"""The number of tokens, before the first merge, of a language that costs exactly the mean. With n languages, none costs
more than n times the mean, so all sums stay far below 2**63 and are nearly exact as floats."""


@dataclass(frozen=True)
class DevSets:
    """Dev sets by name: `DevSets({"news": "news/", "chat": "chat/"}, weights={"chat": 0.5})`.

    Each has all languages and is parallel in itself; costs are in lines of the first.
    """

    sets: Mapping[str, Any]
    """Name -> SOURCE."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Name -> how much the set counts; 1 if it is not named."""

    def __post_init__(self) -> None:
        if not isinstance(self.sets, Mapping) or not self.sets or not all(map(is_name, self.sets)):
            raise PairityError(
                f"the dev sets are {self.sets!r:.80}: give one SOURCE per name, as in DevSets({{'news': "
                f"'news/'}})."
            )
        if not isinstance(self.weights, Mapping):
            raise PairityError(
                f"the weights of the dev sets are {self.weights!r:.80}: give a number for each name, as in "
                "{'news': 0.5}, or leave them out."
            )
        if unknown := [name for name in self.weights if name not in self.sets]:
            raise PairityError(
                f"a weight is given for {quoted(unknown)}, but the dev sets are {listed(self.sets)}: use "
                "one of these names."
            )
        for name, weight in self.weights.items():
            if not is_positive(weight):
                raise PairityError(
                    f"the weight of the dev set {name!r} is {weight}: it must be a positive number, such as 0.5."
                )

    def describe(self) -> dict[str, float]:
        """For pairity.json: {"news": 1.0, "chat": 0.5}."""
        return {name: float(self.weights.get(name, 1)) for name in self.sets}


def is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


@contextmanager
def of_set(name: str) -> Iterator[None]:
    """Errors say which set they are about, if it has a name."""
    try:
        yield
    except PairityError as error:
        if not name:
            raise
        raise PairityError(f"dev set {name!r}: {error}") from error


def together(
    measures: Mapping[str, Mapping[str, Measure]], weights: Mapping[str, float]
) -> dict[str, Measure]:
    """Combine {set: {language: measure}} into one measure per language; all sets have the same languages.

    Fractions are exact, and each number is rounded only once, to the nearest whole number (halves to even).
    """
    total = sum(map(Fraction, weights.values()))
    means, scales = {}, {}
    for name, one_set in measures.items():
        costs = [one.text.pretoken_bytes() / Fraction(one.units) for one in one_set.values()]
        means[name] = sum(costs) / Fraction(len(costs))
        scales[name] = SCALE * Fraction(weights[name]) / total / means[name]
    first = next(iter(measures))
    units = float(SCALE / means[first])
    return {
        language: Measure(
            sum_language(
                language,
                [
                    multiplied(name, one_set[language].text, scales[name] / Fraction(one_set[language].units))
                    for name, one_set in measures.items()
                ],
            ),
            units,
        )
        for language in measures[first]
    }


def multiplied(name: str, text: LanguageCounts, times: Fraction) -> LanguageCounts:
    """The text with all counts multiplied by `times`, rounded."""
    whole = round(times)
    if not whole:
        raise PairityError(
            f"the dev set {name!r} counts for nothing: its weight is too small for a text of {text.bytes:,} bytes. "
            "Give it a larger weight, or leave it out."
        )
    return replace(text, counts=text.counts * np.uint64(whole))
