"""`train`: from text to a tokenizer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

import click

from pairity.bpe.roles import GivenRoles
from pairity.cli.drawing import drawing, has_languages, train_and_dev
from pairity.cli.options import command, config, cutting, force, memory, min_count, output, roles
from pairity.cli.outputs import note_resuming, output_folder, refuse_source, resumable
from pairity.cli.policies import (
    parse_dev,
    parse_global_merges,
    parse_ratios,
    read_ratios,
    refuse_idle,
    sets_in,
)
from pairity.cli.printing import print_notes, print_training, print_written
from pairity.cli.values import names_in, several
from pairity.counts.checkpoint import exists, remove
from pairity.errors import PairityError
from pairity.files.places import inside_or_beside
from pairity.formats.folder import OF_THE_FOLDER, SETTINGS
from pairity.text.sampling import Draw
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.dev_sets import DevSets
from pairity.training.policy import OF_METHOD, policy_of
from pairity.training.settings import Settings, make_settings
from pairity.training.training import counting_checkpoint, train

CHECKPOINT = "checkpoint.parquet"


@command(
    "train",
    """
    pairity train --train train/ --dev dev/ --vocab-size 128000 -o tokenizer/
    pairity train --train data/*.txt --dev dev/*.txt --skip lat_Latn,grc_Grek --vocab-size 128000 -o tokenizer/
    pairity train --train train/ --dev-set news=news/ chat=chat/ --dev-weight chat=0.5 --vocab-size 64000 -o tokenizer/
    pairity train --train train/ --dev dev/ --ratio code=auto math=auto --vocab-size 64000 -o tokenizer/
    pairity train --train train/ --dev dev/ --languages paper-30 --temperature 3.3 --vocab-size 128000 -o tokenizer/
    pairity train --train counts.parquet --dev dev/ --global-merges 0.5 --window 100 --vocab-size 64000 -o tokenizer/
    pairity train --train train/ --dev dev/ --joint 0.5 --superwords 0.5 --vocab-size 128000 -o tokenizer/
    pairity train --train counts.parquet --dev dev/ --method fair --beta 64 --vocab-size 64000 -o tokenizer/
    pairity train --train 'telugu=te/*.parquet' --on train --continue llama/ --add-tokens 5000 -o longer/
    pairity train --train train/ --dev dev/ --bos-token '<s>' --eos-token '</s>' --vocab-size 64000 -o tokenizer/
    pairity train --config run.toml --resume -o tokenizer/
    """,
)
@train_and_dev()
@several(
    "--dev-set",
    "dev_sets",
    parts_of=sets_in,
    metavar="NAME=SOURCE...",
    help="Several sets of parallel text, instead of --dev. Each must have all languages; what a language "
    "costs relative to the others is averaged over the sets. Costs are shown in lines of the first "
    "set.",
)
@several(
    "--dev-weight",
    "dev_weights",
    parts_of=names_in,
    metavar="NAME=W...",
    help="Weight of a set from --dev-set. Default: 1.",
)
@click.option("--vocab-size", type=int, help="Total number of tokens: bytes, learned and special.")
@click.option("--num-merges", type=int, help="Number of merges to learn, instead of --vocab-size.")
@click.option(
    "--add-tokens", type=int, metavar="N", help="With --continue: tokens to add, instead of --vocab-size."
)
@click.option(
    "--method",
    type=click.Choice(list(OF_METHOD)),
    default="parity",
    show_default=True,
    help="parity: serve the language that is worst off; fair: take the pair that saves the most over all "
    "languages, with more weight on expensive languages (--beta); classical: take the most frequent "
    "pair overall.",
)
@click.option(
    "--global-merges",
    default="0",
    show_default=True,
    metavar="N|SHARE",
    help="Start with this many classical merges, or this share of all merges (hybrid).",
)
@click.option(
    "--window",
    type=int,
    metavar="N",
    help="Limit how often one language is served within N merges (the paper uses 100).",
)
@click.option(
    "--alpha",
    type=float,
    default=2.0,
    show_default=True,
    help="With --window: the limit, as a multiple of an equal share.",
)
@click.option(
    "--joint",
    type=float,
    default=1.0,
    show_default=True,
    metavar="SHARE",
    help="Among the served language's pairs with at least SHARE of its top pair's count, take the one that "
    "saves the most over all languages. 1.0 is the paper's rule.",
)
@click.option(
    "--beta",
    type=float,
    default=64.0,
    show_default=True,
    help="With --method fair: 0 optimizes only the sum over languages; larger values make languages more "
    "equal.",
)
@several(
    "--ratio",
    parts_of=names_in,
    metavar="LANG=R...",
    help="Compare LANG, which has no dev text, by its training text: R bytes of it count as one dev line. "
    "R is a number, a language (use the length of its dev lines), or auto: an estimate from LANG's "
    "first dev lines, if it has some, or else from its script and its bytes per character.",
)
@click.option(
    "--ratios",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The same from a .toml or .json file: code = 'auto'.",
)
@click.option(
    "--unit",
    type=click.Choice(["line", "byte", "char", "word"]),
    default="line",
    show_default=True,
    help="Compare languages by how many tokens they take per line, byte, character or word.",
)
@click.option(
    "--on",
    type=click.Choice(["dev", "train"]),
    default="dev",
    show_default=True,
    help="Text to compare languages on; train needs no --dev.",
)
@click.option(
    "--superwords",
    type=float,
    metavar="SHARE",
    help="Learn this share of the tokens from words (0.5: half of them), and the rest from phrases of up "
    "to four words, so that tokens can cross spaces. --pretokenizer gpt4o:words6 allows up to six.",
)
@click.option(
    "--min-frequency",
    type=int,
    default=2,
    show_default=True,
    help="Do not merge pairs that occur less often than this.",
)
@click.option("--max-token-length", type=int, help="Longest token to learn, in bytes.")
@click.option(
    "--whole-characters",
    is_flag=True,
    help="Never learn a token that joins part of a character with another character.",
)
@click.option(
    "--special-token",
    "special_tokens",
    multiple=True,
    metavar="TEXT",
    help="Add a special token; repeatable.",
)
@click.option(
    "--reserved", type=int, default=0, metavar="N", help="Number of reserved special tokens for later use."
)
@click.option(
    "--pad-to",
    type=int,
    metavar="N",
    help="Add reserved tokens until the vocabulary size is a multiple of N (64, 128); with --continue, only report it.",
)
@click.option(
    "--continue",
    "continue_from",
    metavar="TOKENIZER",
    help="Keep the tokens and ids of this byte-level BPE and learn more.",
)
@roles
@drawing
@several(
    "--skip", parts_of=names_in, metavar="LANG...", help="Leave out these languages of the training text."
)
@click.option("--resume", is_flag=True, help="Continue a killed or interrupted run with the same settings.")
@memory
@min_count
@force("the tokenizer in the output folder")
@output("Folder for the tokenizer.", metavar="DIR")
@cutting(", or that of --continue")
@config
def train_command(
    train_sources: Sequence[str],
    dev_sources: Sequence[str],
    dev_sets: Sequence[str],
    dev_weights: Sequence[str],
    vocab_size: int | None,
    num_merges: int | None,
    add_tokens: int | None,
    method: str,
    global_merges: str,
    window: int | None,
    alpha: float,
    joint: float,
    beta: float,
    ratio: Sequence[str],
    ratios: Path | None,
    unit: Any,
    on: Any,
    superwords: float | None,
    min_frequency: int,
    max_token_length: int | None,
    whole_characters: bool,
    special_tokens: Sequence[str],
    reserved: int,
    pad_to: int | None,
    continue_from: str | None,
    skip: Sequence[str],
    resume: bool,
    memory: int | None,
    min_count: int,
    force: bool,
    output: Path,
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
    **given: Unpack[GivenRoles],
) -> None:
    """Train a tokenizer and save it as a folder for transformers, tokenizers and pairity.

    For what a SOURCE can be, see pairity --help; for a TOKENIZER, pairity eval --help.
    """
    refuse_idle(method, window, alpha)
    refuse_source(output, [*train_sources, *dev_sources, *dev_sets])
    dev = parse_dev(dev_sources, dev_sets, dev_weights)
    all_ratios = read_ratios(ratios) | parse_ratios(ratio)
    deciding = {
        "global_merges": parse_global_merges(global_merges),
        "window": window,
        "alpha": alpha,
        "joint": joint,
        "beta": beta,
        "ratios": all_ratios or None,
        "unit": unit,
        "on": on,
    }
    policy = policy_of(method, deciding)
    wanted: dict[str, Any] = {
        "vocab_size": vocab_size,
        "num_merges": num_merges,
        "add_tokens": add_tokens,
        "pretokenizer": pretokenizer,
        "digits": single_digits,
        "normalize": normalize,
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
        "whole_characters": whole_characters,
        "special_tokens": special_tokens,
        "reserved": reserved,
        "pad_to": pad_to,
        "continue_from": continue_from,
        "superwords": superwords,
    }
    # pairity.json does not record these, so a finished run with other values looks like this one.
    unrecorded = text_column != "text" or language_column or replace_invalid or on_error != "stop" or dedup
    if resume and not (force or unrecorded):
        settings = make_settings(**wanted, policy=policy, **given)
        if is_finished(output, settings, draw, min_count, train_sources, languages, skip, dev):
            note_finished(output)
            return
        wanted["continue_from"] = settings.start  # open it, and give its warnings, only once
    tokenizer = train_into(
        output,
        list(train_sources),
        force=force,
        resume=resume,
        dev=dev,
        **wanted,
        method=policy,
        skip=skip,
        text_column=text_column,
        errors="replace" if replace_invalid else "strict",
        language_column=language_column,
        on_error=on_error,
        dedup=dedup,
        threads=threads,
        choose=languages or None,
        draw=draw,
        memory=memory,
        min_count=min_count,
        **given,
    )
    print_training(tokenizer)
    click.echo()
    print_written(f"{output}/", then=f"try: pairity encode {output} < text.txt, pairity inspect {output}")


def note_finished(output: Path) -> None:
    print_notes(
        [
            f"{output} is finished: it holds a tokenizer with these settings, and there is nothing to resume "
            "(--force trains it again, for example after the text has changed)"
        ]
    )


def train_into(output: Path, sources: list[str], *, force: bool, resume: bool, **wanted: Any) -> Tokenizer:
    """Train and save, with checkpoints that last until the tokenizer is saved. `wanted` goes to `train`."""
    with output_folder(output, OF_THE_FOLDER, what="a tokenizer", force=force):
        checkpoint = inside_or_beside(output, CHECKPOINT)
        there = kept(checkpoint)
        note_resuming(there or checkpoint, there=there is not None, resume=resume)
        with resumable(lambda: kept(checkpoint) is not None):
            tokenizer = train(sources, checkpoint=checkpoint, resume=resume, **wanted)
            save(tokenizer, output, checkpoint, force=force)
        checkpoint.unlink(missing_ok=True)
        remove(counting_checkpoint(checkpoint))
    return tokenizer


def kept(checkpoint: Path) -> Path | None:
    """What a killed run has left to resume from: its merges, or else its counts."""
    counting = counting_checkpoint(checkpoint)
    return checkpoint if checkpoint.exists() else counting if exists(counting) else None


def is_finished(
    output: Path,
    settings: Settings,
    draw: Draw,
    min_count: int,
    sources: Sequence[str],
    languages: Sequence[str],
    skip: Sequence[str],
    dev: DevSets | list[str] | None,
) -> bool:
    """Whether a run with these settings has already saved its tokenizer here: a queue may restart a finished job."""
    checkpoint = inside_or_beside(output, CHECKPOINT)
    if not (output / SETTINGS).exists() or kept(checkpoint):
        return False
    try:
        found = Tokenizer.load(output)
    except PairityError:
        return False
    described = json.loads(json.dumps(settings.describe()))
    same_names = tuple(found.special_tokens) == settings.special_tokens
    same_sets = found.record.get("dev_sets") == (dev.describe() if isinstance(dev, DevSets) else None)
    same_draw = found.record.get("draw", {}) == draw.describe()
    return (
        same_names
        and same_draw
        and same_sets
        and has_languages(found.record.get("languages", ()), sources, languages, skip)
        and found.roles == settings.roles
        and found.record.get("min_count", 1) == min_count
        and found.record.get("superwords") == settings.superwords
        and all(name in found.record and found.record[name] == value for name, value in described.items())
    )


def save(tokenizer: Tokenizer, output: Path, checkpoint: Path, *, force: bool) -> None:
    """Save the tokenizer; if that fails, the error says that the merges are safe in the checkpoint."""
    try:
        tokenizer.save(output, force=force)
    except PairityError as error:
        if not checkpoint.exists():
            raise
        raise PairityError(
            f"{error} The merges are saved in {checkpoint}: run the same command with --resume to continue."
        ) from error
