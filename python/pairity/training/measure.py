"""What a language is measured by: a text, and the scale that turns its tokens into a cost.

60 dev lines that take 1,812 tokens now:             cost = 1812 * 1.0 / 60      = 30.2 tokens per line
5,000 train bytes, 1,100 tokens, ratio 130.0:        cost = 1100 * 130.0 / 5000  = 28.6 tokens per line-equivalent
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError
from pairity.training.estimating import LineEstimate

Unit = Literal["line", "byte", "char", "word"]

SIZE_IN: dict[Unit, str] = {"line": "lines", "byte": "bytes", "char": "chars", "word": "words"}
"""Unit -> the attribute of `LanguageCounts` with the size of a text in it."""


@dataclass(frozen=True)
class Measure:
    """Compression rate = units / tokens / ratio, and cost is its inverse."""

    text: LanguageCounts
    units: float
    ratio: float = 1.0
    copied_from: str | None = None
    """The language whose dev lines gave the ratio."""
    estimate: LineEstimate | None = None
    """What the ratio was estimated from."""


def on_dev(language: str, dev: LanguageCounts, unit: Unit) -> Measure:
    """Measure by dev text: its lines (or bytes, characters, words) per token."""
    units = getattr(dev, SIZE_IN[unit])
    if units is None:
        raise PairityError(
            f"the dev counts of {language!r} do not record how many {SIZE_IN[unit]} they were made from: "
            "give dev text, or compare by --unit byte."
        )
    if dev.total == 0 or not units:
        raise PairityError(f"the dev text of {language!r} is empty: add text, or give it a ratio instead.")
    return Measure(dev, float(units))


def on_train(train: LanguageCounts, ratio: float = 1.0, **source: Any) -> Measure:
    """Measure by train text: its bytes per token, divided by the ratio."""
    return Measure(train, float(train.pretoken_bytes()), float(ratio), **source)


def bytes_per_line(dev: LanguageCounts) -> float | None:
    """The mean length of a line; None if the counts do not record the number of lines."""
    return dev.bytes / dev.lines if dev.lines else None


def set_apart(with_ratio: Collection[str], measured: Collection[str]) -> list[str]:
    """The languages that pay per line-equivalent while others pay per dev line: code and math next to languages.

    Both costs decide whose turn it is, but they do not price the same content, so no Gini mixes them. If every language
    has a ratio, all are measured alike and none is set apart.
    """
    apart = [language for language in measured if language in with_ratio]
    return apart if any(language not in with_ratio for language in measured) else []
