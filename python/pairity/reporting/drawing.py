"""How each figure is drawn: one Vega-Lite specification for both the page and files.

draw(figure, look, 640)  ->  {"layer": [{"mark": {"type": "point"}, "encoding": {...}}, ...], "width": 578}
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby

from pairity.reporting.axis import draw_axis
from pairity.reporting.figures import Figure
from pairity.reporting.glance import draw_glance
from pairity.reporting.labels import beside, log_ticks, printable, ratio_ticks, sideways
from pairity.reporting.look import PALETTE, Look
from pairity.reporting.models import draw_models
from pairity.reporting.pareto import draw_pareto
from pairity.reporting.race_drawing import race_costs, race_fairness, race_served
from pairity.reporting.sizes import draw_sizes
from pairity.reporting.vega import (
    THIN,
    Datum,
    Spec,
    above,
    category,
    column,
    dots,
    exactly,
    far_apart,
    hidden,
    keyed,
    keyed_lines,
    known,
    label_room,
    languages,
    leader,
    log_padded,
    marks,
    number,
    on_top,
    padded,
    pixels,
    pointed,
    points,
    roomy,
    spelled,
)

TINY = 1e-3
"""The smallest ratio to draw: a logarithmic axis has no 0."""


def draw(figure: Figure, look: Look, width: int) -> Spec:
    """The figure, about `width` pixels wide, without a title."""
    if figure.sizes is not None:
        look = replace(look, sizes=figure.sizes)
    return DRAW[figure.name](figure, look, width)


def tradeoff(figure: Figure, look: Look, width: int) -> Spec:
    """A point per tokenizer, with its intervals and its name."""
    rows = keyed(figure, look)
    colour = look.by_colour(rows)
    wide, high = width - 62, 300
    low_x, high_x = padded(known(rows, "compression_rate", "compression_low", "compression_high"), 0.16)
    high_y = max(known(rows, "gini", "gini_high")) * 1.12 or 1.0
    across = {"title": "lines per token → better", "axis": {"tickCount": wide / 90}}
    x = number("compression_rate", scale=exactly(low_x, high_x), **across)
    y = number("gini", scale=exactly(0, high_y), axis=above("Gini ↓ better", tickCount=5))
    layers = [
        hidden(
            "rule", rows, {"x": number("compression_low"), "x2": column("compression_high"), "y": y, **colour}
        ),
        hidden("rule", rows, {"x": x, "y": number("gini_low"), "y2": column("gini_high"), **colour}),
        points(rows, {"x": x, "y": y, **look.by_colour_and_shape(rows)}, 6),
    ]

    def to_x(rate: float) -> float:
        return (rate - low_x) / (high_x - low_x) * wide

    for row in rows:
        row["x"], row["y"] = to_x(row["compression_rate"]), (1 - row["gini"] / high_y) * high
        row["text"] = printable(row["tokenizer"], 22)
    whiskers = [
        (to_x(row["compression_low"]), to_x(row["compression_high"]), row["y"] - 1, row["y"] + 1)
        for row in rows
        if row["compression_low"] is not None
    ]
    whiskers += [
        (
            row["x"] - 1,
            row["x"] + 1,
            (1 - row["gini_high"] / high_y) * high,
            (1 - row["gini_low"] / high_y) * high,
        )
        for row in rows
        if row["gini_low"] is not None
    ]
    places = beside([(row["text"], row["x"], row["y"]) for row in rows], (wide, high), whiskers)
    for row, place in zip(rows, places, strict=True):
        if place is None:
            continue
        if place.line:
            layers.insert(0, hidden("rule", *leader(row, place.line), **THIN))
        name = {"x": pixels("px"), "y": pixels("py"), "text": column("text"), **colour}
        label = {**row, "px": place.x, "py": place.y}
        layers.append(hidden("text", [label], name, align=place.align, baseline="alphabetic"))
    return {"layer": layers, "width": wide, "height": high}


def in_rows(figure: Figure, look: Look, width: int, metric: str, x: Spec, step: int) -> Spec:
    """A row per language, a point with its interval per tokenizer."""
    rows = keyed(figure, look)
    order = [code for code in figure.order if any(row["language"] == code for row in rows)]
    axis = languages({row["language"]: row["name"] for row in rows}, label_room(width))
    step = roomy(step, len(look.shown(rows)), len(order))
    spec = dots(rows, look, order, axis, number(metric, **x), step)
    return {**spec, "width": width - label_room(width) - 24}


def costs(figure: Figure, look: Look, width: int) -> Spec:
    rows = figure.rows()
    axis: Spec = {"grid": True, **on_top(figure)}
    if far_apart(known(rows, "cost")):
        low, high = log_padded(known(rows, "cost", "low", "high"), 0.03)
        scale, title = exactly(low, high, "log"), "tokens per line, log scale ← better"
        axis |= {"values": log_ticks(low, high, width / 60), "format": "~g"}
    else:
        scale = exactly(0, max(known(rows, "cost", "high")) * 1.03)
        title = "tokens per line ← better"
        axis |= {"tickCount": width / 90}
    return in_rows(figure, look, width, "cost", {"scale": scale, "axis": axis, "title": title}, step=17)


def change(figure: Figure, look: Look, width: int) -> Spec:
    """On a log scale of the ratio: half and twice the tokens are equally far from 0, and outliers flatten less."""
    columns = dict(figure.columns)
    for name in ("change", "low", "high"):
        columns[name] = [None if value is None else max(1 + value, TINY) for value in columns[name]]
    ratios = replace(figure, columns=columns)
    low, high = log_padded([1.0, *known(ratios.rows(), "change", "low", "high")], 0.05)
    room = (width - label_room(width)) / 52
    percent = "datum.value == 1 ? '0' : format(datum.value - 1, '+~%')"
    axis = {"labelExpr": percent, "values": ratio_ticks(low, high, room), "grid": True, **on_top(figure)}
    x = {"scale": exactly(low, high, "log"), "axis": axis, "title": None}
    spec = in_rows(ratios, look, width, "change", x, step=23)
    zero = {"x": {"datum": 1.0, "type": "quantitative", **x}}
    layers = [marks("rule", [{}], zero, color=PALETTE["ink"], strokeWidth=1), *spec["layer"]]
    above_axis = -26 if on_top(figure) else -6
    for text, align, shift in (("← fewer tokens", "right", -8), ("more tokens →", "left", 8)):
        place = {**zero, "y": {"value": above_axis}, "text": {"value": text}}
        layers.append(
            marks("text", [{}], place, align=align, dx=shift, baseline="bottom", color=PALETTE["soft"])
        )
    return {**spec, "layer": layers}


def compression(figure: Figure, look: Look, width: int) -> Spec:
    """A small panel per language, as many side by side as fit, in rows of about equal length."""
    rows = keyed(figure, look)
    names = look.shown(rows)
    codes = [code for code in figure.order if any(row["language"] == code for row in rows)]
    room = width - 44
    most = max(2, min(len(codes), room // max(104, len(names) * 14 + 20)))
    columns = math.ceil(len(codes) / math.ceil(len(codes) / most))
    inner = room / columns - 16
    for row in rows:
        row["place"] = names.index(row["tokenizer"]) + 0.5
    colour = {"x": number("place", scale=exactly(0, len(names)), axis=None), **look.by_colour(rows)}
    high = max(known(rows, "compression_rate_line", "high")) * 1.05
    top = log_ticks(high / 10, high, 10)[-1]
    axis = {"title": None, "values": [0, top / 2, top], "format": ".2~r"}
    rate = number("compression_rate_line", scale=exactly(0, high), axis=axis)
    panel = [
        hidden("rule", None, {**colour, "y": rate, "y2": {"datum": 0}}, strokeWidth=3, strokeOpacity=0.35),
        hidden("rule", None, {**colour, "y": number("low"), "y2": column("high")}),
        points(None, {**colour, "y": rate, **look.by_colour_and_shape(rows)}, 4.2),
    ]
    header = {
        "title": None,
        "labelExpr": spelled({row["language"]: row["name"] for row in rows}),
        "labelLimit": inner,
    }
    return {
        "data": {"values": rows},
        "facet": category("language", sort=codes, header=header),
        "columns": columns,
        "spacing": {"column": 16, "row": 14},
        "spec": {"layer": panel, "width": inner, "height": 84},
    }


def utilisation(figure: Figure, look: Look, width: int) -> Spec:
    """A column per resource level, split by tokenizer. Dots that would touch move aside."""
    rows = keyed(figure, look)
    names = look.shown(rows)
    wide, high = width - 52, 264
    top = max(known(rows, "vocabulary_utilisation")) * 1.06 or 1.0
    band = wide / len(figure.order)
    slot = min(44.0, band * 0.8 / len(names))

    def where(row: Datum) -> tuple[int, int]:
        return figure.order.index(row["resource_level"]), names.index(row["tokenizer"])

    placed, means = [], []
    rows.sort(key=lambda row: (*where(row), row["vocabulary_utilisation"]))
    for (level, name), group in groupby(rows, where):
        own = list(group)
        shares = [row["vocabulary_utilisation"] for row in own]
        middle = band * (level + 0.5) + slot * (name - (len(names) - 1) / 2)
        aside = sideways([share / top * high for share in shares], min(8.0, slot / 3), slot / 2)
        placed += [{**row, "place": middle + shift} for row, shift in zip(own, aside, strict=True)]
        ends = {"place": middle - slot * 0.42, "end": middle + slot * 0.42}
        means.append({**own[0], **ends, "vocabulary_utilisation": sum(shares) / len(shares)})
    levels = [f"{level} resource" if width > 450 else level for level in figure.order]
    labels = {
        "values": [band * (index + 0.5) for index in range(len(levels))],
        "labelExpr": f"{json.dumps(levels)}[floor(datum.value / {band})]",
    }
    axis = {**labels, "title": None, "grid": False, "labelColor": PALETTE["ink"]}
    shares_axis = above("share of the vocabulary used", format="~%", tickCount=5)
    place = {
        "x": number("place", scale=exactly(0, wide), axis=axis),
        "y": number("vocabulary_utilisation", scale=exactly(0, top), axis=shares_axis),
    }
    layers = [
        points(placed, {**place, **look.by_colour_and_shape(rows)}, 3.8),
        hidden("rule", means, {**place, "x2": column("end"), **look.by_colour(rows)}, strokeWidth=3),
    ]
    return {"layer": layers, "width": wide, "height": high}


def lorenz(figure: Figure, look: Look, width: int) -> Spec:
    """A line per tokenizer, and the straight line of equal costs."""
    rows = keyed_lines(figure, look, "tokenizer")
    shares = {"format": "~%", "values": [0, 0.25, 0.5, 0.75, 1]}
    title = "languages, cheapest first"
    place = {
        "x": number("share_of_languages", scale=exactly(0, 1), axis=shares, title=title),
        "y": number("share_of_tokens", scale=exactly(0, 1), axis=above("share of all tokens", **shares)),
    }
    equal = [{"share_of_languages": share, "share_of_tokens": share} for share in (0, 1)]
    line = {**place, **look.by_colour(rows), "strokeDash": look.scale(rows, look.dash)}
    layers = [
        marks("line", equal, place, strokeDash=[4, 4], color=PALETTE["base"], strokeWidth=1),
        pointed("line", rows, line, strokeWidth=2),
    ]
    return {"layer": layers, "width": width - 66, "height": width - 66}


DRAW: dict[str, Callable[[Figure, Look, int], Spec]] = {
    "tradeoff": tradeoff,
    "costs": costs,
    "change": change,
    "compression": compression,
    "utilisation": utilisation,
    "lorenz": lorenz,
    "race_costs": race_costs,
    "race_fairness": race_fairness,
    "race_served": race_served,
    "sizes": draw_sizes,
    "axis": draw_axis,
    "glance": draw_glance,
    "models": draw_models,
    "pareto": draw_pareto,
}
