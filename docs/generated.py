"""What the scripts that write whole pages share: write the page, or say that it is out of date."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def write_or_check(
    script: str,
    description: str | None,
    path: Path,
    page: Callable[[], str],
    arguments: list[str] | None = None,
) -> int:
    """Write the page, or with --check only compare it; the exit code."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say whether the page is out of date")
    check = parser.parse_args(arguments).check
    text = page()
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    if check:
        name = path.relative_to(Path(__file__).parents[1]).as_posix()
        print(f"{name} is out of date. Run: python docs/{Path(script).name}", file=sys.stderr)
        return 1
    path.write_text(text, encoding="utf-8")
    return 0
