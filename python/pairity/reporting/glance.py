"""The chart at the top of the page: what each language costs under the baseline and under the best tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from pairity.judging.scores import Scores
from pairity.reporting.cells import Cells
from pairity.reporting.figures import Figure, filled
from pairity.reporting.labels import LINE, log_ticks, printable
from pairity.reporting.look import PALETTE, Look
from pairity.reporting.scoreboard import alike, rivals, scoreboard
from pairity.reporting.vega import (
    Datum,
    Spec,
    category,
    column,
    exactly,
    far_apart,
    hidden,
    keyed,
    known,
    label_room,
    languages,
    log_padded,
    number,
    points,
)

NAMED = 40
"""With more languages than this, rows are thin and only some have a name."""
STEP = 16.0
HEIGHT = 760.0


def glance(scores: Scores) -> Figure:
    """Two dots per language, the most expensive under the baseline first."""
    cells = Cells(scores)
    largest = Cells(scores.at_largest_size())
    pair = rivals(scoreboard(scores), largest.baseline)
    base, best = pair[0], pair[-1]
    if len(pair) == 1:
        title, caption = f"What each language costs with {base.tokenizer}", "Tokens per line."
    else:
        title = f"What each language costs: {base.tokenizer} and {best.tokenizer}"
        caption = f"{best.tokenizer} is the most equal of those compared with {base.tokenizer}. "
        if base.size and best.size and alike([base.size, best.size]):
            caption += f"Both have {'about ' if base.size != best.size else ''}{base.size:,} tokens."
        elif base.size and best.size:
            caption += f"Note the sizes: {best.size:,} tokens and {base.size:,}."
    ranked = sorted(cells.languages, key=lambda code: -(cells.value(base.member, "cost", code) or 0.0))
    figure = Figure(
        "glance",
        title,
        caption,
        missing="; ".join(cells.missing(["cost"])),
        order=ranked,
        sizes={row.tokenizer: row.size for row in pair if row.size},
    )
    rows, labels = [], []
    for row in pair:
        for code in ranked:
            cell = cells.get(row.member, "cost", code)
            if cell is None or cell.value is None:
                continue
            about = cells.facts[code]
            rows.append((row.tokenizer, row.size, code, about.name, cell.value, cell.low, cell.high))
            leak = "\nevaluated on its own dev text" if cell.leak else ""
            labels.append(
                f"{about.name}, {printable(row.tokenizer, 300)}\n{cell.shown} tokens per line{leak}"
            )
    names = ("tokenizer", "vocab_size", "language", "name", "cost", "low", "high")
    return filled(figure, names, rows, labels)


def draw_glance(figure: Figure, look: Look, width: int) -> Spec:
    """A row per language; a line joins its dots."""
    rows = keyed(figure, look)
    codes = [code for code in figure.order if any(row["language"] == code for row in rows)]
    step = STEP if len(codes) <= NAMED else max(3.2, HEIGHT / len(codes))
    axis = {
        **languages({row["language"]: row["name"] for row in rows}, label_room(width)),
        "values": with_room(codes, step, figure),
    }
    wide = width - label_room(width) - 24
    y = {"y": category("language", sort=codes, axis=axis)}
    prices = known(rows, "cost")
    ticks: Spec = {"tickCount": wide / 60}
    scale, title = exactly(0, max(prices) * 1.05), "tokens per line ← better"
    if far_apart(prices):
        low, high = log_padded(prices, 0.04)
        scale, title = exactly(low, high, "log"), "tokens per line, log scale ← better"
        ticks = {"values": log_ticks(low, high, wide / 45), "format": "~g"}
    x = {"scale": scale, "title": title, "axis": {"grid": True, "orient": "top", **ticks}}
    by_language: dict[str, list[Datum]] = {}
    for row in rows:
        by_language.setdefault(row["language"], []).append(row)
    joined = [{**two[1], "from": two[0]["cost"]} for two in by_language.values() if len(two) == 2]
    layers = [
        points(rows, {**y, "x": number("cost", **x), **look.by_colour_and_shape(rows)}, max(2.4, step * 0.27))
    ]
    if joined:
        line = {**y, "x": number("from", **x), "x2": column("cost")}
        layers.insert(
            0,
            hidden(
                "rule",
                joined,
                line,
                color=PALETTE["soft"],
                strokeOpacity=0.45,
                strokeWidth=min(2.0, step / 3),
            ),
        )
    return {"layer": layers, "width": wide, "height": {"step": step}}


def with_room(codes: Sequence[str], step: float, figure: Figure) -> list[str]:
    """The languages whose names fit below each other: both ends, the largest changes, then all others with room."""
    by_language: dict[str, list[float]] = {}
    for code, cost in zip(figure.columns["language"], figure.columns["cost"], strict=True):
        by_language.setdefault(code, []).append(cost)
    change = {code: found[-1] / found[0] if found[0] else 1.0 for code, found in by_language.items()}
    first = [codes[0], codes[-1], min(change, key=change.__getitem__), max(change, key=change.__getitem__)]
    placed: list[int] = []
    for code in [*first, *codes]:
        place = codes.index(code)
        if all(abs(place - other) * step >= LINE for other in placed):
            placed.append(place)
    return [codes[place] for place in sorted(placed)]
