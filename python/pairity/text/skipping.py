"""Broken lines and records: the first one is an error, or all are skipped and reported."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from pairity.errors import PairityError
from pairity.text.blocks import Block


@dataclass
class SkippedIn:
    """How many lines or records of one file were skipped, and the error about the first of them."""

    unit: str
    number: int = 0
    first: int = 0
    error: str = ""
    ends: int = 0
    """How many of them were the end of a long line whose beginning was already handed out."""

    def note(self, where: str) -> str:
        many = "1 {0} was" if self.number == 1 else "{1:,} {0}s were"
        about = f"{where}: {many.format(self.unit, self.number)} skipped, the first: {self.error}"
        if not self.ends:
            return about
        return (
            f"{about} Of {self.ends:,} that were too long to hold in memory, only the rest of the line "
            "was skipped; what came before it is counted."
        )


class Skipped:
    """Everything that was skipped, by all threads."""

    def __init__(self, on_error: str) -> None:
        self._stop = on_error == "stop"
        self._lock = threading.Lock()
        self._files: dict[str, SkippedIn] = {}
        self.languages: Counter[str] = Counter()
        """How many of each language; broken records that do not name one count for none."""
        self.ends: Counter[str] = Counter()
        """How many of them were the end of a long line."""

    def meet(self, error: PairityError, block: Block, index: int, language: str) -> None:
        """Raise the error about text `index` of a block, or remember it."""
        if self._stop:
            raise error
        number = block.number(index)
        with self._lock:
            file = self._files.setdefault(block.where, SkippedIn(block.unit))
            if not file.number or number < file.first:
                file.first, file.error = number, str(error)
            file.number += 1
            if block.part:
                file.ends += 1
                self.ends[language] += 1
            if language:
                self.languages[language] += 1

    def notes(self) -> list[str]:
        return [file.note(where) for where, file in sorted(self._files.items())]
