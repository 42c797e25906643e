"""Progress: the current stage, how far it is, how fast it goes and how long it will take.

On a terminal this is a bar; elsewhere, as in the log of a batch job, a line from time to time. Both go to standard
error. A caller may get the numbers instead.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

Listener = Callable[[str, int, int, str], None]
"""Called with (stage, done, total, current item); the total is 0 if it is unknown."""

BytesListener = Callable[[int, int, str], None]
"""Called with (bytes done, bytes in total, current language); the total is 0 if it is unknown."""


SECONDS = 30.0
"""How often a log gets a line."""


class Progress:
    """One bar at a time. `show`: None for a bar on a terminal and lines elsewhere, False for silence, or a listener."""

    def __init__(self, show: bool | Listener | None = None, *, log: Log | None = None) -> None:
        self._listener = show if callable(show) else None
        visible = show is True or (show is None and sys.stderr.isatty())
        self._bars = make_bars() if visible else None
        self._log = (log or Log()) if show is None and not visible else None
        self._stage = ""
        self._total = 0

    def __enter__(self) -> Progress:
        if self._bars:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars:
            self._bars.stop()

    def stage(self, name: str, *, unit: str, total: int = 0) -> None:
        self._stage, self._total = name, total
        if self._bars:
            for task in self._bars.task_ids:
                self._bars.remove_task(task)
            self._bars.add_task(name, total=total or None, unit=unit, detail="")
        if self._log:
            self._log.stage(name, unit)

    def at(self, done: int, detail: str = "", total: int | None = None) -> None:
        total = self._total if total is None else total
        if self._listener:
            self._listener(self._stage, done, total, detail)
        if self._bars:
            self._bars.update(self._bars.task_ids[0], completed=done, total=total or None, detail=detail)
        if self._log:
            self._log.at(done, total, detail)

    def bytes_read(self, done: int, total: int, detail: str) -> None:
        """A `BytesListener`, which is how readers report."""
        self.at(done, detail, total)


class Log:
    """A line on standard error every `seconds`; shorter work logs nothing.

    learning merges: 12,000 of 127,744 merges (9%), 4,100 merges/s, 28 s left, tam_Taml
    """

    def __init__(self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = SECONDS if seconds is None else seconds
        self._clock = clock
        self._said = clock()
        self._stage, self._unit = "", ""
        self._before: tuple[float, int] | None = None
        """When the last line was written (or this stage first reported), and how much was done then."""

    def stage(self, name: str, unit: str) -> None:
        self._stage, self._unit, self._before = name, unit, None

    def at(self, done: int, total: int, detail: str) -> None:
        now = self._clock()
        if now - self._said >= self._seconds:
            self._said = now
            line = ", ".join([f"{self._stage}: {self.amount(done, total)}", *self.pace(now, done, total)])
            with suppress(OSError):  # the work goes on even if nobody reads the log
                print(line + (f", {detail}" if detail else ""), file=sys.stderr, flush=True)
            self._before = None
        if self._before is None:
            self._before = now, done

    def amount(self, done: int, total: int) -> str:
        """ "12,000 of 127,744 merges (9%)" """
        scale, unit = (1e6, "MB") if self._unit == "B" else (1, self._unit)
        digits = ",.1f" if self._unit == "B" else ",.0f"
        if not total:
            return f"{done / scale:{digits}} {unit}"
        return f"{done / scale:{digits}} of {total / scale:{digits}} {unit} ({done / total:.0%})"

    def pace(self, now: float, done: int, total: int) -> list[str]:
        """["4,100 merges/s", "28 s left"], as far as they are known."""
        when, then = self._before or (now, done)
        if now <= when or done <= then:
            return []
        speed = (done - then) / (now - when)
        left = [f"{duration((total - done) / speed)} left"] if total else []
        return [rate(speed, self._unit), *left]


def duration(seconds: float) -> str:
    """28 s, 5 min, 2 h 10 min"""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def make_bars() -> Bars:
    # rich takes a while to import, and most runs show no bar.
    from rich.console import Console
    from rich.progress import BarColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Percentage(TextColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.total is None else f"{task.percentage:>3.0f}%")

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else rate(speed, task.fields["unit"]))

    return Bars(
        # Names of languages and files are shown as they are: `[/b]` is not markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        Percentage("", markup=False),
        Rate("", markup=False),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[detail]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )


def rate(speed: float, unit: str) -> str:
    """How many units a second: rate(48213, "merges") -> '48,213 merges/s', rate(112.4e6, "B") -> '112.4 MB/s'."""
    if unit == "B":
        return f"{speed / 1e6:,.1f} MB/s"
    return f"{speed:,.{0 if speed >= 10 else 1}f} {unit}/s"
