"""A text that no machine is done with soon, and a way to see that a signal is heard while it is worked on."""

import signal
from collections.abc import Callable
from types import FrameType

import pytest

PATTERN = r"(?s:.)(?=a*b)|(?s:.)"
"""Looks for a b through all the rest of the text before each character: minutes for TEXT, which has none."""
TEXT = "a" * 300_000

needs_timer = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")


class StoppedError(Exception):
    """Raised by the handler of the signal: what Ctrl-C does, with an exception of our own."""


def is_stopped_by_a_signal(call: Callable[..., object], *arguments: object, **options: object) -> None:
    """The signal comes again and again, for as long as the call takes. It counts when it is heard twice at the
    same instruction of the same Python code: then the call itself has let Python run the handler.
    """
    heard: list[tuple[FrameType | None, int]] = []

    def handle(_: int, frame: FrameType | None) -> None:
        heard.append((frame, frame.f_lasti if frame else 0))
        if heard[-1] in heard[-2:-1]:
            raise StoppedError

    # By the time that the process works and not by the clock, so that a busy machine changes nothing. SIGALRM belongs
    # to the time limit of the tests.
    before = signal.signal(signal.SIGPROF, handle)
    try:
        signal.setitimer(signal.ITIMER_PROF, 0.005, 0.005)
        with pytest.raises(StoppedError):
            call(*arguments, **options)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
