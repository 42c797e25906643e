"""The tally of a count: what its threads have counted so far, in memory and on disk.

A thread takes an idle counter of the language or makes one, so a language has at most as many counters as it had
threads at once. Counters are summed and sorted, so it does not matter who counted what. When counters would exceed
their memory, or a checkpoint is due, all threads wait at the end of their blocks, every counter becomes a sorted run on
disk, and counting continues with empty counters.
"""

from __future__ import annotations

import threading
import warnings
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pairity import _core
from pairity.counts.checkpoint import CountCheckpoint
from pairity.counts.runs import MergedRuns, Runs
from pairity.counts.values import LanguageCounts, Rows, TextSize, chunk_of, language_counts
from pairity.errors import PairityError, PairityWarning
from pairity.text.blocks import Block, broken_text
from pairity.text.cleaning import Passed
from pairity.text.columns import text_buffers
from pairity.text.inputs import TextFile


class Held(NamedTuple):
    """A counter, and the memory reserved for it."""

    counter: _core.Counter
    memory: int


class Tally:
    """`limit`: bytes for all counters together. `runs`: where they are spilled; without it, all stays in memory."""

    def __init__(
        self,
        new_counter: Callable[[], _core.Counter],
        *,
        limit: int | None = None,
        runs: Runs | None = None,
        checkpoint: CountCheckpoint | None = None,
        threads: int = 1,
        words_counted: bool = False,
    ) -> None:
        self._words_counted = words_counted
        self._new_counter = new_counter
        self._limit = limit
        self._runs = runs
        self._checkpoint = checkpoint
        self._threads = threads
        self._idle: defaultdict[str, list[Held]] = defaultdict(list)
        self._sorted: dict[str, LanguageCounts] = {}
        """Finished languages that are still in memory."""
        self._memory = 0
        self._turn = threading.Condition()
        """Guards all other fields."""
        self._at_work = 0
        self._closed = False

    def feed(self, language: str, block: Block) -> None:
        """Count a block of text."""
        if self._checkpoint and self._checkpoint.is_counted(language, block):
            return
        held = self.take(language, size_of(block))
        try:
            count_block(held.counter, block)
        except BaseException:
            with self._turn:
                self.leave(-held.memory)
            raise
        with self._turn:
            memory = held.counter.memory(0)
            self._idle[language].append(Held(held.counter, memory))
            self.leave(memory - held.memory)
            if self._checkpoint and block.part:
                self._checkpoint.give_up()
            elif self._checkpoint:
                self._checkpoint.add(language, block)
                if self._checkpoint.is_due():
                    self.keep()

    def end_file(self, language: str, file: TextFile) -> None:
        """Called when all blocks of a file were fed."""
        if self._checkpoint:
            with self._turn:
                self._checkpoint.end_file(language, file)

    def end(self, language: str) -> None:
        """Called when all text of a language was fed. Sorts its words while other threads still count."""
        with self._turn:
            self.wait_until(lambda: not self._closed)
            self._at_work += 1
            held = self._idle.pop(language, [])
            memory = sum(one.memory for one in held)
            in_runs = bool(self._runs and self._runs.of(language))
            in_memory = not in_runs and (not held or self.has_room(memory))
            self._memory += memory if in_memory else 0  # summing counters takes as much again
        try:
            counters = [one.counter for one in held]
            if in_memory:
                counts = self._sorted[language] = self.finished(counters or [self._new_counter()])
                memory = 2 * memory - bytes_of(counts)
            else:
                for counter in counters:
                    self.runs.spill(language, counter)
        finally:
            with self._turn:
                self.leave(-memory)

    def close(self) -> None:
        """Called when all text was fed. If there are runs, spill the rest too: a kill from now on costs no reading."""
        with self._turn:
            if self._checkpoint and list(self.runs):
                self.keep()

    @property
    def languages(self) -> set[str]:
        """The finished ones."""
        return {*self._sorted, *(run.language for run in self._runs or ())}

    def rows(self, language: str, passed: Passed, heard: Callable[[int], None]) -> Rows:
        """The total counts of a language, with what was skipped; `heard` gets the number of merged rows."""
        if language in self._sorted:
            counts = self._sorted[language]
            return language_counts(
                counts.pretokens, counts.counts, with_passed(counts.size, passed, language)
            )
        size = with_passed(TextSize.sum(run.size for run in self.runs.of(language)), passed, language)
        return MergedRuns(self.runs, language, known(size, self._words_counted), heard)

    def finished(self, counters: list[_core.Counter]) -> LanguageCounts:
        for other in counters[1:]:
            counters[0].merge(other)
        return from_core(counters[0], self._words_counted)

    @property
    def runs(self) -> Runs:
        if self._runs is None:
            raise RuntimeError("there is no place for runs")
        return self._runs

    def take(self, language: str, more: int) -> Held:
        """A counter with memory reserved for `more` bytes of text."""
        with self._turn:
            while True:
                self.wait_until(lambda: not self._closed)
                idle = self._idle[language]
                counter, before = idle[-1] if idle else Held(self._new_counter(), 0)
                memory = counter.memory(more)
                if self.has_room(memory - before) or not self._memory:
                    if idle:
                        idle.pop()
                    self._at_work += 1
                    self._memory += memory - before
                    return Held(counter, memory)
                self.spill_all()

    # Memory: everything below is called with `_turn` held

    def leave(self, memory: int) -> None:
        """End some work, which changed the reserved memory by this much."""
        self._memory += memory
        self._at_work -= 1
        self._turn.notify_all()

    def has_room(self, memory: int) -> bool:
        return self._limit is None or self._memory + memory <= self._limit

    def wait_until(self, so: Callable[[], bool]) -> None:
        while not so():
            self._turn.wait()

    def keep(self) -> None:
        """Save a checkpoint. A full disk does not end a run that has enough memory."""
        try:
            self.spill_all()
        except PairityError as error:
            warnings.warn(f"the checkpoint is not up to date: {error}", PairityWarning, stacklevel=2)

    def spill_all(self) -> None:
        """Move everything from memory to disk, and record it in the checkpoint."""
        self._closed = True
        try:
            self.wait_until(lambda: not self._at_work)
            self.spill()
        finally:
            self._closed = False
            self._turn.notify_all()

    def spill(self) -> None:
        """Write every counter, and drop those that were written even if others fail."""
        jobs: list[tuple[Callable[[], object], Callable[[], object]]] = [
            (partial(self.runs.spill, language, held.counter), partial(those.remove, held))
            for language, those in self._idle.items()
            for held in those
        ]
        jobs += [
            (
                partial(self.runs.add, language, counts.chunks(), counts.size),
                partial(self._sorted.pop, language),
            )
            for language, counts in self._sorted.items()
        ]

        def done(job: tuple[Callable[[], object], Callable[[], object]]) -> PairityError | None:
            write, forget = job
            try:
                write()
            except PairityError as error:
                return error
            forget()
            return None

        with ThreadPoolExecutor(self._threads) as crew:
            failures = list(crew.map(done, jobs))
        self._memory = sum(held.memory for those in self._idle.values() for held in those)
        self._memory += sum(map(bytes_of, self._sorted.values()))
        for failure in filter(None, failures):
            raise failure
        if self._checkpoint:
            self._checkpoint.save()


def from_core(counter: _core.Counter, words_counted: bool) -> LanguageCounts:
    """The counts of a counter, which cannot be used after this."""
    data, offsets, counts, totals = counter.finish()
    return language_counts(*chunk_of(data, offsets, counts), known(TextSize(**totals), words_counted))


def known(size: TextSize, words_counted: bool) -> TextSize:
    return size if words_counted else replace(size, words=None)


def with_passed(size: TextSize, passed: Passed, language: str) -> TextSize:
    """Add what was skipped, and subtract the cuts in long lines, which were counted as lines."""
    return replace(
        size,
        lines=(size.lines or 0) - passed.cuts.get(language, 0),
        skipped=passed.skipped.get(language, 0),
        duplicates=passed.duplicates.get(language, 0),
    )


def size_of(block: Block) -> int:
    return len(block.lines) if block.lines is not None else int(block.texts.nbytes)


def bytes_of(counts: LanguageCounts) -> int:
    return int(counts.pretokens.nbytes + counts.counts.nbytes)


def count_block(counter: _core.Counter, block: Block) -> None:
    try:
        if block.lines is not None:
            counter.add_lines(block.lines)
        else:
            times = None if block.times is None else block.times.buffers()[1]
            counter.add_texts(*text_buffers(block.texts), times)
    except _core.NotUtf8Error as error:
        raise broken_text(block, error.line, error.column) from None
    except ValueError as error:
        raise PairityError(f"{block.where}: {error}") from error
