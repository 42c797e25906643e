"""Lines on standard error: errors, warnings and notes."""

from contextlib import suppress

import click


def say(line: str) -> None:
    """Whether anybody reads it makes no difference to the work."""
    with suppress(BrokenPipeError):
        click.echo(line, err=True)
