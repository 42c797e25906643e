"""Sampling: how much text to take of each language.

    Draw(sample=0.1, seed=1)                                     a tenth of the lines of every language
    Draw(balance="temperature", temperature=3.3, budget="10GB")  10 GB, small languages with more than their share
    Draw(max_bytes={"*": "5GB", "eng_Latn": "1GB"})              at most this much of each
    Draw(weights={"eng_Latn": 0.3})                              less English, and all of the others

This is only arithmetic on sizes; `drawing` picks the lines. Shares are exact fractions, so the order of the languages
makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Literal

from pairity.errors import PairityError, did_you_mean
from pairity.languages import meant
from pairity.sizes import parse_size

EVERY_OTHER = "*"
"""In `max_bytes`: every language that is not named."""
ROUNDING = Fraction(1, 10**6)
"""Everything is exact except the roots of a temperature, which are off by up to this much of a byte."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """How much text to take, applied in this order: the share `sample` of the lines of each language; of these at most
    `max_bytes`; of the rest as much as `balance` and `weights` say; of all languages together at most `budget`."""

    sample: float = 1.0
    """The share of the lines of each language."""
    balance: str | int = "natural"
    """"natural": all; "balanced": as much of each language as the smallest has; "temperature": see `temperature`; a
    number: that many bytes of each, or all if it has fewer."""
    temperature: float | None = None
    """Each language in proportion to size ** (1 / temperature), and as much in total as the text of every language
    allows. 1 leaves languages as they are; the paper uses 3.3."""
    seed: int = 0
    """A different number takes different lines."""
    by: Literal["words", "bytes", "lines"] | None = None
    """The unit of size for "balanced" (default: bytes) and `temperature` (default: words).

    Words are separated by spaces and punctuation: a language written without spaces has few, and so caps all others."""
    weights: Mapping[str, float] | None = None
    """{language: how much of it to take, relative to the others}; 1 for those not named."""
    max_bytes: int | str | Mapping[str, int | str] | None = None
    """The most that is taken of a language, as if it had no more text: for each, or {language: size}, where "*" stands
    for all that are not named."""
    budget: int | str | None = None
    """How much to take of all languages together: "10GB", or "2M lines" (a record counts as a line). A language with
    less text than its share contributes all of it, and the others share the rest."""

    def __post_init__(self) -> None:
        if not (is_number(self.sample) and 0 < self.sample <= 1):
            raise PairityError(f"sample is {self.sample!r}: give a share of the lines, above 0 and up to 1.")
        if isinstance(self.balance, int) and not isinstance(self.balance, bool):
            if self.balance < 1:
                raise PairityError(f"balance is {self.balance}: give a number of bytes, at least 1.")
        elif self.balance not in ("natural", "balanced", "temperature"):
            raise PairityError(
                f"balance is {self.balance!r}: choose 'natural', 'balanced' or 'temperature', or give the "
                "number of bytes per language."
            )
        self.check_temperature()
        if self.by not in (None, "words", "bytes", "lines"):
            raise PairityError(f"by is {self.by!r}: choose 'words', 'bytes' or 'lines'.")
        if self.by is not None and self.balance not in ("balanced", "temperature"):
            raise PairityError(
                f"by is {self.by!r}, but languages are neither balanced nor sampled by temperature: leave "
                "it out."
            )
        for language, weight in (self.weights or {}).items():
            if not (is_number(weight) and math.isfinite(weight) and weight > 0):
                raise PairityError(
                    f"weight is {weight!r} for {language!r}: give a number above 0, such as 0.5. To leave "
                    "out a language, choose the others with languages."
                )
        for language, size in self.limits.items():
            if size < 1:
                raise PairityError(f"max_bytes is {size} for {language!r}: give at least 1 byte.")
        if self.budget is not None and parse_budget(self.budget)[0] < 1:
            raise PairityError(f"budget is {self.budget!r}: give at least one line.")

    def check_temperature(self) -> None:
        if self.temperature is None:
            if self.balance == "temperature":
                raise PairityError(
                    "balance is 'temperature', but no temperature is given: add one, as in temperature = 3.3."
                )
            return
        if not (is_number(self.temperature) and math.isfinite(self.temperature) and self.temperature >= 1):
            raise PairityError(
                f"temperature is {self.temperature!r}: give a number, at least 1 (1 leaves languages as they are)."
            )
        if self.balance != "temperature":
            raise PairityError(
                f"temperature is {self.temperature}, but balance is {self.balance!r}: write balance = "
                "'temperature', or leave temperature out."
            )

    @property
    def limits(self) -> dict[str, int]:
        """`max_bytes` in numbers, by language."""
        if self.max_bytes is None:
            return {}
        given = self.max_bytes if isinstance(self.max_bytes, Mapping) else {EVERY_OTHER: self.max_bytes}
        return {language: parse_size(size, "max_bytes") for language, size in given.items()}

    def limit(self, language: str) -> int | None:
        """The most bytes to take of a language."""
        limits = self.limits
        found = [limits.get(language, limits.get(EVERY_OTHER))]
        found += [self.balance] if isinstance(self.balance, int) else []
        return min((limit for limit in found if limit is not None), default=None)

    @property
    def goes_by(self) -> str:
        return self.by or ("words" if self.balance == "temperature" else "bytes")

    @property
    def unit(self) -> Literal["bytes", "lines"]:
        """The unit in which the text to take is measured."""
        if self.budget is not None:
            return parse_budget(self.budget)[1]
        return "lines" if self.by == "lines" else "bytes"

    @property
    def takes_all(self) -> bool:
        return self == Draw(seed=self.seed)

    def describe(self) -> dict[str, Any]:
        """The settings, as JSON values."""
        if self.takes_all:
            return {}
        first = ("sample", "balance", "temperature", "seed")
        settings = asdict(self) | {"max_bytes": self.limits}
        return {name: value for name, value in settings.items() if name in first or value}

    def check_languages(self, languages: Iterable[str]) -> None:
        """Refuse weights and limits for languages that do not exist."""
        there = list(languages)
        for option, named in (("weight", self.weights or {}), ("max_bytes", self.limits)):
            for language in named:
                if language not in there and language != EVERY_OTHER:
                    hint = did_you_mean(meant(language, there))
                    raise PairityError(
                        f"{option} is given for {language!r}, which is not among the languages of the text.{hint}"
                    )


@dataclass(frozen=True)
class Amount:
    """Sizes of a text, without line ends."""

    lines: int
    bytes: int
    words: int = 0

    def cut(self, limit: int | None) -> Amount:
        """Scaled down to `limit` bytes."""
        if limit is None or self.bytes <= limit:
            return self
        lines, words = (number * limit // self.bytes for number in (self.lines, self.words))
        return Amount(lines, limit, words)

    def of(self, unit: str) -> int:
        size: int = getattr(self, unit)
        return size


def targets(wanted: Draw, found: Mapping[str, Amount]) -> dict[str, int]:
    """How much to take of each language, in `wanted.unit`: {"a": 10 lines, "b": 1000 lines} -> {"a": 10, "b": 100}"""
    amounts = {language: amount.cut(wanted.limit(language)) for language, amount in found.items()}
    sizes = {language: amount.of(wanted.unit) for language, amount in amounts.items()}
    shares = {language: share(wanted, language, amount) for language, amount in amounts.items()}
    if wanted.budget is None:
        most = max(shares.values())
        parts = {language: one / most for language, one in shares.items()}
    else:
        parts = filled(shares, sizes, parse_budget(wanted.budget)[0])
    return {language: math.floor(size * parts[language] + ROUNDING) for language, size in sizes.items()}


def share(wanted: Draw, language: str, amount: Amount) -> Fraction:
    """The share of its text to take of a language, relative to the others."""
    weight = Fraction((wanted.weights or {}).get(language, 1))
    size = max(amount.of(wanted.goes_by), 1)
    if wanted.balance == "balanced":
        return weight / size
    if wanted.temperature is not None:
        return weight * Fraction(size ** (1 / wanted.temperature)) / size
    return weight


def filled(shares: Mapping[str, Fraction], sizes: Mapping[str, int], budget: int) -> dict[str, Fraction]:
    """Shares in proportion to `shares`, none above 1, that fill the budget; languages with too little text give all."""
    left = Fraction(budget)
    parts: dict[str, Fraction] = {}
    waiting = sorted(shares, key=shares.__getitem__, reverse=True)
    while waiting:
        times = left / (sum(shares[language] * sizes[language] for language in waiting) or 1)
        if times * shares[waiting[0]] <= 1:
            return parts | {language: times * shares[language] for language in waiting}
        first = waiting.pop(0)
        parts[first] = Fraction(1)
        left -= sizes[first]
    return parts


def parse_budget(budget: int | str) -> tuple[int, Literal["bytes", "lines"]]:
    """parse_budget("10GB") -> (10000000000, "bytes"), parse_budget("2M lines") -> (2000000, "lines")"""
    text = str(budget).strip()
    number = text.removesuffix("lines").strip()
    if number == text:
        return parse_size(budget, "budget"), "bytes"
    if number.upper().endswith("B"):
        raise PairityError(f"budget is {budget!r}: write '2GB' for bytes, or '2M lines'.")
    return parse_size(number, "budget"), "lines"


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
