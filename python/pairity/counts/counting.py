"""Counting: from the text of every language to counts, on all threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

import pyarrow as pa

from pairity import _core
from pairity.counts import parquet
from pairity.counts.counts import Counts, drawn_together
from pairity.counts.given import given_counts
from pairity.counts.pruning import check_min_count, without_rare
from pairity.counts.runs import silence
from pairity.counts.shards import take_shard
from pairity.counts.storage import Storage
from pairity.counts.tally import Tally, from_core
from pairity.counts.values import LanguageCounts, Rows, Split, check_split
from pairity.errors import PairityError
from pairity.languages import chosen, is_chosen, one_or_several
from pairity.progress import BytesListener
from pairity.sizes import parse_size
from pairity.text import drawing, reading
from pairity.text.blocks import Block, no_text, not_utf8
from pairity.text.cleaning import Passed
from pairity.text.columns import check_errors, text_buffers
from pairity.text.drawing import Drawn, Selection
from pairity.text.inputs import CountsInput, Resolved, TextInput
from pairity.text.mistakes import check_language
from pairity.text.options import GivenReading, TextReading, check_given
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sampling import Draw
from pairity.text.sources import resolve
from pairity.threads import thread_count

Engine = Callable[
    [Sequence[TextInput], Pretokenization, TextReading, bool, BytesListener | None],
    tuple[Mapping[str, LanguageCounts], Sequence[str]],
]
"""Counts text outside of this process: (inputs, how to cut it, how to read it, whether to count words, progress) ->
the counts of every language, and notes."""


def count(
    sources: Any,
    *,
    pretokenizer: str | Pretokenization = DEFAULT_PRETOKENIZER,
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    split: Split = "train",
    threads: int | None = None,
    count_words: bool = False,
    languages: str | Iterable[str] | None = None,
    progress: BytesListener | None = None,
    choose: str | Iterable[str] | None = None,
    draw: Draw | None = None,
    memory: str | int | None = None,
    min_count: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    engine: Engine | None = None,
    **how_read: Unpack[GivenReading],
) -> Counts:
    """Count the pre-tokens of every language in `sources` (for what a SOURCE can be, see `pairity.text.sources`).

    The sources may include existing counts; these are summed. With `languages`, only these are counted: others found
    in a folder are listed in `left_out`, and others that were named explicitly are an error.
    `notes`, `skipped`, `duplicates` and `replaced` of the result say what was not counted as it is.
    `progress(done, total, what)` gets the bytes of the files as they are on disk, and the current language.
    `choose` names the languages to count, which must exist, or a set such as "paper-30", of which the existing ones
    are counted. `draw` says how much of each: `Draw(balance="temperature", temperature=3.3, budget="10GB")`.
    `memory` ("4GB") limits what counting may take in addition to the program itself: the rest goes to disk as sorted
    runs, and the result is the same. `min_count` drops rarer pre-tokens at the very end; `pruned` of a language says
    how many. (Rare phrases, as split by "gpt4o:words4", are first counted as their halves, and finally as words; those
    of one language are then in memory.)
    `checkpoint` names a folder that keeps what is counted, at most once a minute; with `resume`, a killed run continues
    from it without counting finished files again. It is not removed at the end: remove it once the counts are saved.
    `shard=(3, 16)` counts the third of 16 parts, to be combined by `merge`: every part has some of the files.
    `engine` counts the text elsewhere: see `pairity.spark`.
    """
    check_given("count", how_read)
    check_split(split)
    check_min_count(min_count, split)
    draw = None if draw is None or draw.takes_all else draw
    cut = Pretokenization.of(pretokenizer, digits, normalize)
    # A line is drawn as a whole, so long lines must not come in parts.
    how = TextReading(**how_read, cut=None if draw else cut)
    dedup, language_column = how.dedup, how.language_column
    if memory is not None and dedup is not None:
        how = replace(how, dedup_memory=parse_size(memory, "memory") // 4)
    wanted = None if languages is None else one_or_several(languages)
    choice = None if choose is None else one_or_several(choose)
    found = resolve(sources, wanted, language_column=language_column)
    if draw:
        drawing.check_sources(found)
    pruned = min_count if min_count > 1 else None
    refuse_together(shard, None, draw=draw, dedup=dedup, min_count=pruned)
    if engine and threads is not None:
        raise PairityError(f"threads is {threads}: leave it out, because the engine decides how many.")
    refuse_together(None, engine, draw=draw, dedup=dedup, memory=memory, checkpoint=checkpoint)
    part_of = None
    if shard is not None:
        found, part_of = take_shard(found, shard)
    texts = {part.language: part for part in found.inputs if isinstance(part, TextInput) and part.language}
    if wanted is None:
        how.check_languages(texts)
    storage = Storage.of(memory, checkpoint, resume, thread_count(threads), beside=how.dedup_memory or 0)
    given = given_counts(
        [part for part in found.inputs if isinstance(part, CountsInput)], cut, split, storage
    )
    given.refuse_twice(texts)
    parquet.give_back_memory()

    def is_wanted(name: str) -> bool:
        return (wanted is None or name in wanted) and (choice is None or is_chosen(name, choice))

    notes = [*found.notes, *given.notes]
    if choice is not None and language_column is None:
        notes += chosen(choice, given.order(found.inputs, of_records=[]))[1]
    inputs = [
        part
        for part in found.inputs
        if isinstance(part, TextInput) and (not part.language or is_wanted(part.language))
    ]
    drawn = None
    if draw:
        drawn = drawing.draw(
            Resolved(tuple(inputs), (), ()),
            draw,
            how=how,
            threads=threads,
            progress=progress,
            is_wanted=is_wanted,
        )
        notes += drawn.notes
    counted: Mapping[str, Rows]
    if engine:
        counted, about_text = engine(inputs, cut, how, count_words, progress)
    else:
        counted, passed = count_texts(
            inputs, cut, how, storage, count_words=count_words, progress=progress, drawn=drawn
        )
        about_text = passed.notes
    if not part_of:
        check_text(inputs, counted)
    given.refuse_twice(counted)
    made = {**given.rows, **counted}
    order = given.order(found.inputs, of_records=sorted(counted.keys() - texts.keys()))
    if choice is not None and language_column is not None and not part_of:
        notes += chosen(choice, order)[1]  # languages that only records name are known after reading
    unwanted = [name for name in order if not is_wanted(name)]
    if drawn and draw:
        selection: Selection | None = Selection((draw.describe(),), drawn.given)
    else:
        sizes = ({name: rows.size for name, rows in part.items()} for part in (given.rows, counted))
        selection = drawn_together(zip(sizes, (given.drawn, None), strict=True))
    kept = {
        language: without_rare(language, made[language], min_count, cut)
        for language in order
        if language not in unwanted
    }
    return Counts(
        kept,
        cut,
        split,
        selection and selection.only(kept),
        part_of,
        left_out=[*found.left_out, *unwanted],
        notes=[*notes, *about_text],
    )


def count_texts(
    inputs: Sequence[TextInput],
    cut: Pretokenization,
    how: TextReading,
    storage: Storage,
    *,
    count_words: bool = False,
    progress: BytesListener | None = None,
    drawn: Drawn | None = None,
) -> tuple[dict[str, Rows], Passed]:
    settings = {
        "cut": cut.hash,
        "errors": how.errors,
        "text_column": how.text_column if isinstance(how.text_column, str) else dict(how.text_column),
        "count_words": count_words,
        "drawn": drawn and [drawn.seed, dict(drawn.below)],
    }
    runs, checkpoint = storage.open(inputs, settings, how)
    tally = Tally(
        lambda: new_counter(cut, how.errors, count_words),
        limit=storage.limit,
        runs=runs,
        checkpoint=checkpoint,
        threads=storage.threads,
        words_counted=count_words,
    )

    def feed(language: str, block: Block) -> None:
        tally.feed(language, drawn.sift(language, block) if drawn else block)

    passed = reading.read(
        checkpoint.remaining(inputs) if checkpoint else inputs,
        feed,
        tally.end,
        tally.end_file,
        how=how,
        threads=storage.threads,
        progress=progress,
    )
    tally.close()
    languages = sorted(tally.languages)
    listeners = runs.listeners(languages, progress or silence) if runs else {}
    made = {
        language: tally.rows(language, passed, listeners.get(language, silence)) for language in languages
    }
    return made, passed


def check_text(inputs: Sequence[TextInput], made: Mapping[str, Rows]) -> None:
    for part in inputs:
        found = [made[part.language]] if part.language else list(made.values())
        if not any(rows.size.bytes for rows in found):
            raise PairityError(no_text(part, sum(rows.size.lines or 0 for rows in found)))


def refuse_together(shard: object, engine: object, **settings: object) -> None:
    """Refuse settings that need a process that sees all text."""
    for name, value in settings.items():
        if value is not None and (shard or engine):
            where = "an engine" if engine else "a shard"
            raise PairityError(
                f"{name} needs one process that sees all text, but {where} does not have that: leave one "
                "of them out."
            )


class TextCounter:
    """Counts texts of any language as they come: for pipelines that have texts but no files."""

    def __init__(self, cut: Pretokenization, errors: str = "strict", count_words: bool = False) -> None:
        check_errors(errors)
        self.settings = (cut, errors, count_words)
        self.counters: dict[str, _core.Counter] = {}

    def add(self, language: str, texts: Any) -> None:
        """`texts` is an Arrow array."""
        check_language(language, "the texts given")
        if language not in self.counters:
            self.counters[language] = new_counter(*self.settings)
        try:
            self.counters[language].add_texts(*text_buffers(texts.cast(pa.large_binary())))
        except _core.NotUtf8Error as error:
            raise PairityError(not_utf8(f"a text of {language!r}", error.column)) from None
        except ValueError as error:
            raise PairityError(f"a text of {language!r}: {error}") from error

    def finish(self) -> dict[str, LanguageCounts]:
        words_counted = self.settings[2]
        return {
            language: from_core(counter, words_counted) for language, counter in sorted(self.counters.items())
        }


def new_counter(cut: Pretokenization, errors: str, count_words: bool) -> _core.Counter:
    return _core.Counter(
        cut.pattern,
        nfc=cut.normalize == "nfc",
        replace_invalid=errors == "replace",
        count_words=count_words,
    )


def count_lines(lines: Iterable[str], cut: Pretokenization) -> LanguageCounts:
    """The counts of lines in memory: ["to be"] -> {b" be": 1, b"to": 1}."""
    counter = _core.Counter(cut.pattern, nfc=cut.normalize == "nfc")
    texts = pa.array([line.encode() for line in lines], pa.large_binary())
    counter.add_texts(*text_buffers(texts))
    return from_core(counter, words_counted=False)
