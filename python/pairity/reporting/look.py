"""The look of tokenizers: a colour, a shape and a dash each, the same in every figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from pairity.reporting.labels import printable
from pairity.reporting.numbers import short_size

# The colours of light mode, from the style sheet of the page: {"paper": "#ffffff", "c0": "#0b6bb8", ...}
PALETTE: dict[str, str] = dict(
    re.findall(
        r"--(\w+): light-dark\((#\w+),",
        resources.files("pairity.reporting").joinpath("page.css").read_text(encoding="utf-8"),
    )
)
COLOURS = 8
LABEL = 26
"""The most letters of a name in a legend, to leave room for the size after it."""

# Paths in a square from -1 to 1.
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


@dataclass(frozen=True)
class Look:
    """The look of these tokenizers; the baseline is grey if there are others."""

    tokenizers: list[str]
    baseline: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Vocabulary sizes, for the legend: tokenizers of different sizes cannot be compared directly."""

    def colour(self, name: str) -> str:
        """The name of a colour in the palette."""
        others = [one for one in self.tokenizers if one != self.baseline]
        if not others:
            return "c0"
        return "base" if name == self.baseline else f"c{others.index(name) % COLOURS}"

    def shape(self, name: str) -> str:
        return SHAPES[self.tokenizers.index(name) % len(SHAPES)]

    def dash(self, name: str) -> list[int]:
        return DASHES[self.tokenizers.index(name) % len(DASHES)]

    def label(self, name: str) -> str:
        """The name in a legend; no two are equal."""
        labels = [printable(one, LABEL) for one in self.tokenizers]
        place = self.tokenizers.index(name)
        label = labels[place] if labels.count(labels[place]) == 1 else f"{labels[place]} ({place + 1})"
        return f"{label} · {self.size(name)}" if self.size(name) else label

    def size(self, name: str) -> str:
        """The vocabulary size in short form; empty if it is unknown."""
        return short_size(self.sizes[name]) if self.sizes.get(name) else ""

    def shown(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """The tokenizers that these rows are about."""
        found = {row["tokenizer"] for row in rows}
        return [name for name in self.tokenizers if name in found]

    def by_colour(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The encoding of lines."""
        return {"color": self.scale(rows, lambda name: PALETTE[self.colour(name)])}

    def by_colour_and_shape(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The encoding of points."""
        return {**self.by_colour(rows), "shape": self.scale(rows, self.shape)}

    def scale(self, rows: Sequence[Mapping[str, Any]], kind: Callable[[str], Any]) -> dict[str, Any]:
        names = self.shown(rows)
        scale = {"domain": [self.label(name) for name in names], "range": [kind(name) for name in names]}
        return {"field": "label", "type": "nominal", "scale": scale}
