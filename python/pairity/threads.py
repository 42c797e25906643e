"""How many threads to use."""

import os

from pairity.errors import PairityError

MOST_THREADS = 1024


def thread_count(threads: int | None) -> int:
    """The number given, or one per core that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise PairityError(f"threads is {threads}: give at least 1.")
    if threads > MOST_THREADS:
        raise PairityError(
            f"threads is {threads}: give at most {MOST_THREADS}. More threads than cores only wait."
        )
    return threads
