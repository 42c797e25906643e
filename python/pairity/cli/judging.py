"""`eval`, `report` and `tax`: from tokenizers to scores, and from scores to a page or prices."""

import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from pairity.cli.options import OutputPath, command, config, force, output, resamples_option
from pairity.cli.outputs import output_file, output_folder
from pairity.cli.printing import print_scores, print_tax, print_written
from pairity.cli.values import arguments, names_in, several, tokenizers_in
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.formats.opening import TOKENIZERS, split_name
from pairity.judging.evaluation import LeakWarning, LossWarning, evaluate
from pairity.judging.metrics import FAMILIES
from pairity.judging.opening import by_name, open_tokenizer
from pairity.judging.scores import OF_THE_FOLDER
from pairity.judging.tax import tax
from pairity.progress import Progress
from pairity.reporting import report

tokenizers_argument = arguments("tokenizers", "TOKENIZER...", tokenizers_in)
data_option = several("--data", required=True, metavar="SOURCE...", help="Parallel text to evaluate on.")
reference_option = click.option(
    "--reference",
    default="eng_Latn",
    show_default=True,
    metavar="LANG",
    help="Language that premiums are measured against.",
)

EVALUATE = f"""Evaluate tokenizers on parallel text: one tidy table, with 95% intervals.

A TOKENIZER is {TOKENIZERS}. Write NAME=TOKENIZER to choose the name that is shown.
For what a SOURCE can be, see pairity --help.
"""


@command(
    "eval",
    """
    pairity eval parity=tokenizer/ gpt-4o=tiktoken:o200k_base --data devtest/ -o scores/
    pairity eval ours=tokenizer/ llama=llama/tokenizer.json --data devtest/ --baseline llama -o scores/
    pairity eval tokenizer/ --data devtest/ --language eng_Latn,tam_Taml --metric fairness -o scores/
    pairity eval parity=tokenizer/ classical=classical/ --data devtest/ --sizes 8000,16000,32000 -o scores/
    """,
    EVALUATE,
)
@tokenizers_argument
@data_option
@several(
    "--language",
    "languages",
    parts_of=names_in,
    metavar="LANG...",
    help="Evaluate only these. Default: all in the data.",
)
@several(
    "--metric",
    "metrics",
    parts_of=names_in,
    metavar="METRIC...",
    help=f"Metrics, or families of metrics: {', '.join(FAMILIES)}. Default: all.",
)
@click.option(
    "--baseline", metavar="NAME", help="Measure changes against this tokenizer. Default: the last one given."
)
@several(
    "--sizes",
    parts_of=names_in,
    metavar="SIZE...",
    help="Evaluate pairity tokenizers at each of these vocabulary sizes, truncated from the trained one "
    "and shown as NAME@SIZE.",
)
@reference_option
@click.option(
    "--morph", type=click.Path(path_type=Path), metavar="DIR", help="Folder with the MorphScore data."
)
@resamples_option
@click.option("--not-parallel", is_flag=True, help="Do not compare lines across languages.")
@output("Folder for the scores.", metavar="DIR")
@force("the scores in the output folder")
@config
def eval_command(
    tokenizers: Sequence[str],
    data: Sequence[str],
    languages: Sequence[str],
    metrics: Sequence[str],
    baseline: str | None,
    sizes: Sequence[str],
    reference: str,
    morph: Path | None,
    resamples: int,
    not_parallel: bool,
    output: Path,
    force: bool,
) -> None:
    """(The help text is EVALUATE.)"""
    with output_folder(output, OF_THE_FOLDER, what="scores", force=force):
        opened = by_name((one.name, one) for one in map(open_tokenizer, tokenizers))
        with Progress() as show, warnings.catch_warnings():
            for told in (LeakWarning, LossWarning):  # printed with the scores, which contain them
                warnings.simplefilter("ignore", told)
            show.stage("encoding", unit="texts")
            scores = evaluate(
                opened,
                list(data),
                languages=list(languages) or None,
                metrics=list(metrics) or None,
                baseline=baseline or (list(opened)[-1] if len(opened) > 1 else None),
                sizes=[whole_number(size) for size in sizes] or None,
                reference=reference,
                morph=morph,
                resamples=resamples,
                parallel=not not_parallel,
                progress=lambda what, done, total: show.at(done, what, total),
            )
        scores.save(output, force=force)
    print_scores(scores)
    click.echo()
    print_written(f"{output}/", then=f"for a page: pairity report {output} -o report.html")


def whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise PairityError(
            f"--sizes has {text!r}: give vocabulary sizes as numbers, such as 8000,16000,32000."
        ) from None


@command(
    "report",
    """
    pairity report scores/ -o report.html
    pairity report scores/ --tokenizer parity=tokenizer/ --sentences test/ -o report.html
    pairity report scores/ --model-scores bits.csv -o report.html
    """,
)
@click.argument("scores", type=click.Path(path_type=Path))
@output("The page.", default="report.html", metavar="FILE")
@several(
    "--tokenizer",
    "tokenizers",
    parts_of=tokenizers_in,
    metavar="NAME=TOKENIZER...",
    help="Show how these were trained and how they split sentences.",
)
@several("--sentences", metavar="SOURCE...", help="Text to show split into tokens.")
@click.option(
    "--model-scores",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Show how well language models know each language next to what it costs: a table (.csv, .tsv, "
    ".parquet) with the columns tokenizer, language, measure and value, from pairity lm measure or "
    "from elsewhere. For tokenizers from eval --sizes, use the name without @SIZE; the page shows the "
    "largest size.",
)
@click.option(
    "--figures",
    type=OutputPath(path_type=Path),
    metavar="DIR",
    help="Folder for the figures (SVG, PNG, PDF, CSV) and tables.",
)
@click.option(
    "--title", default="Tokenizers, language by language", show_default=True, help="Title of the page."
)
@force("an existing page, and existing figures")
def report_command(
    scores: Path,
    output: Path,
    tokenizers: Sequence[str],
    sentences: Sequence[str],
    model_scores: Path | None,
    figures: Path | None,
    title: str,
    force: bool,
) -> None:
    """Turn scores into one self-contained HTML page.

    SCORES is the folder that pairity eval wrote. For what a SOURCE can be, see pairity --help.
    """
    check_extras()
    with ExitStack() as held:
        held.enter_context(output_file(output, force=force))
        if figures is not None:
            held.enter_context(
                output_folder(figures, ("summary.md",), what="figures", force=force, alone=True)
            )
        written = report(
            scores,
            output,
            tokenizers=by_name(map(name_and_spec, tokenizers)),
            sentences=list(sentences) or None,
            model_scores=model_scores,
            figures_dir=figures,
            title=title,
        )
    print_written(written)


def check_extras() -> None:
    """Refuse to start without the packages for a page and its figures."""
    for module in ("jinja2", "markupsafe", "vl_convert"):
        load_extra(module, "a report")


def name_and_spec(text: str) -> tuple[str, str]:
    """ "parity=out/" -> ("parity", "out/"); "out/" -> ("out", "out/"), the name that `eval` gives it"""
    name, spec = split_name(text)
    return name or open_tokenizer(spec).name, spec


@command(
    "tax",
    """
    pairity tax tokenizer/ --data devtest/ --price 2.50
    pairity tax gpt-4o=tiktoken:o200k_base --data devtest/ --price 2.50 --reference deu_Latn
    """,
)
@tokenizers_argument
@data_option
@click.option("--price", type=float, required=True, help="Price of a million tokens, in any currency.")
@reference_option
def tax_command(tokenizers: Sequence[str], data: Sequence[str], price: float, reference: str) -> None:
    """Show what the same content costs in each language.

    For what a SOURCE can be, see pairity --help; for a TOKENIZER, pairity eval --help.
    """
    table = tax(list(tokenizers), price, data=list(data), reference=reference)
    click.echo(
        f"the price of content that takes a million tokens in {reference}, at {price:.2f} per million tokens"
    )
    print_tax(table.to_pylist())
