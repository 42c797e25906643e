"""The config file: options in TOML, used if they are not on the command line.

    threads = 8                          # at the top: for any command that reads this file

    [train]                              # for one command, and not looked at by the others
    train = ["data/", "code=src.parquet"]
    ratio = { code = "auto" }
    vocab-size = 128000                  # or vocab_size
    resume = true

A command of two words has a table within a table: [lm.train].
A key is the name of an option without its dashes, or that of an argument (`sources` of count, `tokenizers` of eval).
"""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

from pairity.errors import PairityError
from pairity.formats.toml_files import read_toml

CONFIG = "pairity.config"
"""The key of the path of the file in the context of click."""


def read_config(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Give click the values for options that are not on the command line."""
    if path is None:
        return
    contents = read_toml(path, ". If a command has an option with its own name, put that option in its table")
    program = ctx.find_root().command
    commands = program.list_commands(ctx) if isinstance(program, click.Group) else [ctx.info_name]
    tables = {name: table for name, table in contents.items() if name in commands and isinstance(table, dict)}
    top = {name: value for name, value in contents.items() if name not in tables}
    words = ctx.command_path.split()[1:] or [str(ctx.info_name)]
    own: Any = tables
    for word in words:
        own = own.get(word, {}) if isinstance(own, dict) else {}
    values = values_of(top, ctx, str(path)) | values_of(own, ctx, f"{path} [{'.'.join(words)}]")
    ctx.default_map = {**(ctx.default_map or {}), **values}
    ctx.meta[CONFIG] = path


def values_of(settings: Mapping[str, Any], ctx: click.Context, where: str) -> dict[str, Any]:
    """{"vocab-size": 400} -> {"vocab_size": "400"}: the names of click, and what the user would have typed."""
    known = keys_of(ctx.command)
    values: dict[str, Any] = {}
    for key, value in settings.items():
        parameter = known.get(key.replace("_", "-"))
        if parameter is None:
            refuse_key(key, where, ctx)
        if parameter.name in values:
            raise PairityError(
                f"{where}: {key!r} is given twice, with a dash and with an underscore: leave one out."
            )
        values[str(parameter.name)] = value_of(parameter, value, f"{where}: {key!r}")
    return values


def keys_of(command: click.Command) -> dict[str, click.Parameter]:
    """The keys allowed in a file: the long names of options and the names of arguments, all with dashes."""
    found: dict[str, click.Parameter] = {}
    for parameter in command.params:
        options = isinstance(parameter, click.Option)
        for name in parameter.opts if options else [str(parameter.name)]:
            if name.startswith("--") or not options:
                found[name.removeprefix("--").replace("_", "-")] = parameter
    return {name: parameter for name, parameter in found.items() if name != "config"}


def refuse_key(key: str, where: str, ctx: click.Context) -> NoReturn:
    if key.startswith("-"):
        raise PairityError(f"{where}: write {key.lstrip('-')!r} instead of {key!r}, without the dashes.")
    name = key.replace("_", "-")
    command = ctx.info_name
    others = commands_with_config(ctx)
    if having := [other for other, found in others.items() if name in keys_of(found)]:
        raise PairityError(
            f"{where}: {key!r} is an option of {', '.join(having)}, not of {command}: put it in the table "
            f"[{having[-1]}], which {command} does not read."
        )
    near = difflib.get_close_matches(name, [*keys_of(ctx.command), *others], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise PairityError(
        f"{where}: {command} has no option {key!r}.{hint} pairity {command} --help lists them all."
    )


def commands_with_config(ctx: click.Context) -> dict[str, click.Command]:
    """The commands of the program that read such files."""
    program = ctx.find_root().command
    names = program.list_commands(ctx) if isinstance(program, click.Group) else []
    found = {name: program.get_command(ctx, name) for name in names if isinstance(program, click.Group)}
    return {
        name: one for name, one in found.items() if one and any(part.name == "config" for part in one.params)
    }


def value_of(parameter: click.Parameter, value: Any, what: str) -> Any:
    """The value as the user would have typed it: text, or a list of texts; a flag stays a bool."""
    if isinstance(parameter, click.Option) and parameter.is_flag:
        if not isinstance(value, bool):
            raise PairityError(f"{what} is {value!r}: write true or false.")
        return value
    if parameter.multiple or parameter.nargs == -1:
        if isinstance(value, dict):
            return [f"{name}={as_word(item, what)}" for name, item in value.items()]
        return [as_word(item, what) for item in (value if isinstance(value, list) else [value])]
    return as_word(value, what)


def as_word(value: Any, what: str) -> str:
    if isinstance(value, list | dict):
        raise PairityError(f"{what} takes one value, not several.")
    if isinstance(value, bool):
        raise PairityError(f"{what} is {str(value).lower()}, but it needs a value: write text or a number.")
    return str(value)
