"""The score table as cells: each value with its text, its interval and its note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pairity.errors import PairityError
from pairity.judging.metrics import METRICS
from pairity.judging.metrics.fairness import AGAINST_BASELINE, EXTREMES
from pairity.judging.scores import Scores
from pairity.languages import Language
from pairity.languages import language as facts
from pairity.reporting.numbers import write, write_interval

# Names of metrics, in the catalogue's order; PAPER_METRICS in the order of the paper's columns.
MAIN_METRICS = tuple(name for name, metric in METRICS.items() if metric.main)
LANGUAGE_METRICS = tuple(name for name, metric in METRICS.items() if metric.per_language)
PAPER_METRICS = tuple(
    metric.name
    for metric in sorted(METRICS.values(), key=lambda metric: metric.paper_column or 0)
    if metric.paper_column
)

# The change of the baseline against itself is always 0.
OF_BASELINE = frozenset(metric.name for metric in AGAINST_BASELINE)
OF_ONE_LANGUAGE = frozenset(metric.name for metric in EXTREMES)


def short_title(metric: str) -> str:
    return METRICS[metric].short_title if metric in METRICS else metric


@dataclass(frozen=True)
class Cell:
    """One value of the table, ready for display."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    interval: str
    note: str = ""
    aggregation: str = ""
    language: str = ""
    leak: bool = False
    best: bool = False

    @property
    def shown(self) -> str:
        """Text and interval in one line."""
        return f"{self.text} ({self.interval})" if self.interval else self.text


class Cells:
    """Every cell of a Scores by tokenizer, metric and language (None: over all languages)."""

    def __init__(self, scores: Scores) -> None:
        if not scores.tokenizers or not len(scores.table):
            raise PairityError(
                "these scores are empty: no tokenizer was evaluated on any language. "
                "Make them again with `pairity eval`."
            )
        self.scores = scores
        self.tokenizers = scores.tokenizers
        self.languages = scores.languages
        self._cells: dict[tuple[str, str, str | None], Cell] = {}
        for row in scores.table.to_pylist():
            metric, language = row["metric"], row["language"]
            value, low, high = row["value"], row["low"], row["high"]
            place = (row["tokenizer"], metric, None if metric in OF_ONE_LANGUAGE else language)
            self._cells[place] = Cell(
                value=value,
                low=low,
                high=high,
                text=write(metric, value),
                interval=write_interval(metric, low, high),
                note=row["note"] or "",
                aggregation=row["aggregation"] or "",
                language=language or "",
                leak=language in scores.leaks.get(row["tokenizer"], []),
            )

    def get(self, tokenizer: str, metric: str, language: str | None = None) -> Cell | None:
        return self._cells.get((tokenizer, metric, language))

    def value(self, tokenizer: str, metric: str, language: str | None = None) -> float | None:
        cell = self.get(tokenizer, metric, language)
        return None if cell is None else cell.value

    @cached_property
    def global_metrics(self) -> list[str]:
        """Metrics with a value over all languages, in the catalogue's order, unknown ones last."""
        return self._metrics(language is None for _, _, language in self._cells)

    @cached_property
    def language_metrics(self) -> list[str]:
        """Metrics with values per language."""
        return self._metrics(language is not None for _, _, language in self._cells)

    def _metrics(self, wanted: Iterable[bool]) -> list[str]:
        found = {metric for (_, metric, _), keep in zip(self._cells, wanted, strict=True) if keep}
        return [name for name in METRICS if name in found] + sorted(found - set(METRICS))

    def row(
        self, metric: str, language: str | None = None, of: Sequence[str] | None = None
    ) -> list[Cell | None]:
        """The cells of all tokenizers (or of those in `of`), with the best marked; equal texts are marked alike.

        A tokenizer that saw the text or loses some of it cannot be the best, nor can the baseline with its own change
        of 0. If all cells read the same, none is the best.
        """
        names = self.tokenizers if of is None else of
        cells = [self.get(name, metric, language) for name in names]
        better = METRICS[metric].better if metric in METRICS else "neither"
        compared = {
            name: cell
            for name, cell in zip(names, cells, strict=True)
            if cell is not None and cell.value is not None and self._compares(name, metric, language)
        }
        if better == "neither" or len({cell.text for cell in compared.values()}) < 2:
            return cells
        values = [cell.value for cell in compared.values() if cell.value is not None]
        best = max(values) if better == "higher" else min(values)
        text = write(metric, best)
        return [
            replace(cell, best=True) if cell is not None and name in compared and cell.text == text else cell
            for name, cell in zip(names, cells, strict=True)
        ]

    def _compares(self, name: str, metric: str, language: str | None) -> bool:
        own_change = metric in OF_BASELINE and name == self.baseline
        return not own_change and not self.has_advantage(name, language)

    @cached_property
    def losing(self) -> Mapping[str, Mapping[str, int]]:
        """Tokenizers that drop or change text, with the lines of each language. (Dropped text costs no tokens.)"""
        found: Mapping[str, Mapping[str, int]] = self.scores.meta.get("losses", {})
        return found

    def has_advantage(self, tokenizer: str, language: str | None = None) -> bool:
        """Whether it saw the text before, or loses some of it."""
        where = {*self.scores.leaks.get(tokenizer, []), *self.losing.get(tokenizer, {})}
        return bool(where) if language is None else language in where

    @cached_property
    def baseline(self) -> str:
        """The tokenizer the others are compared with: the one named in the evaluation, or else the first."""
        named = self.scores.meta.get("baseline")
        return named if named in self.tokenizers else self.tokenizers[0]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The vocabulary size of every tokenizer that has one."""
        found = {name: self.scores.about(name).get("vocab_size") for name in self.tokenizers}
        return {name: size for name, size in found.items() if isinstance(size, int)}

    @cached_property
    def facts(self) -> dict[str, Language]:
        return {code: facts(code) for code in self.languages}

    def missing(self, metrics: Sequence[str]) -> list[str]:
        """Which of `metrics` have no value at all, with the reason from the table."""
        found = []
        for metric in metrics:
            places = [place for place in self._cells if place[1] == metric]
            if not places:
                found.append(f"{short_title(metric)} was not evaluated")
            elif all(self._cells[place].value is None for place in places):
                why = next(
                    (self._cells[place].note for place in places if self._cells[place].note), "no value"
                )
                found.append(f"{short_title(metric)}: {why}")
        return found
