"""From text or counts to a tokenizer: check the arguments, count, learn, write the record.

tok = train("train/", dev="dev/", vocab_size=32_000, method=Parity(window=100))
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack

from pairity.bpe.model import BpeModel
from pairity.bpe.roles import GivenRoles
from pairity.counts.pruning import check_min_count
from pairity.counts.storage import Storage
from pairity.errors import PairityWarning
from pairity.progress import Listener, Progress
from pairity.text.sampling import Draw
from pairity.threads import thread_count
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.checkpoint import Checkpoint, fingerprint
from pairity.training.checks import check_checkpoint
from pairity.training.engine import Exhausted, Learned, Steps, learn
from pairity.training.extension import extension_report
from pairity.training.policy import Parity, Policy
from pairity.training.record import record_of
from pairity.training.settings import Settings, make_settings
from pairity.training.superwords import superwords_of
from pairity.training.texts import Texts, read_train_and_dev
from pairity.training.trace import Trace, trace_of


def train(
    train: Any,
    *,
    dev: Any = None,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    add_tokens: int | None = None,
    method: Policy = Parity(),  # noqa: B008 (immutable)
    pretokenizer: str | None = None,
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    min_frequency: int = 2,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    special_tokens: Sequence[str] = (),
    reserved: int = 0,
    pad_to: int | None = None,
    skip: Iterable[str] = (),
    text_column: str | Mapping[str, str] = "text",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    progress: bool | Listener | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    continue_from: Any = None,
    choose: Iterable[str] | None = None,
    draw: Draw | None = None,
    language_column: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    dedup: Literal["lines"] | None = None,
    memory: str | int | None = None,
    min_count: int = 1,
    superwords: float | None = None,
    **roles: Unpack[GivenRoles],
) -> Tokenizer:
    """Train a tokenizer of exactly `vocab_size` tokens (bytes, learned and special), or of `num_merges` merges.

    `train` and `dev` are SOURCEs: a folder with one file per language, "LANG=PATH", counts, a list of those, or
    {language: path | lines | {pretoken: count}}. Dev text must be parallel if languages are compared by line.
    `dev` may also be several sets: `DevSets({"news": "news/", "chat": "chat/"})`.
    `pretokenizer` is a name or a pattern (None: gpt4o, or that of the continued tokenizer).
    `text_column`, `language_column`, `errors`, `on_error` and `dedup` control how text is read, as for `count`. Lines
    of dev text are never skipped, because it may be parallel.
    `skip` leaves out languages, `choose` takes only some: codes, or the name of a set ("paper-30"). `draw` says how
    much of the training text to take: `Draw(balance="temperature", temperature=3.3, budget="10GB")`.
    `whole_characters` forbids tokens that join part of a character with another.
    `reserved` adds special tokens for later use, `pad_to` as many more as make the size a multiple (64, 128).
    `progress`: None shows a bar on a terminal and writes a line every 30 seconds elsewhere, False shows nothing, a
    function is called for every stage.
    `checkpoint` names a file that keeps the merges so far; with `resume`, a killed run continues from it. It is not
    removed at the end: remove it once the tokenizer is saved. Counting that takes more than a minute is kept next to
    it, in a folder of the same name that ends in `.counting`.
    `superwords=0.5` learns half of the tokens from words, and the other half from phrases of up to four words, so that
    tokens can cross spaces; `pretokenizer="gpt4o:words6"` allows phrases of up to six.
    `memory` and `min_count` apply to counting the training text, as for `count`.
    `continue_from` (a tokenizer, its path, or an object from `tokenizers` or `transformers`) keeps a tokenizer's tokens
    and ids and everything in its files, splits text as it does, and learns more tokens: `add_tokens` of them, or as
    many as make `vocab_size`, or those of `num_merges` more merges. Here `pad_to` adds no tokens: the report rounds the
    rows of the embedding up to it.
    `roles` are saved with the tokenizer and written by every export: bos_token, eos_token, pad_token and unk_token
    (added to the special tokens if they are not among them), add_bos and add_eos, which make other libraries add
    those tokens to every text, and chat_template, the text of a Jinja template.
    """
    settings = make_settings(
        continue_from,
        policy=method,
        vocab_size=vocab_size,
        num_merges=num_merges,
        add_tokens=add_tokens,
        pretokenizer=pretokenizer,
        digits=digits,
        normalize=normalize,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        whole_characters=whole_characters,
        special_tokens=special_tokens,
        reserved=reserved,
        pad_to=pad_to,
        roles=roles,
        superwords=superwords,
    )
    check_checkpoint(checkpoint, resume)
    threads = thread_count(threads)
    check_min_count(min_count, "train")
    Storage.of(memory, None, False, threads)  # refuses a bad value before the dev text is read
    with Progress(progress) as show:
        counting = {
            "memory": memory,
            "min_count": min_count,
            "checkpoint": None if checkpoint is None else counting_checkpoint(Path(checkpoint)),
            "resume": resume,
        }
        texts = read_train_and_dev(
            train,
            dev,
            skip,
            settings,
            show,
            threads,
            choose=choose,
            draw=draw,
            counting=counting,
            text_column=text_column,
            errors=errors,
            language_column=language_column,
            on_error=on_error,
            dedup=dedup,
        )
        for warning in texts.warnings:
            warnings.warn(warning, PairityWarning, stacklevel=2)
        keeper = None if checkpoint is None else keep(Path(checkpoint), settings, texts)
        learned = learn_merges(settings, texts, keeper, resume=resume, threads=threads, show=show)
    trace = trace_of(
        learned,
        texts.measures,
        list(texts.train),
        first_tokens=settings.first_tokens,
        special_tokens=settings.special_ids,
        apart=texts.set_apart,
    )
    record = record_of(settings, texts, trace, learned.exhausted)
    record |= {"min_count": min_count} if min_count > 1 else {}
    for warning in record["warnings"][len(texts.warnings) :]:
        warnings.warn(warning, PairityWarning, stacklevel=2)
    made = tokenizer_of(settings, learned.steps, record, trace)
    if settings.superwords is not None:
        found = superwords_of(settings, texts, trace, made.model)
        record |= {"stages": found["stages"]}
        for language, audit in found["languages"].items():
            record["languages"][language]["superwords"] = audit
        made = Tokenizer.from_model(replace(made.model, record=record))
    if settings.start:
        record |= {"extension": extension_report(settings.start, made, texts.measures, pad_to, threads)}
        made = Tokenizer.from_model(replace(made.model, record=record))
    return made


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


def tokenizer_of(settings: Settings, steps: Steps, record: dict[str, Any], trace: Trace) -> Tokenizer:
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
