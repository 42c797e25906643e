"""`pack` and `lm`: from text to packed ids, from packs to language models, and from models to one table."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pairity import lm
from pairity.cli.drawing import drawing_and_shuffling
from pairity.cli.options import Family, command, config, force, output, resamples_option
from pairity.cli.outputs import output_file
from pairity.cli.printing import print_table, print_written
from pairity.cli.values import arguments, several, tokenizers_in
from pairity.errors import PairityError
from pairity.formats.opening import split_name
from pairity.judging.opening import by_name
from pairity.lm.benchmarks import write_scores
from pairity.lm.documents import Choice
from pairity.lm.measuring import Comparison, Scored, check_ending, measure, write_table
from pairity.lm.recipe import Recipe, sizes
from pairity.progress import Progress
from pairity.text.sampling import Draw
from pairity.text.sources import at_commas


@command(
    "pack",
    """
    pairity pack corpus/ --tokenizer classical=a/ parity=b/ --parallel devtest/ -o packs/
    pairity pack corpus/ --tokenizer parity=b/ --temperature 3.3 --held-out 0.01 -o packs/
    """,
)
@arguments("sources", "SOURCE...")
@several(
    "--tokenizer",
    "tokenizers",
    parts_of=tokenizers_in,
    required=True,
    metavar="NAME=TOKENIZER...",
    help="Byte-level BPE tokenizers; each gets a folder with its name in the output folder.",
)
@several("--parallel", metavar="SOURCE...", help="Parallel text to measure bits per line on.")
@click.option(
    "--held-out",
    type=float,
    default=1000,
    show_default=True,
    metavar="N|SHARE",
    help="Documents of each language to hold out: an approximate number, or a share below 1.",
)
@drawing_and_shuffling
@click.option(
    "--end-token", metavar="TEXT", help="Special token after every document. Default: the EOS token."
)
@click.option("--text-column", default="text", show_default=True, help="Field or column that holds the text.")
@click.option("--threads", type=int, help="Number of threads. Default: one per core.")
@output("Folder for the packs; an interrupted run resumes there.", metavar="DIR")
@config
def pack_command(
    sources: Sequence[str],
    tokenizers: Sequence[str],
    parallel: Sequence[str],
    languages: Sequence[str],
    held_out: float,
    draw: Draw,
    end_token: str | None,
    text_column: str,
    threads: int | None,
    output: Path,
) -> None:
    """Pack the same text for several tokenizers, to train language models on.

    Documents are shuffled over all languages, and every tokenizer gets the same documents in the same order. For what
    a SOURCE can be, see pairity --help; for a TOKENIZER, pairity eval --help.
    """
    choice = Choice(draw=draw, held_out=held_out, seed=draw.seed, text_column=text_column)
    with Progress() as show:
        show.stage("packing", unit="B")
        packs = lm.pack(
            list(sources),
            by_name(map(named, tokenizers)),
            output,
            parallel=list(parallel) or None,
            languages=list(languages) or None,
            choice=choice,
            end_token=end_token,
            threads=threads,
            listen=show.bytes_read,
        )
    rows = [[name, f"{one.tokens:,}", f"{one.bytes / one.tokens:.3f}"] for name, one in packs.items()]
    print_table(["pack", "tokens", "bytes per token"], rows, numbers=(1, 2))
    print_written(
        f"{output}/", then=f"to train on one: pairity lm train {output / next(iter(packs))} -o model/"
    )


def named(text: str) -> tuple[str, str]:
    """ "parity=out/" -> ("parity", "out/")"""
    name, spec = split_name(text)
    return name or Path(spec).name, spec


lm_command = Family(
    "lm",
    help="Train small language models on packs, and measure how the tokenizer affects them.",
    examples="""
    pairity lm train packs/parity -o models/parity-1 --size 55M --seed 1
    pairity lm measure models/* -o bits.parquet
    pairity lm score results/*.json -o benchmarks.csv
    """,
    no_args_is_help=True,
)


@command(
    "train",
    """
    pairity lm train packs/parity -o models/parity-1 --size 55M --seed 1
    pairity lm train packs/parity -o models/parity-1 --size 55M --seed 1 --resume
    torchrun --nproc-per-node 8 --no-python pairity lm train packs/parity -o models/parity-1 --size 1B
    """,
)
@click.argument("pack", type=click.Path(path_type=Path))
@output("Folder for the model, in the format of transformers.", metavar="DIR")
@click.option(
    "--size", type=click.Choice(list(sizes())), default="55M", show_default=True, help="Size of the model."
)
@click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of the weights and of the order of the text."
)
@click.option(
    "--epochs",
    type=float,
    default=1.0,
    show_default=True,
    help="How many times to read the text: equal bytes.",
)
@click.option("--tokens", type=int, help="How many tokens to read, instead of --epochs: equal compute.")
@click.option("--batch", type=int, default=64, show_default=True, help="Sequences per step, over all GPUs.")
@click.option("--context", type=int, default=1024, show_default=True, help="Tokens per sequence.")
@click.option(
    "--micro-batch", type=int, help="Sequences that a GPU processes at once. Default: its share of the batch."
)
@click.option("--learning-rate", type=float, help="Peak learning rate. Default: depends on the size.")
@click.option(
    "--warmup",
    type=float,
    help="Share of the steps over which the learning rate rises. Default: depends on the size.",
)
@click.option(
    "--precision",
    type=click.Choice(["bf16", "float32"]),
    default="bf16",
    show_default=True,
    help="Precision of matrix products in training.",
)
@click.option("--compile/--no-compile", "compiled", default=True, help="Use torch.compile if there is a GPU.")
@click.option("--resume", is_flag=True, help="Continue a stopped run with the same settings.")
@force("the model in the output folder")
@config
def train_command(
    pack: Path, output: Path, compiled: bool, resume: bool, force: bool, **settings: Any
) -> None:
    """Train a language model on a pack: LLaMA's architecture and the paper's recipe.

    With the same --epochs, models of all tokenizers see the same bytes; with the same --tokens they get the same
    compute.
    """
    recipe = Recipe(compile=compiled, **settings)
    with Progress() as show:
        show.stage("training", unit="steps")
        about = lm.train(
            pack,
            output,
            recipe,
            resume=resume,
            force=force,
            listen=lambda at, of, what: show.at(at, what, of),
        )
    if int(os.environ.get("RANK", "0")):
        return  # only the first of several processes prints
    speed = about["speed"]
    bits = about["curve"][-1]["bits_per_byte"].values()
    click.echo(
        f"{about['parameters']:,} parameters, {about['tokens_seen']:,} tokens, {about['bytes_seen']:,} bytes"
    )
    click.echo(
        f"about {sum(bits) / len(bits):.3f} bits per byte of held-out text, the mean of {len(bits)} languages"
    )
    if speed["tokens_per_second"]:
        mfu = "" if speed["mfu"] is None else f", MFU {speed['mfu']:.1%}"
        click.echo(f"{speed['tokens_per_second']:,.0f} tokens/s{mfu}")
    print_written(f"{output}/", then=f"to measure it: pairity lm measure {output} -o bits.parquet")


@command(
    "measure",
    """
    pairity lm measure models/classical-1 models/parity-1 -o bits.parquet
    pairity lm measure models/* --baseline classical -o bits.csv
    """,
)
@arguments("models", "MODEL...", at_commas)
@output("The table, as .parquet or .csv.", metavar="FILE")
@click.option(
    "--pack", type=click.Path(path_type=Path), help="Pack with the text. Default: the path used in training."
)
@click.option(
    "--baseline", metavar="NAME", help="Tokenizer to compare with. Default: that of the first model."
)
@resamples_option
@force("an existing file")
@config
def measure_command(
    models: Sequence[str], output: Path, pack: Path | None, baseline: str | None, resamples: int, force: bool
) -> None:
    """Measure the bits that models need for held-out and parallel text, language by language.

    One row per model, text, measure and language: bits per byte, and per line of parallel text, with 95% intervals.
    A report shows the table next to what each language costs: pairity report --model-scores.
    """
    check_ending(output)
    with output_file(output, force=force):
        scored = lm.measure_models([Path(model) for model in models], pack=pack, baseline=baseline)
        write_table(measure(scored, resamples=resamples), output)
    for text in dict.fromkeys(one.text for one in scored):
        print_comparison([one for one in scored if one.text == text], baseline, resamples)
    print_written(output)


def print_comparison(scored: Sequence[Scored], baseline: str | None, resamples: int) -> None:
    parallel = scored[0].text == "parallel"
    unit = "line" if parallel else "byte"
    found = Comparison(scored, unit=unit, resamples=resamples)
    against = baseline or scored[0].tokenizer
    several_languages = len(found.languages) > 1
    rows = []
    for name in found.costs:
        mean = found.overall(name, "mean")
        change = found.overall(name, "mean", against) if name != against else None
        rows.append(
            [
                name,
                f"{mean.value:.3f}",
                "[{:.3f}, {:.3f}]".format(*mean.interval),
                "" if change is None else "{:+.3f} [{:+.3f}, {:+.3f}]".format(change.value, *change.interval),
                f"{found.overall(name, 'spread').value:.3f}",
                f"{found.overall(name, 'gini').value:.4f}" if several_languages else "",
                found.worst_language(name),
            ]
        )
    header = [
        f"bits per {unit}, {scored[0].text}",
        "mean",
        "95% interval",
        f"against {against}",
        "spread",
        "Gini",
    ]
    print_table([*header, "worst language"], rows, numbers=range(1, 6))
    click.echo()


@command(
    "score",
    """
    pairity lm score classical=results/classical.json parity=results/parity.json -o benchmarks.csv
    pairity lm score results/*.json -o benchmarks.parquet
    """,
)
@arguments("results", "[NAME=]RESULTS...")
@output("The table, as .parquet or .csv.", metavar="FILE")
@force("an existing file")
def score_command(results: Sequence[str], output: Path, force: bool) -> None:
    """Average the results of benchmarks per language, with standard errors and random baselines.

    RESULTS are the .json files that lighteval and lm-evaluation-harness write. NAME is the name of the tokenizer; the
    default is the file name. A model may have several files: parity=a.json parity=b.json. A report shows the table next
    to what each language costs: pairity report --model-scores.
    """
    check_ending(output)
    with output_file(output, force=force):
        scores = lm.score(files_by_name(results))
        write_scores(scores, output)
    names = list(dict.fromkeys(one.model for one in scores))
    cells = {(one.model, one.language): one for one in scores}
    rows = []
    for language in dict.fromkeys(one.language for one in scores):
        found = [cells.get((name, language)) for name in names]
        random = next(one.random for one in found if one)
        shown = [f"{100 * one.score:.2f} ± {100 * one.standard_error:.2f}" if one else "" for one in found]
        rows.append([language, *shown, f"{100 * random:.2f}"])
    print_table(["accuracy, %", *names, "random"], rows, numbers=range(1, 2 + len(names)))
    print_written(output)


def files_by_name(results: Sequence[str]) -> dict[str, list[str]]:
    """["parity=a.json", "parity=b.json", "x/old.json"] -> {"parity": ["a.json", "b.json"], "old": ["x/old.json"]}"""
    found: dict[str, list[str]] = {}
    for text in results:
        given, file = split_name(text)
        name = given or Path(file).stem
        if name in found and not given:
            raise PairityError(f"{found[name][0]} and {file} have the same name: write NAME={file}.")
        found.setdefault(name, []).extend(at_commas(file))
    return found


for one in (train_command, measure_command, score_command):
    lm_command.add_command(one)
