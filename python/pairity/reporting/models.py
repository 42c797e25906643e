"""Scores of language models next to token costs: what is shown, and how it is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pairity.errors import PairityError
from pairity.languages import language as facts
from pairity.lm.model_scores import ModelScore, read_model_scores
from pairity.reporting.cells import Cell, Cells
from pairity.reporting.figures import Figure, filled, ordered
from pairity.reporting.labels import log_ticks, printable
from pairity.reporting.look import Look
from pairity.reporting.numbers import Form
from pairity.reporting.sections import Section, rendered
from pairity.reporting.vega import (
    Datum,
    Spec,
    dots,
    exactly,
    far_apart,
    keyed,
    known,
    label_room,
    languages,
    log_padded,
    number,
    on_top,
    padded,
)

COST = "tokens_per_line"
LEAST_WIDTH = 105
"""The least width of a panel: with less room, panels continue below."""
STEP = 22


@dataclass(frozen=True)
class ModelMeasure:
    """One measure of models on one text. `better`: "higher", "lower", or "neither" if unknown."""

    name: str
    text: str
    title: str
    better: str
    form: Form

    @classmethod
    def of(cls, name: str, text: str, values: Sequence[float]) -> ModelMeasure:
        title, better, form = KNOWN.get(name, (name.replace("_", " "), "neither", None))
        return cls(name, text, f"{title}, {text}" if text else title, better, form or Form(decimals(values)))

    @property
    def lines(self) -> list[str]:
        """The title of an axis."""
        arrow = {"higher": "→ better", "lower": "← better", "neither": ""}[self.better]
        return [line for line in (*self.title.split(", "), arrow) if line]

    def cell(self, one: ModelScore) -> Cell:
        ends = (
            ""
            if one.low is None or one.high is None
            else " to ".join(map(self.form.write, (one.low, one.high)))
        )
        return Cell(one.value, one.low, one.high, self.form.write(one.value), ends)


MeasuredModels = tuple[ModelMeasure, list[ModelScore]]
"""A measure and all its scores."""

KNOWN: dict[str, tuple[str, str, Form]] = {
    COST: ("tokens per line", "lower", Form(2)),
    "bits_per_byte": ("bits per byte", "lower", Form(3)),
    "bits_per_line": ("bits per line", "lower", Form(1)),
    "accuracy": ("accuracy", "higher", Form(1, percent=True)),
}


def decimals(values: Sequence[float]) -> int:
    """The number of decimals that shows four digits of the largest value."""
    largest = max(map(abs, values))
    return max(0, 3 - math.floor(math.log10(largest))) if largest else 0


def models_section(cells: Cells, path: str | Path) -> Section:
    """A table of model scores as a section of the page of `cells`; the names in both must match."""
    found = read_model_scores(path)
    for one in found:
        if one.measure == COST:
            raise PairityError(
                f"{path} has the measure {COST}, which the page takes from the scores of the tokenizers: leave it out."
            )
        if one.tokenizer not in cells.tokenizers:
            raise PairityError(
                f"{path} has the tokenizer {one.tokenizer!r}, but these scores do not: they have "
                f"{', '.join(cells.tokenizers)}. Use the same names."
            )
    codes = {one.language for one in found if one.language}
    if codes and not codes & set(cells.languages):
        raise PairityError(
            f"{path} and these scores have no language in common: {sorted(codes)[0]!r} there, {cells.languages[0]!r} "
            "here. Use the same names."
        )
    by_cost = ordered(cells, "cost", reverse=True)
    order = [code for code in by_cost if code in codes] + sorted(codes - set(by_cost))
    by_text: dict[tuple[str, str], list[ModelScore]] = {}
    for one in found:
        by_text.setdefault((one.measure, one.text), []).append(one)
    measured = [
        (ModelMeasure.of(name, text, [one.value for one in own]), own)
        for (name, text), own in by_text.items()
    ]
    shown = [name for name in cells.tokenizers if any(one.tokenizer == name for one in found)]
    return Section(
        "models",
        "Language models",
        rendered("models.html.j2", part="above"),
        (models_figure(cells, measured, order, shown),),
        rendered(
            "models.html.j2",
            part="below",
            tokenizers=shown,
            groups=groups(cells, measured, shown),
            rows=[*([""] if any(not one.language for one in found) else []), *order],
            names={code: facts(code).name for code in order},
        ),
    )


@dataclass(frozen=True)
class ColumnGroup:
    """The columns of one measure in the table: a cell per language and tokenizer, and the chance level."""

    title: str
    better: str
    cells: dict[tuple[str, str], Cell]
    random: dict[str, str]


def groups(cells: Cells, measured: Sequence[MeasuredModels], shown: Sequence[str]) -> list[ColumnGroup]:
    costs = {
        (code, name): cell
        for name in shown
        for code in ("", *cells.languages)
        if (cell := cells.get(name, "cost", code or None)) is not None and cell.value is not None
    }
    made = [ColumnGroup("tokens per line", "lower", costs, {})]
    for measure, own in measured:
        made.append(
            ColumnGroup(
                measure.title,
                measure.better,
                {(one.language, one.tokenizer): measure.cell(one) for one in own},
                {one.language: measure.form.write(one.random) for one in own if one.random is not None},
            )
        )
    return made


def models_figure(
    cells: Cells, measured: Sequence[MeasuredModels], order: Sequence[str], shown: Sequence[str]
) -> Figure:
    """Costs and model scores, language by language: a row of the table for every point."""
    figure = Figure(
        "models",
        "What a language costs, and how well models know it",
        "The languages that are most expensive with the baseline come first. Bars are 95% intervals.",
        order=list(order),
    )
    rows, labels = [], []

    def add(name: str, code: str, measure: str, text: str, title: str, cell: Cell) -> None:
        about = facts(code)
        rows.append((name, code, about.name, measure, text, cell.value, cell.low, cell.high))
        labels.append(f"{about.name}, {printable(name, 300)}\n{title} {cell.shown}")

    for name in shown:
        for code in order:
            cell = cells.get(name, "cost", code)
            if cell is not None and cell.value is not None:
                add(name, code, COST, "", "Tokens per line", cell)
    for measure, own in measured:
        for one in own:
            if one.language:
                title = measure.title[0].upper() + measure.title[1:]
                add(one.tokenizer, one.language, measure.name, measure.text, title, measure.cell(one))
    names = ("tokenizer", "language", "name", "measure", "text", "value", "low", "high")
    return filled(figure, names, rows, labels)


def draw_models(figure: Figure, look: Look, width: int) -> Spec:
    """A panel per measure over the same languages, side by side if there is room."""
    rows = keyed(figure, look)
    panels: dict[tuple[str, str], list[Datum]] = {}
    for row in rows:
        panels.setdefault((row["measure"], row["text"]), []).append(row)
    room = width - label_room(width) - 24
    across = max(1, min(len(panels), int(room // LEAST_WIDTH)))
    across = math.ceil(len(panels) / math.ceil(len(panels) / across))
    wide = (room - 18 * (across - 1)) / across
    names = languages({row["language"]: row["name"] for row in rows}, label_room(width))
    made = []
    for place, ((measure, text), own) in enumerate(panels.items()):
        axis = names if place % across == 0 else {**names, "labels": False}
        x = horizontal(figure, measure, text, own, wide)
        made.append({**dots(own, look, figure.order, axis, x, STEP), "width": wide})
    return {"concat": made, "columns": across, "spacing": {"column": 18, "row": 26}}


def horizontal(figure: Figure, name: str, text: str, rows: Sequence[Datum], wide: float) -> Spec:
    values, ends = known(rows, "value"), known(rows, "value", "low", "high")
    measure = ModelMeasure.of(name, text, values)
    axis: Spec = {"grid": True, **on_top(figure), "titleLimit": wide + 16}
    if far_apart(values) and min(ends) > 0:
        low, high = log_padded(ends, 0.04)
        scale = exactly(low, high, "log")
        axis |= {"values": log_ticks(low, high, wide / 50), "format": "~g"}
    else:
        scale = exactly(0, max(ends) * 1.04) if name == COST else exactly(*padded(ends, 0.06))
        axis |= {"tickCount": max(2, wide / 55)} | ({"format": "~%"} if measure.form.percent else {})
    return number("value", scale=scale, axis=axis, title=measure.lines)
