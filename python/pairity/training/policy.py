"""Who is served at each merge: every variant of the method is a frozen value.

    Classical()                          nobody: the most frequent pair of all languages together
    Parity()                             the language that is compressed worst on the dev set
    Parity(global_merges=0.5)            hybrid: classical for the first half of the merges
    Parity(window=100, alpha=2.0)        nobody more than alpha times its share of 100 merges
    Parity(ratios={"code": 40.0})        a language without dev text: the bytes of its line-equivalent
    Parity(ratios={"code": "eng_Latn"})  the same, but as many bytes as a dev line of English has
    Parity(on="train")                   no dev set at all: bytes per token of the train text

Training asks every policy the same questions, so both classes have the same methods.
"""

import dataclasses
import math
import operator
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError, listed
from pairity.training.measure import Measure, Unit, bytes_per_line, on_dev, on_train

ByLanguage = Mapping[str, LanguageCounts]


@dataclass(frozen=True, kw_only=True)
class Classical:
    """Ordinary BPE: it serves nobody, and dev text only shows what each language costs per line."""

    unit: ClassVar[Unit] = "line"
    on: ClassVar[Literal["dev", "train"]] = "dev"

    def global_merges_of(self, budget: int) -> None:
        return None

    def window_setting(self) -> None:
        return None

    def check_budget(self, budget: int) -> None:
        """Any number is fine."""

    def check(self, train: Collection[str], dev: Collection[str] | None) -> None:
        """Nothing has to be measured, so nothing can be missing."""

    def compared_by_line(self, dev: Collection[str]) -> list[str]:
        return []

    def measures(self, train: ByLanguage, dev: ByLanguage) -> dict[str, Measure]:
        return {
            language: on_dev(language, dev[language], self.unit)
            for language in train
            if language in dev and dev[language].lines is not None
        }

    def describe(self) -> dict[str, Any]:
        return {"name": "classical"}


@dataclass(frozen=True, kw_only=True)
class Parity:
    """Parity-aware BPE (Foroutan, Meister et al.): serve the language with the smallest compression rate.

    The rate of a language is units / tokens: the lines of its dev text (or its bytes, characters or
    words) over the tokens that they take now. A language with a ratio r instead of dev text has the rate
    bytes / tokens / r of its train text, which is in lines per token if r is in bytes per line.
    """

    global_merges: int | float = 0
    """Merges learned as classical BPE first: a number, or a share of the budget as a float from 0.0 to 1.0."""
    window: int | None = None
    """Look back over this many merges, and pass over languages that they served more often than
    alpha * window / languages."""
    alpha: float = 2.0
    """With a window: what a language may have of it, as a multiple of an equal share."""
    ratios: Mapping[str, float | str] | None = None
    """Language -> bytes of a line-equivalent, or the name of a language whose dev lines give them."""
    unit: Unit = "line"
    """What tokens are counted per: "line", "byte", "char" or "word"."""
    on: Literal["dev", "train"] = "dev"
    """The text that languages are compared on; "train" needs no dev text and counts bytes."""

    def __post_init__(self) -> None:
        share = isinstance(self.global_merges, float)
        if not share:
            check_whole("global_merges", self.global_merges)
        if not (0 <= self.global_merges <= 1 if share else self.global_merges >= 0):
            raise PairityError(
                f"global_merges is {self.global_merges}: give a number of merges (0 or more) or a share (0.0 to 1.0)."
            )
        if self.window is not None:
            check_window("window", self.window)
        check_alpha(self.alpha)
        if self.unit not in get_args(Unit):
            raise PairityError(f"unit is {self.unit!r}: choose one of {', '.join(get_args(Unit))}.")
        if self.on not in ("dev", "train"):
            raise PairityError(f"on is {self.on!r}: choose 'dev' or 'train'.")
        if self.on == "train" and self.ratios:
            raise PairityError(
                "on='train' measures every language by its train bytes: leave out either on='train' or ratios."
            )
        for language, ratio in (self.ratios or {}).items():
            if not isinstance(ratio, str) and not is_positive(ratio):
                raise PairityError(
                    f"the ratio of {language!r} is {ratio}: it must be a positive number of bytes per line."
                )
        if self.ratios is not None:
            object.__setattr__(self, "ratios", MappingProxyType(dict(self.ratios)))

    def global_merges_of(self, budget: int) -> int:
        """How many merges of a budget are global. A whole number is a count, a float is a share."""
        if isinstance(self.global_merges, float):
            return round(self.global_merges * budget)
        return self.global_merges

    def window_setting(self) -> tuple[int, float] | None:
        """(window, alpha), as the engine takes them."""
        return (self.window, self.alpha) if self.window else None

    def check_budget(self, budget: int) -> None:
        """`budget` is how many merges (or tokens) are to be learned."""
        if self.global_merges_of(budget) > budget:
            raise PairityError(
                f"global_merges is {self.global_merges}, but only {budget} are to be learned: give fewer, or use "
                "Classical() (--method classical)."
            )

    def check(self, train: Collection[str], dev: Collection[str] | None) -> None:
        """Every language must have something to be measured by, and every name must be known."""
        ratios = self.ratios or {}
        for language, ratio in ratios.items():
            if language not in train:
                raise PairityError(
                    f"a ratio is given for {language!r}, but train has no such language: {listed(train)}."
                )
            if isinstance(ratio, str) and ratio not in (dev or ()):
                raise PairityError(
                    f"the ratio of {language!r} is copied from {ratio!r}, but there is no dev text for {ratio!r}: add "
                    f"it, or give the bytes of a line as a number (--ratio {language}=40)."
                )
        if self.on == "train":
            return
        for language in train:
            if language not in ratios and language not in (dev or ()):
                raise PairityError(nothing_measures(language, train, dev))
        if ratios and len(ratios) < len(train):
            self.check_mixed(dev or ())

    def check_mixed(self, dev: Collection[str]) -> None:
        """Some languages have dev text and some have ratios: the two are compared in lines."""
        for language in self.ratios or {}:
            if language in dev:
                raise PairityError(
                    f"{language!r} has both dev text and a ratio: leave one of them out (or give every language a "
                    "ratio, and dev text is only recorded)."
                )
        if self.unit != "line":
            raise PairityError(
                f"languages with dev text and languages with ratios can only be compared by line, not by {self.unit}."
            )

    def compared_by_line(self, dev: Collection[str]) -> list[str]:
        """The languages of dev whose lines decide who is served: these must be parallel."""
        if self.unit != "line" or self.on == "train":
            return []
        return [language for language in dev if language not in (self.ratios or {})]

    def measures(self, train: ByLanguage, dev: ByLanguage) -> dict[str, Measure]:
        """What each language of train is measured by; `check` has passed."""
        ratios = self.ratios or {}
        return {
            language: on_train(counts, self.bytes_of_line(language, dev))
            if language in ratios or self.on == "train"
            else on_dev(language, dev[language], self.unit)
            for language, counts in train.items()
        }

    def bytes_of_line(self, language: str, dev: ByLanguage) -> float:
        ratio = (self.ratios or {}).get(language, 1.0)
        if not isinstance(ratio, str):
            return ratio
        found = bytes_per_line(dev[ratio])
        if found is None:
            raise PairityError(
                f"the ratio of {language!r} is copied from {ratio!r}, but the dev counts of {ratio!r} do not say "
                f"how many lines they were made from: give dev text, or the bytes of a line as a "
                f"number (--ratio {language}=40)."
            )
        return found

    def describe(self) -> dict[str, Any]:
        """For pairity.json: {"name": "parity", "global_merges": 0, "window": None, ...}."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"name": "parity"} | values | {"ratios": None if self.ratios is None else dict(self.ratios)}


Policy = Classical | Parity


def nothing_measures(language: str, train: Collection[str], dev: Collection[str] | None) -> str:
    if dev is None:
        return (
            f"there is nothing to measure {language!r} by: give parallel dev text (--dev), a ratio for each "
            f"language (--ratio {language}=...), or on='train' (--on train) to go by train bytes alone."
        )
    return (
        f"no dev text for {language!r}: train has {len(train)} languages, dev has {len(dev)} of them. Add dev "
        f"text named {language}, give it a ratio with --ratio {language}=..., or leave it out with "
        f"--skip {language}."
    )


def is_positive(value: object) -> bool:
    try:
        return math.isfinite(value) and value > 0  # type: ignore[arg-type, operator]
    except (TypeError, OverflowError):
        return False


def check_window(name: str, window: object) -> None:
    if check_whole(name, window) < 1:
        raise PairityError(f"{name} is {window}: it must be at least 1 (the paper uses 100).")


def check_alpha(alpha: object) -> None:
    if not is_positive(alpha):
        raise PairityError(f"alpha is {alpha}: it must be a positive number (the paper uses 2).")


def check_whole(name: str, value: object) -> int:
    """The value as a whole number that the engine can hold."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise PairityError(f"{name} is {value!r}: it must be a whole number.") from None
    if abs(number) >= 2**63:
        raise PairityError(f"{name} is {number}: it must be below 2**63.")
    return number
