"""The command line: parse, call, print. One module per family of commands.

In: words on the command line. Out: a call into one of the other rooms, and its result as a person reads it.
"""

from pairity.cli.program import main, run

__all__ = ["main", "run"]
