"""A report as a test reads it."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace


class Page(HTMLParser):
    """Reads a page: its tables (rows of cells with text and attributes), headings, ids and references."""

    VOID = frozenset({"meta", "link", "input", "br", "img", "wbr"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text("utf-8")
        self.tables: dict[str, list[list[SimpleNamespace]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.table = ""
        self.cell: SimpleNamespace | None = None
        self.script: list[str] = []
        self.text = ""
        self.feed(self.source)
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.tags.append((tag, found))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = str(found.get("id") or f"{found.get('class')} {len(self.tables)}")
            self.tables[self.table] = []
        if tag == "tr":
            self.tables[self.table].append([])
            self.metric = found.get("data-metric")
        if tag in ("td", "th"):
            self.cell = SimpleNamespace(
                tag=tag, text="", numbers=[], value=found.get("data-value"), metric=self.metric, best=False
            )
            self.tables[self.table][-1].append(self.cell)
        if self.cell is not None and "best" in str(found.get("class")).split():
            self.cell.best = True
        self.in_number = "num" in str(found.get("class")).split()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()
        self.in_number = False
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] == "script":
            self.script.append(text)
        elif self.open and self.open[-1] != "style":
            self.text += text
        if self.cell is not None:
            self.cell.text += text
            if self.in_number:
                self.cell.numbers.append(text)

    @property
    def data(self) -> dict:
        return json.loads(next(text for text in self.script if text.startswith("{")))


def number(text: str) -> tuple[float, float]:
    """A printed number and half a unit of its last digit: "52.1%" -> (0.521, 0.0005)."""
    plain = re.sub(r"[,+%\s]", "", text.replace("\N{MINUS SIGN}", "-"))
    scale = 100 if "%" in text else 1
    decimals = len(plain.partition(".")[2])
    return float(plain) / scale, 0.5000001 * 10**-decimals / scale
