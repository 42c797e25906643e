"""Pace: how often the state of a long run is saved."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

SHARE = 50


class Pace:
    """A save is due when all of this has passed since the last one: `seconds`, a 50th of the run so far, and 50 times
    what that save took. So saving costs at most 2% of the time, and a kill loses at most 2% or those seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._begun = self._saved_at = time.monotonic()
        self._took = 0.0

    def is_due(self) -> bool:
        now = time.monotonic()
        return now - self._saved_at >= max(self._seconds, (now - self._begun) / SHARE, self._took * SHARE)

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Wrap every save to measure it; failed saves count too."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self._saved_at = time.monotonic()
            self._took = self._saved_at - begun
