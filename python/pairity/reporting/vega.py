"""The few pieces of Vega-Lite that figures are built from. A figure is a plain dictionary.

A mark with a tooltip has a key, "TOKENIZER,ROW": the number of its tokenizer, which the page can hide, and the row of
the figure's data that it shows. A line has the row of its first vertex; the others follow.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pairity.errors import PairityError
from pairity.reporting.figures import Figure
from pairity.reporting.labels import printable
from pairity.reporting.look import PALETTE, Look

Spec = dict[str, Any]
Datum = dict[str, Any]

FAR = 3.0
"""An axis is logarithmic if the largest value is more than this many times the median."""


FEW = 4
"""With more tokenizers than this, their dots are small, and rows are higher."""
SMALL = 3.2
TALLEST = 2400

NOT_FOR_VEGA = frozenset(
    [
        "constructor",
        "hasOwnProperty",
        "isPrototypeOf",
        "propertyIsEnumerable",
        "toLocaleString",
        "toString",
        "valueOf",
        "__proto__",
        "__defineGetter__",
        "__defineSetter__",
        "__lookupGetter__",
        "__lookupSetter__",
    ]
)
"""Names of properties of every JavaScript object, which Vega would misread in its expressions."""


def keyed(figure: Figure, look: Look) -> list[Datum]:
    """The rows of a figure, each with its `key`, and in `part` the key of marks to hide, which have no tooltip."""
    rows = figure.rows()
    for index, row in enumerate(rows):
        number = ""
        if "tokenizer" in row:
            number, row["label"] = str(look.tokenizers.index(row["tokenizer"])), look.label(row["tokenizer"])
        row.update(key=f"{number},{index}", part=f"{number},")
    return rows


def keyed_lines(figure: Figure, look: Look, column: str) -> list[Datum]:
    """The rows of a figure with a line per value of a column; all rows of a line have the key of its first row."""
    rows, first = keyed(figure, look), dict[str, str]()
    for row in rows:
        row["key"] = first.setdefault(row[column], row["key"])
    return rows


def marks(kind: str, rows: Sequence[Datum] | None, encoding: Mapping[str, Any], **options: Any) -> Spec:
    """One layer. Vega would describe every mark for screen readers; here, descriptions only carry keys."""
    mark = {"type": kind, "aria": "description" in encoding, **options}
    layer = {"mark": mark, "encoding": dict(encoding)}
    return layer if rows is None else {"data": {"values": list(rows)}, **layer}


def pointed(kind: str, rows: Sequence[Datum] | None, encoding: Mapping[str, Any], **options: Any) -> Spec:
    """A layer of marks with tooltips."""
    return marks(kind, rows, {**encoding, "description": column("key")}, **options)


def hidden(kind: str, rows: Sequence[Datum] | None, encoding: Mapping[str, Any], **options: Any) -> Spec:
    """A layer of marks that are hidden together with their tokenizer."""
    return marks(kind, rows, {**encoding, "description": column("part")}, **options)


def points(rows: Sequence[Datum] | None, encoding: Mapping[str, Any], radius: float) -> Spec:
    """Points with a thin edge, which keeps overlapping ones distinct."""
    edge = {"filled": True, "stroke": PALETTE["paper"], "strokeWidth": min(1.0, radius / 4), "opacity": 1}
    return pointed("point", rows, encoding, size=4 * radius**2, **edge)


def dots(
    rows: Sequence[Datum], look: Look, order: Sequence[str], axis: Spec | None, x: Spec, step: int
) -> Spec:
    """A row per language, a point with its interval per tokenizer, with small gaps within a row."""
    names = look.shown(rows)
    few = len(names) <= FEW
    apart = min(4.0, 0.6 * step / len(names)) if few else min(2 * SMALL, 0.8 * step / len(names))
    for row in rows:
        row["shift"] = (names.index(row["tokenizer"]) - (len(names) - 1) / 2) * apart
    rows = sorted(rows, key=lambda row: (order.index(row["language"]), row["shift"]))
    y = {
        "y": category("language", sort=list(order), scale={"domain": list(order)}, axis=axis),
        "yOffset": number("shift", scale={"domain": [-step / 2, step / 2], "range": [0, step]}),
    }
    ends = {"x": {**x, "field": "low"}, "x2": column("high"), **look.by_colour(rows)}
    layers = [
        hidden("rule", rows, {**y, **ends}, strokeOpacity=0.55),
        points(rows, {**y, "x": x, **look.by_colour_and_shape(rows)}, 4.2 if few else SMALL),
    ]
    return {"layer": layers, "height": {"step": step}}


def roomy(step: int, tokenizers: int, rows: int) -> int:
    """The height of each row: this step, or enough to see many tokenizers apart if the figure can be that tall."""
    if tokenizers <= FEW:
        return step
    return max(step, min(round(2 * SMALL / 0.8 * tokenizers), TALLEST // rows))


def on_top(figure: Figure) -> Spec:
    """Put the axis of a figure that is taller than a screen at its top, where reading starts."""
    return {"orient": "top"} if len(figure.order) > 30 else {}


def column(name: str) -> Spec:
    return {"field": name}


def number(name: str, **options: Any) -> Spec:
    return {"field": name, "type": "quantitative", **options}


def category(name: str, **options: Any) -> Spec:
    return {"field": name, "type": "nominal", **options}


def as_given(name: str) -> Spec:
    """A colour or a width taken from the data as it is."""
    return category(name, scale=None)


def pixels(name: str) -> Spec:
    """A position in pixels that was computed before."""
    return number(name, scale=None)


THIN: Spec = {"strokeWidth": 0.8, "strokeOpacity": 0.7, "color": PALETTE["soft"]}


def leader(row: Datum, line: tuple[float, float, float, float]) -> tuple[list[Datum], Spec]:
    """The data and the encoding of a line, in pixels, from a point to its name."""
    ends = dict(zip(("ax", "ay", "bx", "by"), line, strict=True))
    return [{**row, **ends}], {"x": pixels("ax"), "y": pixels("ay"), "x2": column("bx"), "y2": column("by")}


def exactly(low: float, high: float, kind: str = "linear") -> Spec:
    return {"type": kind, "domain": [low, high], "nice": False, "zero": False}


def above(title: str, **axis: Any) -> Spec:
    """A vertical axis with a horizontal title on top, which is easier to read than a rotated one."""
    place = {"titleAngle": 0, "titleAlign": "left", "titleBaseline": "bottom", "titleX": -40, "titleY": -10}
    return {"title": title, **place, **axis}


def languages(names: Mapping[str, str], room: int) -> Spec:
    """The vertical axis of a figure with a row per language."""
    return {
        "labelExpr": spelled(names),
        "labelLimit": room,
        "labelColor": PALETTE["ink"],
        "title": None,
        "grid": False,
    }


def spelled(names: Mapping[str, str]) -> str:
    """An expression for the name of a category: {"tel_Telu": "Telugu"}[datum.value]."""
    if wrong := NOT_FOR_VEGA & set(names):
        raise PairityError(f"a figure cannot show a language that is called {min(wrong)!r}: rename it.")
    return f"{json.dumps({code: printable(name) for code, name in names.items()})}[datum.value]"


def label_room(width: int) -> int:
    """Pixels for the names of languages on the left."""
    return min(138, width // 3)


def known(rows: Iterable[Datum], *columns: str) -> list[float]:
    return [row[name] for row in rows for name in columns if row[name] is not None]


def padded(values: Iterable[float], share: float) -> tuple[float, float]:
    """The range of the values, with some room at both ends."""
    values = list(values)
    low, high = min(values), max(values)
    room = (high - low or abs(high) or 1.0) * share
    return low - room, high + room


def log_padded(values: Iterable[float], share: float) -> tuple[float, float]:
    low, high = padded((math.log(value) for value in values), share)
    return math.exp(low), math.exp(high)


def far_apart(values: Sequence[float]) -> bool:
    """Whether a few values are so large that a linear scale would squeeze all others together."""
    return min(values) > 0 and max(values) > FAR * statistics.median(values)
