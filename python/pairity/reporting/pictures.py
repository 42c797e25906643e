"""Figures as pictures: inside the page, and as SVG, PNG, PDF and CSV files for papers and slides.

A file has a legend but no title: in a paper, the caption has it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.files.writing import write_file
from pairity.judging.scores import Scores
from pairity.reporting.cells import Cells
from pairity.reporting.drawing import draw
from pairity.reporting.figures import Figure, figures
from pairity.reporting.glance import glance
from pairity.reporting.labels import printable
from pairity.reporting.look import PALETTE, Look
from pairity.reporting.race import races_of
from pairity.reporting.sizes import size_figures
from pairity.reporting.svg import inlined, tidied
from pairity.reporting.vega import Spec

FILE_WIDTH = 640
PAGE_WIDTHS = {"wide": 840, "narrow": 350}
"""For screens and for phones, where scaled-down text would be unreadable."""
SMALL_WIDTHS = {"glance": 440, "tradeoff": 440, "lorenz": 360}
"""Figures that share a row with something else on a screen, and fit a phone as they are."""
PIXELS_PER_POINT = 2

STYLE: Spec = {
    "font": "sans-serif",
    "view": {"stroke": None},
    "text": {"fontSize": 12},
    "rule": {"strokeWidth": 1.5},
    "header": {"labelFontSize": 12, "labelColor": PALETTE["ink"], "labelAnchor": "start", "labelPadding": 4},
    "axis": {
        "domain": False,
        "ticks": False,
        "gridColor": PALETTE["line"],
        "labelColor": PALETTE["soft"],
        "labelFontSize": 12,
        "labelPadding": 6,
        "titleColor": PALETTE["soft"],
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
}


def export_figures(
    scores: Scores,
    folder: str | Path,
    *,
    tokenizers: Mapping[str, Any] | None = None,
    added: Sequence[Figure] = (),
) -> list[Path]:
    """Write NAME.svg, NAME.png, NAME.pdf and NAME.csv of every figure that these scores give; returns the files.

    `tokenizers` ({name: Tokenizer or folder}) adds the figures of their training runs; `added` are further ones.
    """
    cells, folder = Cells(scores.at_largest_size()), Path(folder)
    look = Look(cells.tokenizers, cells.baseline, cells.sizes)
    races = races_of(tokenizers or {})
    written = []
    for figure in [glance(scores), *figures(cells, races), *size_figures(scores), *added]:
        if figure.missing:
            continue
        written += write_figure(figure, look, folder / file_name(figure, list(races)))
    if not written:
        raise PairityError("these scores have nothing to plot: evaluate at least the metric 'cost'.")
    return written


def write_figure(figure: Figure, look: Look, path: Path) -> list[Path]:
    """PATH.csv, .svg, .png and .pdf of one figure."""
    convert = load_extra("vl_convert", "a figure")
    spec = draw(figure, look, SMALL_WIDTHS.get(figure.name, FILE_WIDTH))
    svg = tidied(convert.vegalite_to_svg({**spec, **alone(figure)}))
    contents = {
        "csv": csv(figure),
        "svg": svg,
        "png": convert.svg_to_png(svg, scale=PIXELS_PER_POINT),
        "pdf": convert.svg_to_pdf(svg),
    }
    return [write_file(path.with_name(f"{path.name}.{suffix}"), made) for suffix, made in contents.items()]


def for_page(figure: Figure, look: Look) -> list[str]:
    """The figure as SVG elements: one, or one for wide and one for narrow screens."""
    convert = load_extra("vl_convert", "a report")
    small = SMALL_WIDTHS.get(figure.name)
    inside = {"config": {**STYLE, "legend": {"disable": True}}, "background": None, "padding": 2}
    title = f"{printable(figure.title, 200)}. The arrow keys step through the marks."
    return [
        inlined(convert.vegalite_to_svg({**draw(figure, look, width), **inside}), kind, title)
        for kind, width in ({"small": small} if small else PAGE_WIDTHS).items()
    ]


def alone(figure: Figure) -> Spec:
    """What a standalone figure needs: a white background and a legend."""
    legend = {
        "title": None,
        "orient": "top",
        "columns": 2 if figure.name in SMALL_WIDTHS else 3,
        "offset": 30,
        "labelLimit": 220,
        "labelFontSize": 12,
        "labelColor": PALETTE["ink"],
        "symbolSize": 500 if figure.name == "lorenz" else 80,  # long enough to show the dashes of lines
        "symbolOpacity": 1,
    }
    return {
        "config": {**STYLE, "legend": legend},
        "background": PALETTE["paper"],
        "padding": 10,
    }


def file_name(figure: Figure, raced: list[str]) -> str:
    """Names of tokenizers are free text, which file names are not: what remains of a name gets a number."""
    if not figure.of:
        return figure.name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", figure.of).strip("-")[:40]
    return f"{figure.name}-{raced.index(figure.of) + 1}" + (f"-{plain}" if plain else "")


def csv(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(figure.columns), buffer)
    return buffer.getvalue()
