"""Pace: how often the state of long work goes to disk."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

SHARE = 50


class Pace:
    """A save is due no more often than every so many seconds, nor before a 50th of the run has passed since the last,
    nor 50 times what that took: so saving costs 2% at most, and a kill 2% or those seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = self._saved_at = time.monotonic()
        self._took = 0.0

    def is_due(self) -> bool:
        now = time.monotonic()
        return now - self._saved_at >= max(self._seconds, (now - self._begun) / SHARE, self._took * SHARE)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Around every save, to know what it takes; one that fails counts as well."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._saved_at = time.monotonic()
            self._took = self._saved_at - begun
