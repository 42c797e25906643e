"""Make the missing tokenizers: train them, or truncate a larger one if that gives exactly the same.

Trainings run one after the other, each on all threads: the engine keeps every core busy, so two at once would take just
as long and twice the memory.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.errors import PairityWarning
from pairity.experiments.corpus import Counted
from pairity.experiments.folder import Folder, key_of
from pairity.experiments.parity_unigram import train_parity_unigram
from pairity.experiments.plan import Planned
from pairity.experiments.unigram import train_unigram
from pairity.files.digests import digest_of
from pairity.files.writing import write_folder
from pairity.formats.folder import SETTINGS
from pairity.formats.json_files import as_json
from pairity.progress import Listener, Progress
from pairity.threads import thread_count
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.engine import Steps
from pairity.training.texts import read_train_and_dev
from pairity.training.training import keep, train

UNIGRAM_FILE = "tokenizer.json"


@dataclass(frozen=True)
class Made:
    """A tokenizer of the experiment, in its folder. `seconds` is the time spent on it by the run that made it."""

    row: Planned
    key: str
    counted: Counted | None = None
    seconds: float | None = None
    cut_from: str | None = None
    warnings: tuple[str, ...] = ()


def make_all(
    rows: Sequence[Planned], counted: Sequence[Counted], folder: Folder, threads: int | None, show: Progress
) -> list[Made]:
    """The tokenizers of all rows, in the order of the plan."""
    made: dict[str, Made] = {row.name: Made(row, key_of(row.recipe)) for row in rows if row.corpus is None}
    workshops = [Workshop(one, [row for row in rows if row.corpus == one.corpus], folder) for one in counted]
    bar = Bar(show, sum(workshop.merges_left() for workshop in workshops))
    for workshop in workshops:
        made |= {one.row.name: one for one in workshop.make(threads, bar)}
    return [made[row.name] for row in rows]


class Workshop:
    """The rows that learn from one corpus."""

    def __init__(self, counted: Counted, rows: Sequence[Planned], folder: Folder) -> None:
        self.counted = counted
        self.folder = folder
        self.keys = {row.name: key_of({**row.recipe, "text": counted.key}) for row in rows}
        groups: dict[str, list[Planned]] = {}
        for row in rows:
            groups.setdefault(
                digest_of({"of": row.of_all_sizes} if row.is_prefix else {"row": row.name}), []
            ).append(row)
        # In each group the largest first. Groups with the most global merges first: the others start with the same.
        largest_first = [sorted(group, key=lambda row: -(row.vocab_size or 0)) for group in groups.values()]
        self.groups = sorted(largest_first, key=lambda group: -global_merges(group[0]))
        self.begun: Steps | None = None
        """The longest known sequence of global merges of this corpus."""

    def manifest(self, row: Planned) -> Path:
        return self.folder.tokenizer(row.name) / (SETTINGS if row.training else UNIGRAM_FILE)

    def note(self, row: Planned) -> dict[str, Any] | None:
        return self.folder.finished(self.manifest(row), self.keys[row.name])

    def merges_left(self) -> int:
        """How many merges are left to learn: those of the largest missing tokenizer of every group."""
        return sum(
            budget(group[0]) for group in self.groups if group[0].training and self.note(group[0]) is None
        )

    def make(self, threads: int | None, bar: Bar) -> Iterator[Made]:
        notes = {row.name: self.note(row) for group in self.groups for row in group}
        counts = self.counted.load() if any(note is None for note in notes.values()) else None
        dev: dict[str, Counts] = {}
        for group in self.groups:
            whole: Tokenizer | None = None
            for row in group:
                note = notes[row.name]
                if note is None and (note := self.renamed(row)) is None and counts is not None:
                    if whole is None and row is not group[0]:
                        whole = Tokenizer.load(self.folder.tokenizer(group[0].name))
                    tokenizer, said = self.make_one(row, counts, dev, whole, threads, bar)
                    note = self.folder.finish(self.manifest(row), self.keys[row.name], **said)
                    whole = whole or tokenizer
                told = note or {}
                yield Made(
                    row,
                    self.keys[row.name],
                    self.counted,
                    told.get("seconds"),
                    told.get("cut_from"),
                    tuple(told.get("warnings", ())),
                )
            self.remember(group[0], whole, waiting=any(note is None for note in notes.values()))

    def renamed(self, row: Planned) -> dict[str, Any] | None:
        """Reuse the same tokenizer under another name, if there is one: the name of a row depends on the other rows."""
        manifest, key = self.manifest(row), self.keys[row.name]
        if (old := self.folder.reused(manifest, key)) is None:
            return None
        source = self.largest_of(row).name if old.get("cut_from") else None
        return self.folder.finish(
            manifest, key, seconds=old.get("seconds"), cut_from=source, warnings=old.get("warnings", [])
        )

    def make_one(
        self,
        row: Planned,
        counts: Counts,
        dev: dict[str, Counts],
        whole: Tokenizer | None,
        threads: int | None,
        bar: Bar,
    ) -> tuple[Tokenizer | None, dict[str, Any]]:
        """Make and save the tokenizer; also returns its note."""
        started = time.perf_counter()
        place = self.folder.tokenizer(row.name)
        if row.training is None:
            size, measured = row.vocab_size or 0, self.measured(row, counts, dev)
            unigram = (
                train_unigram(counts, size)
                if measured is None
                else train_parity_unigram(counts, measured, size, threads)
            )
            settings = as_json({"method": row.method, "vocab_size": size, "settings": row.recipe["training"]})
            write_folder(place, {UNIGRAM_FILE: unigram.to_str(pretty=True), "unigram.json": settings})
            return None, noted(started)
        if whole is not None:
            # If the larger one ran out of pairs, training at this size would have ended at the same point.
            size = min(row.vocab_size or 0, whole.vocab_size)
            cut = whole if size == whole.vocab_size else whole.truncate(size)
            cut.save(place, force=True)
            return None, noted(started, cut_from=self.largest_of(row).name)
        measured = self.measured(row, counts, dev)
        checkpoint = self.folder.cache / f"{self.keys[row.name][:16]}.checkpoint.parquet"
        self.begin(checkpoint, row, counts, measured, threads)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PairityWarning)
            tokenizer = train(
                counts,
                dev=measured,
                vocab_size=row.vocab_size,
                method=row.training.policy,
                pretokenizer=row.corpus.pretokenizer if row.corpus else None,
                threads=threads,
                progress=bar.training(row.name, budget(row)),
                checkpoint=checkpoint,
                resume=True,
            )
        told = [str(one.message) for one in caught if issubclass(one.category, PairityWarning)]
        tokenizer.save(place, force=True)
        checkpoint.unlink(missing_ok=True)
        return tokenizer, noted(started, warnings=told)

    def measured(self, row: Planned, counts: Counts, dev: dict[str, Counts]) -> Counts | None:
        """The dev counts of a row, made once for all rows with the same dev text."""
        name = digest_of({"dev": row.recipe["dev"]})
        if row.dev is not None and name not in dev:
            dev[name] = count(row.dev, pretokenizer=counts.pretokenization, split="dev", count_words=True)
        return None if row.dev is None else dev[name]

    def largest_of(self, row: Planned) -> Planned:
        return next(group[0] for group in self.groups if row in group)

    def begin(
        self, checkpoint: Path, row: Planned, counts: Counts, dev: Counts | None, threads: int | None
    ) -> None:
        """Write a checkpoint with the global merges that are known already, for a training that starts with them.

        To the engine, this is a run that was interrupted after these merges, and it resumes runs exactly.
        """
        number = global_merges(row)
        if row.training is None or self.begun is None or not number or checkpoint.exists():
            return
        with Progress(False) as silent:
            texts = read_train_and_dev(counts, dev, row.training, silent, thread_count(threads))
        known = Steps(*(column[:number] for column in self.begun.columns))
        keep(checkpoint, row.training, texts).save(known, [])

    def remember(self, row: Planned, tokenizer: Tokenizer | None, *, waiting: bool) -> None:
        """Keep the global merges of a row if other rows may start with them."""
        number = min(global_merges(row), budget(row))
        if not (row.training and number and waiting and len(self.begun or ()) < number):
            return
        whole = tokenizer or Tokenizer.load(self.folder.tokenizer(row.name))
        if whole.trace is None:
            return
        known = Steps.known(whole.engine_merges()[:number])
        counted = whole.trace["count"].slice(1, len(known)).to_numpy()
        self.begun = replace(known, count=counted.astype(np.uint64))


def noted(started: float, *, cut_from: str | None = None, warnings: Sequence[str] = ()) -> dict[str, Any]:
    """The note of a finished tokenizer."""
    seconds = round(time.perf_counter() - started, 3)
    return {"seconds": seconds, "cut_from": cut_from, "warnings": list(warnings)}


def budget(row: Planned) -> int:
    return row.training.budget if row.training else row.vocab_size or 0


def global_merges(row: Planned) -> int:
    """How many merges a row first learns from all languages together; all of them if it is classical."""
    if row.training is None:
        return 0
    number = row.training.policy.global_merges_of(row.training.budget)
    return 1 << 62 if number is None else number


class Bar:
    """One progress bar for all trainings, so that it shows the time left for all of them."""

    def __init__(self, show: Progress, total: int) -> None:
        self._show, self._total, self._done = show, total, 0

    def training(self, name: str, merges: int) -> Listener:
        """A listener for the next training, which will learn this many merges."""
        before = self._done
        self._done += merges
        self._show.stage("learning merges", unit="merges", total=self._total)

        def heard(stage: str, done: int, total: int, detail: str) -> None:
            if stage == "learning merges":
                self._show.at(before + done, name)

        return heard
