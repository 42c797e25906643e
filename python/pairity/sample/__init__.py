"""A small parallel text that ships with pairity (see README.md here)."""

from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).parent


def languages() -> set[str]:
    return {path.stem for path in (FOLDER / "test").glob("*.txt")}


def read(part: Literal["dev", "test"]) -> dict[str, list[str]]:
    """{"arb_Arab": [60 lines], ...} for dev, 40 lines for test."""
    return {
        path.stem: path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
        for path in sorted((FOLDER / part).glob("*.txt"))
    }
