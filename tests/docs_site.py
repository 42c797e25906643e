"""The pages, built as a site."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples import ROOT


def build_site(folder: Path) -> Path:
    """Build a copy of the pages in `folder`, strictly; the folder of the site."""
    if importlib.util.find_spec("zensical") is None:
        pytest.skip("zensical is not installed: pip install 'pairity[dev]'")
    shutil.copy(ROOT / "zensical.toml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"
