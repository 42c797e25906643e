"""How each figure is drawn, once: a Vega-Lite specification for the page and for files alike.

    draw(figure, look, 640)  ->  {"layer": [{"mark": {"type": "point"}, "encoding": {...}}, ...], "width": 570}

A mark that can be pointed at carries a key, "TOKENIZER,ROW": the number of its tokenizer (which the page can
hide) and the row of the figure's data that it shows. A line has the row of its first vertex; the others follow.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import Any

from pairity.languages import language as facts
from pairity.reporting.figures import Figure
from pairity.reporting.labels import beside, clear_of_each_other, log_ticks, printable, sideways

Spec = dict[str, Any]
Row = dict[str, Any]

# The page's style sheet is the one list of colours. Figures are drawn with the light ones.
PALETTE: dict[str, str] = dict(
    re.findall(
        r"--(\w+): light-dark\((#\w+),",
        resources.files("pairity.reporting").joinpath("page.css").read_text(encoding="utf-8"),
    )
)

# Paths in a square from -1 to 1: tokenizers can be told apart without colour too.
SHAPES = (
    "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z",
    "M-0.9,-0.9h1.8v1.8h-1.8z",
    "M0,-1.1l1.1,2h-2.2z",
    "M0,-1.2l1.1,1.2l-1.1,1.2l-1.1,-1.2z",
    "M0,1.1l1.1,-2h-2.2z",
    "M-1.1,-0.4h0.7v-0.7h0.8v0.7h0.7v0.8h-0.7v0.7h-0.8v-0.7h-0.7z",
    "M1.1,0l-2,1.1v-2.2z",
    "M-1.2,-0.5h2.4v1h-2.4z",
)
DASHES = ([1, 0], [7, 3], [2, 3], [9, 3, 2, 3], [5, 5], [1, 4], [12, 4], [6, 2, 2, 2])
ALL_TOGETHER = "all together"


@dataclass(frozen=True)
class Look:
    """Colour, shape and dash of every tokenizer, the same in every figure; the baseline is grey."""

    tokenizers: list[str]
    baseline: str

    def colour(self, name: str) -> str:
        """The name of a colour in the palette."""
        others = [one for one in self.tokenizers if one != self.baseline]
        if name == self.baseline and others:
            return "base"
        return f"c{others.index(name) % 8 if name in others else 0}"

    def shape(self, name: str) -> str:
        return SHAPES[self.tokenizers.index(name) % len(SHAPES)]

    def dash(self, name: str) -> list[int]:
        return DASHES[self.tokenizers.index(name) % len(DASHES)]

    def scale(self, names: Sequence[str], kind: Callable[[str], Any]) -> Spec:
        """An encoding that gives every tokenizer its own; the legend keeps their order."""
        scale = {"domain": list(names), "range": [kind(name) for name in names]}
        return {"field": "tokenizer", "type": "nominal", "scale": scale}

    def encodings(self, rows: Sequence[Row]) -> tuple[Spec, Spec]:
        """Colour alone, for lines; colour and shape, for points."""
        names = [name for name in self.tokenizers if any(row["tokenizer"] == name for row in rows)]
        colour = {"color": self.scale(names, lambda name: PALETTE[self.colour(name)])}
        return colour, {**colour, "shape": self.scale(names, self.shape)}


def draw(figure: Figure, look: Look, width: int) -> Spec:
    """The figure, about `width` pixels wide, without a title."""
    return DRAW[figure.name](figure, look, width)


def keyed(figure: Figure, look: Look) -> list[Row]:
    """The rows of a figure. A point carries its own key; what belongs to it without being a point, `part`."""
    rows = figure.rows()
    for index, row in enumerate(rows):
        number = look.tokenizers.index(row["tokenizer"]) if "tokenizer" in row else ""
        row.update(key=f"{number},{index}", part=f"{number},")
    return rows


def marks(kind: str, rows: Sequence[Row] | None, encoding: Mapping[str, Any], **options: Any) -> Spec:
    """One layer. Vega would describe every mark for screen readers; only keys are wanted here."""
    layer: Spec = {
        "mark": {"type": kind, "aria": "description" in encoding, **options},
        "encoding": dict(encoding),
    }
    return layer if rows is None else {"data": {"values": list(rows)}, **layer}


def points(rows: Sequence[Row] | None, encoding: Mapping[str, Any], radius: float) -> Spec:
    """Points that can be pointed at, each with a thin edge so that overlapping ones stay apart."""
    edge = {"stroke": PALETTE["paper"], "strokeWidth": 1, "opacity": 1, "filled": True}
    return marks("point", rows, {**encoding, "description": {"field": "key"}}, size=4 * radius**2, **edge)


def parts(kind: str, rows: Sequence[Row] | None, encoding: Mapping[str, Any], **options: Any) -> Spec:
    return marks(kind, rows, {**encoding, "description": {"field": "part"}}, **options)


def number(field: str, **options: Any) -> Spec:
    return {"field": field, "type": "quantitative", **options}


def exactly(low: float, high: float, kind: str = "linear") -> Spec:
    return {"type": kind, "domain": [low, high], "nice": False, "zero": False}


def pixels(field: str) -> Spec:
    """A position that was computed here."""
    return number(field, scale=None)


def above(title: str, **axis: Any) -> Spec:
    """A vertical axis with its title lying on top of it: easier to read than one on its side."""
    place = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": -40, "titleY": -10}
    return {"title": title, **place, **axis}


def spelled(names: Mapping[str, str]) -> str:
    """An expression that shows a category by its name: {"tel_Telu": "Telugu"}[datum.value]."""
    return f"{json.dumps({code: printable(name) for code, name in names.items()})}[datum.value]"


def padded(values: Iterable[float], share: float) -> tuple[float, float]:
    known = list(values)
    low, high = min(known), max(known)
    room = (high - low or abs(high) or 1.0) * share
    return low - room, high + room


def log_padded(values: Iterable[float], share: float) -> tuple[float, float]:
    low, high = padded((math.log(value) for value in values), share)
    return math.exp(low), math.exp(high)


def ends(rows: Iterable[Row], *fields: str) -> list[float]:
    return [row[field] for row in rows for field in fields if row[field] is not None]


def tradeoff(figure: Figure, look: Look, width: int) -> Spec:
    rows = keyed(figure, look)
    colour, style = look.encodings(rows)
    wide, high = width - 62, 300
    x_low, x_high = padded(ends(rows, "compression_rate", "compression_low", "compression_high"), 0.16)
    y_high = max(ends(rows, "gini", "gini_high")) * 1.12 or 1.0
    x = {
        "title": "lines per token → better",
        "scale": exactly(x_low, x_high),
        "axis": {"tickCount": wide / 90},
    }
    y = {"scale": exactly(0, y_high), "axis": above("Gini ↓ better", tickCount=5)}

    def to_x(rate: float) -> float:
        return (rate - x_low) / (x_high - x_low) * wide

    places = [(to_x(row["compression_rate"]), (1 - row["gini"] / y_high) * high) for row in rows]
    texts = [printable(row["tokenizer"], 22) for row in rows]
    whiskers = [
        (to_x(row["compression_low"]), to_x(row["compression_high"]), y, y)
        for row, (_, y) in zip(rows, places, strict=True)
        if row["compression_low"] is not None
    ]
    named = [
        {
            "tokenizer": row["tokenizer"],
            "part": row["part"],
            "text": text,
            "x": left,
            "y": top,
            "align": align,
        }
        for row, text, (align, left, top) in zip(
            rows, texts, beside(texts, places, (wide, high), whiskers), strict=True
        )
    ]
    layers = [
        parts("rule", rows, {"x": number("compression_low", **x), "x2": {"field": "compression_high"}, "y": number("gini", **y), **colour}, strokeWidth=1.5),
        parts("rule", rows, {"x": number("compression_rate"), "y": number("gini_low"), "y2": {"field": "gini_high"}, **colour}, strokeWidth=1.5),
        points(rows, {"x": number("compression_rate"), "y": number("gini"), **style}, 6),
    ]  # fmt: skip
    for align in ("left", "right"):
        own = [row for row in named if row["align"] == align]
        place = {"x": pixels("x"), "y": pixels("y"), "text": {"field": "text"}, **colour}
        layers.append(parts("text", own, place, align=align, baseline="alphabetic"))
    return {"layer": layers, "width": wide, "height": high}


def in_rows(figure: Figure, look: Look, width: int, metric: str, step: int, axis: Spec, scale: Spec) -> Spec:
    """A row per language, a point with its interval per tokenizer; those of one row a little apart."""
    order = {code: index for index, code in enumerate(figure.order)}
    rows = sorted(
        keyed(figure, look), key=lambda row: (order[row["language"]], int(row["key"].split(",")[0]))
    )
    names = [name for name in look.tokenizers if any(row["tokenizer"] == name for row in rows)]
    room = min(4.0, 0.6 * step / len(names))
    for row in rows:
        row["shift"] = (names.index(row["tokenizer"]) - (len(names) - 1) / 2) * room
    codes = [code for code in figure.order if any(row["language"] == code for row in rows)]
    colour, style = look.encodings(rows)
    labels = {
        "labelExpr": spelled({row["language"]: row["name"] for row in rows}),
        "labelLimit": label_room(width),
    }
    y = {
        "y": {"field": "language", "type": "nominal", "sort": codes, "title": None,
              "axis": {**labels, "grid": False, "labelColor": PALETTE["ink"]}},
        "yOffset": number("shift", scale={"domain": [-step / 2, step / 2], "range": [0, step]}),
    }  # fmt: skip
    x = number(metric, axis=axis, scale=scale, title=axis.get("title"))
    layers = [
        parts("rule", rows, {**y, "x": number("low", scale=scale), "x2": {"field": "high"}, **colour}, strokeWidth=1.5, strokeOpacity=0.55),
        points(rows, {**y, "x": x, **style}, 4.2),
    ]  # fmt: skip
    return {"layer": layers, "width": width - label_room(width) - 24, "height": {"step": step}}


def label_room(width: int) -> int:
    return min(138, width // 3)


def costs(figure: Figure, look: Look, width: int) -> Spec:
    high = max(ends(figure.rows(), "cost", "high")) * 1.03
    axis = {"title": "tokens per line ← better", "grid": True}
    return in_rows(figure, look, width, "cost", 17, axis, exactly(0, high))


def change(figure: Figure, look: Look, width: int) -> Spec:
    low, high = padded([0.0, *ends(figure.rows(), "change", "low", "high")], 0.05)
    percent = "datum.value ? format(datum.value, '+~%') : '0'"
    axis = {"labelExpr": percent, "title": None, "tickCount": width / 90, "grid": True}
    spec = in_rows(figure, look, width, "change", 23, axis, exactly(low, high))
    zero = {"x": {"datum": 0.0, "type": "quantitative", "scale": exactly(low, high), "axis": axis}}
    line = marks("rule", [{}], zero, color=PALETTE["ink"])
    side = {"baseline": "bottom", "color": PALETTE["soft"]}
    layers = [
        line,
        *spec["layer"],
        marks("text", [{}], {**zero, "y": {"value": -6}, "text": {"value": "← fewer tokens"}}, align="right", dx=-8, **side),
        marks("text", [{}], {**zero, "y": {"value": -6}, "text": {"value": "more tokens →"}}, align="left", dx=8, **side),
    ]  # fmt: skip
    return {**spec, "layer": layers}


def compression(figure: Figure, look: Look, width: int) -> Spec:
    """A small panel per language, as many side by side as fit, in rows of about equal length."""
    rows = keyed(figure, look)
    names = [name for name in look.tokenizers if any(row["tokenizer"] == name for row in rows)]
    codes = [code for code in figure.order if any(row["language"] == code for row in rows)]
    room = width - 44
    most = max(2, min(len(codes), room // max(104, len(names) * 14 + 20)))
    columns = math.ceil(len(codes) / math.ceil(len(codes) / most))
    colour, style = look.encodings(rows)
    for row in rows:
        row["place"] = names.index(row["tokenizer"]) + 0.5
    high = max(ends(rows, "compression_rate_line", "high")) * 1.05
    rate = number("compression_rate_line", scale=exactly(0, high),
                  axis={"title": None, "tickCount": 2})  # fmt: skip
    x = {"x": number("place", scale=exactly(0, len(names)), axis=None)}
    panel = [
        parts(
            "rule", None, {**x, "y": rate, "y2": {"datum": 0}, **colour}, strokeWidth=3, strokeOpacity=0.35
        ),
        parts("rule", None, {**x, "y": number("low"), "y2": {"field": "high"}, **colour}, strokeWidth=1.5),
        points(None, {**x, "y": rate, **style}, 4.2),
    ]
    inner = room / columns - 16
    header = {"title": None, "labelExpr": spelled({row["language"]: row["name"] for row in rows}),
              "labelAnchor": "start", "labelLimit": inner, "labelColor": PALETTE["ink"], "labelPadding": 4}  # fmt: skip
    return {
        "data": {"values": rows},
        "facet": {"field": "language", "type": "nominal", "sort": codes, "header": header},
        "columns": columns,
        "spacing": {"column": 16, "row": 14},
        "spec": {"layer": panel, "width": inner, "height": 84},
    }


def utilisation(figure: Figure, look: Look, width: int) -> Spec:
    """A column per resource level, split by tokenizer. Dots that would touch move aside."""
    rows = keyed(figure, look)
    names = [name for name in look.tokenizers if any(row["tokenizer"] == name for row in rows)]
    colour, style = look.encodings(rows)
    wide, high = width - 52, 264
    top = max(ends(rows, "vocabulary_utilisation")) * 1.06 or 1.0
    band = wide / len(figure.order)
    slot = min(44.0, band * 0.8 / len(names))
    where = lambda row: (figure.order.index(row["resource_level"]), names.index(row["tokenizer"]))  # noqa: E731
    placed, means = [], []
    for (level, name), group in groupby(
        sorted(rows, key=lambda row: (*where(row), row["vocabulary_utilisation"])), where
    ):
        own = list(group)
        middle = band * (level + 0.5) + slot * (name - (len(names) - 1) / 2)
        shifts = sideways(
            [row["vocabulary_utilisation"] / top * high for row in own], min(8.0, slot / 3), slot / 2
        )
        placed += [{**row, "place": middle + shift} for row, shift in zip(own, shifts, strict=True)]
        mean = sum(row["vocabulary_utilisation"] for row in own) / len(own)
        means.append(
            {
                **own[0],
                "vocabulary_utilisation": mean,
                "place": middle - slot * 0.42,
                "end": middle + slot * 0.42,
            }
        )
    y = number(
        "vocabulary_utilisation",
        scale=exactly(0, top),
        axis=above("share of the vocabulary used", format="~%", tickCount=5),
    )
    levels = dict(enumerate(f"{level} resource" if width > 450 else level for level in figure.order))
    axis = {"values": [band * (index + 0.5) for index in levels], "labelExpr": f"{json.dumps(list(levels.values()))}[floor(datum.value / {band})]",
            "title": None, "grid": False, "labelColor": PALETTE["ink"]}  # fmt: skip
    x = number("place", scale=exactly(0, wide), axis=axis)
    layers = [
        points(placed, {"x": x, "y": y, **style}, 3.8),
        parts("rule", means, {"x": x, "x2": {"field": "end"}, "y": y, **colour}, strokeWidth=3),
    ]
    return {"layer": layers, "width": wide, "height": high}


def lorenz(figure: Figure, look: Look, width: int) -> Spec:
    rows = keyed(figure, look)
    first: dict[str, str] = {}
    for row in rows:
        row["key"] = first.setdefault(row["tokenizer"], row["key"])
    colour, _ = look.encodings(rows)
    wide = width - 66
    shares = {"format": "~%", "values": [0, 0.25, 0.5, 0.75, 1]}
    x = number("share_of_languages", scale=exactly(0, 1), title="languages, cheapest first", axis=shares)
    y = number("share_of_tokens", scale=exactly(0, 1), axis=above("share of all tokens", **shares))
    equal = [{"share_of_languages": share, "share_of_tokens": share} for share in (0, 1)]
    names = [name for name in look.tokenizers if name in first]
    dash = {"strokeDash": look.scale(names, look.dash)}
    layers = [
        marks(
            "line",
            equal,
            {"x": x, "y": y},
            strokeDash=[4, 4],
            color=PALETTE["base"],
            strokeWidth=1,
            strokeOpacity=0.7,
        ),
        marks(
            "line", rows, {"x": x, "y": y, "description": {"field": "key"}, **colour, **dash}, strokeWidth=2
        ),
    ]
    return {"layer": layers, "width": wide, "height": wide}


def sizes(rows: Sequence[Row], wide: float, **options: Any) -> Spec:
    low, high = rows[0]["vocab_size"], max(row["vocab_size"] for row in rows)
    values = log_ticks(low, high, wide / 35)
    axis = {"values": values, "format": "~s", "labelFlush": False, **options}
    return number("vocab_size", scale=exactly(low, high, "log"), title="vocabulary size", axis=axis)


def race_costs(figure: Figure, look: Look, width: int) -> Spec:
    """A line per language. The ones that end most expensive and cheapest have a colour and a name."""
    rows = keyed(figure, look)
    last = {row["language"]: row for row in rows}
    by_cost = sorted(last.values(), key=lambda row: -row["cost"])
    named = [by_cost[0]] if len(by_cost) == 1 else [by_cost[0], by_cost[-1]]
    colours = {row["language"]: PALETTE[colour] for row, colour in zip(named, ("c1", "c2"), strict=False)}
    first: dict[str, str] = {}
    for row in rows:
        row["key"] = first.setdefault(row["language"], row["key"])
        row["colour"] = colours.get(row["language"], PALETTE["base"])
        row["weight"], row["opacity"] = (2, 1) if row["language"] in colours else (1, 0.5)
    side = min(112, int(width * 0.26))
    wide, high = width - side - 46, 300
    low_cost, high_cost = log_padded(ends(rows, "cost"), 0.02)
    y = number("cost", scale=exactly(low_cost, high_cost, "log"),
               axis=above("tokens per line", values=log_ticks(low_cost, high_cost, 10), format="~g"))  # fmt: skip
    as_given = {name: {"field": field, "type": "nominal", "scale": None} for name, field in
                (("color", "colour"), ("strokeWidth", "weight"), ("strokeOpacity", "opacity"))}  # fmt: skip
    line = {
        "x": sizes(rows, wide),
        "y": y,
        "detail": {"field": "language"},
        "description": {"field": "key"},
        **as_given,
    }
    heights = [math.log(high_cost / row["cost"]) / math.log(high_cost / low_cost) * high for row in named]
    texts = [
        {"text": printable(facts(row["language"]).name), "y": place, "colour": colours[row["language"]]}
        for row, place in zip(named, clear_of_each_other(heights), strict=True)
    ]
    place = {
        "x": {"value": wide + 6},
        "y": pixels("y"),
        "text": {"field": "text"},
        "color": as_given["color"],
    }
    layers = [
        marks("line", rows, line),
        marks("text", texts, place, align="left", baseline="middle", limit=side - 6),
    ]
    return {"layer": layers, "width": wide, "height": high}


def race_fairness(figure: Figure, look: Look, width: int) -> Spec:
    """Two panels over the same sizes."""
    rows = keyed(figure, look)
    for row in rows:
        row["key"] = rows[0]["key"]
    wide = width - 54
    top = max(ends(rows, "gini")) * 1.08 or 1.0
    low, high = log_padded(ends(rows, "worst_cost"), 0.03)
    gini = number("gini", scale=exactly(0, top), axis=above("Gini ↓ better", tickCount=4))
    axis = above(
        "most expensive language, tokens per line ↓ better", values=log_ticks(low, high, 6), format="~g"
    )
    worst = number("worst_cost", scale=exactly(low, high, "log"), axis=axis)
    panels = []
    for y, colour, below in ((gini, "c0", {"labels": False, "title": None}), (worst, "c1", {})):
        encoding = {"x": sizes(rows, wide, **below), "y": y, "description": {"field": "key"}}
        line = marks("line", None, encoding, color=PALETTE[colour], strokeWidth=2)
        panels.append({**line, "width": wide, "height": 130})
    return {"data": {"values": rows}, "vconcat": panels, "spacing": 34}


def race_served(figure: Figure, look: Look, width: int) -> Spec:
    """A row per language, a block per stretch of merges; at the end of the row, the total."""
    rows = keyed(figure, look)
    codes = [*figure.order, *([""] if any(not row["language"] for row in rows) else [])]
    strongest = max(row["merges"] / row["of"] for row in rows)
    totals = {code: 0 for code in codes}
    for row in rows:
        row["start"] = row["first_merge"] - 1
        row["strength"] = round(0.08 + 0.92 * math.sqrt(row["merges"] / row["of"] / strongest), 3)
        totals[row["language"]] += row["merges"]
    step, side, left = 17, 56, label_room(width)
    wide = width - left - side - 12
    names = {code: facts(code).name if code else ALL_TOGETHER for code in codes}
    y = {"field": "language", "type": "nominal", "sort": codes, "title": None, "scale": {"domain": codes, "paddingInner": 0.12, "paddingOuter": 0},
         "axis": {"labelExpr": spelled(names), "labelLimit": left, "grid": False, "labelColor": PALETTE["ink"]}}  # fmt: skip
    end = max(row["last_merge"] for row in rows)
    x = number("start", scale=exactly(0, end), title="merges",
               axis={"labelExpr": "format(datum.value, '~s')", "tickCount": max(3, wide / 110), "grid": False})  # fmt: skip
    strength = {"field": "strength", "type": "nominal", "scale": None}
    sums = [{"language": code, "text": f"{total:,}"} for code, total in totals.items()]
    soft = {"color": PALETTE["soft"], "align": "left"}
    layers = [
        marks("rect", rows, {"x": x, "x2": {"field": "last_merge"}, "y": y, "fillOpacity": strength, "description": {"field": "key"}}, color=PALETTE["c0"]),
        marks("text", sums, {"x": {"value": wide + 8}, "y": y, "text": {"field": "text"}}, baseline="middle", **soft),
        marks("text", [{}], {"x": {"value": wide + 8}, "y": {"value": -6}, "text": {"value": "total"}}, baseline="bottom", **soft),
    ]  # fmt: skip
    return {"layer": layers, "width": wide, "height": {"step": step}}


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
}
