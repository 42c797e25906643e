"""The program `pairity`: the list of commands, and what happens when one of them fails."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from pairity.cli.notes import say
from pairity.errors import PairityError, PairityWarning

# A command is imported when it is used: `pairity --help` does not wait for libraries that it does not need.
COMMANDS = {
    "demo": ("demo", "Train ordinary and parity-aware tokenizers on 25 languages and compare them."),
    "label": ("labelling", "Sort text in unknown languages into one file per language."),
    "count": ("counting", "Count pre-tokens once, so that training can start from counts."),
    "merge": ("counting", "Add up counts files into one, however large they are."),
    "train": (
        "training",
        "Train a tokenizer and save it as a folder for transformers, tokenizers and pairity.",
    ),
    "encode": ("tokenizing", "Encode standard input: one line of ids per line of text."),
    "decode": ("tokenizing", "Decode standard input: one line of text per line of ids."),
    "inspect": (
        "tokenizing",
        "Show a tokenizer's settings, its data and which languages were served, or one language in detail.",
    ),
    "export": ("tokenizing", "Write a tokenizer in the format of another library."),
    "embed": ("tokenizing", "Write the old tokens that make up each new token of an extended tokenizer."),
    "eval": ("judging", "Evaluate tokenizers on parallel text: one tidy table, with 95% intervals."),
    "report": ("judging", "Turn scores into one self-contained HTML page."),
    "experiment": ("experiments", "Run a grid of settings: tokenizers, scores, one table and one page."),
    "sweep": (
        "experiments",
        "Try several values of some settings, and plot fairness and compression against them.",
    ),
    "tune": ("tuning", "Find a setting that meets targets for fairness and price, and train it."),
    "pack": ("lm", "Pack the same text for several tokenizers, to train language models on."),
    "lm": ("lm", "Train small language models on packs, and measure how the tokenizer affects them."),
    "tax": ("judging", "Show what the same content costs in each language."),
}
"""Command -> its module in this package, and its line in the list of commands."""

HELP = """Train, evaluate and ship multilingual BPE tokenizers that treat languages fairly.

A SOURCE is a folder with one file (or folder) per language, a file named after its language, LANG=PATH, or a
counts file. Files end in .txt, .jsonl, .csv, .tsv, .parquet, or .words.tsv (words and counts), and may be compressed.
PATH is a file, a folder, a glob, - (standard input; -.jsonl.gz gives its format), a URL such as s3://bucket/en/
(pip install 'pairity[remote]'), or wordfreq:en (pip install 'pairity[demo]'). With --language-column, files without
LANG= hold records of several languages. Options that take a SOURCE or a language accept several, separated by spaces
or commas, and @FILE reads them from a file, one per line. LANG=PATH,PATH gives several files of one language.
"""

COMPLETION = 'Tab completion: eval "$(_PAIRITY_COMPLETE=bash_source pairity)" (or zsh_source, fish_source).'


class Carried(Exception):  # noqa: N818 (it is not an error of its own)
    """Carries an exception past click, which would otherwise print its own line and choose the exit code."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


@contextmanager
def past_click() -> Iterator[None]:
    try:
        yield
    except (BrokenPipeError, KeyboardInterrupt) as error:
        raise Carried(error) from error


class Program(click.Group):
    """A group that knows its commands by name and loads the one that is called."""

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        with past_click():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with past_click():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        family, _ = COMMANDS[name]
        found: click.Command = getattr(import_module(f"pairity.cli.{family}"), f"{name}_command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=Program,
    commands={name: click.Command(name, short_help=summary) for name, (_, summary) in COMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    help=HELP,
    epilog=COMPLETION,
)
@click.version_option(package_name="pairity")
def main() -> None:
    pass


def all_commands() -> dict[str, click.Command]:
    """{"count": ..., "lm train": ...}: all commands except groups, by their full names."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= {f"{name} {word}": inner for word, inner in command.commands.items()}
        else:
            found[name] = command
    return found


def run_words() -> int:
    """Run the command; returns its exit code. A mistake of the user prints one sentence."""
    try:
        with plain_warnings():
            # click returns a number for --help and --version, which it handles itself.
            return main(prog_name="pairity", standalone_mode=False) or 0
    except Carried as carried:
        raise carried.error from None
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (PairityError, OSError) as error:  # OSError: a full disk, a folder without permission
        say(f"error: {error}")
        return 1


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print warnings as one line each, without their location in the code."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", PairityWarning)
        warnings.showwarning = show
        yield
