"""What several test files share."""

import signal
from pathlib import Path

import pytest

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that: tests that send it
# would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real text; tests that need it are skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"no real text at {SHARED}")
    return SHARED
