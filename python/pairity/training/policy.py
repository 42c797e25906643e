"""Policies: which language each merge serves. Every variant of the method is a frozen value.

    Classical()                          nobody: the most frequent pair of all languages together
    Parity()                             the language that is compressed worst on the dev set
    Parity(global_merges=0.5)            hybrid: classical for the first half of the merges
    Parity(window=100, alpha=2.0)        no language more than alpha times its share of 100 merges
    Parity(joint=0.5)                    the worst language's frequent pair that helps all languages most
    Parity(ratios={"code": 130.0})       a language without dev text: the bytes of its line-equivalent
    Parity(ratios={"code": "eng_Latn"})  the same, with the length of a dev line of English
    Parity(ratios={"code": "auto"})      the same, estimated from its script and train text, or from a few dev lines
    Parity(on="train")                   no dev set at all: bytes per token of the train text
    Fair(beta=64)                        nobody: the pair that saves the most, with more weight on expensive languages

Training treats all policies alike, so all classes have the same methods.
"""

import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, Literal, NoReturn

from pairity.errors import PairityError
from pairity.training.comparing import NOTHING, ByLanguage, Comparing, is_positive
from pairity.training.measure import Measure, Unit, on_dev


@dataclass(frozen=True, kw_only=True)
class Classical:
    """Ordinary BPE: it serves no particular language, and dev text only shows what each language costs per line."""

    unit: ClassVar[Unit] = "line"
    on: ClassVar[Literal["dev", "train"]] = "dev"
    ratios: ClassVar[None] = None

    def global_merges_of(self, budget: int) -> None:
        return None

    def for_engine(self) -> dict[str, Any]:
        return {}

    def check_budget(self, budget: int) -> None:
        """Any number is fine."""

    def check(
        self, train: Collection[str], dev: Collection[str] | None, left_out: Collection[str] = ()
    ) -> None:
        """Nothing is compared, so nothing can be missing."""

    def compared_by_line(self, dev: Collection[str]) -> list[str]:
        return []

    def estimated(self) -> list[str]:
        return []

    def measures(
        self, train: ByLanguage, dev: ByLanguage, sizes: Mapping[str, Sequence[int]] = NOTHING
    ) -> dict[str, Measure]:
        return {
            language: on_dev(language, dev[language], self.unit)
            for language in train
            if language in dev and dev[language].lines is not None
        }

    def describe(self) -> dict[str, Any]:
        return {"name": "classical"}


@dataclass(frozen=True, kw_only=True)
class Parity(Comparing):
    """Parity-aware BPE (Foroutan, Meister et al.): serve the language with the smallest compression rate.

    The rate of a language is units / tokens: the lines of its dev text (or its bytes, characters or
    words) divided by the tokens that they take now. A language with a ratio r instead of dev text has the rate
    bytes / tokens / r of its training text, which is in lines per token if r is in bytes per line.
    """

    global_merges: int | float = 0
    """Merges to learn first as classical BPE: a number, or a share of the budget as a float from 0.0 to 1.0."""
    window: int | None = None
    """Look back over this many merges, and skip languages that they served more often than
    alpha * window / languages."""
    alpha: float = 2.0
    """With a window: the most that a language may have of it, as a multiple of an equal share."""
    joint: float = 1.0
    """Among the served language's pairs with at least this share of its most frequent pair's count, take the one that
    saves the most over all languages. 1.0: the most frequent pair, as in the paper."""

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
        if self.window is None and self.alpha != Parity.alpha:
            refuse_lone_alpha(self.alpha)
        if not is_positive(self.joint) or self.joint > 1:
            raise PairityError(
                f"joint is {self.joint}: give a share above 0.0, up to 1.0 (1.0 considers only the most "
                "frequent pair)."
            )
        super().__post_init__()

    def global_merges_of(self, budget: int) -> int:
        """How many merges of a budget are global. A whole number is a count, a float is a share."""
        if isinstance(self.global_merges, float):
            return round(self.global_merges * budget)
        return self.global_merges

    def for_engine(self) -> dict[str, Any]:
        """The arguments of `learn` that are its own, apart from the global merges."""
        return {
            "window": (self.window, self.alpha) if self.window else None,
            "joint": float(self.joint) if self.joint < 1 else None,
        }

    def check_budget(self, budget: int) -> None:
        """`budget` is how many merges (or tokens) are to be learned."""
        if self.global_merges_of(budget) > budget:
            raise PairityError(
                f"global_merges is {self.global_merges}, but only {budget} are to be learned: give fewer, or use "
                "Classical() (--method classical)."
            )

    def describe(self) -> dict[str, Any]:
        """For pairity.json: {"name": "parity", "global_merges": 0, "window": None, ...}."""
        own = {key: getattr(self, key) for key in ("global_merges", "window", "alpha", "joint")}
        return {"name": "parity"} | own | self.describe_comparing()


@dataclass(frozen=True, kw_only=True)
class Fair(Comparing):
    """Alpha-fair BPE: serve no particular language, and take the pair that saves the most over all languages, weighted.

    The weight of a language is cost ** beta / size: what a unit (a dev line) costs now, and how many units its
    training text corresponds to. So the sum of cost ** (beta + 1) over the languages falls as fast as possible.
    """

    beta: float = 64.0
    """How much extra weight expensive languages get: 0 optimizes only the sum over languages; larger values make
    languages more equal."""

    def __post_init__(self) -> None:
        if isinstance(self.beta, bool | complex) or (self.beta != 0 and not is_positive(self.beta)):
            raise PairityError(f"beta is {self.beta}: it must be a finite number, 0 or more, such as 64.")
        object.__setattr__(self, "beta", float(self.beta))  # so that 4 and 4.0 are recorded as the same run
        super().__post_init__()

    def global_merges_of(self, budget: int) -> int:
        """None: the weights apply from the first merge on."""
        return 0

    def for_engine(self) -> dict[str, Any]:
        """The arguments of `learn` that are its own."""
        return {"beta": self.beta}

    def check_budget(self, budget: int) -> None:
        """Any number is fine."""

    def describe(self) -> dict[str, Any]:
        """For pairity.json."""
        return {"name": "fair", "beta": self.beta} | self.describe_comparing()


Policy = Classical | Parity | Fair

CLASSES: Final[Mapping[str, type[Policy]]] = {"parity": Parity, "fair": Fair, "classical": Classical}
"""Method, as options and files name it -> its class."""

OF_METHOD: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(field.name for field in fields(kind)) for name, kind in CLASSES.items()
}
"""Method -> the settings that it uses."""


def policy_of(method: str, settings: Mapping[str, Any]) -> Policy:
    """The policy of a method, with those of the settings that it uses."""
    return CLASSES[method](**{name: settings[name] for name in OF_METHOD[method] if name in settings})


def compares(method: str) -> bool:
    """Whether a method compares languages, usually on dev text."""
    return "on" in OF_METHOD.get(method, ())


def check_window(name: str, window: object) -> None:
    if check_whole(name, window) < 1:
        raise PairityError(f"{name} is {window}: it must be at least 1 (the paper uses 100).")


def check_alpha(alpha: object) -> None:
    if not is_positive(alpha):
        raise PairityError(f"alpha is {alpha}: it must be a positive number (the paper uses 2).")


def refuse_lone_alpha(alpha: float) -> NoReturn:
    raise PairityError(
        f"alpha is {alpha}, but without a window it has no effect: also give window=100 (--window 100), "
        "or leave out alpha (--alpha)."
    )


def check_whole(name: str, value: object) -> int:
    """The value as a whole number that fits the engine's integers."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise PairityError(f"{name} is {value!r}: it must be a whole number.") from None
    if abs(number) >= 2**63:
        raise PairityError(f"{name} is {number}: it must be below 2**63.")
    return number
