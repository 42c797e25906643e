"""Who is served at each merge: the variants of the method as values.

Classical()                                 # nobody: the most frequent pair of all languages together
Parity()                                    # the language that is compressed worst on the dev set
Parity(global_merges=0.5)                   # hybrid: classical for the first half of the merges
Parity(window=100, alpha=2.0)               # nobody more than alpha times its share of 100 merges
Parity(ratios={"code": 40.0})               # languages without dev text: bytes of a line-equivalent
Parity(ratios={"code": "eng_Latn"})         # ... as many as a dev line of English has
Parity(on="train")                          # no dev set at all: bytes per token of the train text
"""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from pairity.errors import PairityError

Unit = Literal["line", "byte", "char", "word"]


@dataclass(frozen=True, kw_only=True)
class Classical:
    """Ordinary BPE."""


@dataclass(frozen=True, kw_only=True)
class Parity:
    """Parity-aware BPE (Foroutan, Meister et al.): serve the language with the smallest compression rate.

    The rate of a language is units / tokens: the lines of its dev text (or its bytes, characters or
    words) over the tokens that they take now. A language with a ratio r instead of dev text has the rate
    bytes / tokens / r of its train text, which is in lines per token if r is in bytes per line.
    """

    global_merges: int | float = 0
    """Merges learned as classical BPE first: a number, or a share of the budget as a float below 1."""
    window: int | None = None
    """Look back over so many merges, and pass over whom they served more than alpha * window / languages times."""
    alpha: float = 2.0
    ratios: Mapping[str, float | str] | None = None
    """Language -> bytes of a line-equivalent, or the name of a language whose dev lines tell it."""
    unit: Unit = "line"
    on: Literal["dev", "train"] = "dev"

    def __post_init__(self) -> None:
        share = isinstance(self.global_merges, float)
        if not share:
            check_whole("global_merges", self.global_merges)
        if not (0 <= self.global_merges <= 1 if share else self.global_merges >= 0):
            raise PairityError(
                f"global_merges is {self.global_merges}: give a number of merges (0 or more) or a share (0.0 to 1.0)"
            )
        if self.window is not None and check_whole("window", self.window) < 1:
            raise PairityError(f"window is {self.window}: it must be at least 1 (the paper uses 100)")
        if not is_positive(self.alpha):
            raise PairityError(f"alpha is {self.alpha}: it must be a positive number (the paper uses 2)")
        if self.unit not in get_args(Unit):
            raise PairityError(f"unit is {self.unit!r}: choose one of {', '.join(get_args(Unit))}")
        if self.on not in ("dev", "train"):
            raise PairityError(f"on is {self.on!r}: choose 'dev' or 'train'")
        if self.on == "train" and self.ratios:
            raise PairityError(
                "on='train' measures every language by its train bytes: leave ratios out, or on='train'"
            )
        for language, ratio in (self.ratios or {}).items():
            if not isinstance(ratio, str) and not is_positive(ratio):
                raise PairityError(
                    f"the ratio of {language!r} is {ratio}: it must be a positive number, the bytes of one line of it"
                )
        if self.ratios is not None:
            object.__setattr__(self, "ratios", MappingProxyType(dict(self.ratios)))

    def first_parity_merge(self, budget: int) -> int:
        """How many merges of a budget are global. A whole number is a count, a float is a share."""
        if isinstance(self.global_merges, float):
            return round(self.global_merges * budget)
        return self.global_merges


Method = Classical | Parity


def is_positive(value: object) -> bool:
    try:
        return math.isfinite(value) and value > 0  # type: ignore[arg-type, operator]
    except (TypeError, OverflowError):
        return False


def check_whole(name: str, value: object) -> int:
    """The value as a whole number that the engine can hold."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise PairityError(f"{name} is {value!r}: it must be a whole number.") from None
    if abs(number) >= 2**63:
        raise PairityError(f"{name} is {number}: no text is that large.")
    return number
