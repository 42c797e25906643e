"""Options with several values: `--train a b c`, `--train a,b,c`, `--train a --train b`, `--train @list`."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from pairity.bpe.merges import BYTE_TOKENS
from pairity.errors import PairityError
from pairity.text.pretokenizers import LOOKS_LIKE_A_NAME
from pairity.text.sources import at_commas, exists, separated

Function = Callable[..., None]


class Several(click.Option):
    """An option that takes every word up to the next option, also after `--option=WORD`."""


def several(
    *names: str, parts_of: Callable[[str], list[str]] = separated, **settings: Any
) -> Callable[[Function], Function]:
    """An option with several values; `parts_of` finds those in a word, such as "a,b": by default, SOURCEs."""
    return click.option(*names, cls=Several, multiple=True, callback=values_in(parts_of), **settings)


def arguments(
    name: str, metavar: str, parts_of: Callable[[str], list[str]] = separated
) -> Callable[[Function], Function]:
    """The values that a command takes without an option, at least one."""
    return click.argument(name, nargs=-1, required=True, callback=values_in(parts_of), metavar=metavar)


def one_value_each(
    words: Sequence[str], options: Mapping[str, click.Parameter]
) -> tuple[list[str], dict[str, list[str]]]:
    """Repeat an option before each of its values, as click expects; also returns which options had several.

    ["--dev", "a", "b", "-o", "c"] -> ["--dev", "a", "--dev", "b", "-o", "c"], {"--dev": ["a", "b"]}
    """
    rest = list(words)
    repeated: list[str] = []
    rows: dict[str, list[str]] = {}
    while rest:
        word = rest.pop(0)
        if word == "--":
            return [*repeated, word, *rest], rows
        name, equals, first = word.partition("=")
        option = options.get(name)
        if isinstance(option, Several):
            more = list(takewhile(is_value, rest))
            del rest[: len(more)]
            values = [first, *more] if equals else more
            if not values:
                raise click.BadOptionUsage(name, f"Option {name!r} requires an argument.")
            for value in values:
                repeated += [name, value]
            if len(values) > 1:
                rows[name] = values
        else:
            repeated.append(word)
            if isinstance(option, click.Option) and not (option.is_flag or equals) and rest:
                repeated.append(rest.pop(0))
    return repeated, rows


def is_value(word: str) -> bool:
    """Whether a word is a value, not an option. No option begins with a digit or a dot: -5 and -.jsonl are values."""
    return word == "-" or not word.startswith("-") or word[1:2].isdigit() or word[1:2] == "."


def hint_of_dash(unknown: str, words: Sequence[str], options: Mapping[str, click.Parameter]) -> str:
    """What to type instead of a word whose dash makes it an option: -train, a file -a.txt, standard input -.jsonl

    `unknown` is what click could not find: the beginning of that word, such as -t.
    """
    for word in takewhile(lambda word: word != "--", words):
        if not word.startswith(unknown):
            continue
        if f"-{word.partition('=')[0]}" in options:
            return f" Write -{word}, with two dashes."
        if word.startswith("-.") or exists(word):
            return f" For a file, write ./{word}." if exists(word) else f" Write {word} at the end, after --."
    return ""


def swallowed(
    argument: click.Argument, rows: Mapping[str, Sequence[str]], ctx: click.Context
) -> click.UsageError:
    """`eval --data devtest/ tok/`: is tok/ more data or a tokenizer?"""
    option, values = list(rows.items())[-1]
    name = argument.make_metavar(ctx)
    return click.UsageError(
        f"Missing argument {name!r}: {option} took every word after it ({' '.join(values)}). Write one of\n"
        f"  {ctx.command_path} {name} {option} ...\n"
        f"  {ctx.command_path} {option} ... -- {name}",
        ctx,
    )


def values_in(parts_of: Callable[[str], list[str]]) -> Callable[..., tuple[str, ...]]:
    """The callback of a parameter with several values: ["a.txt,b.txt", "@list"] -> ("a.txt", "b.txt", its lines)"""

    def callback(ctx: click.Context, parameter: click.Parameter, words: Sequence[str]) -> tuple[str, ...]:
        found: list[str] = []
        for word in words:
            for line in lines_of(word):
                values = parts_of(line)
                if not values:
                    why = "it has only commas" if line.strip() else "is a shell variable not set?"
                    raise click.BadParameter(f"{line!r} is no value: {why}", ctx, parameter)
                found += values
        return tuple(found)

    return callback


def names_in(word: str) -> list[str]:
    """ "eng_Latn, deu_Latn" -> ["eng_Latn", "deu_Latn"]: cut at every comma, as no name contains one"""
    return [name.strip() for name in word.split(",") if name.strip()]


def tokenizers_in(word: str) -> list[str]:
    """ "a=x/,b=y/" -> ["a=x/", "b=y/"]; the regex in FILE@REGEX may contain commas."""
    return [word] if "@" in word else at_commas(word)


def pretokenizers_in(word: str) -> list[str]:
    """ "gpt4o,gpt2" -> ["gpt4o", "gpt2"]; the commas of a regex are part of it."""
    return names_in(word) if LOOKS_LIKE_A_NAME.fullmatch(word) else [word]


def sizes_in(word: str) -> list[str]:
    """ "8000,16000" -> ["8000", "16000"]; 128,000 is refused, as no vocabulary has 128 tokens, or 0."""
    parts = names_in(word)
    is_one_number = re.fullmatch(r"\d{1,3}(,\d{3})+", word)
    if is_one_number and any(int(part) <= len(BYTE_TOKENS) for part in parts):
        number = word.replace(",", "")
        raise PairityError(
            f"--vocab-size has {word!r}: commas stand between several values, so write {number}."
        )
    return parts


def lines_of(word: str, within: Sequence[str] = ()) -> list[str]:
    """The lines of `@FILE`, and of lists in it; any other word is one line."""
    if not word.startswith("@"):
        return [word]
    if word in within:
        raise PairityError(f"the list {word} contains itself: remove the line {word}.")
    return [line for value in read_list(word) for line in lines_of(value, [*within, word])]


def read_list(word: str) -> list[str]:
    """The values in `@FILE`: one per line, without blank lines and comments."""
    path = Path(os.path.expanduser(word[1:]))  # noqa: PTH111 (Path would raise an error for an unknown ~user)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise PairityError(
            f"the list {word} cannot be read: {reason}. For a file whose name starts with @, write ./{word}"
        ) from error
    values = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
    if not values:
        raise PairityError(f"the list {word} is empty: write one value per line to {path}.")
    return values
