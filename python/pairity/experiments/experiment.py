"""An experiment as one frozen value: text, named sets of languages, a grid of settings, and runs.

    Experiment(
        train="train/", dev="dev/", judge={"devtest": "devtest/"},
        grid={"vocab_size": [8000, 16000]},
        runs=[{"method": "classical"}, {"method": "parity", "window": [50, 100]}],
    )

Every key of the grid and of a run may be a list, and every combination is a row of the result.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from pairity.errors import PairityError, quoted
from pairity.judging.evaluation import is_name
from pairity.languages import SETS
from pairity.text.sampling import is_number
from pairity.training.policy import OF_METHOD, compares

ALL: Final = "all"
"""The set of languages that always exists: those of train that dev has."""

OF_TEXT: Final = ("languages", "balance", "temperature", "sample", "seed", "pretokenizer")
OF_DEV: Final = ("dev_lines", "dev_seed")
UNIGRAM: Final = ("unigram", "parity-unigram")
"""Methods that learn no merges."""
STEERED: Final = "parity-unigram"
"""The one of these that dev text steers."""


def is_steered(method: str) -> bool:
    """Whether dev text usually decides what a method learns."""
    return compares(method) or method == STEERED


METHODS: Final[Mapping[str, tuple[str, ...]]] = {
    method: ("vocab_size", *OF_TEXT, *settings, *(OF_DEV if is_steered(method) else ()))
    for method, settings in {**OF_METHOD, **dict.fromkeys(UNIGRAM, ())}.items()
}
"""Method -> the keys that it uses."""

EVALUATION: Final = ("metrics", "resamples", "reference", "morph", "seed", "baseline")


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_size(value: object) -> bool:
    return is_whole(value) and value > 0  # type: ignore[operator]


def is_seed(value: object) -> bool:
    """Whether a value is a whole number that fits the column of the table."""
    return is_whole(value) and abs(value) < 2**63  # type: ignore[arg-type]


def is_nonempty(value: object) -> bool:
    return isinstance(value, str) and bool(value)


A_NAME: Final = "text, without line breaks and other control characters"
A_SEED: Final = "a whole number below 2**63"

KINDS: Final[Mapping[str, tuple[Callable[[object], bool], str]]] = {
    "method": (lambda value: is_nonempty(value) and value in METHODS, f"one of {', '.join(METHODS)}"),
    "vocab_size": (is_whole, "a whole number, such as 32000"),
    "languages": (is_nonempty, "the name of a set under [languages], or paper-30, paper-60 or all"),
    "balance": (
        lambda value: is_nonempty(value) or is_whole(value),
        "natural, balanced, temperature, or bytes",
    ),
    "temperature": (is_number, "a number, such as 3.3"),
    "sample": (is_number, "a share of the lines, such as 0.8"),
    "seed": (is_seed, A_SEED),
    "pretokenizer": (is_nonempty, "a name, such as gpt4o, or a regular expression"),
    "window": (is_whole, "a whole number, such as 100"),
    "alpha": (is_number, "a number, such as 2.0"),
    "joint": (is_number, "a share, such as 0.5"),
    "beta": (is_number, "a number, such as 64"),
    "global_merges": (is_number, "a number of merges, or a share such as 0.5"),
    "ratios": (lambda value: value == "dev" or isinstance(value, Mapping), '"dev", or { LANG = BYTES }'),
    "unit": (is_nonempty, "line, byte, char or word"),
    "on": (lambda value: value in ("dev", "train"), "dev or train"),
    "dev_lines": (is_size, "a whole number of lines"),
    "dev_seed": (is_seed, A_SEED),
}
"""Key -> (whether a value is valid, what to write instead)."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Frozen; keys and types of values are checked when it is created, and `plan` checks the text."""

    train: str | Sequence[str]
    """SOURCEs to learn from."""
    judge: Mapping[str, str | Sequence[str]]
    """Name -> SOURCEs to evaluate on; the first is the main text."""
    runs: Sequence[Mapping[str, Any]] = ({},)
    """What differs from row to row: `method` and its settings, or `tokenizer` for an existing one; `name`."""
    dev: str | Sequence[str] | None = None
    """Parallel SOURCEs that decide which language is served."""
    grid: Mapping[str, Any] = field(default_factory=dict)
    """Settings that all runs share, as far as their methods use them."""
    languages: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """Named sets of languages."""
    evaluation: Mapping[str, Any] = field(default_factory=dict)
    """For `evaluate`: metrics, resamples, reference, morph, seed, baseline."""
    seed: int = 0
    """Seed for all sampling, if a row does not have its own."""
    title: str = "Experiment"
    text_column: str = "text"
    """Where the text is in files that have several columns or fields."""
    chart: str | None = None
    """The setting that Gini and tokens per line are plotted against."""
    where: str = field(default="the experiment", compare=False)
    """Its name in errors."""
    from_options: bool = field(default=False, compare=False)
    """Whether its settings are options of a command; errors then name no place in a file."""

    def __post_init__(self) -> None:
        for place, value in (
            ("[judge]", self.judge),
            ("[grid]", self.grid),
            ("[languages]", self.languages),
            ("[evaluation]", self.evaluation),
        ):
            if not isinstance(value, Mapping):
                self.refuse(
                    place, f"it is {value!r}: give names with values, as in {{'devtest': 'devtest/'}}."
                )
        if isinstance(self.runs, Mapping) or not all(isinstance(run, Mapping) for run in self.runs):
            self.refuse("[[run]]", f"runs is {self.runs!r}: give a list, as in [{{'method': 'parity'}}].")
        if not is_nonempty(self.text_column):
            it = "text_column" if self.from_options else "it"
            self.refuse("text_column", f"{it} is {self.text_column!r}: give the name of a column.")
        if not self.judge:
            self.refuse("[judge]", "names no text: add one, as in devtest = 'devtest/'.")
        if not self.runs:
            self.refuse("[[run]]", "there is none: add one, as in method = 'parity'.")
        for name in self.judge:
            if not is_name(name) or "/" in name or name.startswith("."):
                self.refuse("[judge]", f"{name!r} cannot be the name of a text: it becomes a folder.")
        for name, languages in self.languages.items():
            if not is_name(name):
                self.refuse("[languages]", f"a set is called {name!r}: give {A_NAME}.")
            if name == ALL:
                self.refuse(
                    "[languages]", f"{ALL!r} is reserved for all languages of train: use another name."
                )
            listing = isinstance(languages, list | tuple) and languages and all(map(is_nonempty, languages))
            if not listing and not (isinstance(languages, str) and languages in SETS):
                choices = quoted(SETS)
                self.refuse("[languages]", f"{name!r} is {languages!r}: give {choices}, or a list of codes.")
            if listing and len(set(languages)) < len(languages):
                self.refuse("[languages]", f"{name!r} is {languages!r}: give codes of languages, each once.")
        if not is_seed(self.seed):
            self.refuse("seed", f"it is {self.seed!r}: give {A_SEED}.")
        self.check_keys("[evaluation]", self.evaluation, EVALUATION)
        for key, value in self.evaluation.items():
            wrong = key in ("metrics", "reference", "baseline") and not all(map(is_nonempty, as_list(value)))
            wrong = wrong or (key == "morph" and not isinstance(value, str | os.PathLike))
            wrong = wrong or (key in ("resamples", "seed") and not is_whole(value))
            wrong = wrong or (key == "seed" and value < 0)
            if wrong or (key != "metrics" and isinstance(value, list | tuple)):
                what = {"seed": "a whole number, at least 0", "resamples": "a whole number"}.get(key, "text")
                self.refuse("[evaluation]", f"{key} is {value!r}: give {what}.")
        self.check_keys("[grid]", self.grid, KINDS)
        for number, run in enumerate(self.runs, 1):
            place = f"[[run]] {run['name'] if is_name(run.get('name')) else number}"
            self.check_keys(place, run, (*KINDS, "name", "tokenizer"))
            self.check_run(place, run)
        for key in self.grid:
            if key != "method" and not any(key in METHODS[method] for method in self.all_methods()):
                self.refuse("[grid]", f"no run uses {key!r}: leave it out.")
        if self.chart is not None and self.chart not in KINDS:
            near = nearest(self.chart, KINDS)
            self.refuse(
                "chart", f"there is no setting {self.chart!r}.{near} Name a setting that has several values."
            )
        if self.chart == "languages":
            self.refuse(
                "chart",
                "tokenizers for different languages are evaluated on different text: name another setting.",
            )

    def methods_of(self, run: Mapping[str, Any]) -> list[str]:
        """The methods of a run; none for an existing tokenizer."""
        return [] if "tokenizer" in run else as_list(run.get("method", self.grid.get("method", "parity")))

    def all_methods(self) -> set[str]:
        return {method for run in self.runs for method in self.methods_of(run)}

    def check_keys(self, place: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
        for key, value in given.items():
            if key not in known:
                self.refuse(
                    place, f"there is no key {key!r}.{nearest(key, known)} Known keys: {', '.join(known)}."
                )
            if key not in KINDS or place == "[evaluation]":
                continue
            fits, what = KINDS[key]
            values = as_list(value)
            for one in values:
                if not fits(one):
                    hint = nearest(one, METHODS) if key == "method" else ""
                    self.refuse(place, f"{key} is {one!r}:{hint} give {what}.")
            if not values or any(values.count(one) > 1 for one in values):
                self.refuse(place, f"{key} is {value!r}: give one or more values, each once.")
            # Whole numbers are counts, so the 1 in 0, 0.5, 1 would be a single merge.
            alone = any(is_whole(one) and one == 1 for one in values)
            if key == "global_merges" and alone and not all(map(is_whole, values)):
                self.refuse(place, f"{key} is {value!r}, where 1 is one merge: write 1.0 for a share.")

    def check_run(self, place: str, run: Mapping[str, Any]) -> None:
        """Refuse settings that the method of a run does not use."""
        if "name" in run and not is_name(run["name"]):
            self.refuse(place, f"name is {run['name']!r}: give {A_NAME}.")
        if "tokenizer" in run:
            if idle := [key for key in run if key not in ("tokenizer", "name")]:
                self.refuse(place, f"an existing tokenizer is evaluated as it is: leave out {quoted(idle)}.")
            if not is_nonempty(run["tokenizer"]):
                self.refuse(
                    place, f"tokenizer is {run['tokenizer']!r}: give a folder, a file, or tiktoken:NAME."
                )
            return
        methods = self.methods_of(run)
        for key in run:
            if key in KINDS and key != "method" and not any(key in METHODS[one] for one in methods):
                self.refuse(place, f"method {' and '.join(methods)} does not use {key!r}: leave it out.")

    def refuse(self, place: str, what: str, because: Exception | None = None) -> NoReturn:
        raise PairityError(f"{self.where}{'' if self.from_options else f', {place}'}: {what}") from because


def name_and_place(tokenizer: str) -> tuple[str, str]:
    """ "gpt-4o=tiktoken:o200k_base" -> ("gpt-4o", "tiktoken:o200k_base"); without a name ("", the whole)."""
    name, _, place = tokenizer.partition("=")
    return (name, place) if name and place and not set("/:@") & set(name) else ("", tokenizer)


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def nearest(word: object, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
