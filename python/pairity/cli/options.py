"""What commands share: how their words are parsed, and common options."""

import os
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pairity.bpe.roles import check_template
from pairity.cli.config import CONFIG, read_config
from pairity.cli.values import Function, hint_of_dash, one_value_each, swallowed
from pairity.errors import PairityError
from pairity.formats.tokenizer_config import read_template
from pairity.sizes import parse_size


class Command(click.Command):
    """A command whose options may take several values in a row, and whose help ends with examples."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options = {name: option for option in self.get_params(ctx) for name in option.opts}
        try:
            words, rows = one_value_each(args, options)
        except click.BadOptionUsage as error:
            if not ctx.resilient_parsing:  # completing a half-written line in a shell must not fail
                error.ctx = ctx
                raise
            words, rows = args, {}
        try:
            if not ctx.resilient_parsing:
                refuse_twice(self.make_parser(ctx).parse_args(list(words))[2])
            return super().parse_args(ctx, words)
        except click.NoSuchOption as error:
            hint = hint_of_dash(error.option_name, args, options)
            raise click.UsageError(f"{error.format_message()}{hint}", ctx) from None
        except click.MissingParameter as error:
            if isinstance(error.param, click.Argument) and rows:
                raise swallowed(error.param, rows, ctx) from None
            raise
        except click.BadParameter as error:
            if error.param is not None and from_config(ctx, error.param):
                raise PairityError(f"{ctx.meta[CONFIG]}: {error.format_message()}") from None
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PairityError as error:  # about a value, if the sentence begins with its name
            for option in self.params:
                named = tuple(
                    f"{name} {verb} " for name in (option.name, *option.opts) for verb in ("is", "has")
                )
                if str(error).startswith(named) and from_config(ctx, option):
                    raise PairityError(f"{ctx.meta[CONFIG]}: {error}") from error
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)


class Family(click.Group):
    """Commands under one name, `pairity lm train`, whose help ends with examples."""

    def __init__(self, *args: Any, examples: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)


def write_examples(examples: str, formatter: click.HelpFormatter) -> None:
    with formatter.section("Examples"):
        for line in examples.strip().splitlines():
            formatter.write(f"{'':{formatter.current_indent}}{line.strip()}\n")


def command(name: str, examples: str, about: str | None = None) -> Callable[[Function], click.Command]:
    """`about` is the help text of a command without a docstring, if the text is composed or shared."""
    return click.command(name, cls=Command, examples=examples, help=about)


def refuse_twice(given: Sequence[click.Parameter]) -> None:
    """Refuse a second value for an option that takes one: click would silently use the last."""
    for option in given:
        if not isinstance(option, click.Option) or option.multiple or given.count(option) < 2:
            continue
        if not option.is_flag or option.secondary_opts:
            names = "/".join([*option.opts[-1:], *option.secondary_opts])
            raise click.UsageError(f"Option {names!r} takes one value but is given twice: leave one out.")


def from_config(ctx: click.Context, parameter: click.Parameter) -> bool:
    return ctx.get_parameter_source(str(parameter.name)) is ParameterSource.DEFAULT_MAP


config = click.option(
    "--config",
    type=click.Path(path_type=Path),
    is_eager=True,
    expose_value=False,
    callback=read_config,
    help="TOML file with any of these options, at the top level or in a table named after the command; the "
    "command line takes precedence.",
)


# Options that several commands have


def size_in(ctx: click.Context, parameter: click.Parameter, written: str | None) -> int | None:
    """The callback of an option that takes a size: "4GB" -> 4000000000"""
    try:
        return None if written is None else parse_size(written)
    except PairityError as error:
        raise click.BadParameter(str(error), ctx, parameter) from None


memory = click.option(
    "--memory",
    metavar="SIZE",
    callback=size_in,
    help="Memory for counting, such as 4GB, in addition to the program itself; the rest goes to disk, and "
    "the result is the same. Default: no limit.",
)

min_count = click.option(
    "--min-count",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Drop pre-tokens that occur less often than this in the training text of a language.",
)


class OutputPath(click.Path):
    """A path that is not empty: an empty one would mean the current folder."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        if not os.fspath(value):
            self.fail(f"{value!r} is no value: is a shell variable not set?", param, ctx)
        return super().convert(value, param, ctx)


def output(help: str, **settings: Any) -> Callable[[Function], Function]:
    """`-o PATH`: required, unless it has a default."""
    settings = {"required": "default" not in settings, "show_default": True} | settings
    return click.option("-o", "--output", type=OutputPath(path_type=Path), help=help, **settings)


def force(what: str) -> Callable[[Function], Function]:
    """`--force`: without it, no command replaces existing output."""
    return click.option("--force", is_flag=True, help=f"Replace {what}.")


def template_in(ctx: click.Context, parameter: click.Parameter, path: Path | None) -> str | None:
    """The text of the file named by --chat-template, which must be a template."""
    if path is None:
        return None
    template = read_template(path)
    try:
        check_template(template)
    except PairityError as error:
        raise PairityError(f"{path}: {error}") from None
    return template


def roles(function: Function) -> Function:
    """The options for the roles of special tokens, which are the fields of `Roles`."""
    for option in (
        click.option(
            "--chat-template",
            type=click.Path(path_type=Path),
            metavar="FILE",
            callback=template_in,
            help="A Jinja template that turns messages into text.",
        ),
        click.option(
            "--add-eos/--no-add-eos",
            default=None,
            help="Make other libraries end every text with the EOS token.",
        ),
        click.option(
            "--add-bos/--no-add-bos",
            default=None,
            help="Make other libraries start every text with the BOS token.",
        ),
        click.option(
            "--unk-token",
            metavar="TEXT",
            help="Special token for unknown text; some programs require one, although bytes cover all text.",
        ),
        click.option("--pad-token", metavar="TEXT", help="Special token that pads a text."),
        click.option("--eos-token", metavar="TEXT", help="Special token that ends a text."),
        click.option("--bos-token", metavar="TEXT", help="Special token that starts a text."),
    ):
        function = option(function)
    return function


def columns_in(ctx: click.Context, parameter: click.Parameter, words: Sequence[str]) -> str | dict[str, str]:
    """["content"] -> "content"; ["eng_Latn=content", "code=src"] -> {"eng_Latn": "content", "code": "src"}"""
    pairs = [word.partition("=") for word in words]
    named = {language: column for language, equals, column in pairs if equals}
    if not named and len(words) < 2:
        return words[0] if words else "text"
    if len(named) < len(words):
        raise click.BadParameter(
            f"give one name for all languages, or one LANG=NAME per language, not {' '.join(words)}.",
            ctx,
            parameter,
        )
    return named


def cutting(or_else: str = "") -> Callable[[Function], Function]:
    """The options for reading and cutting text; `or_else` is added to the default of the pre-tokenizer in its help."""
    options = (
        click.option("--threads", type=int, help="Number of threads. Default: one per core."),
        click.option(
            "--replace-invalid", is_flag=True, help="Replace bytes that are not UTF-8 and report how many."
        ),
        click.option(
            "--dedup",
            type=click.Choice(["lines"]),
            help="Count each distinct text of a language once and report how many duplicates there were.",
        ),
        click.option(
            "--on-error",
            type=click.Choice(["stop", "skip"]),
            default="stop",
            show_default=True,
            help="Stop at a broken line or record, or skip all of them and report how many.",
        ),
        click.option(
            "--language-column",
            metavar="NAME",
            help="Field or column that names the language of each record, in a SOURCE without LANG=.",
        ),
        click.option(
            "--text-column",
            multiple=True,
            callback=columns_in,
            metavar="[LANG=]NAME",
            help="Field or column that holds the text (message.text), for all languages or for one; its "
            "number in a .csv or .tsv without column names. Default: text.",
        ),
        click.option("--normalize", type=click.Choice(["nfc"]), help="Unicode normalization. Default: none."),
        click.option("--single-digits", is_flag=True, help="Make every digit its own pre-token."),
        click.option(
            "--pretokenizer",
            help="gpt4o, gpt4, qwen35 (for llama.cpp), gpt2, whitespace, none, or a regex; gpt4o:words4 "
            f"keeps up to four words together. Default: gpt4o{or_else}.",
        ),
    )
    return lambda function: reduce(lambda made, option: option(made), options, function)


def checked_resamples(ctx: click.Context, param: click.Parameter, value: int) -> int:
    from pairity.judging.metrics.bootstrap import check_resamples  # here, so that --help need not wait for it

    check_resamples(value)
    return value


resamples_option = click.option(
    "--resamples",
    type=int,
    default=1000,
    show_default=True,
    callback=checked_resamples,
    help="Bootstrap resamples for the 95% intervals: at least 20, or 0 for none.",
)

text_column_option = click.option(
    "--text-column",
    default="text",
    show_default=True,
    help="Field or column that holds the text (message.text).",
)
