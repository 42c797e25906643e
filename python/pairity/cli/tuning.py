"""`tune`: from targets to a setting that meets them, and the curve it is on."""

from collections.abc import Sequence
from pathlib import Path

import click

from pairity.cli.drawing import train_and_dev
from pairity.cli.experiments import resumable, threads_option
from pairity.cli.options import command, output, resamples_option, text_column_option
from pairity.cli.printing import print_notes, print_table, print_warnings, print_written
from pairity.cli.values import names_in, several, tokenizers_in
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
@train_and_dev("Text or counts", dev_required=True)
@several(
    "--judge",
    "judge_sources",
    metavar="SOURCE...",
    help="Parallel text to evaluate on. Default: the odd dev lines steer the settings that are tried, the "
    "even dev lines evaluate them, and the chosen setting is trained once more with all dev lines.",
)
@click.option("--vocab-size", type=int, required=True, metavar="N", help="Total number of tokens.")
@several(
    "--target",
    "targets",
    parts_of=names_in,
    metavar="LIMIT...",
    help='"LANG<=+5%" (compared with classical BPE of this size), "LANG<=45" or "worst<=45" (tokens per '
    'line), "mean<=40", "every<=+10%", "gini<=0.01"; quote them, because < is special in a shell.',
)
@click.option(
    "--price",
    metavar="LANG",
    help="Show what this language pays. Default: the languages in the targets, or eng_Latn.",
)
@several(
    "--compare",
    parts_of=tokenizers_in,
    metavar="TOKENIZER...",
    help="Show existing tokenizers next to the curve, written as for eval.",
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
    help="How many times to halve the gap between a setting that meets the targets and one that does not.",
)
@click.option(
    "--largest",
    type=int,
    metavar="N",
    help=f"The largest vocabulary to try if no setting meets the targets. Default: {LARGEST} times "
    "--vocab-size.",
)
@resamples_option
@text_column_option
@output("Folder for all results; a killed run resumes in the same folder.", metavar="DIR")
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
    """Find a setting that meets targets for fairness and price, and train it.

    Trains and evaluates settings from classical BPE to equal costs. The result is a curve of Gini against compression
    and against the price of a language. Of the settings that meet all targets, it chooses the one with the most lines
    per token if any target is about fairness (gini, worst), and otherwise the one with the lowest Gini. If no setting
    meets them, it reports the closest one and a vocabulary size that would be enough, and the exit code is 1. Other
    targets in the same folder reuse finished trainings. For what a SOURCE can be, see pairity --help; for a TOKENIZER,
    pairity eval --help.
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
    curve = f"page: {output / PAGE}, all numbers: {output / 'curve.csv'}"
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
