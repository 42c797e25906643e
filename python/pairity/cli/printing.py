"""What a person reads: results on standard output, notes and warnings on standard error."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from pairity.cli.notes import say
from pairity.counts.counts import Counts
from pairity.judging.metrics import gini
from pairity.judging.scores import Scores
from pairity.languages import language as facts
from pairity.tokenizer.tokenizer import Tokenizer

NO_LIMIT = 100_000
"""Columns of a line that goes to a file or another program: nothing is folded or cut off there."""


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int]) -> None:
    """Aligned columns; those in `numbers` are aligned on the right."""
    table = Table(box=None)
    for place, name in enumerate(header):
        table.add_column(name, justify="right" if place in numbers else "left")
    for row in rows:
        table.add_row(*row)
    # Names of languages are shown as they are: `[b]` is not markup and `:apple:` is not an emoji.
    width = None if sys.stdout.isatty() else NO_LIMIT
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as lines:  # printed by us: rich ends the program where nobody reads on
        console.print(table)
    click.echo(lines.get(), nl=False)


def print_notes(notes: Iterable[str]) -> None:
    for note in notes:
        say(f"note: {note}")


def print_warnings(warnings: Iterable[str]) -> None:
    for warning in warnings:
        say(f"warning: {warning}")


def print_written(path: Path | str, then: str = "") -> None:
    click.echo(f"written: {path}" + (f"  ({then})" if then else ""))


def print_counts(counts: Counts, path: Path) -> None:
    rows = []
    for row in counts.summary():
        numbers = (row.lines, row.bytes, row.distinct, row.total)
        rows.append([row.language, *("?" if number is None else f"{number:,}" for number in numbers)])
    print_table(["language", "lines", "bytes", "distinct", "pre-tokens"], rows, numbers=range(1, 5))
    print_notes(counts.notes)
    print_written(path)


def print_training(tokenizer: Tokenizer) -> None:
    """Which languages were served, and what each costs now; the most expensive first."""
    record: Mapping[str, Any] = tokenizer.record or {}
    languages = record.get("languages", {})
    costs = {language: text["cost"] for language, text in languages.items() if text.get("cost") is not None}
    method = record.get("method", {})
    on_train = method.get("on") == "train"
    unit = "train byte" if on_train else method.get("unit", "line")
    rows = [
        [
            language,
            f"{languages[language]['train']['bytes']:,}",
            f"{languages[language]['served']:,}",
            rounded(costs.get(language), 2),
            ", ".join(states(language, record)),
        ]
        for language in sorted(languages, key=lambda name: -costs.get(name, 0.0))
    ]
    print_table(["language", "train bytes", "served", f"tokens per {unit}", ""], rows, numbers=range(1, 4))
    click.echo(f"\n{tokenizer.vocab_size:,} tokens, {record.get('merges', 0):,} merges")
    if len(costs) > 1:
        worst, best = max(costs, key=costs.__getitem__), min(costs, key=costs.__getitem__)
        click.echo(
            f"{'train' if on_train else 'dev'} Gini {gini(list(costs.values())):.4f}; "
            f"worst {worst} ({costs[worst]:.2f}), best {best} ({costs[best]:.2f})"
        )
    print_extension(record.get("extension"))
    print_notes(record.get("notes", []))


def print_extension(extension: Mapping[str, Any] | None) -> None:
    """What a tokenizer that was continued gained, and what a model needs for it."""
    if not extension:
        return
    click.echo()
    costs = extension["costs"]
    rows = [
        [
            language,
            rounded(cost["before"], 2),
            rounded(cost["after"], 2),
            f"{cost['after'] / cost['before'] - 1:+.1%}",
        ]
        for language, cost in sorted(costs.items(), key=lambda item: -item[1]["before"])
    ]
    if rows:
        print_table(["extension", "cost before", "after", "change"], rows, numbers=range(1, 4))
    embedding = extension["embedding_rows"]
    before, after = embedding["before"], embedding["after"]
    padded = (
        f", or {embedding['padded']:,} as a multiple of {embedding['padded_to']}"
        if "padded" in embedding
        else ""
    )
    click.echo(
        f"all {extension['ids_unchanged']:,} ids of before stand for the same bytes (each was compared)"
    )
    click.echo(f"embedding rows to add: {after - before:,} ({before:,} before, {after:,} now{padded})")


def states(language: str, record: Mapping[str, Any]) -> list[str]:
    """["exhausted at 1,203", "starved"]"""
    found = []
    if (step := record["languages"][language].get("exhausted_at")) is not None:
        found.append(f"exhausted at {step:,}")
    return found + [state for state in ("stuck", "starved") if language in record.get(state, {})]


def print_scores(scores: Scores) -> None:
    """The overview, and what a reader of it has to know."""
    rows = []
    for row in scores.overview():
        found = row.gini
        rows.append(
            [
                row.tokenizer,
                rounded(found.value if found else None, 4),
                f"{found.low:.4f}-{found.high:.4f}" if found and found.low is not None else "-",
                rounded(row.compression_rate, 4),
                rounded(row.worst_best, 2),
                row.worst_language or "-",
            ]
        )
    header = ["tokenizer", "Gini", "95% interval", "lines/token", "worst/best", "worst language"]
    print_table(header, rows, numbers=range(1, 5))
    print_warnings(scores.warnings)


def rounded(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def print_costs(scores: Scores) -> None:
    """Tokens per line of every language under every tokenizer, the most expensive first."""
    costs = {name: scores.costs(name) for name in scores.tokenizers}
    baseline = costs[scores.tokenizers[0]]
    rows = [
        [f"{code}  {facts(code).name}", *(f"{costs[name][code]:.1f}" for name in costs)]
        for code in sorted(baseline, key=lambda code: -baseline[code])
    ]
    print_table(["tokens per line", *costs], rows, numbers=range(1, 1 + len(costs)))


def print_tax(rows: Iterable[Mapping[str, Any]]) -> None:
    shown = [
        [
            row["tokenizer"],
            row["language"],
            row["name"],
            f"{row['tokens_per_line']:.1f}",
            f"{row['premium']:.2f}x",
            f"{row['price']:.2f}",
            f"{row['extra']:+.2f}",
        ]
        for row in sorted(rows, key=lambda row: (row["tokenizer"], -row["price"]))
    ]
    header = ["tokenizer", "language", "name", "tokens per line", "premium", "price", "extra"]
    print_table(header, shown, numbers=range(3, 7))
