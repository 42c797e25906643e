"""Sections that others add to the page: what an experiment shows beside the scores of one text."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import Any

from pairity.extras import load_extra
from pairity.reporting.figures import Figure


@dataclass(frozen=True)
class Section:
    """`html` stands above the figures and `below` under them; both are escaped already: `rendered` makes them."""

    name: str
    title: str
    html: str = ""
    figures: tuple[Figure, ...] = ()
    below: str = ""
    first: bool = False
    """It is what the page is about, and stands on top."""


def rendered(template: str, **values: Any) -> str:
    """A template of this room with its values, all escaped."""
    jinja2 = load_extra("jinja2", "a report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    source = resources.files("pairity.reporting").joinpath(template).read_text(encoding="utf-8")
    return str(environment.from_string(source).render(**values))
