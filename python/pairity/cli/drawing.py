"""The options for text to train on: where it is, which languages to take, and how much of each."""

from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any

import click

from pairity.cli.values import Function, names_in, several
from pairity.counts.parquet import read_header
from pairity.errors import PairityError
from pairity.languages import SETS, is_chosen
from pairity.text.inputs import CountsInput, Resolved, TextInput
from pairity.text.sampling import EVERY_OTHER, Draw
from pairity.text.sources import resolve


def train_and_dev(what: str = "Text", *, dev_required: bool = False) -> Callable[[Function], Function]:
    """Add --train and --dev to a command, which gets `train_sources` and `dev_sources`."""
    train = several(
        "--train", "train_sources", required=True, metavar="SOURCE...", help=f"{what} to learn from."
    )
    dev = several(
        "--dev",
        "dev_sources",
        required=dev_required,
        metavar="SOURCE...",
        help="Parallel text that decides which language is served next.",
    )
    return lambda function: train(dev(function))


def drawing(function: Function) -> Function:
    """Add these options to a command, which gets `languages` (names, or none) and `draw`."""
    return with_options(
        function, seed_help="Seed; a different one takes different lines. Default: 0.", seed_alone=False
    )


def drawing_and_shuffling(function: Function) -> Function:
    """The same for a command that also uses the seed for something else, so the seed may be the only option given."""
    return with_options(
        function, seed_help="Seed for sampling, holding out and shuffling. Default: 0.", seed_alone=True
    )


def with_options(function: Function, *, seed_help: str, seed_alone: bool) -> Function:
    @wraps(function)
    def with_draw(
        *,
        sample: float,
        balanced: bool,
        temperature: float | None,
        by: Any,
        weight: Sequence[str],
        max_bytes: Sequence[str],
        budget: str | None,
        seed: int | None,
        **others: Any,
    ) -> None:
        if balanced and temperature is not None:
            raise PairityError("--balanced and --temperature cannot be combined: leave one out.")
        draw = Draw(
            sample=sample,
            balance="balanced" if balanced else "natural" if temperature is None else "temperature",
            temperature=temperature,
            by=by,
            weights=parse_weights(weight),
            max_bytes=parse_limits(max_bytes),
            budget=budget,
            seed=seed or 0,
        )
        if draw.takes_all and seed is not None and not seed_alone:
            raise PairityError(
                "--seed chooses lines, but no option says how many: add --sample, --budget, --max-bytes, "
                "--temperature, --balanced or --weight, or leave out --seed."
            )
        function(draw=draw, **others)

    options = (
        click.option("--seed", type=int, metavar="N", help=seed_help),
        click.option(
            "--budget",
            metavar="SIZE",
            help="Take this much of all languages together: 10GB, or '2M lines' (a record counts as a "
            "line). A language with less text than its share contributes all of it, and the others "
            "share the rest.",
        ),
        several(
            "--max-bytes",
            parts_of=names_in,
            metavar="[LANG=]SIZE...",
            help="Take at most this much of each language, or of LANG: 5GB eng_Latn=1GB.",
        ),
        several(
            "--weight",
            parts_of=names_in,
            metavar="LANG=W...",
            help="Take W times as much of LANG, compared with the others: eng_Latn=0.3.",
        ),
        click.option(
            "--by",
            type=click.Choice(["words", "bytes", "lines"]),
            help="Unit of size for --balanced (default: bytes) and --temperature (default: words).",
        ),
        click.option(
            "--temperature",
            type=float,
            metavar="T",
            help="Take each language in proportion to its size to the power of 1/T (the paper uses 3.3).",
        ),
        click.option("--balanced", is_flag=True, help="Take as much of each language as the smallest has."),
        click.option(
            "--sample",
            type=float,
            default=1.0,
            metavar="SHARE",
            help="Take this share of the lines of each language, such as 0.1.",
        ),
        several(
            "--language",
            "--languages",
            "languages",
            parts_of=names_in,
            metavar="LANG...",
            help=f"Take only these languages. {' and '.join(SETS)} are the paper's sets; languages that "
            "the text lacks are left out.",
        ),
    )
    made: Function = with_draw
    for option in options:
        made = option(made)
    return made


def has_languages(
    made: Collection[str],
    sources: Sequence[str] | Resolved,
    languages: Sequence[str],
    skip: Sequence[str] = (),
) -> bool:
    """Whether a finished run took the languages that are wanted now, without reading any text.

    If the text is gone, or only reading it would tell its languages, it may have only those of the finished run.
    """
    try:
        there = {name for part in resolve(sources).inputs for name in languages_of(part)}
    except PairityError:
        there = set(made)
    chosen = {name for name in there if not languages or is_chosen(name, languages)}
    return chosen - set(skip) == set(made)


def languages_of(part: TextInput | CountsInput) -> Collection[str]:
    """From the name of a text, or from the metadata of a counts file."""
    return [part.language] if isinstance(part, TextInput) else read_header(part.data, None, None).sizes or ()


def parse_weights(words: Sequence[str]) -> dict[str, float] | None:
    """["eng_Latn=0.3"] -> {"eng_Latn": 0.3}"""
    found: dict[str, float] = {}
    for word in words:
        language, equals, value = word.partition("=")
        try:
            if not (language and equals):
                raise ValueError
            number = float(value)
        except ValueError:
            raise PairityError(f"--weight {word!r}: write LANG=W, as in eng_Latn=0.3.") from None
        if language in found:
            raise PairityError(f"--weight is given twice for {language!r}: leave one out.")
        found[language] = number
    return found or None


def parse_limits(words: Sequence[str]) -> dict[str, int | str] | None:
    """["5GB", "eng_Latn=1GB"] -> {"*": "5GB", "eng_Latn": "1GB"}"""
    found: dict[str, int | str] = {}
    for word in words:
        name, equals, size = word.partition("=")
        language, size = (name, size) if equals else (EVERY_OTHER, word)
        if not language:
            raise PairityError(f"--max-bytes {word!r}: write a size such as 5GB, or LANG=SIZE.")
        if language in found:
            which = f"for {language!r}" if equals else "for every language"
            raise PairityError(f"--max-bytes is given twice {which}: leave one out.")
        found[language] = size
    return found or None
