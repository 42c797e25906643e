"""The bench: train and evaluate settings, each once, with the modules of experiments."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from pairity.counts.counting import count
from pairity.experiments.corpus import Counted, count_all
from pairity.experiments.data import Data, LinesByLanguage
from pairity.experiments.experiment import Experiment
from pairity.experiments.folder import Folder
from pairity.experiments.knobs import CLASSICAL, Setting
from pairity.experiments.making import Made, make_all
from pairity.experiments.plan import Plan, Planned, plan
from pairity.experiments.targets import Measured
from pairity.judging.evaluation import LeakWarning, evaluate
from pairity.judging.opening import open_tokenizer
from pairity.judging.sizes import Sized
from pairity.progress import Progress

METRICS = ("cost", "gini", "compression_rate_line")


@dataclass
class Bench:
    """`experiment` has the grid and the text that all settings share; `data` is that text."""

    experiment: Experiment
    data: Data
    folder: Folder
    threads: int | None
    show: Progress
    known: dict[tuple[str, int | None], tuple[Measured, int]] = field(default_factory=dict)
    """(setting, size) -> the results and the number of tokens."""

    def planned(self, settings: Sequence[Setting], size: int | None = None) -> Plan:
        runs = [one.run(**({} if size is None else {"vocab_size": size})) for one in settings]
        if size is not None:
            runs = [{**run, "name": f"{run['name']}@{size}"} for run in runs]
        return plan(replace(self.experiment, runs=runs), data=self.data)

    @cached_property
    def first(self) -> Plan:
        return self.planned([CLASSICAL])

    @cached_property
    def lines(self) -> LinesByLanguage:
        """The text to evaluate on, in the languages of training."""
        (codes,) = self.first.sets().values()
        return self.first.judged(next(iter(self.data.judged)), codes)

    @cached_property
    def counted(self) -> list[Counted]:
        corpora = [row.corpus for row in self.first.rows if row.corpus]
        return count_all(corpora, self.data, self.folder, self.threads, self.show)

    def floors(self) -> dict[str, float]:
        """Pre-tokens per line: no vocabulary needs fewer tokens."""
        (corpus,) = [row.corpus for row in self.first.rows if row.corpus]
        found = count(self.lines, pretokenizer=corpus.cut, threads=self.threads)
        return {code: found[code].total / len(lines) for code, lines in self.lines.items()}

    def make(self, rows: Sequence[Planned]) -> list[Made]:
        return make_all(rows, self.counted, self.folder, self.threads, self.show)

    def make_settings(self, settings: Sequence[Setting]) -> None:
        """Make all of them at once, with one progress bar."""
        self.make(self.planned(settings).rows)

    def measure(self, setting: Setting) -> Measured:
        return self.measured(setting, None)[0]

    def measured(self, setting: Setting, size: int | None) -> tuple[Measured, int]:
        """The results of a setting at the requested size or at another, and the number of tokens."""
        key = (setting.name, size)
        if key not in self.known:
            # Hybrids start with the merges of classical, and smaller sizes are truncated from the largest one known.
            larger = [at for name, at in self.known if name == setting.name and at and size and at > size]
            beside = [self.planned([setting], max(larger))] if larger else []
            (row,) = self.planned([setting], size).rows
            first = [one for one in self.first.rows if setting is not CLASSICAL and size is None]
            self.make([*first, *(one for each in beside for one in each.rows), row])
            self.known[key] = self.judge(row.name)
        return self.known[key]

    def judge(self, name: str) -> tuple[Measured, int]:
        self.show.stage("judging", unit="texts")
        opened = open_tokenizer(self.folder.tokenizer(name), name=name, threads=self.threads)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeakWarning)  # the scores of all points contain it
            scores = evaluate(
                Sized({name: opened}),
                self.lines,
                metrics=METRICS,
                reference=None,
                resamples=0,
                threads=self.threads,
            )
        return Measured.of(scores, name), int(opened.vocab_size or 0)
