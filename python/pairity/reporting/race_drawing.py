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
    Datum,
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
KEY_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def race_costs(figure: Figure, look: Look, width: int) -> Spec:
    """A line per language. The ones that end as the most expensive and the cheapest are dark and named."""
    rows = keyed_lines(figure, look, "language")
    last = sorted({row["language"]: row for row in rows}.values(), key=lambda row: -float(row["cost"]))
    named = last if len(last) == 1 else [last[0], last[-1]]
    dark = {row["language"] for row in named}
    for row in rows:
        row["colour"] = PALETTE["ink" if row["language"] in dark else "soft"]
        row["weight"], row["opacity"] = (1.5, 1) if row["language"] in dark else (1, 0.4)
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
        {"text": printable(facts(row["language"]).name), "height": height}
        for row, height in zip(named, clear_of_each_other(heights), strict=True)
    ]
    name = {
        "x": {"value": wide + 6},
        "y": pixels("height"),
        "text": column("text"),
    }
    layers = [
        pointed("line", rows, line),
        marks("text", names, name, align="left", baseline="middle", limit=side - 6, color=PALETTE["ink"]),
    ]
    return {"layer": layers, "width": wide, "height": high}


def race_fairness(figure: Figure, look: Look, width: int) -> Spec:
    """Two panels over the same sizes, in the colour of the tokenizer."""
    rows = keyed(figure, look)
    colour = PALETTE[look.colour(figure.of)]
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
    for y, axis in ((gini, {"labels": False, "title": None}), (worst, {})):
        line = pointed("line", None, {"x": sizes(rows, wide, **axis), "y": y}, color=colour, strokeWidth=2)
        panels.append({**line, "width": wide, "height": 130})
    return {"data": {"values": rows}, "vconcat": panels, "spacing": 34}


def race_served(figure: Figure, look: Look, width: int) -> Spec:
    """A row per language with a block per stretch of merges, and the total at its end. The key of shades is on top."""
    rows = keyed(figure, look)
    codes = [*figure.order, *([""] if any(not row["language"] for row in rows) else [])]
    strongest = max(row["merges"] / row["of"] for row in rows)
    totals = Counter(dict.fromkeys(codes, 0))
    for row in rows:
        row["start"] = row["first_merge"] - 1
        row["strength"] = shade(row["merges"] / row["of"], strongest)
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
    colour = PALETTE[look.colour(figure.of)]
    layers = [
        *key_of_shades(strongest, colour, wide),
        pointed("rect", rows, block, color=colour),
        marks("text", sums, {**right, "y": y}, baseline="middle", **soft),
        marks("text", [{"text": "total"}], {**right, "y": {"value": -6}}, baseline="bottom", **soft),
    ]
    return {"layer": layers, "width": wide, "height": {"step": 17}}


def shade(share: float, strongest: float) -> float:
    """How strong the colour of a share is. The square root makes small shares visible."""
    return round(0.08 + 0.92 * math.sqrt(share / strongest), 2)


def key_of_shades(strongest: float, colour: str, wide: float) -> list[Spec]:
    """The key above the rows: shares of a stretch, each with its shade."""
    shares = [share for share in KEY_SHARES if share < 0.8 * strongest] + [float(f"{strongest:.1g}")]
    most, apart = (4, 56.0) if wide > 300 else (3, wide / 3)
    key: list[Datum] = [
        {
            "left": place * apart,
            "right": place * apart + 16,
            "text": f"{share:.0%}",
            "strength": shade(min(share, strongest), strongest),
        }
        for place, share in enumerate(shares[-most:])
    ]
    if wide > 300:
        key[-1]["text"] += " of a stretch"
    block = {"x": pixels("left"), "x2": column("right"), "y": {"value": -20}, "y2": {"value": -8}}
    text = {"x": pixels("right"), "y": {"value": -14}, "text": column("text")}
    return [
        marks("rect", key, {**block, "fillOpacity": as_given("strength")}, color=colour),
        marks("text", key, text, align="left", baseline="middle", dx=5, color=PALETTE["soft"]),
    ]


def sizes(rows: Sequence[Datum], wide: float, **options: Any) -> Spec:
    """The axis of vocabulary sizes."""
    low, high = min(known(rows, "vocab_size")), max(known(rows, "vocab_size"))
    axis = {"values": log_ticks(low, high, wide / 35), "format": "~s", "labelFlush": False, **options}
    return number("vocab_size", scale=exactly(low, high, "log"), title="vocabulary size", axis=axis)
