"""`experiment` and `sweep`: from grids of settings to tokenizers, scores, one table and one page."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pairity.cli.drawing import train_and_dev
from pairity.cli.options import command, output, resamples_option, text_column_option
from pairity.cli.printing import print_notes, print_table, print_warnings, print_written
from pairity.cli.values import names_in, pretokenizers_in, several, sizes_in
from pairity.errors import PairityError
from pairity.experiments.experiment import KINDS, METHODS, Experiment, is_steered
from pairity.experiments.reading import read
from pairity.experiments.running import Result, run
from pairity.reporting.numbers import write, write_interval

threads_option = click.option("--threads", type=int, help="Number of threads. Default: one per core.")


@command(
    "experiment",
    """
    pairity experiment grid.toml -o results/
    """,
)
@click.argument("file", type=click.Path(path_type=Path))
@output("Folder for all results; a killed experiment resumes in the same folder.", metavar="DIR")
@threads_option
def experiment_command(file: Path, output: Path, threads: int | None) -> None:
    """Run a grid of settings: tokenizers, scores, one table and one page.

    FILE is TOML: train, dev, [judge], [grid] and a [[run]] for each kind of tokenizer. Finished parts in the output
    folder that were made from the same settings and text are reused.
    """
    carry_out(read(file), output, threads)


@command(
    "sweep",
    """
    pairity sweep --train train/ --dev dev/ --data devtest/ --vocab-size 32000 --window 50,100,150,200 -o sweep/
    pairity sweep --train train/ --dev dev/ --data devtest/ --vocab-size 8000,16000 --global-merges 0,0.5 -o sweep/
    pairity sweep --train train/ --dev dev/ --data devtest/ --vocab-size 32000 --method fair --beta 16,64,150 -o sweep/
    """,
)
@train_and_dev()
@several("--data", required=True, metavar="SOURCE...", help="Parallel text to evaluate on.")
@several("--vocab-size", parts_of=sizes_in, required=True, metavar="N...", help="Total number of tokens.")
@several("--method", parts_of=names_in, metavar="METHOD...", help=f"{', '.join(METHODS)}. Default: parity.")
@several(
    "--window",
    parts_of=names_in,
    metavar="N...",
    help="Limit how often one language is served within N merges.",
)
@several(
    "--alpha",
    parts_of=names_in,
    metavar="A...",
    help="With --window: the limit, as a multiple of an equal share.",
)
@several(
    "--joint",
    parts_of=names_in,
    metavar="SHARE...",
    help="Consider pairs with at least SHARE of the top pair's count, and take the one that helps all "
    "languages most.",
)
@several(
    "--beta",
    parts_of=names_in,
    metavar="B...",
    help="With --method fair: how much extra weight expensive languages get.",
)
@several(
    "--global-merges",
    parts_of=names_in,
    metavar="N|SHARE...",
    help="Start with this many classical merges, or this share of all merges.",
)
@several(
    "--pretokenizer",
    parts_of=pretokenizers_in,
    metavar="NAME...",
    help="gpt4o, gpt4, qwen35, gpt2, whitespace, none, or a regex.",
)
@several("--dev-lines", parts_of=names_in, metavar="N...", help="Use only the first N lines of the dev text.")
@resamples_option
@text_column_option
@output("Folder for all results; a killed sweep resumes in the same folder.", metavar="DIR")
@threads_option
def sweep_command(
    train_sources: Sequence[str],
    dev_sources: Sequence[str],
    data: Sequence[str],
    pretokenizer: Sequence[str],
    method: Sequence[str],
    resamples: int,
    text_column: str,
    output: Path,
    threads: int | None,
    **axes: Sequence[str],
) -> None:
    """Try several values of some settings, and plot fairness and compression against them.

    Every option with several values is an axis, and every combination is a tokenizer. For what a SOURCE can be, see
    pairity --help.
    """
    measuring = [one for one in method or ("parity",) if is_steered(one)]
    if not dev_sources and measuring:
        raise PairityError(
            f"sweep: method {measuring[0]} compares languages on parallel text: pass it with --dev, or "
            "use --method classical."
        )
    settings: dict[str, Any] = {"pretokenizer": list(pretokenizer), "method": list(method)}
    settings |= {key: [number_in(key, word) for word in words] for key, words in axes.items()}
    # In a fixed order, whatever that of the options: it is part of the names of rows.
    given = {key: settings[key] for key in KINDS if settings.get(key)}
    most = max(given, key=lambda key: (len(given[key]), key != "vocab_size", key != "method"))
    experiment = Experiment(
        title="Sweep",
        train=list(train_sources),
        dev=list(dev_sources) or None,
        judge={"test": list(data)},
        grid={key: values if len(values) > 1 else values[0] for key, values in given.items()},
        evaluation={"resamples": resamples},
        text_column=text_column,
        chart=most if len(given[most]) > 1 else None,
        where="sweep",
        from_options=True,
    )
    carry_out(experiment, output, threads)


def number_in(key: str, word: str) -> int | float:
    """ "100" -> 100, "0.5" -> 0.5: only a share has a decimal point."""
    try:
        return float(word) if "." in word else int(word)
    except ValueError:
        raise PairityError(
            f"--{key.replace('_', '-')} has {word!r}: give {KINDS[key][1]}; several with commas between them."
        ) from None


def carry_out(experiment: Experiment, output: Path, threads: int | None) -> None:
    with resumable(output):
        result = run(experiment, output, threads=threads)
    print_result(result)
    print_written(f"{output}/", then=f"page: {output / 'report.html'}, all numbers: {output / 'table.csv'}")


@contextmanager
def resumable(output: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.add_note(f"finished parts are in {output}; run the same command again to continue")
        raise


def print_result(result: Result) -> None:
    """A line per tokenizer and text, with its set of languages if there are several."""
    several = len({row.languages for row in result.rows}) > 1
    rows = [
        [
            row.name,
            row.text,
            *([row.languages] if several else []),
            write("gini", row.gini),
            write_interval("gini", row.gini_low, row.gini_high),
            write("cost", row.tokens_per_line),
            row.worst_language or "",
            write("cost", row.worst_cost),
        ]
        for row in result.rows
    ]
    header = ["tokenizer", "text", *(["languages"] if several else []), "Gini", "95% interval", "tokens/line"]
    first = header.index("Gini")
    print_table(
        [*header, "worst language", "its tokens/line"],
        rows,
        numbers=(first, first + 1, first + 2, first + 4),
    )
    print_notes(result.notes)
    print_warnings(result.warnings)
    click.echo()
