"""`count` and `merge`: from text to counts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from pairity.cli.drawing import drawing, has_languages
from pairity.cli.options import command, config, cutting, force, memory, min_count, output
from pairity.cli.outputs import note_resuming, output_file, resumable
from pairity.cli.printing import print_counts, print_notes
from pairity.cli.values import arguments
from pairity.counts.checkpoint import exists, remove
from pairity.counts.counting import Engine, count
from pairity.counts.counts import counts_files
from pairity.counts.merging import merge_files
from pairity.counts.parquet import check_name, read_header
from pairity.counts.values import Split
from pairity.errors import PairityError
from pairity.files.places import inside_or_beside
from pairity.files.writing import room_beside
from pairity.progress import Progress
from pairity.spark import check_threads, on, start
from pairity.text.inputs import Resolved
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sampling import Draw
from pairity.text.sources import resolve

CHECKPOINT = "checkpoint"


@command(
    "count",
    """
    pairity count corpus/ -o counts.parquet
    pairity count 'eng_Latn=en/*.jsonl.zst' code=src.parquet --text-column content -o counts.parquet
    pairity count corpus/ --languages paper-30 --temperature 3.3 --budget 10GB -o counts.parquet
    pairity count corpus/ --max-bytes 5GB eng_Latn=1GB --weight deu_Latn=0.5 --seed 1 -o counts.parquet
    pairity count web/*.parquet --language-column lang --on-error skip --dedup lines -o counts.parquet
    zcat news.jsonl.gz | pairity count eng_Latn=-.jsonl -o counts.parquet
    pairity count corpus/ --memory 4GB --resume -o counts.parquet
    pairity count corpus/ --shard 3 --of 16 -o part-3.parquet
    pairity count corpus/ --engine spark --master spark://host:7077 -o counts.parquet
    """,
)
@arguments("sources", "SOURCE...")
@output("The counts, as a .parquet file.", metavar="FILE")
@click.option(
    "--split",
    type=click.Choice(["train", "dev"]),
    default="train",
    show_default=True,
    help="What the text is for: learning (train) or comparing languages (dev).",
)
@memory
@min_count
@click.option("--resume", is_flag=True, help="Continue a killed or interrupted count with the same settings.")
@click.option(
    "--shard", type=int, metavar="I", help="Count only part I of the files; each job has a different I."
)
@click.option("--of", type=int, metavar="N", help="Number of parts, 1 to N; combine them with merge.")
@click.option(
    "--engine",
    type=click.Choice(["pairity", "spark"]),
    default="pairity",
    show_default=True,
    help="Where to count: in this process or on Apache Spark.",
)
@click.option("--master", metavar="URL", help="Where Spark runs. Default: local[*,4], this machine.")
@force("an existing file")
@drawing
@cutting()
@config
def count_command(
    sources: Sequence[str],
    output: Path,
    split: Any,
    memory: int | None,
    min_count: int,
    resume: bool,
    force: bool,
    pretokenizer: str | None,
    single_digits: bool,
    normalize: Any,
    text_column: str | dict[str, str],
    language_column: str | None,
    on_error: Any,
    dedup: Any,
    replace_invalid: bool,
    threads: int | None,
    languages: Sequence[str],
    draw: Draw,
    shard: int | None,
    of: int | None,
    engine: str,
    master: str | None,
) -> None:
    """Count pre-tokens once, so that training can start from counts.

    For what a SOURCE can be, see pairity --help.
    """
    check_name(output)
    part = shard_in(shard, of)
    found = resolve(list(sources), language_column=language_column)
    cut = Pretokenization.of(pretokenizer or DEFAULT_PRETOKENIZER, single_digits, normalize)
    checkpoint = inside_or_beside(output, CHECKPOINT)
    kept = exists(checkpoint)
    unlike = text_column != "text" or language_column or replace_invalid or on_error != "stop" or dedup
    unlike = unlike or not draw.takes_all
    if (
        resume
        and not (force or kept or unlike)
        and is_finished(output, cut, split, min_count, part, found, languages)
    ):
        print_notes(
            [
                (
                    f"{output} is finished: it holds counts with these settings, and there is nothing to "
                    "resume (--force counts again, for example after the text has changed)"
                )
            ]
        )
        return
    with (
        output_file(output, force=force),
        engine_in(engine, master, threads) as spark,
        Progress() as show,
    ):
        note_resuming(checkpoint, there=kept, resume=resume)
        with resumable(lambda: exists(checkpoint)):
            show.stage("counting", unit="B")
            counts = count(
                found,
                pretokenizer=cut,
                split=split,
                text_column=text_column,
                errors="replace" if replace_invalid else "strict",
                threads=threads,
                count_words=split == "dev",
                progress=show.bytes_read,
                language_column=language_column,
                on_error=on_error,
                dedup=dedup,
                choose=languages or None,
                draw=draw,
                memory=memory,
                min_count=min_count,
                checkpoint=None if spark else checkpoint,
                resume=resume,
                shard=part,
                engine=spark,
            )
            counts.save(output)
        remove(checkpoint)
    print_counts(counts, output)


def is_finished(
    output: Path,
    cut: Pretokenization,
    split: Split,
    min_count: int,
    part: tuple[int, int] | None,
    sources: Resolved,
    chosen: Sequence[str],
) -> bool:
    """Whether a run with these settings has already saved its counts here, as when a queue restarts a finished job."""
    try:
        header = read_header(output, cut, split)
    except PairityError:
        return False
    if part != (header.shard and (header.shard.number, header.shard.of)) or header.drawn:
        return False
    languages = header.sizes or {}
    if not has_languages(languages, sources, chosen):
        return False
    return {header.pruned[one].min_count if one in header.pruned else 1 for one in languages} == {min_count}


def shard_in(shard: int | None, of: int | None) -> tuple[int, int] | None:
    """--shard 3 --of 16 -> (3, 16)"""
    if shard is None and of is None:
        return None
    if of is None:
        raise PairityError(f"--shard is {shard}, but --of is missing: add the number of parts.")
    if shard is None:
        raise PairityError(f"--of is {of}, but --shard is missing: add a number from 1 to {of}.")
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
        raise PairityError(f"--master is {master!r}, but the engine is {name}: add --engine spark.")
    yield None


@command(
    "merge",
    """
    pairity merge part-*.parquet -o counts.parquet
    pairity merge part-*.parquet --min-count 2 -o counts.parquet
    """,
)
@arguments("counts", "COUNTS...")
@output("The sum, as a .parquet file.", metavar="FILE")
@min_count
@force("an existing file")
def merge_command(counts: Sequence[str], output: Path, min_count: int, force: bool) -> None:
    """Add up counts files into one, however large they are."""
    check_name(output)
    files = counts_files(list(counts))
    with output_file(output, force=force), Progress() as show, room_beside(output) as folder:
        show.stage("merging", unit="B")
        merged = merge_files(files, folder, min_count=min_count, heard=show.bytes_read)
        merged.save(output)
    print_counts(merged, output)
