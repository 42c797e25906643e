"""Counting: the text of every language becomes counts, on all threads at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from pairity import _core
from pairity.counts import parquet
from pairity.counts.counts import Counts, merge
from pairity.counts.shards import take_shard
from pairity.counts.tables import from_dict, from_table
from pairity.counts.values import LanguageCounts, Split, check_split, text_buffers
from pairity.errors import PairityError
from pairity.text import reading
from pairity.text.blocks import Block, no_text, not_utf8
from pairity.text.columns import check_errors
from pairity.text.inputs import CountsInput, TextInput
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sources import check_language, resolve

Engine = Callable[
    [Sequence[TextInput], Pretokenization, str, str, int | None, bool, reading.BytesListener | None],
    Mapping[str, LanguageCounts],
]
"""What counts text: `count_texts`, or another with its arguments."""


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
    shard: tuple[int, int] | None = None,
    engine: Engine | None = None,
) -> Counts:
    """Count the pre-tokens of every language in `sources` (what a SOURCE may be: see `pairity.text.sources`).

    Counts made before may stand among the sources; several of them are summed. `errors="replace"` reads
    bytes that are not UTF-8 as U+FFFD and counts them in `replaced`. With `languages` only these are counted:
    others found in a folder end up in `left_out`, others named one by one are an error.
    `progress(done, total, what)` gets bytes of the files as they are on disk, and the language at work.
    `shard=(3, 16)` counts the third of 16 parts, for `merge` to put together: every part has some of the files.
    `engine` counts the text elsewhere: see `pairity.spark`.
    """
    check_split(split)
    check_errors(errors)
    cut = Pretokenization.of(pretokenizer, digits, normalize)
    wanted = None if languages is None else list(languages)
    found, part_of = resolve(sources, wanted), None
    if shard is not None:
        found, part_of = take_shard(found, shard)
    texts = {part.language: part for part in found.inputs if isinstance(part, TextInput)}
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
    made |= (engine or count_texts)(
        list(texts.values()), cut, errors, text_column, threads, count_words, progress
    )
    for part in texts.values():
        if not part_of and not made[part.language].bytes:
            raise PairityError(no_text(part, made[part.language].lines or 0))
    unwanted = [] if wanted is None else [language for language in order if language not in wanted]
    kept = {language: made[language] for language in order if language not in unwanted}
    return Counts(kept, cut, split, part_of, left_out=[*found.left_out, *unwanted], notes=found.notes)


def count_texts(
    inputs: Sequence[TextInput],
    cut: Pretokenization,
    errors: str,
    text_column: str,
    threads: int | None,
    count_words: bool,
    progress: reading.BytesListener | None,
) -> dict[str, LanguageCounts]:
    # A thread takes an idle counter of the language or makes one, so a language has no more of them than it
    # had threads at once. Sums and sorted output make the result the same whoever counted what.
    idle: dict[str, list[_core.Counter]] = {part.language: [] for part in inputs}

    def feed(language: str, block: Block) -> None:
        try:
            counter = idle[language].pop()
        except IndexError:
            counter = new_counter(cut, errors, count_words)
        try:
            if block.lines is not None:
                counter.add_lines(block.lines)
            else:
                counter.add_texts(*text_buffers(block.texts))
        except _core.NotUtf8Error as error:
            raise PairityError(not_utf8(block.place(error.line), error.column)) from None
        except ValueError as error:
            raise PairityError(f"{block.where}: {error}") from error
        idle[language].append(counter)

    made: dict[str, LanguageCounts] = {}

    def finish(language: str) -> None:
        counters = idle.pop(language)
        counter = counters.pop() if counters else new_counter(cut, errors, count_words)
        for other in counters:
            counter.merge(other)
        made[language] = from_core(*counter.finish(), count_words)

    reading.read(inputs, feed, finish, text_column=text_column, threads=threads, progress=progress)
    return made


class TextCounter:
    """Counts texts as they come, of one language or another: for pipelines that have texts and no files."""

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
            language: from_core(*counter.finish(), words_counted)
            for language, counter in sorted(self.counters.items())
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
