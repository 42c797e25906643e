"""`encode`, `decode`, `inspect` and `export`: what can be done with a tokenizer that is there."""

import sys
from pathlib import Path

import click

from pairity.cli.options import command, force, output
from pairity.cli.outputs import held, output_file
from pairity.cli.printing import print_notes, print_training, print_warnings, print_written
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.formats import exporting, llama_cpp
from pairity.tokenizer import inspection
from pairity.tokenizer.tokenizer import Tokenizer

tokenizer_argument = click.argument("tokenizer", type=click.Path(path_type=Path))

SETTINGS = ("method", "vocab_size", "num_merges", "min_frequency", "max_token_length", "whole_characters")


@command(
    "encode",
    """
    echo 'Guten Morgen' | pairity encode tokenizer/
    echo 'Guten Morgen' | pairity encode tokenizer/ --tokens
    """,
)
@tokenizer_argument
@click.option("--tokens", is_flag=True, help="Show the tokens instead of their ids.")
def encode_command(tokenizer: Path, tokens: bool) -> None:
    """Encode standard input: one line of ids per line of text."""
    found = Tokenizer.load(tokenizer)
    for line in sys.stdin.buffer:
        ids = found.encode(line.removesuffix(b"\n"))
        shown = [repr(found.token_of(i).decode(errors="replace")) for i in ids] if tokens else map(str, ids)
        click.echo(" ".join(shown))


@command("decode", "pairity encode tokenizer/ < text.txt | pairity decode tokenizer/")
@tokenizer_argument
def decode_command(tokenizer: Path) -> None:
    """Decode standard input: one line of text per line of ids."""
    found = Tokenizer.load(tokenizer)
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            ids = [int(word) for word in line.split()]
        except ValueError:
            raise PairityError(
                f"line {number} must hold token ids only, but it is {line.strip()[:60].decode(errors='replace')!r}"
            ) from None
        sys.stdout.buffer.write(found.decode_bytes(ids) + b"\n")


@command(
    "inspect",
    """
    pairity inspect tokenizer/
    pairity inspect tokenizer/ --tokens tokens.parquet --counts counts.parquet
    """,
)
@tokenizer_argument
@click.option(
    "--tokens",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a table with one row per token, as .parquet or .csv.",
)
@click.option(
    "--counts", metavar="COUNTS", help="With --tokens: add how often each token occurs in this counted text."
)
@force("an existing table")
def inspect_command(tokenizer: Path, tokens: Path | None, counts: str | None, force: bool) -> None:
    """Show a tokenizer's settings, its data, and which languages were served."""
    if counts is not None and tokens is None:
        raise PairityError("--counts adds columns to the table of tokens: give --tokens FILE as well.")
    if tokens is None:
        found = Tokenizer.load(tokenizer)
    else:
        inspection.check_name(tokens)
        with output_file(tokens, force=force):
            found = Tokenizer.load(tokenizer)
            inspection.write(found.table(None if counts is None else Counts.load(counts)), tokens)
        print_written(tokens)
    record = found.record or {}
    click.echo(repr(found))
    for name in SETTINGS:
        if (value := record.get(name)) is not None:
            text = ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            click.echo(f"{name.replace('_', ' ')}: {text}")
    if record:
        click.echo()
        print_training(found)
    print_warnings(record.get("warnings", []))


@command(
    "export",
    """
    pairity export tokenizer/ --to tiktoken -o pairity.tiktoken
    pairity export tokenizer/ --to transformers --bos-token '<s>' -o exported/
    pairity export tokenizer/ --to gguf -o vocab.gguf
    """,
)
@tokenizer_argument
@click.option("--to", type=click.Choice(exporting.FORMATS), required=True, help="Format to write.")
@output("A file, or a folder for the formats with several files.", metavar="PATH")
@click.option("--vocab-size", type=int, help="Truncate to this many tokens first; ids do not change.")
@click.option("--bos-token", metavar="TEXT", help="Start of a text (transformers and gguf).")
@click.option("--eos-token", metavar="TEXT", help="End of a text (transformers and gguf).")
@click.option("--pad-token", metavar="TEXT", help="Padding (transformers and gguf).")
@click.option(
    "--chat-template",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A Jinja template (transformers).",
)
@click.option(
    "--allow-different",
    is_flag=True,
    help="Write a GGUF file even where llama.cpp would give other ids, and show how many.",
)
@force("existing files")
def export_command(
    tokenizer: Path,
    to: str,
    output: Path,
    vocab_size: int | None,
    bos_token: str | None,
    eos_token: str | None,
    pad_token: str | None,
    chat_template: Path | None,
    allow_different: bool,
    force: bool,
) -> None:
    """Write a tokenizer in the format of another library."""
    exporting.check_allowed(to, allow_different)
    with held(output, lambda: exporting.check_place(to, output, force=force)):
        found = Tokenizer.load(tokenizer)
        if vocab_size is not None:
            found = found.truncate(vocab_size)
        written = found.export(
            to,
            output,
            force=force,
            bos_token=bos_token,
            eos_token=eos_token,
            pad_token=pad_token,
            chat_template=None if chat_template is None else read_template(chat_template),
            allow_different=allow_different,
        )
    for path in written:
        print_written(path)
    if to == "gguf" and not allow_different:
        print_notes([llama_cpp.promise(found.pattern)])


def read_template(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PairityError(f"{path} is not a Jinja template: it is not UTF-8 text.") from error
