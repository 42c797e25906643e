"""From text or counts to a tokenizer: check the arguments, count, learn, write the record.

tok = train("train/", dev="dev/", vocab_size=32_000, method=Parity(window=100))
"""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from pairity.bpe.model import BpeModel
from pairity.errors import PairityWarning
from pairity.progress import Listener, Progress
from pairity.text.options import check_given
from pairity.threads import thread_count
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.checkpoint import Checkpoint, fingerprint
from pairity.training.checks import check_checkpoint
from pairity.training.engine import Exhausted, Learned, Steps, learn
from pairity.training.extension import extension_report
from pairity.training.policy import Parity, Policy
from pairity.training.record import record_of
from pairity.training.settings import GivenSettings, Settings, make_settings
from pairity.training.superwords import superwords_of
from pairity.training.texts import GivenText, Texts, read_train_and_dev
from pairity.training.trace import Trace, trace_of


class TrainOptions(GivenSettings, GivenText, total=False):
    """What a caller of `train` may set besides its main arguments."""


def train(
    train: Any,
    *,
    dev: Any = None,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    add_tokens: int | None = None,
    method: Policy = Parity(),  # noqa: B008 (immutable)
    continue_from: Any = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    threads: int | None = None,
    progress: bool | Listener | None = None,
    **options: Unpack[TrainOptions],
) -> Tokenizer:
    """Train a tokenizer of exactly `vocab_size` tokens (bytes, learned and special), or of `num_merges` merges.

    `train` and `dev` are SOURCEs: a folder with one file per language, "LANG=PATH", counts, a list of those, or
    {language: path | lines | {pretoken: count}}. Dev text must be parallel if languages are compared by line, so no
    line of it is ever skipped.
    `dev` may also be several sets: `DevSets({"news": "news/", "chat": "chat/"})`.
    `continue_from` (a tokenizer, its path, or an object from `tokenizers` or `transformers`) keeps a tokenizer's tokens
    and ids and everything in its files, splits text as it does, and learns more: `add_tokens` tokens, `num_merges`
    merges, or up to `vocab_size`.
    `checkpoint` names a file that keeps the merges so far, and next to it, in a folder that ends in `.counting`, a
    count of more than a minute; with `resume`, a killed run continues from them. Remove them once you have saved.
    `progress`: None shows a bar on a terminal and writes a line every 30 seconds elsewhere, False shows nothing, a
    function is called for every stage.
    `options` say how text is read (text_column, language_column, errors, on_error, dedup), what is learned from (skip,
    choose, draw, min_count, memory), how text is split (pretokenizer, digits, normalize), what may become a token
    (min_frequency, max_token_length, whole_characters, superwords), and which tokens are special (special_tokens,
    reserved, pad_to) and what for (bos_token, eos_token, pad_token, unk_token, add_bos, add_eos, chat_template).
    """
    check_given("train", options, TrainOptions)
    goal: dict[str, Any] = {"vocab_size": vocab_size, "num_merges": num_merges, "add_tokens": add_tokens}
    settings = make_settings(continue_from, policy=method, **goal, **part_of(options, GivenSettings))
    place, threads = check_checkpoint(checkpoint, resume), thread_count(threads)
    with Progress(progress) as show:
        kept: dict[str, Any] = {"checkpoint": place and counting_checkpoint(place), "resume": resume}
        texts = read_train_and_dev(train, dev, settings, show, threads, **kept, **part_of(options, GivenText))
        warn(texts.warnings)
        keeper = None if place is None else keep(place, settings, texts)
        learned = learn_merges(settings, texts, keeper, resume=resume, threads=threads, show=show)
    tokenizer = tokenizer_of(settings, texts, learned, threads)
    warn(tokenizer.record["warnings"][len(texts.warnings) :])
    return tokenizer


def part_of(options: Mapping[str, Any], kind: type) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in kind.__annotations__}


def warn(messages: Iterable[str]) -> None:
    for message in messages:
        warnings.warn(message, PairityWarning, stacklevel=3)  # the line that called `train`


def learn_merges(
    settings: Settings, texts: Texts, keeper: Checkpoint | None, *, resume: bool, threads: int, show: Progress
) -> Learned:
    """Learn the merges of a run from the start or from its checkpoint, which is updated all along.

    With superwords, merges are first learned from words. Then all of them are applied to phrases, and learning goes on
    there.
    """
    saved = keeper.load() if keeper and resume else None
    known, exhausted = saved or (settings.remade, [])
    show.stage("learning merges", unit="merges", total=settings.budget)

    def go_on(texts: Texts, known: Steps, exhausted: Exhausted, **goals: Any) -> Learned:
        def hear(steps: Steps, exhausted: Exhausted) -> None:
            if keeper and len(steps) > len(known):  # until then, it is only applying known merges again
                keeper.hear(steps, exhausted)

        return learn(
            texts.for_engine(),
            **goals,
            threads=threads,
            known=known,
            known_exhausted=exhausted,
            tick=lambda done, served: show.at(settings.share(done), texts.name(served)),
            checkpoint=hear if keeper else None,
        )

    try:
        if settings.superwords is not None and not (keeper and keeper.in_phrases):
            known = go_on(texts.in_words(), known, exhausted, **settings.for_engine(in_words=True)).steps
            exhausted = []  # a language that ran out of pairs in words has more in phrases
            if keeper:
                keeper.in_phrases = True
                keeper.hear(known, exhausted)
        learned = go_on(texts, known, exhausted, **settings.for_engine())
    except KeyboardInterrupt:
        if keeper:
            keeper.save_newest()
        raise
    show.at(settings.share(len(learned.steps)))
    if keeper:  # until the tokenizer is saved, the checkpoint is the only copy
        keeper.hear(learned.steps, learned.exhausted)
        keeper.save_newest()
    return learned.after(settings.known) if settings.as_encoded else learned


def counting_checkpoint(checkpoint: Path) -> Path:
    """Where counting keeps its checkpoint, next to that of the merges."""
    return checkpoint.with_name(f"{checkpoint.name}.counting")


def keep(path: Path, settings: Settings, texts: Texts) -> Checkpoint:
    """The checkpoint of this run, identified by its settings, its text and the tokenizer to continue from."""
    weights = [texts.weights] if texts.weights else []
    return Checkpoint(path, fingerprint([settings.describe(), texts.descriptions, settings.budget, *weights]))


def tokenizer_of(settings: Settings, texts: Texts, learned: Learned, threads: int) -> Tokenizer:
    """The tokenizer that was learned, with its trace and its record."""
    trace = trace_of(
        learned,
        texts.measures,
        list(texts.train),
        first_tokens=settings.first_tokens,
        special_tokens=settings.special_ids,
        apart=texts.set_apart,
    )
    record = record_of(settings, texts, trace, learned.exhausted)
    made = without_audits(settings, learned.steps, record, trace)
    if settings.superwords is not None:
        found = superwords_of(settings, texts, trace, made.model)
        record |= {"stages": found["stages"]}
        for language, audit in found["languages"].items():
            record["languages"][language]["superwords"] = audit
    if settings.start:
        report = extension_report(settings.start, made, texts.measures, settings.rows_padded_to, threads)
        record |= {"extension": report}
    return Tokenizer.from_model(replace(made.model, record=record))


def without_audits(settings: Settings, steps: Steps, record: dict[str, Any], trace: Trace) -> Tokenizer:
    """The tokenizer before what is recorded of it by encoding text with it."""
    table = trace.table()
    if settings.start:
        new = steps.pairs[len(settings.known) :]
        return settings.start.extended(new, record=record, trace=table)
    return Tokenizer.from_model(
        BpeModel.from_merges(
            steps.pairs,
            cut=settings.pretokenization,
            special_tokens=settings.special_tokens,
            roles=settings.roles,
            record=record,
            trace=table,
        )
    )
