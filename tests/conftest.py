"""What several test files share."""

import signal
from pathlib import Path

import pytest

# A shell starts what runs in the background with Ctrl-C ignored, nohup ignores SIGHUP, and children inherit both:
# tests that send them would wait for ever, or see a program that rightly goes on.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # not on Windows
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The file that takes longest comes first, so that two workers end at nearly the same time."""
    items.sort(key=lambda item: item.path.name != "test_engine.py")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real text; tests that need it are skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"no real text at {SHARED}")
    return SHARED
