"""`label`: from text in unknown languages to one file per language."""

from collections.abc import Sequence
from pathlib import Path

import click

from pairity.cli.options import command, config, output
from pairity.cli.outputs import output_folder
from pairity.cli.printing import print_table, print_written
from pairity.cli.values import arguments
from pairity.labelling.identifying import IDENTIFIERS
from pairity.labelling.labelling import check_new, label
from pairity.languages import language as facts
from pairity.progress import Progress
from pairity.text.sources import at_commas


@command(
    "label",
    """
    pairity label web/*.jsonl.zst -o labelled/
    pairity label crawl.txt.gz --identifier script --confidence 0.8 -o labelled/
    pairity count labelled/ --language eng_Latn,tam_Taml -o counts.parquet
    """,
)
@arguments("sources", "FILE...", at_commas)
@output("New folder for one file per language.", metavar="DIR")
@click.option(
    "--identifier",
    type=click.Choice(list(IDENTIFIERS)),
    default="cld2",
    show_default=True,
    help="cld2: knows 160 languages (pip install 'pairity[label]'); script: goes by the writing system, "
    "for languages that have one to themselves.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.6,
    show_default=True,
    metavar="SHARE",
    help="Share of a text that must be in a language for the text to count as that language.",
)
@click.option(
    "--unsure",
    default="und",
    show_default=True,
    metavar="CODE",
    help="Code for all other text; its script is appended, as in und_Latn.",
)
@click.option(
    "--text-column",
    default="text",
    show_default=True,
    help="Field or column that holds the text of a record.",
)
@click.option("--replace-invalid", is_flag=True, help="Replace bytes that are not UTF-8.")
@click.option("--threads", type=int, help="Number of threads. Default: one per core.")
@config
def label_command(
    sources: Sequence[str],
    output: Path,
    identifier: str,
    confidence: float,
    unsure: str,
    text_column: str,
    replace_invalid: bool,
    threads: int | None,
) -> None:
    """Sort text in unknown languages into one file per language.

    A FILE can also be a folder or a glob; the formats are those that count reads. Lines go to LANG.txt.gz, records to
    LANG.jsonl.gz. Nothing is dropped.
    """
    check_new(output)
    with output_folder(output, (), what="labelled text", force=False), Progress() as show:
        show.stage("labelling", unit="B")
        found = label(
            list(sources),
            output,
            identifier=identifier,
            confidence=confidence,
            unsure=unsure,
            text_column=text_column,
            errors="replace" if replace_invalid else "strict",
            threads=threads,
            progress=show.bytes_read,
        )
    total = sum(one.bytes for one in found.values()) or 1
    rows = [
        [code, name_of(code), f"{one.lines:,}", f"{one.bytes:,}", f"{one.bytes / total:.1%}"]
        for code, one in found.items()
    ]
    print_table(["language", "name", "lines", "bytes", "share"], rows, numbers=range(2, 5))
    print_written(f"{output}/", then=f"next: pairity count {output}/ -o counts.parquet")


def name_of(code: str) -> str:
    """The name of a language; empty if it is undetermined."""
    return "" if facts(code).name == code else facts(code).name
