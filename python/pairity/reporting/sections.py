"""Sections that others add to the page, such as what an experiment shows in addition to scores."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from typing import Any

from pairity.extras import load_extra
from pairity.reporting.figures import Figure

BREAKS = re.compile(r"(?<=[-=,/_:@+])(?=[^\s=])")


@dataclass(frozen=True)
class Section:
    """`html` goes above the figures and `below` under them. Both must be escaped; `rendered` does that."""

    name: str
    title: str
    html: str = ""
    figures: tuple[Figure, ...] = ()
    below: str = ""
    first: bool = False
    """The main subject of the page, which goes on top."""
    fact: str = ""
    """What the head of the page says about it, if it is about more than the tokenizers of the page."""


def rendered(template: str, **values: Any) -> str:
    """A template of this room with its values, all escaped."""
    jinja2 = load_extra("jinja2", "a report")
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["breakable"] = breakable
    source = resources.files("pairity.reporting").joinpath(template).read_text(encoding="utf-8")
    return str(environment.from_string(source).render(**values))


def breakable(name: str) -> Any:
    """A name that breaks where its parts end, in every browser; they do not agree about hyphens and digits.

    window=200, parity-800  ->  window=<wbr>200, parity-<wbr>800
    """
    markup = load_extra("markupsafe", "a report").Markup
    return markup("<wbr>").join(BREAKS.split(name))
