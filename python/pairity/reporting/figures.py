"""The data of every figure, as columns: `drawing` draws them for the page and for files, and CSV files contain them.

A figure that cannot be drawn says why in `missing`, and has no columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pairity.errors import listed
from pairity.judging.metrics import lorenz
from pairity.languages import language as facts
from pairity.reporting.cells import Cells
from pairity.reporting.labels import printable
from pairity.reporting.race import Race

FigureData = dict[str, list[Any]]

LEVELS = ("high", "medium", "low", "unknown")


@dataclass(frozen=True)
class Figure:
    """`columns` is tidy: one row per mark. `order` sorts categories.

    `labels` are the tooltips of the rows, each a title and lines below it. If there are thousands of rows, `label` is
    one pattern for all: "{language}\\n{cost} tokens per line at {vocab_size} tokens".
    """

    name: str
    title: str
    caption: str
    columns: FigureData = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)
    label: str = ""
    order: list[str] = field(default_factory=list)
    missing: str = ""
    of: str = ""
    sizes: Mapping[str, int] | None = None
    """Vocabulary sizes for the legend, if they differ from those of the rest of the page."""

    def rows(self) -> list[dict[str, Any]]:
        return [
            dict(zip(self.columns, values, strict=True))
            for values in zip(*self.columns.values(), strict=True)
        ]


def figures(cells: Cells, races: Mapping[str, Race] | None = None) -> list[Figure]:
    """All figures of these scores, in the order of the page."""
    found = [
        tradeoff(cells),
        costs(cells),
        change(cells),
        compression(cells),
        utilisation(cells),
        curve(cells),
    ]
    for name, race in (races or {}).items():
        found += race_figures(name, race)
    return found


def tradeoff(cells: Cells) -> Figure:
    """Gini against compression: a point per tokenizer."""
    figure = Figure(
        "tradeoff",
        "Inequality against compression",
        "Each point is a tokenizer, with its 95% intervals. Lower is fairer; further right means fewer tokens.",
        missing="; ".join(cells.missing(["gini", "compression_rate_line"])),
    )
    rows, labels = [], []
    for name in cells.tokenizers:
        gini, rate = cells.get(name, "gini"), cells.get(name, "compression_rate_line")
        if gini is None or rate is None or gini.value is None or rate.value is None:
            continue
        rows.append((name, rate.value, rate.low, rate.high, gini.value, gini.low, gini.high))
        labels.append(f"{printable(name, 300)}\nGini {gini.shown}\nLines per token {rate.shown}")
    names = ("tokenizer", "compression_rate", "compression_low", "compression_high")
    return filled(figure, (*names, "gini", "gini_low", "gini_high"), rows, labels)


def costs(cells: Cells) -> Figure:
    """Cost of every language under every tokenizer, the most expensive under the baseline first."""
    figure = Figure(
        "costs",
        "Tokens per line",
        "What the same text costs in each language; fewer is cheaper.",
        missing="; ".join(cells.missing(["cost"])),
        order=ordered(cells, "cost", reverse=True),
    )
    return per_language(figure, cells, "cost")


def compression(cells: Cells) -> Figure:
    """The paper's faceted plot: a small panel per language."""
    figure = Figure(
        "compression",
        "Compression of every language",
        "Lines per token on the same scale in every panel; longer is better. "
        "The languages that the baseline compresses worst come first.",
        missing="; ".join(cells.missing(["compression_rate_line"])),
        order=ordered(cells, "compression_rate_line", reverse=False),
    )
    return per_language(figure, cells, "compression_rate_line")


def change(cells: Cells) -> Figure:
    """Change in cost against the baseline tokenizer."""
    missing = "; ".join(cells.missing(["change"]))
    if missing and not cells.scores.meta.get("baseline"):
        missing = "no baseline was named in the evaluation; name one with `pairity eval --baseline NAME`"
    elif len(cells.tokenizers) < 2:
        missing = "there is only one tokenizer, so there is nothing to compare it with"
    others = [name for name in cells.tokenizers if name != cells.baseline]
    figure = Figure(
        "change",
        f"Change in cost against {cells.baseline}",
        "Left of the line, a language needs fewer tokens than with the baseline; right of it, more.",
        missing=missing,
        order=ordered(cells, "change", reverse=False, of=others[:1]),
    )
    return per_language(figure, cells, "change", others)


def utilisation(cells: Cells) -> Figure:
    """Share of the vocabulary that each language uses, by resource level."""
    figure = Figure(
        "utilisation",
        "Vocabulary used, by resource level",
        "Each dot is a language: the share of the whole vocabulary that occurs in its text. "
        "The bar marks the mean of the dots.",
        missing="; ".join(cells.missing(["vocabulary_utilisation"])),
        order=[level for level in LEVELS if level in {one.resource_level for one in cells.facts.values()}],
    )
    return per_language(figure, cells, "vocabulary_utilisation")


def curve(cells: Cells) -> Figure:
    """The Lorenz curves of the costs."""
    figure = Figure(
        "lorenz",
        "Lorenz curve",
        "Languages from cheapest to most expensive, and the share of all tokens that they account for. On "
        "the straight line, every language costs the same.",
        missing="; ".join(cells.missing(["gini"])),
    )
    rows, labels = [], []
    for name in cells.tokenizers:
        paid = sorted((cost, code) for code, cost in cells.scores.costs(name).items())
        if figure.missing or not paid:
            continue
        share, tokens = lorenz([cost for cost, _ in paid])
        for index, (x, y) in enumerate(zip(share.tolist(), tokens.tolist(), strict=True)):
            rows.append((name, x, y, paid[index - 1][1] if index else None))
            said = f"The cheapest {index} of {len(paid)} languages account for {y:.1%} of all tokens"
            labels.append(f"{printable(name, 300)}\n{said}" if index else "")
    return filled(figure, ("tokenizer", "share_of_languages", "share_of_tokens", "language"), rows, labels)


def race_figures(name: str, race: Race) -> list[Figure]:
    """Training as a race: costs, fairness and services as the vocabulary grew."""
    costs = Figure(
        "race_costs",
        "Cost of every language",
        "Tokens per line of the dev text as the vocabulary grew." + own_unit(race),
        of=name,
        missing="" if race.sizes else "the trace contains no costs",
        label="{language}\n{cost} tokens per line at {vocab_size} tokens",
        order=list(race.languages),
    )
    rows = [
        (size, code, row[index])
        for index, code in enumerate(race.languages)
        for size, row in zip(race.sizes, race.costs, strict=True)
        if row[index] is not None
    ]
    fairness = Figure(
        "race_fairness",
        "Gini, and the most expensive language",
        "From the same costs"
        + (", of the languages with dev text" if race.set_apart else "")
        + ": a vocabulary truncated to any of these sizes would be as fair as shown.",
        of=name,
        missing="" if any(gini is not None for gini in race.gini) else "fewer than 2 languages were measured",
    )
    fair = [
        row
        for row in zip(race.sizes, race.gini, race.worst, race.worst_cost, strict=True)
        if row[1] is not None
    ]
    fair_labels = [
        f"At {size:,} tokens\nGini {gini:.4f}\n{facts(worst).name}: {cost:.2f} tokens per line"
        for size, gini, worst, cost in fair
    ]
    served = Figure(
        "race_served",
        "Which language was served when",
        "Each column is a range of merges. A stronger colour means that the language got a larger share "
        "of them; the key above the rows shows the shares.",
        label="{language}\n{merges} of the {of} merges {first_merge} to {last_merge}",
        of=name,
        missing="" if any(code for _, _, code, _, _ in race.served) else race.nobody_served,
        order=list(race.by_services),
    )
    given = race.served if not served.missing else []
    shown = [(first, last, code or "", merges, width) for first, last, code, merges, width in given]
    return [
        filled(costs, ("vocab_size", "language", "cost"), rows),
        filled(fairness, ("vocab_size", "gini", "worst_language", "worst_cost"), fair, fair_labels),
        filled(served, ("first_merge", "last_merge", "language", "merges", "of"), shown),
    ]


def own_unit(race: Race) -> str:
    """The part of a caption about languages without dev text."""
    if not race.set_apart:
        return ""
    return (
        f" {listed(race.set_apart)}: tokens per line-equivalent of the training text, because there is no "
        "dev text."
    )


def ordered(cells: Cells, metric: str, *, reverse: bool, of: Sequence[str] | None = None) -> list[str]:
    """Languages by their value under the baseline (or another tokenizer); those without one last."""
    name = (of or [cells.baseline])[0]
    known = {code: cells.value(name, metric, code) for code in cells.languages}
    with_value = [code for code, value in known.items() if value is not None]
    return sorted(with_value, key=lambda code: known[code] or 0.0, reverse=reverse) + [
        code for code, value in known.items() if value is None
    ]


def per_language(
    figure: Figure, cells: Cells, metric: str, tokenizers: Sequence[str] | None = None
) -> Figure:
    rows, labels = [], []
    for name in tokenizers or cells.tokenizers:
        for code in cells.languages:
            cell = cells.get(name, metric, code)
            if cell is None or cell.value is None:
                continue
            about = cells.facts[code]
            rows.append(
                (name, code, about.name, about.script, about.resource_level, cell.value, cell.low, cell.high)
            )
            leak = "\nevaluated on its own dev text" if cell.leak else ""
            labels.append(f"{about.name}, {printable(name, 300)}\n{cell.shown}{leak}")
    columns = ("tokenizer", "language", "name", "script", "resource_level", metric, "low", "high")
    return filled(figure, columns, rows, labels)


def filled(
    figure: Figure, names: Sequence[str], rows: Sequence[Sequence[Any]], labels: Sequence[str] = ()
) -> Figure:
    if figure.missing:
        return figure
    columns = {name: [row[index] for row in rows] for index, name in enumerate(names)}
    missing = "" if rows else "the scores have no value for it"
    return replace(figure, columns=columns, labels=list(labels), missing=missing)
