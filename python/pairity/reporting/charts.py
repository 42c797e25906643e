"""Static figures for papers and slides: every figure as SVG, PNG and the CSV it was drawn from."""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from pairity.errors import PairityError
from pairity.files.writing import write_file
from pairity.judging.scores import Scores
from pairity.languages import language as facts
from pairity.reporting.cells import Cells
from pairity.reporting.figures import Figure, figures
from pairity.reporting.race import race, trace_of

# Okabe and Ito's colours, darkened where needed to be read on white; the baseline is grey.
COLOURS = ("#0b6bb8", "#d1580a", "#00806a", "#a63d8f", "#8a6d00", "#c2255c", "#4a5fc1", "#5b7f2b")
BASELINE = "#6b7280"
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "stroke")
PIXELS_PER_POINT = 2


def export_figures(
    scores: Scores, folder: str | Path, *, tokenizers: Mapping[str, Any] | None = None
) -> list[Path]:
    """Writes NAME.svg, NAME.png and NAME.csv of every figure that these scores can give; returns the files.

    `tokenizers` ({name: Tokenizer or folder}) adds the figures of their training runs.
    """
    altair, convert = extra("altair"), extra("vl_convert")
    cells = Cells(scores)
    traces = {name: table for name, one in (tokenizers or {}).items() if (table := trace_of(one)) is not None}
    races = {name: race(table) for name, table in traces.items()}
    written = []
    for figure in figures(cells, races):
        if figure.missing:
            continue
        name = _file_name(figure, list(races))
        specification = _DRAW[figure.name](altair, figure, cells).to_json()
        folder = Path(folder)
        written += [
            write_file(folder / f"{name}.csv", _csv(figure)),
            write_file(folder / f"{name}.svg", convert.vegalite_to_svg(specification)),
            write_file(
                folder / f"{name}.png", convert.vegalite_to_png(specification, scale=PIXELS_PER_POINT)
            ),
        ]
    if not written:
        raise PairityError("these scores hold nothing to draw: evaluate at least the metric 'cost'.")
    return written


def extra(module: str) -> Any:
    """A package of the extra `report`, or an error with the line that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PairityError(
            f'reports need the package {module}, which is not installed: pip install "pairity[report]"'
        ) from error


def _file_name(figure: Figure, raced: list[str]) -> str:
    """Names of tokenizers are free text and file names are not: what is left of one gets a number."""
    if not figure.of:
        return figure.name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", figure.of).strip("-")[:40]
    return f"{figure.name}-{raced.index(figure.of) + 1}" + (f"-{plain}" if plain else "")


def _csv(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(figure.columns), buffer)
    return buffer.getvalue()


def _chart(alt: Any, rows: list[dict[str, Any]]) -> Any:
    return alt.Chart(alt.Data(values=rows))


def _look(alt: Any, chart: Any, figure: Figure) -> Any:
    title = f"{figure.title}: {figure.of}" if figure.of else figure.title
    return (
        chart.properties(title=alt.TitleParams(title, anchor="start", fontSize=14, fontWeight=600, offset=10))
        .configure(font="sans-serif", background="white")
        .configure_view(stroke=None)
        .configure_axis(gridColor="#e5e7eb", domainColor="#9ca3af", tickColor="#9ca3af", labelColor="#374151",
                        titleColor="#374151", titleFontWeight="normal", labelLimit=220)
        .configure_legend(title=None, orient="top", labelLimit=260)
        .configure_header(title=None, labelColor="#111827")
    )  # fmt: skip


def _style(alt: Any, cells: Cells, shown: Sequence[str] | None = None) -> dict[str, Any]:
    """Colour and shape of every tokenizer: told apart without colour too."""
    names = list(shown or cells.tokenizers)
    others = [name for name in cells.tokenizers if name != cells.baseline]
    colour = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(others)}
    colour[cells.baseline] = BASELINE
    shapes = [SHAPES[cells.tokenizers.index(name) % len(SHAPES)] for name in names]
    return {
        "color": alt.Color(
            "tokenizer:N", scale=alt.Scale(domain=names, range=[colour[name] for name in names])
        ),
        "shape": alt.Shape("tokenizer:N", scale=alt.Scale(domain=names, range=shapes)),
    }


def _colour_only(style: Mapping[str, Any]) -> dict[str, Any]:
    return {"color": style["color"]}


def _tradeoff(alt: Any, figure: Figure, cells: Cells) -> Any:
    style, base = _style(alt, cells), _chart(alt, figure.rows())
    x = alt.X(
        "compression_rate:Q",
        title="lines per token (higher is better)",
        scale=alt.Scale(zero=False, nice=True, padding=30),
    )
    y = alt.Y("gini:Q", title="Gini (lower is better)", scale=alt.Scale(zero=True))
    across = base.mark_rule().encode(x=x, x2="compression_high:Q", y=y, **_colour_only(style))
    back = base.mark_rule().encode(
        x=alt.X("compression_low:Q"), x2="compression_rate:Q", y=y, **_colour_only(style)
    )
    up = base.mark_rule().encode(x=x, y=alt.Y("gini_low:Q"), y2="gini_high:Q", **_colour_only(style))
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y, **style)
    return _look(alt, (across + back + up + points).properties(width=480, height=320), figure)


def _rows_of_languages(alt: Any, figure: Figure, cells: Cells, metric: str, title: str, **axis: Any) -> Any:
    """A row per language, a point with its interval per tokenizer."""
    shown = [name for name in cells.tokenizers if name in figure.columns["tokenizer"]]
    style, base = _style(alt, cells, shown), _chart(alt, figure.rows())
    names = [cells.facts[code].name for code in figure.order]
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True, ticks=False, domain=False))
    x = alt.X(
        f"{metric}:Q",
        title=title,
        axis=alt.Axis(labelFlush=False, **axis),
        scale=alt.Scale(zero=metric != "change"),
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(y=y, x="low:Q", x2="high:Q", **_colour_only(style))
    points = base.mark_point(filled=True, size=45, opacity=1).encode(y=y, x=x, **style)
    layers = [whiskers, points]
    if metric == "change":
        zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color="#111827").encode(x="zero:Q")
        layers.insert(0, zero)
    return _look(alt, alt.layer(*layers).properties(width=520, height=alt.Step(17)), figure)


def _costs(alt: Any, figure: Figure, cells: Cells) -> Any:
    return _rows_of_languages(alt, figure, cells, "cost", "tokens per line (lower is better)")


def _change(alt: Any, figure: Figure, cells: Cells) -> Any:
    title = "fewer tokens  ←  change in cost  →  more tokens"
    return _rows_of_languages(alt, figure, cells, "change", title, format="+.0%")


def _compression(alt: Any, figure: Figure, cells: Cells) -> Any:
    style = _style(alt, cells)
    base = alt.Chart()
    x = alt.X("tokenizer:N", title=None, sort=cells.tokenizers, axis=None)
    y = alt.Y("compression_rate_line:Q", title="lines per token", axis=alt.Axis(tickCount=3))
    stems = base.mark_bar(width=3, opacity=0.35).encode(x=x, y=y, **_colour_only(style))
    whiskers = base.mark_rule(strokeWidth=1.5).encode(x=x, y="low:Q", y2="high:Q", **_colour_only(style))
    points = base.mark_point(filled=True, size=45, opacity=1).encode(x=x, y=y, **style)
    names = [cells.facts[code].name for code in figure.order]
    panels = alt.layer(stems, whiskers, points, data=alt.Data(values=figure.rows())).properties(
        width=max(70, 16 * len(cells.tokenizers)), height=80
    )
    return _look(alt, panels.facet(facet=alt.Facet("name:N", sort=names, title=None), columns=6), figure)


def _utilisation(alt: Any, figure: Figure, cells: Cells) -> Any:
    style, base = _style(alt, cells), _chart(alt, figure.rows())
    x = alt.X("resource_level:N", sort=figure.order, title="resource level", axis=alt.Axis(labelAngle=0))
    shift = alt.XOffset("tokenizer:N", sort=cells.tokenizers)
    y = alt.Y("vocabulary_utilisation:Q", title="share of the vocabulary used", axis=alt.Axis(format="%"))
    dots = base.mark_point(filled=True, size=40, opacity=0.75).encode(x=x, xOffset=shift, y=y, **style)
    means = base.mark_tick(thickness=3, width=22).encode(
        x=x, xOffset=shift, y=alt.Y("mean(vocabulary_utilisation):Q"), **_colour_only(style)
    )
    return _look(alt, (dots + means).properties(width=520, height=280), figure)


def _lorenz(alt: Any, figure: Figure, cells: Cells) -> Any:
    style, base = _style(alt, cells), _chart(alt, figure.rows())
    equal = alt.Chart(alt.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    diagonal = equal.mark_line(strokeDash=[4, 4], color="#9ca3af").encode(x="x:Q", y="y:Q")
    lines = base.mark_line(interpolate="linear").encode(
        x=alt.X(
            "share_of_languages:Q", title="share of languages, cheapest first", axis=alt.Axis(format="%")
        ),
        y=alt.Y("share_of_tokens:Q", title="share of all tokens", axis=alt.Axis(format="%")),
        strokeDash=alt.StrokeDash("tokenizer:N", sort=cells.tokenizers, legend=None),
        **_colour_only(style),
    )
    return _look(alt, (diagonal + lines).properties(width=360, height=360), figure)


def _sizes(alt: Any) -> Any:
    return alt.X(
        "vocab_size:Q",
        title="vocabulary size",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(format="~s", tickCount=8),
    )


def _race_costs(alt: Any, figure: Figure, cells: Cells) -> Any:
    """All languages in grey; the one that ends dearest and the one that ends cheapest in colour, by name."""
    rows = [{**row, "name": facts(row["language"]).name} for row in figure.rows()]
    last = {row["language"]: row for row in rows}
    ends = sorted(last.values(), key=lambda row: row["cost"])
    named = {row["language"]: row["name"] for row in (ends[-1], ends[0])}
    y = alt.Y("cost:Q", title="tokens per line", scale=alt.Scale(type="log", nice=False))
    lines = _chart(alt, rows).mark_line(strokeWidth=1, color="#9ca3af", opacity=0.7).encode(
        x=_sizes(alt), y=y, detail="language:N"
    )  # fmt: skip
    colour = alt.Color("name:N", scale=alt.Scale(domain=list(named.values()), range=[COLOURS[1], COLOURS[2]]))
    marked = _chart(alt, [row for row in rows if row["language"] in named]).mark_line(strokeWidth=2.5).encode(
        x=_sizes(alt), y=y, color=colour
    )  # fmt: skip
    return _look(alt, (lines + marked).properties(width=520, height=340), figure)


def _race_fairness(alt: Any, figure: Figure, cells: Cells) -> Any:
    base = _chart(alt, figure.rows())
    gini = base.mark_line(color=COLOURS[0]).encode(x=_sizes(alt), y=alt.Y("gini:Q", title="Gini"))
    worst = base.mark_line(color=COLOURS[1]).encode(
        x=_sizes(alt),
        y=alt.Y(
            "worst_cost:Q", title="dearest language, tokens per line", scale=alt.Scale(type="log", nice=False)
        ),
    )
    both = alt.vconcat(gini.properties(width=520, height=160), worst.properties(width=520, height=160))
    return _look(alt, both, figure)


def _race_served(alt: Any, figure: Figure, cells: Cells) -> Any:
    together = "all together"
    rows = [
        {
            **row,
            "name": facts(row["language"]).name if row["language"] else together,
            "share": row["merges"] / row["of"],
            "end": row["last_merge"] + 1,
        }
        for row in figure.rows()
    ]
    names = [*(facts(code).name for code in figure.order), together]
    share = alt.Color(
        "share:Q",
        title="share",
        scale=alt.Scale(scheme="blues"),
        legend=alt.Legend(format="%", orient="right"),
    )
    blocks = _chart(alt, rows).mark_rect().encode(
        x=alt.X("first_merge:Q", title="merge", axis=alt.Axis(format="~s")),
        x2="end:Q",
        y=alt.Y("name:N", sort=names, title=None),
        color=share,
    )  # fmt: skip
    return _look(alt, blocks.properties(width=520, height=alt.Step(15)), figure)


_DRAW: dict[str, Callable[[Any, Figure, Cells], Any]] = {
    "tradeoff": _tradeoff,
    "costs": _costs,
    "change": _change,
    "compression": _compression,
    "utilisation": _utilisation,
    "lorenz": _lorenz,
    "race_costs": _race_costs,
    "race_fairness": _race_fairness,
    "race_served": _race_served,
}
