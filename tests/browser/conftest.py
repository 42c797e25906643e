"""A real browser for the tests of this folder."""

import shutil
from collections.abc import Iterator

import pytest

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
