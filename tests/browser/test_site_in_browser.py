"""The site in a real browser, opened from a folder and with the network off: make test-browser."""

from pathlib import Path

import pytest

from docs_site import build_site

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_site(tmp_path_factory.mktemp("site"))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_a_page_asks_for_nothing_and_fits(browser, site: Path, width: int, scheme: str) -> None:  # type: ignore[no-untyped-def]
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    context.set_offline(True)
    page = context.new_page()
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for name in ("index.html", "tutorial.html", "reference/files.html"):
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (
            f"{name} is wider than the screen"
        )
    assert [url for url in asked if not url.startswith("file:")] == []
    assert complaints == []
    context.close()


def test_the_search_finds_from_a_folder(browser, site: Path) -> None:  # type: ignore[no-untyped-def]
    context = browser.new_context()
    context.set_offline(True)
    page = context.new_page()
    page.goto((site / "reference" / "commands.html").as_uri())
    page.keyboard.press("/")
    page.get_by_role("combobox", name="Search").fill("premium")
    page.get_by_role("option", name="Fairness").click(timeout=20_000)
    page.wait_for_url("**/metrics.html*")
    context.close()
