"""From the record of the benchmark to tables, for the pages (as docs/tables.py has them) and the terminal.

A ratio is a peer's number over ours from the same run: above 1, pairity is faster or smaller.
"""

from collections.abc import Iterable
from typing import Any

Table = dict[str, Any]
Row = dict[str, Any]

OURS = "pairity"
NAMES = {
    "tokenizers": "Hugging Face tokenizers",
    "tokenizers (fast)": "Hugging Face, `encode_batch_fast`",
}
MB = 1e6


def suite_tables(record: dict[str, Any]) -> dict[str, Table]:
    """bench-parity, bench-classical, ...: every row that was measured."""
    make = {"count": count_table, "encode": encode_table, "growth": growth_table}
    return {
        f"bench-{name}": make.get(name, training_table)(suite) | source(suite)
        for name, suite in record["suites"].items()
    }


def source(*suites: dict[str, Any]) -> Table:
    """Where numbers are from: the commands, the machine of each suite, the texts and the versions."""
    rows = [row for suite in suites for row in suite["rows"]]
    measured = {row["program"].partition(" ")[0].rstrip(",") for row in rows}
    known = {name: version for suite in suites for name, version in suite["versions"].items()}
    versions = ", ".join(f"{name} {version}" for name, version in known.items() if name in measured)
    loads = ", ".join(str(suite["load_before"]) for suite in suites)
    stolen = max((suite.get("stolen", 0) for suite in suites), default=0)
    shared = f", up to {stolen:.0%} CPU steal time" if stolen >= 0.005 else ""
    machines = " and ".join(once(written(suite["machine"]) for suite in suites))
    note = (
        f"On {machines}, load before the run {loads}{shared}; "
        f"{'; '.join(once(suite['texts'] for suite in suites))}; {versions}."
    )
    if skipped := once(peer for suite in suites for peer in suite["skipped"]):
        note += f" Not installed: {', '.join(skipped)}."
    if any(row.get("reused") for row in rows):
        note += " Rows with * are from an earlier run on the same machine."
    return {"made_by": "; ".join(once(suite["made_by"] for suite in suites)), "note": note}


def written(machine: dict[str, Any]) -> str:
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB, {machine['os']}, "
        f"Python {machine['python']}"
    )


def once(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def training_table(suite: dict[str, Any]) -> Table:
    columns = [
        {"name": "work"},
        {"name": "program"},
        {"name": "seconds", "format": ".2f"},
        {"name": "user seconds", "format": ".2f"},
        {"name": "MB", "format": ",.0f"},
        {"name": "× time", "format": ".1f"},
        {"name": "× memory", "format": ".1f"},
        {"name": "the same?"},
    ]
    rows = []
    for row in suite["rows"]:
        ours = of_ours(suite, row["case"])
        numbers = [
            row.get("wall"),
            row.get("user"),
            megabytes(row),
            over(row, ours, "wall"),
            over(row, ours, "memory"),
        ]
        rows.append([row["case"], program(row), *numbers, remark(row)])
    return {"columns": columns, "rows": rows}


def count_table(suite: dict[str, Any]) -> Table:
    columns = [
        {"name": "work"},
        {"name": "program"},
        {"name": "MB/s", "format": ",.0f"},
        {"name": "seconds", "format": ".2f"},
        {"name": "MB of memory", "format": ",.0f"},
        {"name": "× time", "format": ".1f"},
        {"name": "the same?"},
    ]
    rows = []
    for row in suite["rows"]:
        again = over(row, of_ours(suite, row["case"]), "wall")
        numbers = [rate(row, "wall"), row.get("wall"), megabytes(row), again]
        rows.append([row["case"], program(row), *numbers, remark(row)])
    return {"columns": columns, "rows": rows}


def encode_table(suite: dict[str, Any]) -> Table:
    columns = [
        {"name": "work"},
        {"name": "program"},
        {"name": "MB/s", "format": ",.1f"},
        {"name": "MB/s, second pass", "format": ",.1f"},
        {"name": "MB of memory", "format": ",.0f"},
        {"name": "× time", "format": ".2f"},
        {"name": "× time, second pass", "format": ".2f"},
        {"name": "the same ids?"},
    ]
    rows = []
    for row in suite["rows"]:
        ours = of_ours(suite, row["case"])
        speeds = [rate(row, "wall"), rate(row, "again_wall"), megabytes(row)]
        ratios = [over(row, ours, "wall"), over(row, ours, "again_wall")]
        rows.append([row["case"], program(row), *speeds, *ratios, remark(row)])
    return {"columns": columns, "rows": rows}


def growth_table(suite: dict[str, Any]) -> Table:
    columns = [{"name": "what grows"}]
    names = ("to", "distinct words", "languages", "merges", "threads")
    columns += [{"name": name, "format": ",d"} for name in names]
    columns += [
        {"name": "seconds", "format": ".2f"},
        {"name": "user seconds", "format": ".2f"},
        {"name": "MB", "format": ",.0f"},
    ]
    rows = [
        [
            row["grows"],
            row["value"],
            *(row.get(name) for name in ("words", "languages", "merges", "threads", "wall", "user")),
            megabytes(row),
        ]
        for row in suite["rows"]
    ]
    return {"columns": columns, "rows": rows}


def speed_table(record: dict[str, Any]) -> Table:
    """The summary for README.md: each work against Hugging Face and against the fastest of the others."""
    columns = [
        {"name": "work"},
        {"name": "pairity, s", "format": ".2f"},
        {"name": "MB", "format": ",.0f"},
        {"name": "against"},
        {"name": "s", "format": ".2f"},
        {"name": "MB", "format": ",.0f"},
        {"name": "× time", "format": ".1f"},
        {"name": "× memory", "format": ".1f"},
    ]
    rows: list[list[Any]] = []
    suites = []
    for name in ("parity", "classical", "count", "encode"):
        suite = record["suites"].get(name, {"rows": []})
        compared = comparisons(suite)
        for case, (ours, peers) in compared.items():
            for peer in telling(peers):
                numbers = [
                    peer["wall"],
                    megabytes(peer),
                    over(peer, ours, "wall"),
                    over(peer, ours, "memory"),
                ]
                rows.append([case, ours["wall"], megabytes(ours), program(peer), *numbers])
        if compared:
            suites.append(suite)
    return {"columns": columns, "rows": rows} | source(*suites)


def comparisons(suite: dict[str, Any]) -> dict[str, tuple[Row, list[Row]]]:
    """Case -> our row and those of the peers, where there are both."""
    found = {}
    for case in dict.fromkeys(row["case"] for row in suite["rows"]):
        rows = [row for row in suite["rows"] if row["case"] == case and "wall" in row]
        ours = [row for row in rows if row["program"] == OURS]
        peers = [row for row in rows if not row["program"].startswith(OURS)]
        if ours and peers:
            found[case] = (ours[0], peers)
    return found


def telling(peers: list[Row]) -> list[Row]:
    """Hugging Face's, and the fastest of those that do the same work."""
    chosen = [row for row in peers if row["program"] == "tokenizers"]
    others = [row for row in peers if not row["program"].startswith(("tokenizers", "sentencepiece"))]
    return chosen + ([min(others, key=lambda row: row["wall"])] if others else [])


def of_ours(suite: dict[str, Any], case: str) -> Row:
    rows = (row for row in suite["rows"] if row["case"] == case and row["program"] == OURS)
    return next(rows, {})


def over(row: Row, ours: Row, what: str) -> float | None:
    return row[what] / ours[what] if row.get(what) and ours.get(what) else None


def rate(row: Row, seconds: str) -> float | None:
    return row["bytes"] / MB / row[seconds] if row.get(seconds) else None


def megabytes(row: Row) -> float | None:
    return row["memory"] / MB if "memory" in row else None


def program(row: Row) -> str:
    name: str = row["program"]
    return NAMES.get(name, name) + (" *" if row.get("reused") else "")


def remark(row: Row) -> str | None:
    short = row.get("learned", 0) and row["learned"] < row["merges"] and f"only {row['learned']:,} merges"
    parts = [row.get("same"), row.get("derived"), row.get("failed"), short]
    return "; ".join(part for part in parts if part) or None


def print_tables(record: dict[str, Any], suites: list[str]) -> None:
    """Tables for the terminal: columns in line, nothing but text."""
    for name, table in suite_tables(record).items():
        if name.removeprefix("bench-") not in suites or not table["rows"]:
            continue
        cells = [[column["name"] for column in table["columns"]]]
        for row in table["rows"]:
            pairs = zip(row, table["columns"], strict=True)
            cells.append(
                ["-" if value is None else format(value, at.get("format", "")) for value, at in pairs]
            )
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        print(f"\n{name.removeprefix('bench-')}")
        right = ["format" in column for column in table["columns"]]
        for line in cells:
            placed = zip(line, widths, right, strict=True)
            print(
                "  ".join(
                    cell.rjust(width) if to else cell.ljust(width) for cell, width, to in placed
                ).rstrip()
            )
        print(table["note"])
