"""`count` and `merge`: from text to counts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pairity.cli.options import command, config, cutting, force, output, values_in
from pairity.cli.outputs import output_file
from pairity.cli.printing import print_counts
from pairity.counts.counting import Engine, count
from pairity.counts.counts import Counts
from pairity.counts.parquet import check_name
from pairity.errors import PairityError
from pairity.progress import Progress
from pairity.spark import check_threads, on, start
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER
from pairity.text.sources import resolve


@command(
    "count",
    """
    pairity count corpus/ -o counts.parquet
    pairity count 'eng_Latn=en/*.jsonl.zst' code=src.parquet --text-column content -o counts.parquet
    pairity count corpus/ --shard 3 --of 16 -o part-3.parquet
    pairity count corpus/ --engine spark --master spark://host:7077 -o counts.parquet
    """,
)
@click.argument("sources", nargs=-1, required=True, callback=values_in, metavar="SOURCE...")
@output("The counts, as a .parquet file.", metavar="FILE")
@click.option(
    "--split",
    type=click.Choice(["train", "dev"]),
    default="train",
    show_default=True,
    help="What the text is for: to learn from (train), or to compare languages on (dev).",
)
@click.option(
    "--shard", type=int, metavar="I", help="Count part I of the files only; each job has another I."
)
@click.option(
    "--of", type=int, metavar="N", help="How many parts there are, from 1 to N; merge puts them together."
)
@click.option(
    "--engine",
    type=click.Choice(["pairity", "spark"]),
    default="pairity",
    show_default=True,
    help="What runs it: this process, or Apache Spark.",
)
@click.option("--master", metavar="URL", help="Where Spark runs. Default: local[*,4], this machine.")
@force("an existing file")
@cutting()
@config
def count_command(
    sources: Sequence[str],
    output: Path,
    split: Any,
    force: bool,
    pretokenizer: str | None,
    single_digits: bool,
    normalize: Any,
    text_column: str,
    replace_invalid: bool,
    threads: int | None,
    shard: int | None,
    of: int | None,
    engine: str,
    master: str | None,
) -> None:
    """Count pre-tokens once, so that training can start from counts.

    What a SOURCE may be: pairity --help.
    """
    check_name(output)
    part = shard_in(shard, of)
    found = resolve(list(sources))
    with output_file(output, force=force), engine_in(engine, master, threads) as spark, Progress() as show:
        show.stage("counting", unit="B")
        counts = count(
            found,
            pretokenizer=pretokenizer or DEFAULT_PRETOKENIZER,
            digits=single_digits,
            normalize=normalize,
            split=split,
            text_column=text_column,
            errors="replace" if replace_invalid else "strict",
            threads=threads,
            count_words=split == "dev",
            progress=show.bytes_read,
            shard=part,
            engine=spark,
        )
        counts.save(output)
    print_counts(counts, output)


def shard_in(shard: int | None, of: int | None) -> tuple[int, int] | None:
    """--shard 3 --of 16 -> (3, 16)"""
    if shard is None and of is None:
        return None
    if of is None:
        raise PairityError(f"shard is {shard}, but of how many is not said: add --of.")
    if shard is None:
        raise PairityError(f"of is {of}, but which of them is not said: add --shard, from 1 to {of}.")
    return shard, of


@contextmanager
def engine_in(name: str, master: str | None, threads: int | None) -> Iterator[Engine | None]:
    """--engine spark --master local[2,4] -> an engine, as long as Spark runs"""
    if name == "spark":
        check_threads(threads)
        with start(master or "local[*,4]") as session:
            yield on(session)
        return
    if master is not None:
        raise PairityError(f"master is {master!r}, but the engine is {name}: add --engine spark.")
    yield None


@command("merge", "pairity merge part-*.parquet -o counts.parquet")
@click.argument("counts", nargs=-1, required=True, callback=values_in, metavar="COUNTS...")
@output("The sum, as a .parquet file.", metavar="FILE")
@force("an existing file")
def merge_command(counts: Sequence[str], output: Path, force: bool) -> None:
    """Add up counts files into one."""
    check_name(output)
    with output_file(output, force=force):
        merged = Counts.load(list(counts))
        merged.save(output)
    print_counts(merged, output)
