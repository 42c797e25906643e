"""The program as a user runs it: in a process of its own."""

import subprocess
import sys
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
