"""Write docs/reference/commands.md from the commands themselves: their help, options, defaults and examples.

python docs/commands.py            write the page
python docs/commands.py --check    write nothing; exit 1 if the page is out of date
"""

import inspect
import sys
from pathlib import Path

import click

from generated import write_or_check
from pairity.cli.options import Command
from pairity.cli.program import COMMANDS, HELP, all_commands, main

PAGE = Path(__file__).parent / "reference" / "commands.md"

INTRODUCTION = f"""\
# Commands

*Written by `python docs/commands.py` from the commands: change the help texts in `python/pairity/cli/`, not this
page.*

{inspect.cleandoc(HELP.split(chr(10), 2)[2])}

How such values are written, and which files are read: [input](../input.md). A command that
writes needs `--force` to replace what is there (`demo` needs none: it replaces an older demo). Results go to
standard output, everything else to standard error; the exit code is 0 when it is done, 1 for an error, 2 for a wrong
command line ([more](../promise.md#work-is-not-lost)).
"""


def names(option: click.Option) -> str:
    """`-o`, `--output DIR`"""
    metavar = "" if option.is_flag else f" {option.make_metavar(click.Context(main))}"
    *short, last = option.opts
    return ", ".join([*(f"`{name}`" for name in short), f"`{last}{metavar}`"])


def default_of(option: click.Option) -> str:
    """What stands if the option is not given, where that is a value."""
    if option.required:
        return "required"
    return f"`{option.default}`" if option.show_default else ""


def options_table(command: click.Command) -> str:
    rows = [("option", "what it does", "default"), ("---",) * 3]
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{command.name} {option.opts} has no help"
            rows.append((names(option), option.help, default_of(option)))
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows)


def section(name: str, command: click.Command) -> str:
    assert isinstance(command, Command)
    context = click.Context(command, info_name=f"pairity {name}")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    paragraphs = inspect.cleandoc(command.help or "")
    examples = "\n".join(line.strip() for line in command.examples.strip().splitlines())
    return (
        f"## pairity {name}\n\n{paragraphs}\n\n```text\n{usage}\n```\n\n{options_table(command)}\n\n"
        f"Examples:\n\n```text\n{examples}\n```\n"
    )


def page() -> str:
    found = all_commands()
    lines = {name: inspect.cleandoc(command.help or "").split("\n\n")[0] for name, command in found.items()}
    listing = "\n".join(
        f"- [`{name}`](#pairity-{name.replace(' ', '-')}): {COMMANDS.get(name, ('', lines[name]))[1]}"
        for name in found
    )
    commands = [section(name, command) for name, command in found.items()]
    return "\n".join([INTRODUCTION, listing + "\n", *commands])


if __name__ == "__main__":
    sys.exit(write_or_check(__file__, __doc__, PAGE, page))
