"""Sorted runs: counts on disk, each run a file with words of one language in order, merged when read."""

from __future__ import annotations

import itertools
import os
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from pairity import _core
from pairity.counts.values import Chunk, Pruned, TextSize, chunk_of, refuse_sum
from pairity.errors import PairityError
from pairity.files.writing import write_file
from pairity.progress import BytesListener
from pairity.text.columns import text_buffers

FAN_IN = 64
"""Runs merged at a time; each has an open file and a block in memory."""

CHUNK_ROWS = 1 << 16
CHUNK_BYTES = 1 << 22


def silence(*heard: object) -> None:
    """The listener of those who need no progress."""


@dataclass(frozen=True)
class SortedRun:
    """One file: the number of its words, their digest, and the size of the text they come from."""

    language: str
    name: str
    rows: int
    digest: int
    size: TextSize = field(default_factory=TextSize)


class Runs:
    """The runs of all languages in one folder. Several threads may add runs at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._runs: list[SortedRun] = []
        self._numbers = itertools.count()

    def __iter__(self) -> Iterator[SortedRun]:
        return iter(list(self._runs))

    def of(self, language: str) -> list[SortedRun]:
        return [run for run in self if run.language == language]

    def restore(self, runs: Sequence[SortedRun]) -> None:
        """Add runs that are already in the folder."""
        self._runs = list(runs)
        self._numbers = itertools.count(1 + max((int(Path(run.name).stem) for run in runs), default=-1))

    def spill(self, language: str, counter: _core.Counter) -> None:
        """Write what a counter holds as a run."""

        def fill(file: BinaryIO, name: str) -> SortedRun:
            rows, digest, totals = counter.spill(file.name)
            return SortedRun(language, name, rows, digest, TextSize(**totals))

        self._runs.append(self.write(fill))

    def add(self, language: str, chunks: Iterable[Chunk], size: TextSize | None = None) -> None:
        """Write rows that were not counted here."""
        made = self.rows_written(language, chunks)
        if size and not made:  # a language without words still has lines
            made = [
                self.write(lambda file, name: SortedRun(language, name, *_core.RunWriter(file.name).finish()))
            ]
        self._runs += [
            replace(run, size=size) if size and not number else run for number, run in enumerate(made)
        ]

    def rows_written(self, language: str, chunks: Iterable[Chunk]) -> list[SortedRun]:
        """Write chunks as runs: a new run begins wherever the words are out of order."""
        rest = (chunk for chunk in chunks if len(chunk[1]))
        chunk = next(rest, None)

        def fill(file: BinaryIO, name: str) -> SortedRun:
            nonlocal chunk
            writer, last = _core.RunWriter(file.name), b""
            while chunk is not None and chunk[0][0].as_py() > last:
                pretokens, counts = chunk
                writer.add(*text_buffers(pretokens), counts.astype("<u8").tobytes())
                last, chunk = pretokens[-1].as_py(), next(rest, None)
            return SortedRun(language, name, *writer.finish())

        made = []
        while chunk is not None:
            made.append(self.write(fill))
        return made

    def write(self, fill: Callable[[BinaryIO, str], SortedRun]) -> SortedRun:
        name = f"{next(self._numbers):06}.run"
        made: list[SortedRun] = []
        write_file(self.folder / name, lambda file: made.append(fill(file, name)))
        return made[0]

    def listeners(self, languages: Sequence[str], heard: BytesListener) -> dict[str, Callable[[int], None]]:
        """A listener per language for `merged`; `heard` gets the bytes done and in total, over all languages."""
        rows = Counter[str]()
        for run in self:
            rows[run.language] += run.rows
        size = sum((self.folder / run.name).stat().st_size for run in self)
        sums = accumulate((rows[language] for language in languages), initial=0)
        before = dict(zip(languages, sums, strict=False))

        def listener(language: str) -> Callable[[int], None]:
            def hear(done: int) -> None:
                heard(size * (before[language] + done) // rows.total(), size, f"merging {language}")

            return hear

        return {language: listener(language) for language in languages}

    def merged(self, language: str, heard: Callable[[int], None] = silence) -> Iterator[Chunk]:
        """All words of a language in order, each once; `heard` gets the number of rows read from runs.

        If there are too many runs, the shortest are merged first. No run is deleted, so a killed merge can start
        again.
        """
        runs = self.of(language)
        while len(runs) > FAN_IN:
            runs.sort(key=lambda run: run.rows)
            runs = runs[FAN_IN:] + self.rows_written(language, self.chunks(runs[:FAN_IN]))
        yield from self.chunks(runs, heard)

    def chunks(self, runs: Sequence[SortedRun], heard: Callable[[int], None] = silence) -> Iterator[Chunk]:
        if not runs:
            return
        for run in runs:
            check_end(self.folder / run.name, run)
        try:
            merge = _core.RunMerge([str(self.folder / run.name) for run in runs])
            while True:
                (data, offsets, counts), rows = merge.next(CHUNK_ROWS, CHUNK_BYTES)
                if not counts:
                    return
                heard(rows)
                yield chunk_of(data, offsets, counts)
        except OverflowError:
            refuse_sum(runs[0].language)
        except (ValueError, OSError) as error:
            raise PairityError(f"{error}. Delete {self.folder} and count again.") from error


def check_end(path: Path, run: SortedRun) -> None:
    """Refuse a file that is not the run as written. (Its words are checked when they are read.)"""
    try:
        with path.open("rb") as file:
            file.seek(-24, os.SEEK_END)
            whole = struct.unpack("<QQQ", file.read()) == (0, run.rows, run.digest)
    except OSError:
        whole = False
    if not whole:
        raise PairityError(f"{path} is damaged or missing: delete {path.parent} to start over.")


class MergedRuns:
    """The counts of one language, not merged yet (`values.Rows`)."""

    pruned: Pruned | None

    def __init__(
        self,
        runs: Runs,
        language: str,
        size: TextSize,
        heard: Callable[[int], None] = silence,
        pruned: Pruned | None = None,
    ) -> None:
        self.size, self.pruned = size, pruned
        self._runs, self._language, self._heard = runs, language, heard

    def chunks(self) -> Iterator[Chunk]:
        return self._runs.merged(self._language, self._heard)
