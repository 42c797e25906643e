"""Output for people: results on standard output, notes and warnings on standard error."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from pairity.cli.notes import say
from pairity.counts.counts import Counts
from pairity.counts.pruning import pruning_notes
from pairity.judging.metrics import gini
from pairity.judging.scores import Scores
from pairity.languages import language as facts
from pairity.reporting.numbers import Form, write, write_interval
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.run import Extension, LanguageOfRun, run_of

NO_LIMIT = 100_000
"""The width of output to a file or another program, where nothing is folded."""


def print_table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int]) -> None:
    """Aligned columns, those in `numbers` on the right. Where a terminal is too narrow, cells fold; none is cut off."""
    rows = list(rows)
    # Names of languages are shown as they are: `[b]` is not markup and `:apple:` is not an emoji.
    width = None if sys.stdout.isatty() else NO_LIMIT
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    table = Table(box=None)
    widths: list[int] | list[None] = [None] * len(header)
    full = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    if sum(full) + 2 * len(header) > console.width:
        header = [name.replace("/", "/\n") for name in header]
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
        widths = folded(list(zip(header, *rows, strict=True)), console.width - len(header))
    for place, (name, fixed) in enumerate(zip(header, widths, strict=True)):
        justify: Literal["right", "left"] = "right" if place in numbers else "left"
        table.add_column(name, justify=justify, overflow="fold", width=fixed)
    for row in rows:
        table.add_row(*row)
    with console.capture() as lines:  # rich itself would end the program when the reader closes the pipe
        console.print(table)
    click.echo(lines.get(), nl=False)


def folded(columns: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths that add up to `room`: whole words in every column, then whole cells from the left on.

    Where even the words do not fit, the widest columns give way, so numbers stay whole.
    """
    widths = [
        max((cell_len(word) for cell in column for word in cell.split()), default=1) for column in columns
    ]
    while sum(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    for place, column in enumerate(columns):
        full = max(cell_len(line) for cell in column for line in cell.split("\n"))
        widths[place] += max(0, min(full - widths[place], room - sum(widths)))
    return widths


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
        numbers = [row.lines, row.bytes, row.distinct, row.total]
        if counts.drawn:
            given = counts.drawn.given[row.language]
            numbers[1:2] = [given.of_lines, given.bytes, given.of_bytes]
        rows.append([row.language, *("?" if number is None else f"{number:,}" for number in numbers)])
    sizes = ["lines", "of", "bytes", "of"] if counts.drawn else ["lines", "bytes"]
    print_table(["language", *sizes, "distinct", "pre-tokens"], rows, numbers=range(1, 7))
    print_notes([*counts.notes, *pruning_notes(counts.summary())])
    print_written(path)


def print_training(tokenizer: Tokenizer) -> None:
    """Which languages were served, and what each costs now; the most expensive first."""
    run = run_of(tokenizer.record)
    unit = "line-equivalent" if run.on == "train" and run.unit == "line" else run.unit
    apart = [one for one in run.languages if one.name in run.set_apart]
    compared = [one for one in run.languages if one not in apart]
    print_languages(compared, unit)
    if apart:
        click.echo("\nwith a ratio, measured on training text:")
        print_languages(apart, "line-equivalent")
    merges = "" if run.merges is None else f", {run.merges:,} merges"
    click.echo(f"\n{tokenizer.vocab_size:,} tokens{merges}")
    costs = {one.name: one.cost for one in compared if one.cost is not None}
    if len(costs) > 1:
        worst, best = max(costs, key=costs.__getitem__), min(costs, key=costs.__getitem__)
        click.echo(
            f"{run.on} Gini {gini(list(costs.values())):.4f}; "
            f"worst {worst} ({costs[worst]:.2f}), best {best} ({costs[best]:.2f})"
        )
    if run.extension is not None:
        print_extension(run.extension)
    print_notes(run.notes)


def print_languages(languages: Sequence[LanguageOfRun], unit: str) -> None:
    rows = [
        [
            one.name,
            whole(one.train_bytes),
            whole(one.served),
            write("cost", one.cost),
            ", ".join([*drawn_from(one), *line_equivalent(one), *superwords(one), *one.states]),
        ]
        for one in languages
    ]
    print_table(["language", "train bytes", "served", f"tokens per {unit}", ""], rows, numbers=range(1, 4))


def drawn_from(language: LanguageOfRun) -> list[str]:
    """["sampled from 130,411 bytes"]"""
    return [] if language.of_bytes is None else [f"sampled from {language.of_bytes:,} bytes"]


def superwords(language: LanguageOfRun) -> list[str]:
    """["12.4% superwords"]"""
    return [] if language.superwords is None else [f"{language.superwords:.1%} superwords"]


def line_equivalent(language: LanguageOfRun) -> list[str]:
    """["a line-equivalent is 130.4 train bytes (a dev line of eng_Latn)"]"""
    if language.line_equivalent is None:
        return []
    source = "" if language.copied_from is None else f" (a dev line of {language.copied_from})"
    if language.estimated_lines is not None:
        by = f"{language.estimated_lines:,} dev lines" if language.estimated_lines else "its training text"
        source = f" (estimated from {by})"
    return [f"a line-equivalent is {language.line_equivalent:,.1f} train bytes{source}"]


CHANGE = Form(1, percent=True, signed=True)


def print_extension(extension: Extension) -> None:
    click.echo()
    rows = [
        [language, write("cost", before), write("cost", after), CHANGE.write(after / before - 1)]
        for language, before, after in extension.costs
    ]
    if rows:
        print_table(["extension", "cost before", "after", "change"], rows, numbers=range(1, 4))
    before, after = extension.rows_before, extension.rows_after
    padded = (
        ""
        if extension.padded is None
        else f", or {extension.padded:,} as a multiple of {extension.padded_to}"
    )
    click.echo(
        f"all {extension.ids_unchanged:,} old ids still stand for the same bytes (each was compared)\n"
        f"embedding rows to add: {after - before:,} ({before:,} before, {after:,} now{padded})"
    )


def print_scores(scores: Scores) -> None:
    """The overview, and the warnings about it."""
    rows = []
    overview = scores.overview()
    lossy = any(row.lost_lines for row in overview)
    for row in overview:
        found = row.gini
        rows.append(
            [
                row.tokenizer,
                write("gini", found.value if found else None),
                write_interval("gini", found.low, found.high) if found else "",
                write("compression_rate_line", row.compression_rate),
                write("worst_best", row.worst_best),
                row.worst_language or "",
                *([f"loses text in {row.lost_lines:,} lines" if row.lost_lines else ""] if lossy else []),
            ]
        )
    header = ["tokenizer", "Gini", "95% interval", "lines/token", "worst/best", "worst language"]
    print_table([*header, *([""] if lossy else [])], rows, numbers=range(1, 5))
    print_warnings(scores.warnings)


def whole(value: int | None) -> str:
    return "\N{EN DASH}" if value is None else f"{value:,}"


def print_costs(scores: Scores) -> None:
    """Tokens per line of every language under every tokenizer, the most expensive first."""
    costs = {name: scores.costs(name) for name in scores.tokenizers}
    baseline = costs[scores.tokenizers[0]]
    rows = [
        [f"{code}  {facts(code).name}", *(write("cost", costs[name][code]) for name in costs)]
        for code in sorted(baseline, key=lambda code: -baseline[code])
    ]
    print_table(["tokens per line", *costs], rows, numbers=range(1, 1 + len(costs)))


def print_tax(rows: Sequence[Mapping[str, Any]]) -> None:
    noted = any(row["note"] for row in rows)
    shown = [
        [
            row["tokenizer"],
            row["language"],
            row["name"],
            write("cost", row["tokens_per_line"]),
            f"{write('premium', row['premium'])}x",
            Form(2).write(row["price"]),
            Form(2, signed=True).write(row["extra"]),
            *([row["note"] or ""] if noted else []),
        ]
        for row in sorted(rows, key=lambda row: (row["tokenizer"], -row["price"]))
    ]
    header = ["tokenizer", "language", "name", "tokens per line", "premium", "price", "extra"]
    print_table([*header, *([""] if noted else [])], shown, numbers=range(3, 7))
