"""Figures as pictures: SVG inside the page, in its colours; SVG, PNG, PDF and CSV as files for papers and slides."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.csv

from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.files import write_file
from pairity.judging.scores import Scores
from pairity.reporting.cells import Cells
from pairity.reporting.drawing import draw
from pairity.reporting.figures import Figure, figures
from pairity.reporting.labels import printable
from pairity.reporting.look import PALETTE, Look
from pairity.reporting.race import race, trace_of
from pairity.reporting.vega import Spec

FILE_WIDTH = 640
PAGE_WIDTHS = {"wide": 840, "narrow": 350}
"""Screens and phones: text that is only scaled down cannot be read there."""
SMALL_WIDTHS = {"tradeoff": 440, "lorenz": 360}
"""These stand side by side on a screen, and fit a phone as they are."""
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

SVG = "{http://www.w3.org/2000/svg}"
KEY = re.compile(r"(\d*),(\d*)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}(e-\d+)?")
NOT_SHOWN = frozenset({"class", "role", "pointer-events", "version", "font-family", "stroke-miterlimit"})
DEFAULTS = frozenset({
    ("opacity", "1"), ("stroke-width", "1"), ("stroke-opacity", "1"), ("fill-opacity", "1"), ("font-weight", "normal"),
    ("font-size", "12px"), ("x2", "0"), ("y2", "0"), ("text-anchor", "start"), ("transform", "translate(0,0)"),
})  # fmt: skip
INHERITED = frozenset({"fill", "stroke", "stroke-width", "stroke-opacity", "fill-opacity", "text-anchor"})


def export_figures(
    scores: Scores, folder: str | Path, *, tokenizers: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write NAME.svg, NAME.png, NAME.pdf and NAME.csv of every figure that these scores give; returns the files.

    `tokenizers` ({name: Tokenizer or folder}) adds the figures of their training runs.
    """
    convert = load_extra("vl_convert", "a figure")
    cells, folder = Cells(scores), Path(folder)
    look = Look(cells.tokenizers, cells.baseline)
    traces = {name: table for name, one in (tokenizers or {}).items() if (table := trace_of(one)) is not None}
    races = {name: race(table) for name, table in traces.items()}
    written = []
    for figure in figures(cells, races):
        if figure.missing:
            continue
        spec = draw(figure, look, SMALL_WIDTHS.get(figure.name, FILE_WIDTH))
        svg = tidied(convert.vegalite_to_svg({**spec, **alone(figure)}))
        contents = {
            "csv": csv(figure),
            "svg": svg,
            "png": convert.svg_to_png(svg, scale=PIXELS_PER_POINT),
            "pdf": convert.svg_to_pdf(svg),
        }
        name = file_name(figure, list(races))
        written += [write_file(folder / f"{name}.{suffix}", made) for suffix, made in contents.items()]
    if not written:
        raise PairityError("these scores hold nothing to draw: evaluate at least the metric 'cost'.")
    return written


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
    """What a figure needs that stands alone: white ground, a title and a legend."""
    text = printable(f"{figure.title}: {figure.of}" if figure.of else figure.title, 90)
    legend = {
        "title": None,
        "orient": "top",
        "columns": 4,
        "offset": 30,
        "labelLimit": 130,
        "labelFontSize": 12,
        "labelColor": PALETTE["ink"],
        "symbolSize": 500 if figure.name == "lorenz" else 80,  # lines are told apart by their dashes
        "symbolOpacity": 1,
    }
    title = {"text": text, "anchor": "start", "fontSize": 14, "fontWeight": 600, "color": PALETTE["ink"]}
    return {
        "title": {**title, "frame": "group", "offset": 12},
        "config": {**STYLE, "legend": legend},
        "background": PALETTE["paper"],
        "padding": 10,
    }


def tidied(svg: str) -> str:
    """A picture for a file: without the keys, which mean nothing there."""
    ElementTree.register_namespace("", SVG[1:-1])
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        for name in [name for name in element.attrib if name == "role" or name.startswith("aria-")]:
            del element.attrib[name]
    return ElementTree.tostring(root, encoding="unicode")


def inlined(svg: str, kind: str, title: str) -> str:
    """A picture for the page: colours by their names in the style sheet, keys as data attributes, the rest short.

    <path aria-label="2,17" transform="translate(84.28142,20.1)" fill="#0b6bb8" d="M4.2,0A4.2..."/>
    becomes <path transform="translate(84.3,20.1)" fill="var(--c0)" d="M4.2,0A4.2..." data-t="2" data-row="17" />
    """
    root = ElementTree.fromstring(svg)
    names = {colour: f"var(--{name})" for name, colour in reversed(PALETTE.items())}
    width, height = root.attrib["width"], root.attrib["height"]
    page = ElementTree.Element("svg", {
        "class": kind, "viewBox": f"0 0 {width} {height}", "width": width, "height": height,
        "role": "img", "tabindex": "0", "aria-label": title,
    })  # fmt: skip
    page.extend(kept(root, names, line=False))
    return ElementTree.tostring(page, encoding="unicode")


def kept(parent: ElementTree.Element, names: Mapping[str, str], line: bool) -> Iterable[ElementTree.Element]:
    """What of the children is seen, as new elements; groups that say nothing give way to what they hold."""
    for child in parent:
        tag, kind = child.tag.removeprefix(SVG), child.get("class", "")
        if kind in ("background", "foreground"):
            continue
        children = list(kept(child, names, "mark-line" in kind))
        attributes = {
            name: short(name, names.get(value, value))
            for name, value in child.attrib.items()
            if name not in NOT_SHOWN and not name.startswith("aria-") and (name, value) not in DEFAULTS
        }
        if tag == "g" and len(children) > 1:
            attributes.update(shared(children))
        if tag == "g" and not (children and attributes):
            yield from children
            continue
        if key := KEY.fullmatch(child.get("aria-label", "")):
            found = {"data-t": key[1], "data-row": key[2]}
            attributes.update({name: value for name, value in found.items() if value})
            attributes.update({"data-line": ""} if line else {})
        element = ElementTree.Element(tag, attributes)
        element.text = child.text
        element.extend(children)
        yield element


def short(name: str, value: str) -> str:
    """Coordinates to a tenth of a pixel."""
    if name not in ("d", "transform"):
        return value
    return LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), value)


def shared(children: list[ElementTree.Element]) -> dict[str, str]:
    """What all children have in common and would inherit from their group; they lose it."""
    common = {
        name: value
        for name, value in children[0].attrib.items()
        if name in INHERITED and all(child.get(name) == value for child in children)
    }
    for child in children:
        for name in common:
            del child.attrib[name]
    return common


def file_name(figure: Figure, raced: list[str]) -> str:
    """Names of tokenizers are free text and file names are not: what is left of one gets a number."""
    if not figure.of:
        return figure.name
    plain = re.sub(r"[^A-Za-z0-9]+", "-", figure.of).strip("-")[:40]
    return f"{figure.name}-{raced.index(figure.of) + 1}" + (f"-{plain}" if plain else "")


def csv(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    pyarrow.csv.write_csv(pa.table(figure.columns), buffer)
    return buffer.getvalue()
