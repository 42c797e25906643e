"""`count` and `merge`: from text to counts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pairity.cli.options import command, config, cutting, force, memory, min_count, output, values_in
from pairity.cli.outputs import note_resuming, output_file, resumable
from pairity.cli.printing import print_counts, print_notes
from pairity.counts.checkpoint import exists, remove
from pairity.counts.counting import count
from pairity.counts.counts import counts_files
from pairity.counts.merging import merge_files
from pairity.counts.parquet import check_name, read_header
from pairity.counts.values import Split
from pairity.errors import PairityError
from pairity.files.places import inside_or_beside
from pairity.files.writing import room_beside
from pairity.progress import Progress
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization

CHECKPOINT = "checkpoint"


@command(
    "count",
    """
    pairity count corpus/ -o counts.parquet
    pairity count 'eng_Latn=en/*.jsonl.zst' code=src.parquet --text-column content -o counts.parquet
    pairity count corpus/ --memory 4GB --resume -o counts.parquet
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
@memory
@min_count
@click.option(
    "--resume", is_flag=True, help="Continue a count with the same settings that was killed or interrupted."
)
@force("an existing file")
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
    text_column: str,
    replace_invalid: bool,
    threads: int | None,
) -> None:
    """Count pre-tokens once, so that training can start from counts.

    What a SOURCE may be: pairity --help.
    """
    check_name(output)
    cut = Pretokenization.of(pretokenizer or DEFAULT_PRETOKENIZER, single_digits, normalize)
    checkpoint = inside_or_beside(output, CHECKPOINT)
    kept = exists(checkpoint)
    if resume and not force and not kept and is_finished(output, cut, split, min_count):
        print_notes(
            [
                f"{output} is finished: it holds counts with these settings, and nothing is left to resume (--force "
                "counts again, as after a change of the text)"
            ]
        )
        return
    with output_file(output, force=force), Progress() as show:
        note_resuming(checkpoint, there=kept, resume=resume)
        with resumable(checkpoint):
            show.stage("counting", unit="B")
            counts = count(
                list(sources),
                pretokenizer=cut,
                split=split,
                text_column=text_column,
                errors="replace" if replace_invalid else "strict",
                threads=threads,
                count_words=split == "dev",
                progress=show.bytes_read,
                memory=memory,
                min_count=min_count,
                checkpoint=checkpoint,
                resume=resume,
            )
            counts.save(output)
        remove(checkpoint)
    print_counts(counts, output)


def is_finished(output: Path, cut: Pretokenization, split: Split, min_count: int) -> bool:
    """Whether a run with these settings has saved its counts here: a job that a queue starts again has no work."""
    try:
        header = read_header(output, cut, split)
    except PairityError:
        return False
    languages = header.sizes or {}
    return {header.pruned[one].min_count if one in header.pruned else 1 for one in languages} == {min_count}


@command(
    "merge",
    """
    pairity merge part-*.parquet -o counts.parquet
    pairity merge part-*.parquet --min-count 2 -o counts.parquet
    """,
)
@click.argument("counts", nargs=-1, required=True, callback=values_in, metavar="COUNTS...")
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
