"""How policies compare languages: by dev text, by ratios, or by train text."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError, quoted
from pairity.languages import hint_of_other_names, no_such_language
from pairity.training.estimating import estimate, estimate_by_lines
from pairity.training.measure import Measure, Unit, bytes_per_line, on_dev, on_train

ByLanguage = Mapping[str, LanguageCounts]

NOTHING: Mapping[str, Sequence[int]] = MappingProxyType({})

AUTO = "auto"
"""Ask for an estimated ratio (`estimating.py`)."""

LEAST_RATIO, MOST_RATIO = 1e-9, 1e12
"""Costs beyond these say nothing, and near the ends of the floats they become infinite, which no record can hold."""


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """How the compression rates of languages are measured: a part of every policy that compares them."""

    ratios: Mapping[str, float | str] | None = None
    """Language -> bytes of a line-equivalent, or the name of a language whose dev lines to use, or "auto": an
    estimate from its first dev lines, if it has some, or else from its script and its training text."""
    unit: Unit = "line"
    """What tokens are counted per: "line", "byte", "char" or "word"."""
    on: Literal["dev", "train"] = "dev"
    """The text that languages are compared on; "train" needs no dev text and counts bytes."""

    def __post_init__(self) -> None:
        if self.unit not in get_args(Unit):
            raise PairityError(f"unit is {self.unit!r}: choose one of {', '.join(get_args(Unit))}.")
        if self.on not in ("dev", "train"):
            raise PairityError(f"on is {self.on!r}: choose 'dev' or 'train'.")
        if self.on == "train" and self.ratios:
            raise PairityError(
                "on='train' measures every language by its training bytes: leave out either on='train' or "
                "ratios."
            )
        if self.unit != "line" and (self.on == "train" or self.ratios):
            what = "on='train' compares training bytes" if self.on == "train" else "ratios are bytes per line"
            raise PairityError(
                f"{what}, so unit={self.unit!r} (--unit {self.unit}) does nothing: leave it out."
            )
        for language, ratio in (self.ratios or {}).items():
            if isinstance(ratio, str):
                continue
            if not is_positive(ratio):
                raise PairityError(
                    f"the ratio of {language!r} is {ratio}: it must be a positive number of bytes per line."
                )
            if not LEAST_RATIO <= ratio <= MOST_RATIO:
                raise PairityError(
                    f"the ratio of {language!r} is {float(ratio):g} bytes per line: no text has such lines. Give the "
                    f"bytes that say what a dev line says (--ratio {language}=130)."
                )
        if self.ratios is not None:
            object.__setattr__(self, "ratios", MappingProxyType(dict(self.ratios)))

    def check(
        self, train: Collection[str], dev: Collection[str] | None, left_out: Collection[str] = ()
    ) -> None:
        """Refuse a language that nothing measures, and a name that does not exist.

        `left_out`: languages of dev that train lacks; they may be those of train under other names.
        """
        ratios = self.ratios or {}
        if unknown := [language for language in ratios if language not in train]:
            raise PairityError(
                f"a ratio is given for {quoted(unknown)}, but train has {no_such_language(unknown, train)}"
            )
        self.check_copied(dev or ())
        if self.on == "train":
            return
        if missing := [
            language for language in train if language not in ratios and language not in (dev or ())
        ]:
            raise PairityError(nothing_measures(missing, train, dev, left_out))
        if len(ratios) < len(train) and (
            both := [language for language in ratios if language in (dev or ()) and ratios[language] != AUTO]
        ):
            raise PairityError(
                f"{quoted(both)} {has(both)} both dev text and a ratio: leave one of them out (or give every "
                "language a ratio, and dev text is only recorded)."
            )

    def check_copied(self, dev: Collection[str]) -> None:
        """Refuse a ratio that copies the dev lines of a language without dev text."""
        copied = {
            language: ratio for language, ratio in (self.ratios or {}).items() if isinstance(ratio, str)
        }
        auto = self.estimated()
        if auto and not dev:
            raise PairityError(
                f"the ratio of {quoted(auto)} is auto, an estimate from the dev lines of other languages, "
                "but there is no dev text: add some (--dev), or give the bytes per line as a number "
                f"(--ratio {auto[0]}=130)."
            )
        if lost := [language for language, ratio in copied.items() if ratio not in (AUTO, *dev)]:
            sources = list(dict.fromkeys(copied[language] for language in lost))
            raise PairityError(
                f"the ratio of {quoted(lost)} is copied from {quoted(sources)}, but there is no dev text "
                f"for {quoted(sources)}{hint_of_other_names(sources, dev)}: add it, write auto (--ratio "
                f"{lost[0]}=auto), or give the bytes per line as a number (--ratio {lost[0]}=130)."
            )

    def compared_by_line(self, dev: Collection[str]) -> list[str]:
        """The dev languages whose cost per line decides who is served: their text must be parallel."""
        if self.unit != "line" or self.on == "train":
            return []
        return [language for language in dev if language not in (self.ratios or {})]

    def measures(
        self, train: ByLanguage, dev: ByLanguage, sizes: Mapping[str, Sequence[int]] = NOTHING
    ) -> dict[str, Measure]:
        """What each language of train is measured by; `check` has passed. `sizes`: the bytes of each dev line, if a
        language has both dev text and an estimated ratio."""
        return {
            language: self.by_ratio(language, counts, dev, sizes)
            if language in (self.ratios or {}) or self.on == "train"
            else on_dev(language, dev[language], self.unit)
            for language, counts in train.items()
        }

    def by_ratio(
        self, language: str, train: LanguageCounts, dev: ByLanguage, sizes: Mapping[str, Sequence[int]]
    ) -> Measure:
        ratio = (self.ratios or {}).get(language, 1.0)
        if not isinstance(ratio, str):
            return on_train(train, ratio)
        if ratio == AUTO:
            guess = estimate_by_lines(language, sizes) if language in sizes else estimate(train, dev)
            if guess is not None:
                return on_train(train, guess.bytes, estimate=guess)
        elif found := bytes_per_line(dev[ratio]):
            return on_train(train, found, copied_from=ratio)
        how = "estimated" if ratio == AUTO else f"copied from {ratio!r}"
        whose = "" if ratio == AUTO else f" of {ratio!r}"
        raise PairityError(
            f"the ratio of {language!r} is {how}, but the dev counts{whose} do not record how many lines "
            "they were made from: give dev text, or the bytes per line as a number (--ratio "
            f"{language}=130)."
        )

    def estimated(self) -> list[str]:
        """The languages whose ratio is "auto"."""
        return [language for language, ratio in (self.ratios or {}).items() if ratio == AUTO]

    def describe_comparing(self) -> dict[str, Any]:
        """For pairity.json."""
        ratios = None if self.ratios is None else dict(self.ratios)
        return {"ratios": ratios, "unit": self.unit, "on": self.on}


def nothing_measures(
    missing: Sequence[str], train: Collection[str], dev: Collection[str] | None, left_out: Collection[str]
) -> str:
    if dev is None:
        return (
            f"there is nothing to compare {quoted(missing)} by: give parallel dev text (--dev), a ratio "
            f"for each language (--ratio {missing[0]}=...), or on='train' (--on train) to use only "
            "training bytes."
        )
    hint = hint_of_other_names(missing, left_out)
    one = len(missing) == 1
    name, each, them = (missing[0], "it", "it") if one else ("after them", "each", "them")
    return (
        f"no dev text for {quoted(missing)}{hint}: train has {len(train)} languages, dev has {len(dev)} of them. Add "
        f"dev text named {name}, give {each} a ratio with --ratio {missing[0]}=..., or leave {them} out with "
        f"--skip {','.join(missing)}."
    )


def has(names: Sequence[str]) -> str:
    return "has" if len(names) == 1 else "have"


def is_positive(value: object) -> bool:
    try:
        return math.isfinite(value) and value > 0  # type: ignore[arg-type, operator]
    except (TypeError, OverflowError):
        return False
