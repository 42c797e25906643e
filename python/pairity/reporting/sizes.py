"""Fairness and compression against the size of the vocabulary: what the figure shows, and how it is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from pairity.judging.scores import Scores
from pairity.reporting.cells import Cells, short_title
from pairity.reporting.figures import Figure, filled
from pairity.reporting.labels import log_ticks, printable
from pairity.reporting.look import Look
from pairity.reporting.vega import (
    Datum,
    Spec,
    above,
    as_given,
    column,
    exactly,
    hidden,
    keyed,
    known,
    log_padded,
    number,
    padded,
    points,
)

PANELS = {
    "gini": "Gini ↓ better",
    "compression_rate_line": "lines per token ↑ better",
    "worst_language": "most expensive language, tokens per line ↓ better",
}
"""Metric -> the title of its panel, from top to bottom."""
ROOM = 36
"""The least distance between labels of the axis, in pixels."""


def size_figures(scores: Scores) -> list[Figure]:
    """The figure of these scores; none if tokenizers were evaluated at only one size."""
    curves = scores.curves()
    if not curves:
        return []
    cells = Cells(scores)
    figure = Figure(
        "sizes",
        "Fairness and compression against vocabulary size",
        "Each line is a tokenizer truncated to smaller vocabularies, with 95% intervals. A single point "
        "is a tokenizer with only one size.",
        order=list(cells.languages),
        sizes={},
    )
    rows, labels = [], []
    for metric in PANELS:
        for name, members in curves.items():
            for member in members:
                size, cell = scores.about(member).get("vocab_size"), cells.get(member, metric)
                if not isinstance(size, int) or cell is None or cell.value is None:
                    continue
                rows.append((name, size, metric, cell.value, cell.low, cell.high, cell.language or None))
                where = cells.facts.get(cell.language)
                value = (
                    f"{where.name}: {cell.shown} tokens per line"
                    if where
                    else f"{short_title(metric)} {cell.shown}"
                )
                labels.append(f"{printable(name, 300)}, {size:,} tokens\n{value}")
    names = ("tokenizer", "vocab_size", "metric", "value", "low", "high", "language")
    return [filled(figure, names, rows, labels)]


def draw_sizes(figure: Figure, look: Look, width: int) -> Spec:
    """A panel per metric over the same sizes, a line per tokenizer."""
    rows = keyed(figure, look)
    for row in rows:
        row["dash"] = look.dash(row["tokenizer"])
    wide = width - 54
    low, high = log_padded(known(rows, "vocab_size"), 0.04)
    shown = [metric for metric in PANELS if any(row["metric"] == metric for row in rows)]
    panels = []
    for metric in shown:
        own = [row for row in rows if row["metric"] == metric]
        last = metric == shown[-1]
        axis = {"values": ticks(rows, low, high, wide), "format": ".3~s", "labels": last}
        ends = known(own, "value", "low", "high")
        limits = (0.0, max(ends) * 1.08 or 1.0) if metric == "gini" else padded(ends, 0.08)
        x = number(
            "vocab_size",
            scale=exactly(low, high, "log"),
            title="vocabulary size" if last else None,
            axis=axis,
        )
        y = number("value", scale=exactly(*limits), axis=above(PANELS[metric], tickCount=4))
        colour = look.by_colour(own)
        layers = [
            hidden("line", own, {"x": x, "y": y, **colour, "strokeDash": as_given("dash")}, strokeWidth=2),
            hidden("rule", own, {"x": x, "y": number("low"), "y2": column("high"), **colour}),
            points(own, {"x": x, "y": y, **look.by_colour_and_shape(own)}, 4.2),
        ]
        panels.append({"layer": layers, "width": wide, "height": 140})
    return {"vconcat": panels, "spacing": 34}


def ticks(rows: Sequence[Datum], low: float, high: float, wide: float) -> list[float]:
    """The sizes themselves, or round numbers if their labels would touch."""
    found = sorted(set(known(rows, "vocab_size")))
    places = [math.log(size / low) / math.log(high / low) * wide for size in found]
    apart = all(after - before >= ROOM for before, after in pairwise(places))
    return found if apart else log_ticks(low, high, wide / ROOM)
