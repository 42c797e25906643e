"""What several test files share."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real text; tests that need it are skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"no real text at {SHARED}")
    return SHARED
