"""`encode`, `decode`, `inspect` and `export`: what can be done with a tokenizer that is there."""

import sys
from pathlib import Path

import click

from pairity.cli.options import command, force, output
from pairity.cli.outputs import held, output_file
from pairity.cli.printing import print_training, print_warnings, print_written
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.formats import exporting
from pairity.formats.opening import find
from pairity.judging.opening import open_tokenizer
from pairity.judging.protocol import TokenizerLike
from pairity.tokenizer import inspection
from pairity.tokenizer.tokenizer import Tokenizer

tokenizer_argument = click.argument("tokenizer")

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
def encode_command(tokenizer: str, tokens: bool) -> None:
    """Encode standard input: one line of ids per line of text.

    TOKENIZER is what eval takes.
    """
    found = open_any(tokenizer)
    for number, line in enumerate(sys.stdin.buffer, 1):
        ids = encode_line(found, line.removesuffix(b"\n"), number)
        shown = (
            [repr(token_bytes(found, i).decode(errors="replace")) for i in ids] if tokens else map(str, ids)
        )
        click.echo(" ".join(shown))


def open_any(spec: str) -> Tokenizer | TokenizerLike:
    """A byte-level BPE with our own encoder, and any other by the library that it is for."""
    try:
        return Tokenizer.load(spec)
    except PairityError:
        if find(spec).kind not in ("tokenizer.json", "transformers", "hub", "sentencepiece"):
            raise
        return open_tokenizer(spec)


def encode_line(tokenizer: Tokenizer | TokenizerLike, line: bytes, number: int) -> list[int]:
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.encode(line)
    try:
        ids, _ = tokenizer.encode_lines([line.decode()])
    except UnicodeDecodeError:
        raise PairityError(f"line {number} is not UTF-8, which {tokenizer.name} cannot encode.") from None
    return [int(token) for token in ids]


def token_bytes(tokenizer: Tokenizer | TokenizerLike, token: int) -> bytes:
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.token_of(token)
    found = tokenizer.token_bytes(token)
    return decoded(tokenizer, [token]) if found is None else found


def decoded(tokenizer: Tokenizer | TokenizerLike, ids: list[int]) -> bytes:
    if isinstance(tokenizer, Tokenizer):
        return tokenizer.decode_bytes(ids)
    if wrong := [token for token in ids if not 0 <= token < tokenizer.vocab_size]:
        last = tokenizer.vocab_size - 1
        raise PairityError(f"id {wrong[0]} is not in the vocabulary, whose ids go from 0 to {last}")
    text = tokenizer.decode(ids)
    return text.encode() if isinstance(text, str) else text


@command("decode", "pairity encode tokenizer/ < text.txt | pairity decode tokenizer/")
@tokenizer_argument
def decode_command(tokenizer: str) -> None:
    """Decode standard input: one line of text per line of ids.

    TOKENIZER is what eval takes.
    """
    found = open_any(tokenizer)
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            ids = [int(word) for word in line.split()]
        except ValueError:
            raise PairityError(
                f"line {number} must hold token ids only, but it is {line.strip()[:60].decode(errors='replace')!r}"
            ) from None
        sys.stdout.buffer.write(decoded(found, ids) + b"\n")


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
def inspect_command(tokenizer: str, tokens: Path | None, counts: str | None, force: bool) -> None:
    """Show a tokenizer's settings, its data, and which languages were served.

    TOKENIZER is any byte-level BPE that eval takes.
    """
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
    pairity export llama3/tokenizer.model --to transformers -o llama3-hf/
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
@force("existing files")
def export_command(
    tokenizer: str,
    to: str,
    output: Path,
    vocab_size: int | None,
    bos_token: str | None,
    eos_token: str | None,
    pad_token: str | None,
    chat_template: Path | None,
    force: bool,
) -> None:
    """Write a tokenizer in the format of another library.

    TOKENIZER is any byte-level BPE that eval takes.
    """
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
        )
    for path in written:
        print_written(path)


def read_template(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise PairityError(f"{path} is not a Jinja template: it is not UTF-8 text.") from error
