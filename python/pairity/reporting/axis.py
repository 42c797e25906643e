"""Fairness and compression against a setting that was varied: what the figure shows, and how it is drawn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pairity.reporting.figures import Figure, filled
from pairity.reporting.labels import printable
from pairity.reporting.look import Look
from pairity.reporting.numbers import write
from pairity.reporting.sections import Section, rendered
from pairity.reporting.vega import (
    Datum,
    Spec,
    above,
    as_given,
    column,
    exactly,
    keyed,
    known,
    log_padded,
    marks,
    number,
    padded,
    points,
)

PANELS = {"gini": "Gini ↓ better", "cost": "tokens per line, mean of the languages ↓ better"}
"""Metric -> the title of its panel, from top to bottom."""
LOGARITHMIC = ("vocab_size",)


@dataclass(frozen=True)
class AxisPoint:
    """A tokenizer: its line, its value of the setting (None: it has none), and its scores with intervals."""

    series: str
    at: Any
    gini: tuple[float | None, float | None, float | None]
    cost: tuple[float | None, float | None, float | None]


def axis_section(setting: str, found: Sequence[AxisPoint], text: str) -> Section:
    figure = axis_figure(setting, found, text)
    look = Look(figure.order, "")
    legend = [(name, look.colour(name), look.shape(name)) for name in figure.order]
    html = rendered("axis.html.j2", legend=legend if len(legend) > 1 else [])
    return Section("axis", f"Against {setting}", html, (figure,))


def axis_figure(setting: str, found: Sequence[AxisPoint], text: str) -> Figure:
    """The values of the setting from left to right: numbers by size, names in the order given."""
    values = list(dict.fromkeys(point.at for point in found if point.at is not None))
    numeric = all(isinstance(value, int | float) for value in values)
    places = {value: value if numeric else place for place, value in enumerate(values)}
    without = any(point.at is None for point in found)
    figure = Figure(
        "axis",
        f"Fairness and compression against {setting}",
        f"Each point is a tokenizer evaluated on {text}, with its 95% intervals"
        + (f"; a line without points is a tokenizer that has no {setting}." if without else "."),
        order=list(dict.fromkeys(point.series for point in found)),
    )
    rows, labels = [], []
    for metric, title in (("gini", "Gini"), ("cost", "Tokens per line")):
        for point in found:
            value, low, high = getattr(point, metric)
            if value is None:
                continue
            place = None if point.at is None else places[point.at]
            said = "" if point.at is None else str(point.at)
            rows.append((point.series, setting, said, place, metric, value, low, high))
            head = ", ".join(
                part for part in (printable(point.series, 200), f"{setting} {said}" if said else "") if part
            )
            labels.append(f"{head}\n{title} {write(metric, value)}")
    names = ("series", "setting", "setting_value", "place", "metric", "value", "low", "high")
    return filled(figure, names, rows, labels)


def draw_axis(figure: Figure, look: Look, width: int) -> Spec:
    """A panel per metric over the same values, a line per series; colours are those of the series."""
    own = Look(figure.order, "")
    rows = keyed(figure, look)
    for row in rows:
        row.update(tokenizer=row["series"], label=own.label(row["series"]), dash=own.dash(row["series"]))
    rows.sort(key=lambda row: (figure.order.index(row["series"]), row["place"] or 0))
    wide = width - 54
    placed = [row for row in rows if row["place"] is not None]
    setting = rows[0]["setting"]
    x = horizontal(placed, setting, wide)
    shown = [metric for metric in PANELS if any(row["metric"] == metric for row in rows)]
    panels = []
    for metric in shown:
        here = [row for row in rows if row["metric"] == metric]
        on_line, beside = ([row for row in here if (row["place"] is None) == gone] for gone in (False, True))
        ends = known(here, "value", "low", "high")
        limits = (0.0, max(ends) * 1.08 or 1.0) if metric == "gini" else padded(ends, 0.08)
        y = number("value", scale=exactly(*limits), axis=above(PANELS[metric], tickCount=4))
        last = metric == shown[-1]
        across = {**x, "title": setting if last else None, "axis": {**x["axis"], "labels": last}}
        colour = own.by_colour(here)
        layers = [
            marks(
                "line",
                on_line,
                {"x": across, "y": y, **colour, "strokeDash": as_given("dash")},
                strokeWidth=2,
            ),
            marks("rule", on_line, {"x": across, "y": number("low"), "y2": column("high"), **colour}),
            marks("rule", beside, {"y": y, **colour, "strokeDash": as_given("dash")}, strokeWidth=2),
            points(on_line, {"x": across, "y": y, **own.by_colour_and_shape(here)}, 4.2),
        ]
        panels.append(
            {"layer": [one for one in layers if one["data"]["values"]], "width": wide, "height": 150}
        )
    return {"vconcat": panels, "spacing": 34}


def horizontal(rows: Sequence[Datum], setting: str, wide: float) -> Spec:
    """The horizontal axis: a tick at every value, or as many as there is room for."""
    said = {row["place"]: row["setting_value"] for row in rows}
    low, high = (
        log_padded(said, 0.04) if setting in LOGARITHMIC else padded(said, 0.04 if len(said) > 1 else 0.5)
    )
    ticks = sorted(said)
    most = max(2, int(wide // 60))
    ticks = ticks[:: -(-len(ticks) // most)]
    names = json.dumps({f"{place:g}": printable(said[place], 20) for place in ticks})
    expression = f"{names}[format(datum.value, '.6~g')] || {names}[datum.value]"
    kind = "log" if setting in LOGARITHMIC else "linear"
    return number("place", scale=exactly(low, high, kind), axis={"values": ticks, "labelExpr": expression})
