"""The Pareto curve of a tuning: the data of every setting, the figure, and how it is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pairity.languages import language as facts
from pairity.reporting.figures import Figure, filled
from pairity.reporting.labels import Box, along, beside, printable
from pairity.reporting.look import COLOURS, PALETTE, SHAPES, Look
from pairity.reporting.numbers import Form, write, write_interval
from pairity.reporting.sections import Section, rendered
from pairity.reporting.vega import (
    THIN,
    Datum,
    Spec,
    above,
    column,
    exactly,
    keyed,
    known,
    leader,
    marks,
    number,
    padded,
    pixels,
    points,
)

CHANGE = Form(2, percent=True, signed=True)
KINDS = ("classical", "hybrid", "fair", "parity", "other")
HEIGHT = 300
RING = 11.5
"""The radius of the ring around the setting that was chosen."""
SIDE_BY_SIDE = 600
"""The least width for panels side by side."""

OTHER = "other"
"""The kind of a tokenizer that was only evaluated, not trained here."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """A setting (or a tokenizer from `compare`) and its results on the evaluation text."""

    name: str
    kind: str
    """classical, hybrid, fair, parity, or other: a tokenizer from `compare`."""
    options: str
    """Options for `pairity train`; empty for a tokenizer from `compare`."""
    tokens: int | None
    gini: float | None
    gini_low: float | None
    gini_high: float | None
    rate: float | None
    """Lines per token, all languages together."""
    rate_low: float | None
    rate_high: float | None
    tokens_per_line: float | None
    """The mean over languages."""
    worst_language: str | None
    worst_cost: float | None
    costs: Mapping[str, float]
    """Language -> tokens per line."""
    changes: Mapping[str, float]
    """Language -> change in its tokens per line from classical BPE: 0.05 is 5% more."""
    on_curve: bool = False
    """No other setting is more equal and compresses as well, or compresses better and is as equal."""
    misses: tuple[str, ...] = ()
    """The targets that it misses."""
    chosen: bool = False
    """The best setting that meets all targets."""
    closest: bool = False
    """The setting closest to the targets, if none meets all of them."""


@dataclass(frozen=True)
class Families(Look):
    """The look of the kinds of settings: the last colours and shapes, as the tokenizers of the page have the first.

    Only classical BPE looks the same in both.
    """

    def colour(self, name: str) -> str:
        place = KINDS.index(name)
        return f"c{COLOURS - place}" if place else "base"

    def shape(self, name: str) -> str:
        return SHAPES[-KINDS.index(name)]


def on_front(places: Mapping[str, tuple[float, float]]) -> set[str]:
    """The names of the points that no other point beats in one value while being as good in the other. Lower is better
    in both."""
    return {
        name
        for name, (x, y) in places.items()
        if not any(one <= x and other <= y and (one, other) != (x, y) for one, other in places.values())
    }


def pareto_section(
    found: Sequence[Point],
    priced: Sequence[str],
    *,
    verdict: str,
    notes: Sequence[str],
    limits: Mapping[str, float],
) -> Section:
    """`priced`: languages whose prices are shown. `limits`: the limits of targets, {"gini": 0.01, "eng_Latn": 0.05}."""
    figure = pareto_figure(found, priced, limits)
    look = Families(figure.order, KINDS[0])
    legend = [(name, look.colour(name), look.shape(name)) for name in figure.order]
    shown = {
        "points": found,
        "priced": priced,
        "names": {code: facts(code).name for point in found for code in point.costs},
        "write": write,
        "interval": write_interval,
        "change": lambda value: "\N{EN DASH}" if value is None else CHANGE.write(value),
        "has_targets": any(point.chosen or point.closest for point in found),
    }
    tried = sum(point.kind != OTHER for point in found)
    above_it = rendered("pareto.html.j2", part="above", legend=legend, verdict=verdict, notes=notes)
    return Section(
        "pareto",
        "The trade-off curve",
        above_it,
        (figure,),
        rendered("pareto.html.j2", part="below", **shown),
        first=True,
        fact=f"{tried} settings tried" if tried != 1 else "1 setting tried",
    )


def pareto_figure(found: Sequence[Point], priced: Sequence[str], limits: Mapping[str, float]) -> Figure:
    """A row for each point and panel: Gini against lines per token, and against the price of a language."""
    figure = Figure(
        "pareto",
        "Gini against compression" + (" and price" if priced else ""),
        "Each point is a tokenizer. The line joins the settings that no other setting beats in both"
        + (f"; the ring marks the setting that {ring_of(found)}" if ring_of(found) else "")
        + ("; dashed lines are targets" if limits else "")
        + ("; below, the same next to existing tokenizers" if any(one.kind == OTHER for one in found) else "")
        + ".",
        order=[kind for kind in KINDS if any(point.kind == kind for point in found)],
    )
    rows, labels = [], []
    for panel in ("", *priced):
        here = [point for point in found if point.gini is not None and across(point, panel) is not None]
        own = {
            point.name: (point.gini or 0.0, (-1 if not panel else 1) * (across(point, panel) or 0.0))
            for point in here
            if point.kind != OTHER
        }
        front = on_front(own)
        for point in here:
            rows.append(
                (
                    point.name,
                    point.kind,
                    point.tokens,
                    panel,
                    across(point, panel),
                    point.gini,
                    point.name in front,
                    point.chosen or point.closest,
                    limits.get(panel) if panel else None,
                    limits.get("gini"),
                )
            )
            labels.append(label_of(point, panel))
    names = (
        "setting",
        "kind",
        "vocab_size",
        "language",
        "x",
        "gini",
        "on_front",
        "ringed",
        "limit",
        "gini_limit",
    )
    return filled(figure, names, rows, labels)


def ring_of(found: Sequence[Point]) -> str:
    """What the ring means; empty if there is none."""
    return (
        "was chosen"
        if any(point.chosen for point in found)
        else "is closest to the targets"
        if any(point.closest for point in found)
        else ""
    )


def across(point: Point, panel: str) -> float | None:
    """The horizontal position of a point: lines per token, or the price of a language."""
    return point.changes.get(panel) if panel else point.rate


def label_of(point: Point, panel: str) -> str:
    size = f", {point.tokens:,} tokens" if point.tokens else ""
    price = f"\n{facts(panel).name} {CHANGE.write(point.changes[panel])} against classical" if panel else ""
    said = f"{printable(point.name, 200)}{size}\nGini {write('gini', point.gini)}"
    return f"{said}\nLines per token {write('compression_rate_line', point.rate)}{price}"


def draw_pareto(figure: Figure, look: Look, width: int) -> Spec:
    """A panel for compression and one for each price, side by side if there is room.

    Tokenizers to compare with may be far away, so panels that include them come below those of the settings alone.
    """
    own = Families(figure.order, KINDS[0])
    rows = keyed(figure, look)
    for row in rows:
        row.update(tokenizer=row["kind"], label=own.label(row["kind"]))
    panels: dict[str, list[Datum]] = {}
    for row in rows:
        panels.setdefault(row["language"], []).append(row)
    columns = min(len(panels), 2) if width >= SIDE_BY_SIDE else 1
    wide = (width - 62 - 62 * (columns - 1)) / columns
    look_of = own.by_colour_and_shape(rows)  # shared by all panels
    made = [
        draw_panel(panel, [row for row in here if row["kind"] != OTHER], look_of, wide)
        for panel, here in panels.items()
    ]
    if OTHER in figure.order:
        made += [draw_panel(panel, here, look_of, wide, far=True) for panel, here in panels.items()]
    return made[0] if len(made) == 1 else {"concat": made, "columns": columns, "spacing": 44}


def draw_panel(
    panel: str, rows: Sequence[Datum], look: Mapping[str, Spec], wide: float, *, far: bool = False
) -> Spec:
    """`look` is the encoding of colours and shapes; `far`: there is no room for all names."""
    low_x, high_x = padded(known(rows, "x", "limit"), 0.12)
    high_y = max(known(rows, "gini", "gini_limit")) * 1.12 or 1.0
    title = "lines per token → better"
    axis: Spec = {"tickCount": wide / 90}
    if panel:
        title = f"{printable(facts(panel).name)}, tokens per line against classical ← better"
        axis |= {"format": "+~%", "tickCount": wide / 60}
    x = number("x", scale=exactly(low_x, high_x), title=title, axis={**axis, "titleLimit": wide + 40})
    y = number("gini", scale=exactly(0, high_y), axis=above("Gini ↓ better", tickCount=5))
    front = sorted((row for row in rows if row["on_front"]), key=lambda row: row["gini"])
    soft = {"color": PALETTE["soft"]}
    layers = [
        marks("line", front, {"x": x, "y": y}, strokeWidth=1.5, strokeOpacity=0.6, **soft),
        *limit_lines(rows, x, y),
        points(rows, {"x": x, "y": y, **look}, 5.5),
        marks(
            "point",
            [row for row in rows if row["ringed"]],
            {"x": x, "y": y},
            shape="circle",
            size=math.pi * RING**2,
            filled=False,
            strokeWidth=2,
            color=PALETTE["ink"],
        ),
    ]
    # The points whose names matter most choose their positions first.
    ranked = sorted(rows, key=lambda row: (not row["ringed"], row["kind"] != OTHER, not row["on_front"]))

    def at_pixel(row: Datum) -> tuple[float, float]:
        return (row["x"] - low_x) / (high_x - low_x) * wide, (1 - row["gini"] / high_y) * HEIGHT

    named = []
    for row in ranked:
        shown = not far or row["ringed"] or row["kind"] in (OTHER, KINDS[0])
        named.append((printable(row["setting"], 22) if shown else "", *at_pixel(row)))
    lines: list[Box] = along([at_pixel(row) for row in front])
    for across, down in [at_pixel(row) for row in rows if row["ringed"]]:
        lines.append((across - RING, across + RING, down - RING, down + RING))
    if rows[0]["limit"] is not None:
        at = (rows[0]["limit"] - low_x) / (high_x - low_x) * wide
        lines.append((at - 1, at + 1, 0, HEIGHT))
    if rows[0]["gini_limit"] is not None:
        at = (1 - rows[0]["gini_limit"] / high_y) * HEIGHT
        lines.append((0, wide, at - 1, at + 1))
    for row, (text, _, _), place in zip(ranked, named, beside(named, (wide, HEIGHT), lines), strict=True):
        if text and place is not None:
            if place.line:
                layers.insert(0, marks("rule", *leader(row, place.line), **THIN))
            label = {**row, "px": place.x, "py": place.y, "text": text}
            name = {"x": pixels("px"), "y": pixels("py"), "text": column("text"), "color": look["color"]}
            bold = {"fontWeight": "bold"} if row["ringed"] else {}
            layers.append(marks("text", [label], name, align=place.align, baseline="alphabetic", **bold))
    return {"layer": [one for one in layers if one["data"]["values"]], "width": wide, "height": HEIGHT}


def limit_lines(rows: Sequence[Datum], x: Spec, y: Spec) -> list[Spec]:
    """Dashed lines at the limits of the targets."""
    dashed: dict[str, Any] = {"strokeDash": [5, 4], "strokeWidth": 1.2, "color": PALETTE["ink"]}
    first = list(rows[:1])
    found = []
    if first[0]["limit"] is not None:
        found.append(marks("rule", first, {"x": {**x, "field": "limit"}}, **dashed))
    if first[0]["gini_limit"] is not None:
        found.append(marks("rule", first, {"y": {**y, "field": "gini_limit"}}, **dashed))
    return found
