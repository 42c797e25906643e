"""Fairness at home and away: the same tokenizers on several texts, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pairity.languages import language as facts
from pairity.reporting.numbers import write, write_interval
from pairity.reporting.sections import Section, rendered


@dataclass(frozen=True)
class OnText:
    """The row of a tokenizer on a text; `group` is the set of languages it was trained for, if there are several."""

    group: str
    tokenizer: str
    text: str
    gini: float | None
    gini_low: float | None
    gini_high: float | None
    cost: float | None
    worst_language: str | None
    worst_cost: float | None
    leak: bool = False

    @property
    def shown(self) -> dict[str, str]:
        worst = facts(self.worst_language).name if self.worst_language else ""
        return {
            "gini": write("gini", self.gini),
            "interval": write_interval("gini", self.gini_low, self.gini_high),
            "cost": write("cost", self.cost),
            "worst": worst,
            "worst_cost": write("cost", self.worst_cost),
        }


def home_and_away(rows: Sequence[OnText]) -> Section:
    """A row per tokenizer, and for each text its Gini, its tokens per line and its most expensive language."""
    texts = list(dict.fromkeys(row.text for row in rows))
    groups: dict[str, dict[str, dict[str, OnText]]] = {}
    for row in rows:
        groups.setdefault(row.group, {}).setdefault(row.tokenizer, {})[row.text] = row
    ginis: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.gini is not None and not row.leak:
            ginis.setdefault((row.group, row.text), []).append(row.gini)
    best = {place: min(found) for place, found in ginis.items()}
    html = rendered("texts.html.j2", texts=texts, groups=groups, best=best)
    return Section("texts", "Fairness on every text", html)
