"""Lines on standard error: errors, warnings and notes."""

from contextlib import suppress

import click


def say(line: str) -> None:
    """Print a line; the work goes on even if nobody reads it."""
    with suppress(BrokenPipeError):
        click.echo(line, err=True)
