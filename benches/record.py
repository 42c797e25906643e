"""What was measured, written: the record, the tables and the figure made from it, and the pages that show them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from figure import draw
from report import speed_table, suite_tables

ROOT = Path(__file__).resolve().parents[1]


def write(record: dict[str, Any], root: Path) -> None:
    """The record, the tables made from it, and the figure."""
    results = root / "docs" / "results"
    results.mkdir(parents=True, exist_ok=True)
    (results / "bench.json").write_text(
        json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    for old in results.glob("bench-*.json"):
        old.unlink()
    tables = suite_tables(record) | {"speed": speed_table(record)}
    for name, table in tables.items():
        if table["rows"]:
            text = json.dumps(table, indent=1, ensure_ascii=False) + "\n"
            (results / f"{name}.json").write_text(text, encoding="utf-8")
    (root / "docs" / "speed.svg").write_text(draw(record), encoding="utf-8")


def fill_pages(root: Path) -> None:
    for page in ("README.md", "docs/benchmarks.md"):
        if not (root / page).exists():
            shutil.copy(ROOT / page, root / page)
    subprocess.run([sys.executable, str(ROOT / "docs" / "tables.py"), "--root", str(root)], check=True)
