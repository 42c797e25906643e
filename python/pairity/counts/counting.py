"""Counting: the text of every language becomes counts, on all threads at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from pairity import _core
from pairity.counts import parquet
from pairity.counts.counts import Counts, merge
from pairity.counts.tables import from_dict, from_table
from pairity.counts.values import LanguageCounts, Split, check_split
from pairity.errors import PairityError
from pairity.text import reading
from pairity.text.blocks import Block, no_text, not_utf8
from pairity.text.cleaning import Passed
from pairity.text.columns import text_buffers
from pairity.text.inputs import CountsInput, TextInput
from pairity.text.options import TextReading
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sources import resolve


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
    """
    check_split(split)
    cut = Pretokenization.of(pretokenizer, digits, normalize)
    how = TextReading(
        text_column=text_column,
        errors=errors,
        language_column=language_column,
        on_error=on_error,
        dedup=dedup,
        cut=cut,
    )
    wanted = None if languages is None else list(languages)
    found = resolve(sources, wanted, language_column=language_column)
    inputs = [part for part in found.inputs if isinstance(part, TextInput)]
    texts = {part.language: part for part in inputs if part.language}
    if wanted is None:
        how.check_languages(texts)
    given: list[Counts] = []
    origins: list[str] = []
    order: dict[str, None] = {}
    for part in found.inputs:
        if isinstance(part, TextInput):
            order[part.language] = None
            continue
        counts = counts_of(part, cut, split)
        for language in counts.keys() & texts.keys():
            raise PairityError(
                f"the language {language!r} is given twice: as counts ({part.origin}) and as text "
                f"({texts[language].origin}). Leave one out."
            )
        order.update(dict.fromkeys(counts))
        given.append(counts)
        origins.append(part.origin)
    made = dict(merge(given, origins=origins)) if given else {}
    parquet.give_back_memory()
    counted, passed = count_texts(inputs, cut, how, threads, count_words, progress)
    if twice := sorted(counted.keys() & made.keys()):
        raise PairityError(
            f"the language {twice[0]!r} is given twice: as counts and in records. Leave one out."
        )
    made |= counted
    languages_of_records = sorted(counted.keys() - texts.keys())
    order = {language: None for name in order for language in ([name] if name else languages_of_records)}
    unwanted = [] if wanted is None else [language for language in order if language not in wanted]
    kept = {language: made[language] for language in order if language not in unwanted}
    notes = (*found.notes, *passed.notes)
    return Counts(kept, cut, split, left_out=[*found.left_out, *unwanted], notes=notes)


def count_texts(
    inputs: Sequence[TextInput],
    cut: Pretokenization,
    how: TextReading,
    threads: int | None,
    count_words: bool,
    progress: reading.BytesListener | None,
) -> tuple[dict[str, LanguageCounts], Passed]:
    # A thread takes an idle counter of the language or makes one, so a language has no more of them than it
    # had threads at once. Sums and sorted output make the result the same whoever counted what.
    idle: defaultdict[str, list[_core.Counter]] = defaultdict(list)

    def new_counter() -> _core.Counter:
        return _core.Counter(
            cut.pattern,
            nfc=cut.normalize == "nfc",
            replace_invalid=how.errors == "replace",
            count_words=count_words,
        )

    def feed(language: str, block: Block) -> None:
        try:
            counter = idle[language].pop()
        except IndexError:
            counter = new_counter()
        try:
            if block.lines is not None:
                counter.add_lines(block.lines)
            else:
                times = None if block.times is None else block.times.buffers()[1]
                counter.add_texts(*text_buffers(block.texts), times)
        except _core.NotUtf8Error as error:
            column = None if block.part else error.column
            raise PairityError(not_utf8(block.place(error.line), column)) from None
        except ValueError as error:
            raise PairityError(f"{block.where}: {error}") from error
        idle[language].append(counter)

    made: dict[str, LanguageCounts] = {}

    def finish(language: str) -> None:
        counters = idle.pop(language, [])
        counter = counters.pop() if counters else new_counter()
        for other in counters:
            counter.merge(other)
        made[language] = from_core(*counter.finish(), count_words)

    passed = reading.read(inputs, feed, finish, how=how, threads=threads, progress=progress)
    for part in inputs:
        found = [made[part.language]] if part.language else list(made.values())
        if not any(counts.bytes for counts in found):
            raise PairityError(no_text(part, sum(counts.lines or 0 for counts in found)))
    return {language: with_passed(counts, passed, language) for language, counts in made.items()}, passed


def with_passed(counts: LanguageCounts, passed: Passed, language: str) -> LanguageCounts:
    """With what was passed over, and without the lines that cuts in long lines look like."""
    return replace(
        counts,
        lines=(counts.lines or 0) - passed.cuts.get(language, 0),
        skipped=passed.skipped.get(language, 0),
        duplicates=passed.duplicates.get(language, 0),
    )


def count_lines(lines: Iterable[str], cut: Pretokenization) -> LanguageCounts:
    """The counts of lines in memory: ["to be"] -> {b" be": 1, b"to": 1}."""
    counter = _core.Counter(cut.pattern, nfc=cut.normalize == "nfc")
    texts = pa.array([line.encode() for line in lines], pa.large_binary())
    counter.add_texts(*text_buffers(texts))
    return from_core(*counter.finish(), words_counted=False)


def from_core(
    data: bytes, offsets: bytes, counts: bytes, totals: Mapping[str, int], words_counted: bool
) -> LanguageCounts:
    numbers = np.frombuffer(counts, "<u8")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return LanguageCounts(
        pretokens=pa.Array.from_buffers(pa.large_binary(), len(numbers), buffers),
        counts=numbers,
        lines=totals["lines"],
        bytes=totals["bytes"],
        chars=totals["chars"],
        words=totals["words"] if words_counted else None,
        replaced=totals["replaced"],
    )


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
