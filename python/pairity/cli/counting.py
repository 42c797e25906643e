"""`count` and `merge`: from text to counts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pairity.cli.drawing import drawing
from pairity.cli.options import command, config, cutting, force, output, values_in
from pairity.cli.outputs import output_file
from pairity.cli.printing import print_counts
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.counts.parquet import check_name
from pairity.progress import Progress
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER
from pairity.text.sampling import Draw


@command(
    "count",
    """
    pairity count corpus/ -o counts.parquet
    pairity count 'eng_Latn=en/*.jsonl.zst' code=src.parquet --text-column content -o counts.parquet
    pairity count corpus/ --languages paper-30 --temperature 3.3 --budget 10GB -o counts.parquet
    pairity count corpus/ --max-bytes 5GB eng_Latn=1GB --weight deu_Latn=0.5 --seed 1 -o counts.parquet
    pairity count web/*.parquet --language-column lang --on-error skip --dedup lines -o counts.parquet
    zcat news.jsonl.gz | pairity count eng_Latn=-.jsonl -o counts.parquet
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
@force("an existing file")
@drawing
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
    text_column: str | dict[str, str],
    language_column: str | None,
    on_error: Any,
    dedup: Any,
    replace_invalid: bool,
    threads: int | None,
    languages: Sequence[str],
    draw: Draw,
) -> None:
    """Count pre-tokens once, so that training can start from counts.

    What a SOURCE may be: pairity --help.
    """
    check_name(output)
    with output_file(output, force=force), Progress() as show:
        show.stage("counting", unit="B")
        counts = count(
            list(sources),
            pretokenizer=pretokenizer or DEFAULT_PRETOKENIZER,
            digits=single_digits,
            normalize=normalize,
            split=split,
            text_column=text_column,
            errors="replace" if replace_invalid else "strict",
            threads=threads,
            count_words=split == "dev",
            progress=show.bytes_read,
            choose=languages or None,
            draw=draw,
            language_column=language_column,
            on_error=on_error,
            dedup=dedup,
        )
        counts.save(output)
    print_counts(counts, output)


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
