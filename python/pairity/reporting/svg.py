"""Post-process the output of the renderer for a file or for the page.

    <path aria-label="2,17" transform="translate(84.28142,20.1)" fill="#0b6bb8" d="M4.2,0A4.2..."/>    rendered
    <path transform="translate(84.3,20.1)" fill="var(--c0)" d="M4.2,0A4.2..." data-t="2" data-row="17"/>    inlined

The page refers to colours by name, so they follow its light and dark mode. Keys of marks become data attributes for its
script. It has each figure twice, so everything invisible is removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from pairity.reporting.look import PALETTE

NAMES = {colour: f"var(--{name})" for name, colour in reversed(PALETTE.items())}
SVG = "{http://www.w3.org/2000/svg}"
KEY = re.compile(r"(\d*),(\d*)")
LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}(e-\d+)?")
NOT_SHOWN = frozenset({"class", "role", "pointer-events", "version", "font-family", "stroke-miterlimit"})
DEFAULTS = frozenset({
    ("opacity", "1"), ("stroke-width", "1"), ("stroke-opacity", "1"), ("fill-opacity", "1"), ("font-weight", "normal"),
    ("font-size", "12px"), ("x2", "0"), ("y2", "0"), ("text-anchor", "start"), ("transform", "translate(0,0)"),
})  # fmt: skip
INHERITED = frozenset({"fill", "stroke", "stroke-width", "stroke-opacity", "fill-opacity", "text-anchor"})


def tidied(svg: str) -> str:
    """A picture for a file, without the keys of marks, which are useless there."""
    ElementTree.register_namespace("", SVG[1:-1])
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        for name in [name for name in element.attrib if name == "role" or name.startswith("aria-")]:
            del element.attrib[name]
    return ElementTree.tostring(root, encoding="unicode")


def inlined(svg: str, kind: str, title: str) -> str:
    """A picture for the page."""
    root = ElementTree.fromstring(svg)
    width, height = root.attrib["width"], root.attrib["height"]
    page = ElementTree.Element("svg", {
        "class": kind, "viewBox": f"0 0 {width} {height}", "width": width, "height": height,
        "role": "img", "tabindex": "0", "aria-label": title,
    })  # fmt: skip
    page.extend(kept(root, line=False))
    return ElementTree.tostring(page, encoding="unicode")


def kept(parent: ElementTree.Element, line: bool) -> Iterable[ElementTree.Element]:
    """The visible children as new elements; groups without attributes are replaced by their contents."""
    for child in parent:
        tag, kind = child.tag.removeprefix(SVG), child.get("class", "")
        if kind in ("background", "foreground"):
            continue
        children = list(kept(child, "mark-line" in kind))
        attributes = {
            name: short(name, NAMES.get(value, value))
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
    """The value with coordinates rounded to a tenth of a pixel."""
    if name not in ("d", "transform"):
        return value
    return LONG_NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), value)


def shared(children: list[ElementTree.Element]) -> dict[str, str]:
    """Move the attributes that all children share to their group, which they inherit from."""
    common = {
        name: value
        for name, value in children[0].attrib.items()
        if name in INHERITED and all(child.get(name) == value for child in children)
    }
    for child in children:
        for name in common:
            del child.attrib[name]
    return common
