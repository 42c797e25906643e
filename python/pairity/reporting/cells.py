"""The score table as cells: each value with its text, its interval and what must be said about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pairity.errors import PairityError
from pairity.judging.metrics import METRICS
from pairity.judging.scores import Scores
from pairity.languages import Language
from pairity.languages import language as facts
from pairity.reporting.numbers import write, write_interval

# What the first table of a page shows; the rest stands in the table of all metrics.
MAIN_METRICS = (
    "compression_rate_line",
    "compression_rate_byte",
    "cost",
    "gini",
    "worst_best",
    "worst_language",
    "best_language",
    "premium",
    "change",
    "change_worst",
    "fertility",
    "vocabulary_utilisation",
    "type_token_ratio",
    "renyi_efficiency_2.5",
    "morph_recall",
    "morph_precision_corrected",
    "whole_character_tokens",
    "split_characters",
    "round_trip",
)

# The columns of the paper's tables, and what its Gini coefficient can hide.
PAPER_METRICS = (
    "compression_rate_line",
    "type_token_ratio",
    "vocabulary_utilisation",
    "fertility",
    "renyi_efficiency_paper_2.5",
    "gini",
    "worst_best",
    "morph_precision_paper",
    "morph_recall_paper",
)

SHORT_TITLES = {
    "compression_rate_line": "Lines per token",
    "compression_rate_byte": "Bytes per token",
    "compression_rate_char": "Characters per token",
    "compression_rate_word": "Words per token",
    "cost": "Tokens per line",
    "gini": "Gini",
    "worst_best": "Worst / best",
    "worst_language": "Dearest language",
    "best_language": "Cheapest language",
    "premium": "Token premium",
    "change": "Change in cost",
    "change_worst": "Largest rise in cost",
    "fertility": "Fertility",
    "fertility_paper": "Fertility (paper)",
    "vocabulary_utilisation": "Vocabulary used",
    "type_token_ratio": "Type-token ratio",
    "average_token_rank": "Average token rank",
    "renyi_entropy_1": "Shannon entropy",
    "renyi_entropy_2": "Rényi entropy (2)",
    "renyi_entropy_2.5": "Rényi entropy (2.5)",
    "renyi_entropy_inf": "Min-entropy",
    "renyi_efficiency_2.5": "Rényi efficiency (2.5)",
    "renyi_efficiency_paper_2.5": "Rényi (2.5, paper)",
    "morph_recall": "MorphScore recall",
    "morph_precision": "MorphScore precision",
    "morph_precision_corrected": "MorphScore precision, corrected",
    "morph_recall_paper": "Morph R (paper)",
    "morph_precision_paper": "Morph P (paper)",
    "whole_character_tokens": "Tokens of whole characters",
    "split_characters": "Characters cut",
    "split_characters_2": "Characters cut (2 bytes)",
    "split_characters_3": "Characters cut (3 bytes)",
    "split_characters_4": "Characters cut (4 bytes)",
    "unknown_tokens": "Unknown tokens",
    "round_trip": "Round trip",
    "floor": "Floor",
    "cost_over_floor": "Cost / floor",
    "failed_lines": "Failed lines",
}

# The change of the baseline against itself is 0 and says nothing.
OF_BASELINE = frozenset({"change", "change_worst"})
_OF_ONE_LANGUAGE = frozenset({"worst_language", "best_language"})


def short_title(metric: str) -> str:
    return SHORT_TITLES.get(metric, metric)


@dataclass(frozen=True)
class Cell:
    """One value of the table as it is shown."""

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
            place = (row["tokenizer"], metric, None if metric in _OF_ONE_LANGUAGE else language)
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

    def row(self, metric: str, language: str | None = None) -> list[Cell | None]:
        """The cells of all tokenizers, the best marked; values that read the same are marked the same.

        A tokenizer that saw the text is not compared with those that did not, and the baseline not with its
        own change of 0: they cannot be the best. Where all read the same, nobody is.
        """
        cells = [self.get(name, metric, language) for name in self.tokenizers]
        better = METRICS[metric].better if metric in METRICS else "neither"
        compared = {
            name: cell
            for name, cell in zip(self.tokenizers, cells, strict=True)
            if cell is not None and cell.value is not None and self._compares(name, metric, language)
        }
        if better == "neither" or len({cell.text for cell in compared.values()}) < 2:
            return cells
        values = [cell.value for cell in compared.values() if cell.value is not None]
        best = max(values) if better == "higher" else min(values)
        text = write(metric, best)
        return [
            replace(cell, best=True) if cell is not None and name in compared and cell.text == text else cell
            for name, cell in zip(self.tokenizers, cells, strict=True)
        ]

    def _compares(self, name: str, metric: str, language: str | None) -> bool:
        own_change = metric in OF_BASELINE and name == self.baseline
        return not own_change and not self._leaks(name, language)

    def _leaks(self, tokenizer: str, language: str | None) -> bool:
        leaks = self.scores.leaks.get(tokenizer, [])
        return bool(leaks) if language is None else language in leaks

    @cached_property
    def baseline(self) -> str:
        """The tokenizer the others are compared with: the one named in the evaluation, or else the first."""
        named = self.scores.meta.get("baseline")
        return named if named in self.tokenizers else self.tokenizers[0]

    @cached_property
    def facts(self) -> dict[str, Language]:
        return {code: facts(code) for code in self.languages}

    def missing(self, metrics: Sequence[str]) -> list[str]:
        """Which of `metrics` have no value at all, with the table's own word for why."""
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
