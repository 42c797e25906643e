"""`tune`: targets to the setting that keeps to them, and the curve that it lies on."""

from collections.abc import Sequence
from pathlib import Path

import click

from pairity.cli.experiments import resumable, threads_option
from pairity.cli.options import command, output, resamples_option, several, text_column_option
from pairity.cli.printing import print_notes, print_table, print_warnings, print_written
from pairity.errors import PairityError
from pairity.experiments.tuned import PAGE, TOKENIZER, Tuned
from pairity.experiments.tuning import LARGEST, tune
from pairity.reporting.numbers import write
from pairity.reporting.pareto import CHANGE, OTHER, Point


@command(
    "tune",
    """
    pairity tune --train train/ --dev dev/ --vocab-size 32000 --target "eng_Latn<=+5%" -o tuned/
    pairity tune --train counts/ --dev dev/ --judge devtest/ --vocab-size 32000 --target "gini<=0.01" -o tuned/
    pairity tune --train counts/ --dev dev/ --vocab-size 32000 --price eng_Latn --compare tiktoken:o200k_base -o tuned/
    """,
)
@several("--train", "train_sources", required=True, metavar="SOURCE...", help="Text or counts to learn from.")
@several("--dev", "dev_sources", required=True, metavar="SOURCE...", help="Parallel text that steers.")
@several(
    "--judge",
    "judge_sources",
    metavar="SOURCE...",
    help="Parallel text that all numbers are from. Default: the odd lines of dev steer what is tried, its even lines "
    "judge it, and what is chosen is trained once more with all of dev.",
)
@click.option("--vocab-size", type=int, required=True, metavar="N", help="Total number of tokens.")
@several(
    "--target",
    "targets",
    metavar="LIMIT...",
    help='"LANG<=+5%" (against classical BPE of this size), "LANG<=45" or "worst<=45" (tokens per line), "mean<=40", '
    '"every<=+10%", "gini<=0.01"; with quotes, since < means something to a shell.',
)
@click.option(
    "--price",
    metavar="LANG",
    help="Show what this language pays. Default: those of the targets, or eng_Latn.",
)
@several(
    "--compare",
    metavar="TOKENIZER...",
    help="Show tokenizers that exist beside the curve, as eval takes them.",
)
@click.option(
    "--pretokenizer", metavar="NAME", help="gpt4o, gpt4, qwen35, gpt2, whitespace, none, or a regex."
)
@click.option(
    "--steps",
    type=int,
    default=4,
    show_default=True,
    metavar="N",
    help="How often to halve the gap in which the targets begin to be met.",
)
@click.option(
    "--largest",
    type=int,
    metavar="N",
    help=f"If no setting meets the targets, the largest vocabulary to look at. Default: {LARGEST} times --vocab-size.",
)
@resamples_option
@text_column_option
@output("Folder for everything; a killed run goes on in the same folder.", metavar="DIR")
@threads_option
def tune_command(
    train_sources: Sequence[str],
    dev_sources: Sequence[str],
    judge_sources: Sequence[str],
    vocab_size: int,
    targets: Sequence[str],
    price: str | None,
    compare: Sequence[str],
    pretokenizer: str | None,
    steps: int,
    largest: int | None,
    resamples: int,
    text_column: str,
    output: Path,
    threads: int | None,
) -> None:
    """Find the setting that meets targets of fairness and price, and train it.

    Settings from classical BPE to equal costs are trained and judged: a curve of Gini against compression, and
    against the price of a language. Of those that meet all targets, the one with the most lines per token is chosen
    if a target is about fairness (gini, worst), and if not the one with the lowest Gini. If none does, you hear which
    is closest and which vocabulary size would do, and the exit code is 1. Other targets in the same folder reuse what
    was trained. What a SOURCE may be: pairity --help; a TOKENIZER: pairity eval --help.
    """
    with resumable(output):
        tuned = tune(
            list(train_sources),
            list(dev_sources),
            output,
            vocab_size=vocab_size,
            targets=targets,
            judge=list(judge_sources) or None,
            compare=compare,
            price=price,
            pretokenizer=pretokenizer,
            text_column=text_column,
            steps=steps,
            largest=largest,
            resamples=resamples,
            threads=threads,
        )
    print_tuned(tuned)
    curve = f"the page: {output / PAGE}, all numbers: {output / 'curve.csv'}"
    print_written(f"{output}/", then=curve)
    if tuned.chosen is not None:
        print_written(f"{output / TOKENIZER}/", then=tuned.chosen.options)
    elif tuned.targets:
        raise PairityError(tuned.verdict)


def print_tuned(tuned: Tuned) -> None:
    """A line per setting, from classical to equal costs, and then the tokenizers to compare with."""
    prices = [name for code in tuned.priced for name in (code, "change")]
    header = ["setting", "Gini", "lines/token", "worst language", "its tokens/line", *prices, "curve"]
    rows = [row_of(point, tuned) for point in tuned.points]
    print_table(
        [*header, *(["targets"] if tuned.targets else [])],
        rows,
        numbers=(1, 2, 4, *range(5, 5 + len(prices))),
    )
    print_notes(tuned.notes)
    print_warnings(tuned.warnings)
    click.echo()
    if tuned.chosen is not None:
        click.echo(f"chosen: {tuned.verdict}")


def row_of(point: Point, tuned: Tuned) -> list[str]:
    other = point.kind == OTHER
    size = f" ({point.tokens:,} tokens)" if other and point.tokens else ""
    prices = []
    for code in tuned.priced:
        change = point.changes.get(code)
        prices += [write("cost", point.costs.get(code)), "" if change is None else CHANGE.write(change)]
    met = "chosen" if point.chosen else f"misses {', '.join(point.misses)}" if point.misses else "met"
    return [
        f"{point.name}{size}",
        write("gini", point.gini),
        write("compression_rate_line", point.rate),
        point.worst_language or "",
        write("cost", point.worst_cost),
        *prices,
        "yes" if point.on_curve else "",
        *(["" if other else met] if tuned.targets else []),
    ]
