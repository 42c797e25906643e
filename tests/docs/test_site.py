"""The site is built strictly, links lead somewhere, and it needs nothing from the network."""

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from docs_site import build_site
from examples import ROOT


class Page(HTMLParser):
    """The ids of a page, where its links lead, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                (self.links if tag == "a" else self.loads).append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


def test_every_link_leads_to_a_page_and_a_heading(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 15
    for path, page in pages.items():
        for link in page.links:
            if link.startswith("https://"):
                continue
            place, _, anchor = unquote(link).partition("#")
            target = (path.parent / place).resolve() if place else path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{path.relative_to(site)} links to {link}"
            if anchor and target.suffix == ".html":
                assert anchor in pages[target].ids, f"{path.relative_to(site)} links to {link}"


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    for path in site.rglob("*.html"):
        remote = [load for load in Page(path).loads if re.match(r"(https?:)?//", load)]
        assert remote == [], path.relative_to(site)
    for path in site.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*\)", path.read_text(encoding="utf-8")) == []


def test_the_search_knows_every_page(site: Path) -> None:
    index = (site / "search.js").read_text(encoding="utf-8")
    for path in site.rglob("*.html"):
        if path.name != "404.html":
            assert f'"{path.relative_to(site).as_posix()}' in index


def test_scripts_are_not_published(site: Path) -> None:
    assert list(site.rglob("*.py")) == []


def test_every_page_has_its_place_in_the_navigation() -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    named = set(re.findall(r"'([^']+\.md)'", str(settings["project"]["nav"])))
    assert named == {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
