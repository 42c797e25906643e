"""The command line: parse, call, print. One module a family of commands.

In: words on the command line. Out: a call into one of the other rooms, and what a person reads of its result.
"""

from pairity.cli.training import main, run

__all__ = ["main", "run"]
