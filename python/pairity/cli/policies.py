"""From options to a policy and dev sets: who is served, and on which text."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from pairity.errors import PairityError
from pairity.files.reading import unreadable
from pairity.text.finding import glob_matches
from pairity.text.sources import names_language, separated
from pairity.training.dev_sets import DevSets
from pairity.training.policy import OF_METHOD, compares, refuse_lone_alpha

GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)

OPTIONS = {method: (*names, "ratio") if "ratios" in names else names for method, names in OF_METHOD.items()}
"""Method -> those of its options that not all methods have."""


def refuse_idle(method: str, window: int | None, alpha: float) -> None:
    """Refuse options that were given, here or in a config file, but have no effect."""
    context = click.get_current_context()
    some = {name for names in OPTIONS.values() for name in names}
    names = [option.name for option in context.command.params if option.name in some]  # as in --help
    given = [name for name in names if name and context.get_parameter_source(name) in GIVEN]
    if idle := [name for name in given if name not in OPTIONS[method]]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in idle)
        fitting = [other for other, names in OPTIONS.items() if set(given) <= set(names)]
        instead = f", or train with --method {fitting[0]}" if fitting else ""
        why = "" if compares(method) else " does not serve particular languages and"
        raise PairityError(f"--method {method}{why} does not use {options}: leave it out{instead}.")
    if window is None and "alpha" in given:
        refuse_lone_alpha(alpha)


def parse_global_merges(text: str) -> int | float:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise PairityError(
            f"--global-merges is {text!r}: give a number of merges or a share such as 0.5."
        ) from None


def parse_dev(
    sources: Sequence[str], sets: Sequence[str], weights: Sequence[str]
) -> DevSets | list[str] | None:
    """["news=a/", "chat=b/"], ["chat=0.5"] -> DevSets({"news": ["a/"], "chat": ["b/"]}, {"chat": 0.5})"""
    if sources and sets:
        raise PairityError("--dev and --dev-set cannot be combined: give every set as --dev-set NAME=SOURCE.")
    if weights and not sets:
        raise PairityError("--dev-weight needs --dev-set NAME=SOURCE: add it, or leave out --dev-weight.")
    found: dict[str, list[str]] = {}
    for text in sets:
        name, source = named_value(text, "--dev-set", "NAME=SOURCE, such as news=news/")
        found.setdefault(name, []).extend(separated(source))
    weighed: dict[str, float] = {}
    for text in weights:
        name, value = named_value(text, "--dev-weight", "NAME=W, such as news=0.5")
        if name in weighed:
            raise PairityError(f"--dev-weight is given twice for {name!r}: leave one out.")
        try:
            weighed[name] = float(value)
        except ValueError:
            raise PairityError(
                f"--dev-weight {text!r}: {value!r} is not a number: write NAME=W, such as news=0.5."
            ) from None
    return DevSets(found, weighed) if found else list(sources) or None


def sets_in(word: str) -> list[str]:
    """ "news=a/,b/,chat=c/" -> ["news=a/,b/", "chat=c/"]; "news=eng_Latn=a.txt,deu_Latn=b.txt" is one set"""
    _, _, first = word.partition(",")[0].partition("=")
    if "=" not in first:
        return separated(word)
    sets: list[str] = []
    for part in separated(word):
        source = part.partition("=")[2]
        if sets and not (names_language(source) and glob_matches(Path(source)) is None):
            sets[-1] += f",{part}"
        else:
            sets.append(part)
    if len(sets) > 1:
        raise PairityError(
            f"--dev-set {word} names several sets: write them as separate words, --dev-set {' '.join(sets)}"
        )
    return [word]


def named_value(text: str, option: str, form: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not (name and value):
        raise PairityError(f"{option} {text!r}: write {form}.")
    return name, value


def parse_ratios(texts: Sequence[str]) -> dict[str, float | str]:
    """["code=130", "math=eng_Latn"] -> {"code": 130.0, "math": "eng_Latn"}"""
    found: dict[str, float | str] = {}
    for text in texts:
        language, _, value = text.partition("=")
        if not (language and value):
            raise PairityError(
                f"--ratio {text!r}: write LANG=auto, LANG=BYTES, or LANG=LANGUAGE to copy another "
                "language's ratio."
            )
        if language in found:
            raise PairityError(f"--ratio is given twice for {language!r}: leave one out.")
        try:
            found[language] = float(value)
        except ValueError:
            found[language] = value
    return found


def read_ratios(path: Path | None) -> dict[str, float | str]:
    if path is None:
        return {}
    kind = "JSON" if path.suffix == ".json" else "TOML"
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        raise PairityError(
            f"{path} cannot be read as {kind}: {error}. --ratios takes a .toml file (code = 130) or a .json file "
            '({"code": 130}).'
        ) from error
    if not isinstance(found, dict) or not all(
        isinstance(value, int | float | str) and not isinstance(value, bool) for value in found.values()
    ):
        raise PairityError(
            f"{path} must map languages to bytes per line, to languages or to auto, as in code = 'auto'"
        )
    return found
