"""Counting: the text of every language becomes counts, on all threads at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from pairity import _core
from pairity.counts import parquet
from pairity.counts.counts import Counts, drawn_together, merge
from pairity.counts.merging import ToSum, add_counts, add_file, merged
from pairity.counts.pruning import check_min_count, without_rare
from pairity.counts.runs import chunk_of, silence
from pairity.counts.storage import Storage, temporary_runs
from pairity.counts.tables import from_dict, from_table
from pairity.counts.tally import Tally
from pairity.counts.values import LanguageCounts, Rows, Split, TextSize, check_split, language_counts
from pairity.errors import PairityError
from pairity.languages import chosen
from pairity.text import drawing, reading
from pairity.text.blocks import Block, no_text
from pairity.text.cleaning import Passed
from pairity.text.columns import text_buffers
from pairity.text.drawing import Drawn, Selection
from pairity.text.inputs import CountsInput, Resolved, TextInput
from pairity.text.options import TextReading
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sampling import Draw
from pairity.text.sources import resolve
from pairity.threads import thread_count


def count(
    sources: Any,
    *,
    pretokenizer: str | Pretokenization = DEFAULT_PRETOKENIZER,
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    split: Split = "train",
    text_column: str | Mapping[str, str] = "text",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    count_words: bool = False,
    languages: Iterable[str] | None = None,
    progress: reading.BytesListener | None = None,
    language_column: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    dedup: Literal["lines"] | None = None,
    choose: Iterable[str] | None = None,
    draw: Draw | None = None,
    memory: str | int | None = None,
    min_count: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> Counts:
    """Count the pre-tokens of every language in `sources` (what a SOURCE may be: see `pairity.text.sources`).

    Counts made before may stand among the sources; several of them are summed. `errors="replace"` reads
    bytes that are not UTF-8 as U+FFFD and counts them in `replaced`. With `languages` only these are counted:
    others found in a folder end up in `left_out`, others named one by one are an error.
    `text_column` is the column of all records, or {language: its column}. With `language_column` a SOURCE without a
    language holds records of several, and this column names that of each: a file, a folder, records, a data set.
    `on_error="skip"` passes over broken lines and records, `dedup="lines"` over texts that their language has already;
    `notes`, `skipped` and `duplicates` of the result tell how many.
    `progress(done, total, what)` gets bytes of the files as they are on disk, and the language at work.
    `choose` names the languages to count, which must be there, or a set such as "paper-30", of which those that are
    there are counted. `draw` says how much of each is: `Draw(balance="temperature", temperature=3.3, budget="10GB")`.
    `memory` ("4GB") is what counting may take beside the program itself: what is more goes to disk as sorted runs,
    and the result is the same. `min_count` leaves rarer pre-tokens out at the very end; `pruned` of a language says
    how many. `checkpoint` names a folder that keeps what is counted, once a minute at most; with `resume` a killed
    run goes on from it, and reads no file again that it had finished. It stays when the run is done: remove it once
    the counts are saved.
    """
    check_split(split)
    check_min_count(min_count, split)
    cut = Pretokenization.of(pretokenizer, digits, normalize)
    how = TextReading(
        text_column=text_column,
        errors=errors,
        language_column=language_column,
        on_error=on_error,
        dedup=dedup,
        cut=cut,
    )
    draw = None if draw is None or draw.takes_all else draw
    wanted = None if languages is None else list(languages)
    found = resolve(sources, wanted, language_column=language_column)
    if draw:
        drawing.check_sources(found)
    texts = {part.language: part for part in found.inputs if isinstance(part, TextInput) and part.language}
    if wanted is None:
        how.check_languages(texts)
    storage = Storage.of(memory, checkpoint, resume, thread_count(threads))
    given = given_counts(
        [part for part in found.inputs if isinstance(part, CountsInput)], cut, split, storage
    )
    given.refuse_twice(texts)
    parquet.give_back_memory()

    # What only records name is known when all is read, and chosen from then.
    named = given.order(found.inputs, of_records=[])
    notes = list(found.notes)
    unwanted: list[str] = [] if wanted is None else [name for name in named if name not in wanted]
    if choose is not None and language_column is None:
        kept_names, lacking = chosen(choose, named)
        notes += lacking
        unwanted += [name for name in named if name not in (*kept_names, *unwanted)]
    inputs = [part for part in found.inputs if isinstance(part, TextInput) and part.language not in unwanted]
    drawn, selection = None, given.drawn
    if draw:
        drawn = drawing.draw(
            Resolved(tuple(inputs), (), ()), draw, how=how, threads=threads, progress=progress
        )
        selection = Selection((draw.describe(),), drawn.given)
        notes += drawn.notes
    counted, passed = count_texts(inputs, cut, how, drawn, draw, count_words, progress, storage)
    given.refuse_twice(counted)
    made = {**given.rows, **counted}
    order = given.order(found.inputs, of_records=sorted(counted.keys() - texts.keys()))
    if language_column is not None:
        unwanted += [name for name in order if wanted is not None and name not in (*wanted, *unwanted)]
        if choose is not None:
            kept_names, lacking = chosen(choose, order)
            notes += lacking
            unwanted += [name for name in order if name not in (*kept_names, *unwanted)]
    kept = {
        language: without_rare(language, made[language], min_count)
        for language in order
        if language not in unwanted
    }
    return Counts(
        kept,
        cut,
        split,
        selection and selection.only(kept),
        left_out=[*found.left_out, *unwanted],
        notes=[*notes, *passed.notes],
    )


def count_texts(
    inputs: Sequence[TextInput],
    cut: Pretokenization,
    how: TextReading,
    drawn: Drawn | None,
    draw: Draw | None,
    count_words: bool,
    progress: reading.BytesListener | None,
    storage: Storage,
) -> tuple[dict[str, Rows], Passed]:
    settings = {
        "cut": cut.hash,
        "errors": how.errors,
        "text_column": how.text_column if isinstance(how.text_column, str) else dict(how.text_column),
        "count_words": count_words,
        "draw": draw and draw.describe(),
    }
    runs, checkpoint = storage.open(inputs, settings, how)
    tally = Tally(
        lambda: _core.Counter(
            cut.pattern,
            nfc=cut.normalize == "nfc",
            replace_invalid=how.errors == "replace",
            count_words=count_words,
        ),
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
    for part in inputs:
        found = [made[part.language]] if part.language else list(made.values())
        if not any(rows.size.bytes for rows in found):
            raise PairityError(no_text(part, sum(rows.size.lines or 0 for rows in found)))
    return made, passed


@dataclass(frozen=True)
class GivenCounts:
    """Counts that came as sources: the languages of each, the sums, and what was drawn of their text."""

    origins: Sequence[str]
    languages_of: Sequence[Sequence[str]]
    rows: Mapping[str, Rows]
    drawn: Selection | None = None

    def refuse_twice(self, texts: Mapping[str, Any]) -> None:
        for origin, languages in zip(self.origins, self.languages_of, strict=True):
            for language in languages:
                if language in texts:
                    part = texts[language]
                    where = part.origin if isinstance(part, TextInput) else "records"
                    raise PairityError(
                        f"the language {language!r} is given twice: as counts ({origin}) and as text ({where}). Leave "
                        "one out."
                    )

    def order(self, inputs: Sequence[TextInput | CountsInput], of_records: Sequence[str]) -> list[str]:
        """All languages in the order of the sources; of records, by name."""
        each = iter(self.languages_of)
        return list(
            dict.fromkeys(
                language
                for part in inputs
                for language in (
                    next(each)
                    if isinstance(part, CountsInput)
                    else [part.language]
                    if part.language
                    else of_records
                )
            )
        )


def given_counts(
    parts: Sequence[CountsInput], cut: Pretokenization, split: Split, storage: Storage
) -> GivenCounts:
    """The sums are on disk where memory is limited."""
    origins = [part.origin for part in parts]
    if not parts:
        return GivenCounts((), (), {})
    if storage.limit is None:
        given = [counts_of(part, cut, split) for part in parts]
        summed = merge(given, origins=origins)
        return GivenCounts(origins, list(map(list, given)), dict(summed), summed.drawn)
    runs, to_sum, languages_of, drawn = temporary_runs(), ToSum(), [], []
    for part in parts:
        if isinstance(part.data, Path):
            header = parquet.read_header(part.data, cut, split)
            languages_of.append(add_file(runs, to_sum, part.data, header))
            drawn.append((header.sizes or {}, header.drawn))
        else:
            counts = counts_of(part, cut, split)
            add_counts(runs, to_sum, counts)
            languages_of.append(list(counts))
            drawn.append(({language: one.size for language, one in counts.items()}, counts.drawn))
    rows = merged(runs, to_sum, list(to_sum), min_count=1)
    return GivenCounts(origins, languages_of, rows, drawn_together(drawn))


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
