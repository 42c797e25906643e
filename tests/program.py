"""The program as a user runs it: in a process of its own."""

import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

PROGRAM = [sys.executable, "-c", "from pairity.cli import run; run()"]


def pairity(*words: object, text: str | None = None, **settings: Any) -> subprocess.CompletedProcess[str]:
    """pairity("count", "corpus/", "-o", "counts.parquet"); `text` is its standard input."""
    return subprocess.run(
        [*PROGRAM, *map(str, words)],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
        **settings,
    )


def terminal_output(words: Sequence[str], env: Mapping[str, str]) -> tuple[str, int]:
    """What a command writes to a terminal, and its exit code."""
    leader, follower = pty.openpty()
    with subprocess.Popen([*PROGRAM, *words], stdout=follower, stderr=follower, env=env) as run:
        os.close(follower)
        output = b"".join(read_until_closed(leader))
    os.close(leader)
    return output.decode(), run.returncode


def read_until_closed(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(descriptor, 4096)
        except OSError:  # Linux says so when the other end is closed
            return
        if not part:
            return
        yield part
