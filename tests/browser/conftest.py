"""A real browser for the tests of this folder."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pairity.reporting import report
from report_scores import TEXTS, Traced, scores, tokenizers

HOW = "apt-get install chromium (Debian), or put a chromium or google-chrome on the PATH"


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.fail("these tests need the package playwright: pip install playwright", pytrace=False)
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.fail(f"these tests need a browser: {HOW}", pytrace=False)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cutters = {**tokenizers(), "characters": Traced("characters", 2, by_character=True)}
    return report(scores(), tmp_path_factory.mktemp("page") / "r.html", tokenizers=cutters, sentences=TEXTS)


@pytest.fixture
def visit(browser):  # type: ignore[no-untyped-def]
    """Opens a page with the network off; at the end nothing may have been asked for or complained about."""
    contexts, asked, complaints = [], [], []

    def open_page(path: Path, *, width: int = 1280, scheme: str = "light", reduced: bool = False):  # type: ignore[no-untyped-def]
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            reduced_motion="reduce" if reduced else "no-preference",
        )
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert sum(url.startswith("file:") for url in asked) == len(contexts), (
        "the page loads itself and nothing else"
    )
    assert complaints == []
