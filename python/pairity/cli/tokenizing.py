"""`encode`, `decode`, `inspect`, `export` and `embed`: commands for an existing tokenizer."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Unpack

import click
import pyarrow as pa

from pairity.bpe.roles import GivenRoles
from pairity.cli.options import OutputPath, command, force, output, roles
from pairity.cli.outputs import held, output_file
from pairity.cli.printing import print_notes, print_training, print_warnings, print_written
from pairity.cli.profiles import print_profile
from pairity.cli.values import names_in, several
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.formats import exporting, llama_cpp
from pairity.formats.opening import find
from pairity.judging.measurement import forgiving
from pairity.judging.metrics.lines import comes_back
from pairity.judging.opening import open_tokenizer
from pairity.judging.profile import inspect_languages
from pairity.judging.protocol import TokenizerLike
from pairity.progress import Progress
from pairity.tokenizer import embedding, inspection
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.run import run_of

tokenizer_argument = click.argument("tokenizer")

SHOWN = ("method", "vocab_size", "num_merges", "min_frequency", "max_token_length", "whole_characters")


SPECIAL_TOKENS: dict[str, Any] = {
    "refuse": {},
    "token": {"allowed_special": "all"},
    "text": {"disallowed_special": ()},
}
"""Value of --special-tokens -> arguments of `Tokenizer.encode`."""


@command(
    "encode",
    """
    echo 'Guten Morgen' | pairity encode tokenizer/
    echo 'Guten Morgen' | pairity encode tokenizer/ --tokens
    echo 'Guten Morgen</s>' | pairity encode tokenizer/ --special-tokens token
    """,
)
@tokenizer_argument
@click.option("--tokens", is_flag=True, help="Show the tokens instead of their ids.")
@click.option(
    "--special-tokens",
    type=click.Choice(list(SPECIAL_TOKENS)),
    help="What a special token in the text becomes: an error, that token, or plain text. Default: refuse, "
    "or text for a tokenizer that is not byte-level BPE.",
)
def encode_command(tokenizer: str, tokens: bool, special_tokens: str | None) -> None:
    """Encode standard input: one line of ids per line of text.

    For what a TOKENIZER can be, see pairity eval --help.
    """
    found = open_any(tokenizer)
    rows = (
        encoded_by_us(found, special_tokens)
        if isinstance(found, Tokenizer)
        else encoded_by_another_library(found, special_tokens)
    )
    for ids in rows:
        shown = (
            [repr(token_bytes(found, i).decode(errors="replace")) for i in ids] if tokens else map(str, ids)
        )
        click.echo(" ".join(shown))


def open_any(spec: str) -> Tokenizer | TokenizerLike:
    """A byte-level BPE with our own encoder; any other tokenizer with its own library."""
    try:
        return Tokenizer.load(spec)
    except PairityError:
        if find(spec).kind not in ("tokenizer.json", "transformers", "hub", "sentencepiece"):
            raise
        return open_tokenizer(spec)


def numbered_lines() -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        yield number, line.removesuffix(b"\n")


def encoded_by_us(tokenizer: Tokenizer, special_tokens: str | None) -> Iterator[list[int]]:
    rules = SPECIAL_TOKENS[special_tokens or "refuse"]
    for number, line in numbered_lines():
        try:
            yield tokenizer.encode(line, **rules)
        except PairityError as error:
            raise PairityError(f"line {number}: {error}") from None


def encoded_by_another_library(tokenizer: TokenizerLike, special_tokens: str | None) -> Iterator[list[int]]:
    """Warns about the first line that does not decode to itself, and then stops checking."""
    if special_tokens not in (None, "text"):
        raise PairityError(
            f"--special-tokens {special_tokens} is only for byte-level BPE tokenizers: {tokenizer.name} "
            "runs in its own library, which reads special tokens in a text as text. Leave the option "
            "out."
        )
    lossless = True
    for number, line in numbered_lines():
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise PairityError(f"line {number} is not UTF-8, which {tokenizer.name} cannot encode.") from None
        ids, offsets = tokenizer.encode_lines([text])
        if lossless and comes_back([text], ids, offsets, forgiving(tokenizer))[1].any():
            lossless = False
            told = f"{tokenizer.name} loses text: line {number} does not decode to itself."
            print_warnings([f"{told} pairity eval counts such lines."])
        yield [int(token) for token in ids]


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

    For what a TOKENIZER can be, see pairity eval --help.
    """
    found = open_any(tokenizer)
    for number, line in enumerate(sys.stdin.buffer, 1):
        try:
            ids = [int(word) for word in line.split()]
        except ValueError:
            raise PairityError(
                f"line {number} must contain only token ids, but it is "
                f"{line.strip()[:60].decode(errors='replace')!r}"
            ) from None
        sys.stdout.buffer.write(decoded(found, ids) + b"\n")


@command(
    "inspect",
    """
    pairity inspect tokenizer/
    pairity inspect tokenizer/ --tokens tokens.parquet --counts counts.parquet
    pairity inspect tokenizer/ --language tam_Taml --data devtest/ --table tamil.csv
    """,
)
@tokenizer_argument
@click.option(
    "--tokens",
    type=OutputPath(path_type=Path),
    metavar="FILE",
    help="Write a table with one row per token, as .parquet or .csv.",
)
@several(
    "--language",
    "languages",
    parts_of=names_in,
    metavar="LANG...",
    help="Show these languages in detail: cost, merges, most expensive words, split characters, nearest "
    "languages.",
)
@several(
    "--data",
    metavar="SOURCE...",
    help="With --language: text to measure on. Default: the embedded sample, if it includes the language.",
)
@click.option(
    "--table",
    type=OutputPath(path_type=Path),
    metavar="FILE",
    help="With --language: write the details as tidy rows, as .parquet or .csv.",
)
@click.option(
    "--counts",
    metavar="COUNTS",
    help="Counts of a text. With --tokens: add how often each token occurs in it. With --language: used "
    "instead of --data.",
)
@force("an existing table")
def inspect_command(
    tokenizer: str,
    tokens: Path | None,
    languages: Sequence[str],
    data: Sequence[str],
    table: Path | None,
    counts: str | None,
    force: bool,
) -> None:
    """Show a tokenizer's settings, its data and which languages were served, or one language in detail.

    TOKENIZER is any byte-level BPE among those that pairity eval --help lists. For what a SOURCE can be, see pairity
    --help.
    """
    check_options(tokens, languages, data, table, counts)
    with ExitStack() as outputs:
        for path in filter(None, (tokens, table)):
            inspection.check_name(path)
            outputs.enter_context(output_file(path, force=force))
        found = Tokenizer.load(tokenizer)
        counted = None if counts is None else Counts.load(counts)
        if tokens is not None:
            inspection.write(found.table(counted), tokens)
            print_written(tokens)
        if languages:
            show_languages(found, languages, counted if counted is not None else list(data) or None, table)
            return
    record = found.record or {}
    click.echo(repr(found))
    for name in SHOWN:
        if (value := record.get(name)) is not None:
            text = ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            click.echo(f"{name.replace('_', ' ')}: {text}")
    shown = found.roles.settings
    if template := shown.pop("chat_template", None):
        shown["chat_template"] = f"{len(template):,} characters"
    for name, value in shown.items():
        click.echo(f"{name.replace('_', ' ')}: {'yes' if value is True else value}")
    if record:
        click.echo()
        print_training(found)
    print_warnings(run_of(record).warnings)


def check_options(
    tokens: Path | None, languages: Sequence[str], data: Sequence[str], table: Path | None, counts: str | None
) -> None:
    if counts is not None and tokens is None and not languages:
        raise PairityError("--counts needs --tokens FILE (to write a token table) or --language LANG.")
    if not languages and (data or table is not None):
        option = "--data" if data else "--table"
        raise PairityError(f"{option} needs --language: add one, such as --language tam_Taml.")
    if data and counts is not None:
        raise PairityError("--data and --counts cannot be combined: leave one out.")
    if table is not None and table == tokens:
        raise PairityError(f"--tokens and --table are both {table}: give different names.")


def show_languages(found: Tokenizer, languages: Sequence[str], data: Any, table: Path | None) -> None:
    with Progress() as show:
        show.stage("reading", unit="B")
        profiles = inspect_languages(found, languages, data, progress=show.bytes_read)
    if table is not None:
        inspection.write(pa.concat_tables([profile.table() for profile in profiles]), table)
    for place, profile in enumerate(profiles):
        if place:
            click.echo("\n")
        print_profile(profile)
    if table is not None:
        click.echo()
        print_written(table)


@command(
    "export",
    """
    pairity export tokenizer/ --to tiktoken -o pairity.tiktoken
    pairity export tokenizer/ --to transformers --bos-token '<s>' -o exported/
    pairity export tokenizer/ --to gguf -o vocab.gguf
    pairity export tokenizer/ --to wordpiece --allow-different -o wordpiece.json
    pairity export llama3/tokenizer.model --to transformers -o llama3-hf/
    """,
)
@tokenizer_argument
@click.option(
    "--to",
    type=click.Choice(exporting.FORMATS),
    required=True,
    help="Format to write: one tokenizer.json (hf), a folder for AutoTokenizer (transformers), a ranks "
    "file (tiktoken), GPT-2's vocab.json and merges.txt (merges), a vocabulary for llama.cpp (gguf), "
    "or a tokenizer.json that takes the longest match instead of merging (wordpiece).",
)
@output("A file, or a folder for transformers and merges.", metavar="PATH")
@click.option("--vocab-size", type=int, help="Truncate to this many tokens first; ids do not change.")
@roles
@click.option(
    "--allow-different",
    is_flag=True,
    help="Write the file even if it gives different ids: a GGUF file, with a report of how many differ, or "
    "WordPiece, which always differs.",
)
@force("existing files")
def export_command(
    tokenizer: str,
    to: str,
    output: Path,
    vocab_size: int | None,
    allow_different: bool,
    force: bool,
    **given: Unpack[GivenRoles],
) -> None:
    """Write a tokenizer in the format of another library.

    TOKENIZER is any byte-level BPE among those that pairity eval --help lists. It keeps its roles and chat template,
    unless you give others here.
    """
    exporting.check_given(to, given)
    exporting.check_allowed(to, allow_different)
    with held(output, lambda: exporting.check_place(to, output, force=force)):
        found = Tokenizer.load(tokenizer)
        if vocab_size is not None:
            found = found.truncate(vocab_size)
        written = found.export(to, output, force=force, allow_different=allow_different, **given)
    for path in written:
        print_written(path)
    if to == "gguf" and not (allow_different and llama_cpp.in_sample(found.model)):
        print_notes([llama_cpp.promise(found.pattern)])


@command(
    "embed",
    """
    pairity embed llama/ longer/ -o rows.parquet
    pairity embed llama/ longer/ -o rows.json
    """,
)
@click.argument("old")
@click.argument("new")
@output("A table with id, bytes and old_ids (.parquet), or a map from id to old ids (.json).", metavar="FILE")
@force("an existing file")
def embed_command(old: str, new: str, output: Path, force: bool) -> None:
    """Write the old tokens that make up each new token of an extended tokenizer.

    The mean of their rows is a good start for the row of the new token in a model's embedding. For a transformers
    model, pairity.extend_embeddings in Python does this.
    """
    embedding.check_name(output)
    with output_file(output, force=force):
        rows = embedding.write_rows(Tokenizer.load(old), Tokenizer.load(new), output)
    click.echo(f"{rows:,} new tokens")
    print_written(output)
