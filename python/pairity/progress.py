"""What a person sees while they wait: the stage, how far it is, how fast it goes, how long it will take.

The bar goes to standard error, and only if that is a terminal; a caller may listen instead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

Listener = Callable[[str, int, int, str], None]
"""Hears (stage, done, total, what is being worked on); the total is 0 if it is not known."""


class Progress:
    """One bar at a time. `show`: None for a bar if standard error is a terminal, False for silence, or a listener."""

    def __init__(self, show: bool | Listener | None = None) -> None:
        self._listener = show if callable(show) else None
        visible = show is True or (show is None and sys.stderr.isatty())
        self._bars = make_bars() if visible else None
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

    def at(self, done: int, detail: str = "", total: int | None = None) -> None:
        total = self._total if total is None else total
        if self._listener:
            self._listener(self._stage, done, total, detail)
        if self._bars:
            self._bars.update(self._bars.task_ids[0], completed=done, total=total or None, detail=detail)

    def bytes_read(self, done: int, total: int, detail: str) -> None:
        """The shape in which readers report."""
        self.at(done, detail, total)


def make_bars() -> Bars:
    # rich takes a while to import, and most runs show nothing.
    from rich.console import Console
    from rich.progress import BarColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else rate(speed, task.fields["unit"]))

    return Bars(
        # Names of languages and files are shown as they are: `[/b]` is not markup.
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.percentage:>3.0f}%", markup=False),
        Rate("", markup=False),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[detail]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )


def rate(speed: float, unit: str) -> str:
    """How many units a second: rate(48213, "merges") -> '48,213 merges/s', rate(112.4e6, "B") -> '112.4 MB/s'."""
    return f"{speed / 1e6:,.1f} MB/s" if unit == "B" else f"{speed:,.0f} {unit}/s"
