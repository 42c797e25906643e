"""Fill the marked tables of README.md, docs/*.md and docs/howto/*.md from recorded results.

A page says where a table belongs, and docs/results/NAME.json holds what a run measured:

    <!-- table:demo -->                {"made_by": "pairity demo",
    (written by this script)            "columns": [{"name": "tokenizer"}, {"name": "Gini", "format": ".3f"}],
    <!-- /table -->                     "rows": [["classical", 0.25], ["parity", null]]}

    | tokenizer | Gini |
    |---|--:|
    | classical | 0.250 |
    | parity | – |

    Made by `pairity demo`.

`<!-- table:demo 1,3 -->` shows the first and the third row only.

No number in the pages is typed by hand: a marker without a record says so instead of keeping an old number.

    python docs/tables.py            write the tables
    python docs/tables.py --check    write nothing; exit 1 where a page is out of date
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

MARKED = re.compile(r"<!-- table:(?P<name>[\w-]+)(?: (?P<rows>[\d,]+))? -->\n.*?<!-- /table -->", re.DOTALL)
ANY_MARKER = re.compile(r"^<!-- (?:table:[^>]*|/table) -->$", re.MULTILINE)
NOT_MEASURED = "*Not measured yet.*\n"


class TableError(ValueError):
    """A page or a record that cannot be used, with what to mend."""


def render(record: dict[str, Any], source: str) -> str:
    """The Markdown of one recorded result; `source` names it in errors."""
    for key in ("made_by", "columns", "rows"):
        if not record.get(key):
            raise TableError(f"{source}: '{key}' is missing or empty. Record the run again.")
    columns = record["columns"]
    lines = [
        _row([column["name"] for column in columns]),
        "|" + "|".join("--:" if "format" in column else "---" for column in columns) + "|",
    ]
    for number, row in enumerate(record["rows"], start=1):
        if len(row) != len(columns):
            raise TableError(f"{source}: row {number} has {len(row)} values for {len(columns)} columns.")
        lines.append(_row([_cell(value, column, source) for value, column in zip(row, columns, strict=True)]))
    note = f" {record['note']}" if record.get("note") else ""
    return "\n".join(lines) + f"\n\nMade by `{record['made_by']}`.{note}\n"


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(value: str | float | None, column: dict[str, str], source: str) -> str:
    if value is None:
        return "–"
    try:
        return format(value, column.get("format", ""))
    except ValueError as error:
        raise TableError(
            f"{source}: {value!r} in column '{column['name']}' does not fit the format '{column['format']}'."
        ) from error


def chosen(rows: list[Any], numbers: str, source: str) -> list[Any]:
    """chosen([a, b, c], "1,3", ...) -> [a, c]"""
    try:
        return [rows[int(number) - 1] for number in numbers.split(",")]
    except (IndexError, ValueError) as error:
        raise TableError(f"{source}: rows {numbers} of a table that has {len(rows)}.") from error


def fill(page: str, results: Path, source: str) -> tuple[str, list[str]]:
    """The page with its tables written anew, and the names of tables that have no record."""
    unmeasured: list[str] = []

    def table(match: re.Match[str]) -> str:
        name = match["name"]
        record_file = results / f"{name}.json"
        if record_file.exists():
            record = json.loads(record_file.read_text(encoding="utf-8"))
            if match["rows"]:
                record |= {"rows": chosen(record["rows"], match["rows"], source)}
            body = render(record, record_file.name)
        else:
            unmeasured.append(name)
            body = NOT_MEASURED
        return f"{match[0].splitlines()[0]}\n{body}<!-- /table -->"

    paired = sum(2 for _ in MARKED.finditer(page))
    found = len(ANY_MARKER.findall(page))
    if paired != found:
        raise TableError(
            f"{source}: {found} table markers, but only {paired} of them pair up. "
            "Write <!-- table:NAME --> and <!-- /table --> on lines of their own."
        )
    return MARKED.sub(table, page), unmeasured


def main(arguments: list[str] | None = None) -> int:
    """Fill or check every page; the exit code."""
    parser = argparse.ArgumentParser(description="Fill the marked tables from docs/results/.")
    parser.add_argument("--check", action="store_true", help="only say which pages are out of date")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1], help="the checkout")
    options = parser.parse_args(arguments)
    root: Path = options.root
    stale = 0
    pages = [*sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "howto").glob("*.md"))]
    for path in [root / "README.md", *pages]:
        name = path.relative_to(root).as_posix()
        page = path.read_text(encoding="utf-8")
        try:
            filled, unmeasured = fill(page, root / "docs" / "results", name)
        except TableError as error:
            print(error, file=sys.stderr)
            return 1
        for table in unmeasured:
            print(f"{name}: no record for table '{table}' (docs/results/{table}.json)", file=sys.stderr)
        if filled == page:
            continue
        if options.check:
            stale += 1
            print(f"{name}: a table is out of date. Run: make docs-numbers", file=sys.stderr)
        else:
            path.write_text(filled, encoding="utf-8")
            print(f"{name}: tables written", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
