"""How the figures of a training run are drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pairity.languages import language as facts
from pairity.reporting.figures import Figure
from pairity.reporting.labels import clear_of_each_other, log_ticks, printable
from pairity.reporting.look import PALETTE, Look
from pairity.reporting.vega import (
    Row,
    Spec,
    above,
    as_given,
    category,
    column,
    exactly,
    keyed,
    keyed_lines,
    known,
    label_room,
    languages,
    log_padded,
    marks,
    number,
    pixels,
    pointed,
)

ALL_TOGETHER = "all together"


def race_costs(figure: Figure, look: Look, width: int) -> Spec:
    """A line per language. The ones that end most expensive and cheapest have a colour and a name."""
    rows = keyed_lines(figure, look, "language")
    last = sorted({row["language"]: row for row in rows}.values(), key=lambda row: -float(row["cost"]))
    named = last if len(last) == 1 else [last[0], last[-1]]
    colours = {row["language"]: PALETTE[colour] for row, colour in zip(named, ("c1", "c2"), strict=False)}
    for row in rows:
        row["colour"] = colours.get(row["language"], PALETTE["base"])
        row["weight"], row["opacity"] = (2, 1) if row["language"] in colours else (1, 0.5)
    side = min(112, int(width * 0.26))
    wide, high = width - side - 46, 300
    low_cost, high_cost = log_padded(known(rows, "cost"), 0.02)
    axis = above("tokens per line", values=log_ticks(low_cost, high_cost, 10), format="~g")
    line = {
        "x": sizes(rows, wide),
        "y": number("cost", scale=exactly(low_cost, high_cost, "log"), axis=axis),
        "detail": column("language"),
        "color": as_given("colour"),
        "strokeWidth": as_given("weight"),
        "strokeOpacity": as_given("opacity"),
    }
    heights = [math.log(high_cost / row["cost"]) / math.log(high_cost / low_cost) * high for row in named]
    names = [
        {"text": printable(facts(row["language"]).name), "height": height, "colour": colours[row["language"]]}
        for row, height in zip(named, clear_of_each_other(heights), strict=True)
    ]
    name = {
        "x": {"value": wide + 6},
        "y": pixels("height"),
        "text": column("text"),
        "color": as_given("colour"),
    }
    layers = [
        pointed("line", rows, line),
        marks("text", names, name, align="left", baseline="middle", limit=side - 6),
    ]
    return {"layer": layers, "width": wide, "height": high}


def race_fairness(figure: Figure, look: Look, width: int) -> Spec:
    """Two panels over the same sizes."""
    rows = keyed(figure, look)
    for row in rows:
        row["key"] = rows[0]["key"]
    high_gini = max(known(rows, "gini")) * 1.08 or 1.0
    low, high = log_padded(known(rows, "worst_cost"), 0.03)
    prices = above(
        "most expensive language, tokens per line ↓ better", values=log_ticks(low, high, 6), format="~g"
    )
    gini = number("gini", scale=exactly(0, high_gini), axis=above("Gini ↓ better", tickCount=4))
    worst = number("worst_cost", scale=exactly(low, high, "log"), axis=prices)
    wide = width - 54
    panels = []
    for y, colour, axis in ((gini, "c0", {"labels": False, "title": None}), (worst, "c1", {})):
        line = pointed(
            "line", None, {"x": sizes(rows, wide, **axis), "y": y}, color=PALETTE[colour], strokeWidth=2
        )
        panels.append({**line, "width": wide, "height": 130})
    return {"data": {"values": rows}, "vconcat": panels, "spacing": 34}


def race_served(figure: Figure, look: Look, width: int) -> Spec:
    """A row per language, a block per stretch of merges; at the end of the row, the total."""
    rows = keyed(figure, look)
    codes = [*figure.order, *([""] if any(not row["language"] for row in rows) else [])]
    strongest = max(row["merges"] / row["of"] for row in rows)
    totals = Counter(dict.fromkeys(codes, 0))
    for row in rows:
        row["start"] = row["first_merge"] - 1
        row["strength"] = round(0.08 + 0.92 * math.sqrt(row["merges"] / row["of"] / strongest), 2)
        totals[row["language"]] += row["merges"]
    wide = width - label_room(width) - 68
    ticks = {"labelExpr": "format(datum.value, '~s')", "tickCount": max(3, wide / 110), "grid": False}
    names = {code: facts(code).name if code else ALL_TOGETHER for code in codes}
    bands = {"domain": codes, "paddingInner": 0.12, "paddingOuter": 0}
    y = category("language", scale=bands, axis=languages(names, label_room(width)))
    block = {
        "x": number("start", scale=exactly(0, max(known(rows, "last_merge"))), title="merges", axis=ticks),
        "x2": column("last_merge"),
        "y": y,
        "fillOpacity": as_given("strength"),
    }
    right: Spec = {"x": {"value": wide + 8}, "text": column("text")}
    sums = [{"language": code, "text": f"{total:,}"} for code, total in totals.items()]
    soft = {"align": "left", "color": PALETTE["soft"]}
    layers = [
        pointed("rect", rows, block, color=PALETTE["c0"]),
        marks("text", sums, {**right, "y": y}, baseline="middle", **soft),
        marks("text", [{"text": "total"}], {**right, "y": {"value": -6}}, baseline="bottom", **soft),
    ]
    return {"layer": layers, "width": wide, "height": {"step": 17}}


def sizes(rows: Sequence[Row], wide: float, **options: Any) -> Spec:
    """The axis of vocabulary sizes."""
    low, high = min(known(rows, "vocab_size")), max(known(rows, "vocab_size"))
    axis = {"values": log_ticks(low, high, wide / 35), "format": "~s", "labelFlush": False, **options}
    return number("vocab_size", scale=exactly(low, high, "log"), title="vocabulary size", axis=axis)
