"""Counting: the text of every language becomes counts, on all threads at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from pairity import _core
from pairity.counts import parquet
from pairity.counts.counts import Counts, merge
from pairity.counts.merging import ToSum, add_counts, add_file, merged
from pairity.counts.pruning import check_min_count, without_rare
from pairity.counts.runs import chunk_of, silence
from pairity.counts.storage import Storage, temporary_runs
from pairity.counts.tables import from_dict, from_table
from pairity.counts.tally import Tally
from pairity.counts.values import (
    LanguageCounts,
    Rows,
    Split,
    TextSize,
    check_split,
    language_counts,
    text_buffers,
)
from pairity.errors import PairityError
from pairity.text import reading
from pairity.text.blocks import no_text
from pairity.text.columns import check_errors
from pairity.text.inputs import CountsInput, TextInput
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sources import resolve
from pairity.threads import thread_count


def count(
    sources: Any,
    *,
    pretokenizer: str | Pretokenization = DEFAULT_PRETOKENIZER,
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    split: Split = "train",
    text_column: str = "text",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    count_words: bool = False,
    languages: Iterable[str] | None = None,
    progress: reading.BytesListener | None = None,
    memory: str | int | None = None,
    min_count: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Counts:
    """Count the pre-tokens of every language in `sources` (what a SOURCE may be: see `pairity.text.sources`).

    Counts made before may stand among the sources; several of them are summed. `errors="replace"` reads
    bytes that are not UTF-8 as U+FFFD and counts them in `replaced`. With `languages` only these are counted:
    others found in a folder end up in `left_out`, others named one by one are an error.
    `progress(done, total, what)` gets bytes of the files as they are on disk, and the language at work.
    `memory` ("4GB") is what counting may take beside the program itself: what is more goes to disk as sorted runs,
    and the result is the same. `min_count` leaves rarer pre-tokens out at the very end; `pruned` of a language says
    how many. `checkpoint` names a folder that keeps what is counted, once a minute at most; with `resume` a killed
    run goes on from it, and reads no file again that it had finished. It stays when the run is done: remove it once
    the counts are saved.
    """
    check_split(split)
    check_min_count(min_count, split)
    check_errors(errors)
    cut = Pretokenization.of(pretokenizer, digits, normalize)
    wanted = None if languages is None else list(languages)
    found = resolve(sources, wanted)
    texts = {part.language: part for part in found.inputs if isinstance(part, TextInput)}
    storage = Storage.of(memory, checkpoint, resume, thread_count(threads))
    counted = [part for part in found.inputs if isinstance(part, CountsInput)]
    languages_of, made = given_counts(counted, cut, split, storage)
    for part, has in zip(counted, languages_of, strict=True):
        for language in has:
            if language in texts:
                raise PairityError(
                    f"the language {language!r} is given twice: as counts ({part.origin}) and as text "
                    f"({texts[language].origin}). Leave one out."
                )
    each = iter(languages_of)
    order = dict.fromkeys(
        language
        for part in found.inputs
        for language in ([part.language] if isinstance(part, TextInput) else next(each))
    )
    parquet.give_back_memory()
    made |= count_texts(
        list(texts.values()), cut, errors, text_column, threads, count_words, progress, storage
    )
    unwanted = [] if wanted is None else [language for language in order if language not in wanted]
    kept = {
        language: without_rare(language, made[language], min_count)
        for language in order
        if language not in unwanted
    }
    return Counts(kept, cut, split, left_out=[*found.left_out, *unwanted], notes=found.notes)


def count_texts(
    inputs: Sequence[TextInput],
    cut: Pretokenization,
    errors: str,
    text_column: str,
    threads: int | None,
    count_words: bool,
    progress: reading.BytesListener | None,
    storage: Storage,
) -> dict[str, Rows]:
    settings = {
        "cut": cut.hash,
        "errors": errors,
        "text_column": text_column,
        "count_words": count_words,
    }
    runs, checkpoint = storage.open(inputs, settings)
    tally = Tally(
        lambda: _core.Counter(
            cut.pattern,
            nfc=cut.normalize == "nfc",
            replace_invalid=errors == "replace",
            count_words=count_words,
        ),
        limit=storage.limit,
        runs=runs,
        checkpoint=checkpoint,
        threads=storage.threads,
        words_counted=count_words,
    )
    reading.read(
        checkpoint.remaining(inputs) if checkpoint else inputs,
        tally.feed,
        tally.end,
        tally.end_file,
        text_column=text_column,
        threads=threads,
        progress=progress,
    )
    tally.close()
    languages = [part.language for part in inputs]
    listeners = runs.listeners(languages, progress or silence) if runs else {}
    made = {language: tally.rows(language, listeners.get(language, silence)) for language in languages}
    for part in inputs:
        if not made[part.language].size.bytes:
            raise PairityError(no_text(part, made[part.language].size.lines or 0))
    return made


def given_counts(
    parts: Sequence[CountsInput], cut: Pretokenization, split: Split, storage: Storage
) -> tuple[list[list[str]], dict[str, Rows]]:
    """Counts that came as sources: the languages of each, and the sums, which are on disk where memory is limited."""
    if not parts:
        return [], {}
    if storage.limit is None:
        given = [counts_of(part, cut, split) for part in parts]
        return list(map(list, given)), dict(merge(given, origins=[part.origin for part in parts]))
    runs, to_sum, languages_of = temporary_runs(), ToSum(), []
    for part in parts:
        if isinstance(part.data, Path):
            header = parquet.read_header(part.data, cut, split)
            languages_of.append(add_file(runs, to_sum, part.data, header))
        else:
            counts = counts_of(part, cut, split)
            add_counts(runs, to_sum, counts)
            languages_of.append(list(counts))
    return languages_of, merged(runs, to_sum, list(to_sum), min_count=1)


def count_lines(lines: Iterable[str], cut: Pretokenization) -> LanguageCounts:
    """The counts of lines in memory: ["to be"] -> {b" be": 1, b"to": 1}."""
    counter = _core.Counter(cut.pattern, nfc=cut.normalize == "nfc")
    texts = pa.array([line.encode() for line in lines], pa.large_binary())
    counter.add_texts(*text_buffers(texts))
    data, offsets, counts, totals = counter.finish()
    return language_counts(*chunk_of(data, offsets, counts), replace(TextSize(**totals), words=None))


def counts_of(part: CountsInput, cut: Pretokenization, split: Split) -> Counts:
    """Counts that came as a source, checked against what was asked for."""
    if isinstance(part.data, Path):
        return Counts(*parquet.read(part.data, cut, split))
    if isinstance(part.data, Counts):
        parquet.check_same(part.origin, part.data.pretokenization, cut, part.data.split, split)
        return part.data
    if isinstance(part.data, LanguageCounts) and part.language:
        return Counts({part.language: part.data}, cut, split)
    if part.language:
        return Counts({part.language: from_dict(part.language, part.data, None)}, cut, split)
    return Counts(from_table(pa.table(part.data), part.origin, {}), cut, split)
