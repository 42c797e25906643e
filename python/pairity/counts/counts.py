"""The counts artefact, the waist of the system: how often each pre-token occurs in each language.

    eng_Latn.txt: "to be or not to be"  ->  eng_Latn: {b" be": 2, b" not": 1, b" or": 1, b" to": 1, b"to": 1}

Counts are a multiset: if a key occurs twice, in one file or in several, its counts are summed. So the work of counting
may be split in any way, and `merge` is exact.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from pairity.counts import parquet
from pairity.counts.pruning import pruned_early
from pairity.counts.shards import Shard, check_shards
from pairity.counts.tables import from_dict, from_table
from pairity.counts.values import (
    LanguageCounts,
    Pruned,
    Rows,
    Split,
    Summary,
    TextSize,
    check_split,
    in_memory,
    sum_language,
    summary_of,
)
from pairity.errors import PairityError
from pairity.text.drawing import Given, Selection
from pairity.text.inputs import AlreadyCounted, CountsInput
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sources import resolve


class Counts(Mapping[str, LanguageCounts], AlreadyCounted):
    """Language -> its counts, in the order in which the languages were given.

    `left_out` lists languages that were found but not wanted, `notes` other remarks for the user. Counts made in
    bounded memory are on disk: a language is merged into memory each time you access it, and `save` merges all of them
    straight into the file. `drawn` says how much of each language was taken, if the text was sampled, and `shard` which
    part of a count this is, if it is not all of it.
    """

    def __init__(
        self,
        languages: Mapping[str, Rows],
        pretokenization: Pretokenization,
        split: Split = "train",
        drawn: Selection | None = None,
        shard: Shard | None = None,
        *,
        left_out: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self._languages = dict(languages)
        self._summary: list[Summary] | None = None
        self.pretokenization = pretokenization
        self.split: Split = check_split(split)
        self.drawn = drawn
        self.shard = shard
        self.left_out = tuple(left_out)
        self.notes = tuple(notes)

    def __getitem__(self, language: str) -> LanguageCounts:
        return in_memory(self._languages[language])

    def __iter__(self) -> Iterator[str]:
        return iter(self._languages)

    def __len__(self) -> int:
        return len(self._languages)

    def __repr__(self) -> str:
        if self._summary is None and not all(
            isinstance(rows, LanguageCounts) for rows in self._languages.values()
        ):
            return f"<Counts of {self.split}: {len(self)} languages, on disk>"
        distinct = sum(row.distinct for row in self.summary())
        return f"<Counts of {self.split}: {len(self)} languages, {distinct:,} distinct pre-tokens>"

    @property
    def sizes(self) -> dict[str, TextSize]:
        """How much text of each language was counted."""
        return {language: rows.size for language, rows in self._languages.items()}

    def summary(self) -> list[Summary]:
        """One row per language: [Summary(language='eng_Latn', lines=997, bytes=125289, ...), ...]."""
        if self._summary is None:
            self._summary = [summary_of(language, rows) for language, rows in self._languages.items()]
        return list(self._summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one Parquet file; it appears under its name only when it is complete."""
        path = Path(path)
        parquet.check_name(path)
        stored = parquet.Stored(self._languages, self.pretokenization, self.split, self.drawn, self.shard)
        self._summary = parquet.write(path, stored)

    @classmethod
    def load(
        cls,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        pretokenizer: str | Pretokenization | None = None,
        digits: bool = False,
        normalize: str | None = None,
        split: Split | None = None,
    ) -> Counts:
        """Read counts files, or folders of them, and sum what they hold.

        A file that pairity made records how its text was split; for others, pass `pretokenizer`.
        """
        files = counts_files(paths)
        stated = None if pretokenizer is None else Pretokenization.of(pretokenizer, digits, normalize)
        counts = merge(
            [cls(*parquet.read(path, stated, split)) for path in files], origins=list(map(str, files))
        )
        parquet.give_back_memory()
        return counts

    @classmethod
    def from_dicts(
        cls,
        data: Mapping[str, Mapping[str | bytes, int]],
        *,
        pretokenizer: str | Pretokenization = DEFAULT_PRETOKENIZER,
        digits: bool = False,
        normalize: str | None = None,
        split: Split = "train",
        lines: Mapping[str, int] | None = None,
    ) -> Counts:
        """Counts made by hand: {"eng_Latn": {"the": 5, b" be": 2}}. `lines`: how many lines were counted."""
        cut = Pretokenization.of(pretokenizer, digits, normalize)
        languages = {
            language: from_dict(language, counts, (lines or {}).get(language))
            for language, counts in data.items()
        }
        return cls(languages, cut, split)

    @classmethod
    def from_arrow(
        cls,
        data: Any,
        *,
        pretokenizer: str | Pretokenization = DEFAULT_PRETOKENIZER,
        digits: bool = False,
        normalize: str | None = None,
        split: Split = "train",
        lines: Mapping[str, int] | None = None,
    ) -> Counts:
        """Counts from a table (Arrow, polars, any `__arrow_c_stream__`): language, pretoken, count."""
        if not hasattr(data, "__arrow_c_stream__"):
            raise PairityError(f"{type(data).__name__} is not an Arrow table: it has no __arrow_c_stream__.")
        cut = Pretokenization.of(pretokenizer, digits, normalize)
        return cls(from_table(pa.table(data), "the table given", lines or {}), cut, split)


def merge(parts: Sequence[Counts], *, origins: Sequence[str] = ()) -> Counts:
    """Sum counts of the same split that were cut in the same way; `origins` name them in errors."""
    check_alike(parts, list(origins) or [f"counts {number}" for number in range(1, len(parts) + 1)])
    first = parts[0]
    languages: dict[str, LanguageCounts] = {}
    pruned: dict[str, list[Pruned | None]] = {}
    for language in order_of(parts):
        some = [part[language] for part in parts if language in part]
        languages[language] = sum_language(language, some)
        pruned[language] = [one.pruned for one in some]
    drawn = drawn_together((part.sizes, part.drawn) for part in parts)
    check_text({language: counts.size for language, counts in languages.items()})
    return Counts(languages, first.pretokenization, first.split, drawn, notes=pruned_early(pruned))


def check_text(sizes: Mapping[str, TextSize]) -> None:
    """Refuse a language without text, which a single shard may have, but not all of them together."""
    for language, size in sizes.items():
        if not size.bytes:
            raise PairityError(
                f"no text for {language!r}: its files are empty. Give it text, or leave it out."
            )


def counts_files(paths: Any) -> list[Path]:
    """The counts files, given one by one or as folders."""
    files: list[Path] = []
    for part in resolve(paths).inputs:
        if not (isinstance(part, CountsInput) and isinstance(part.data, Path)):
            raise PairityError(
                f"{part.origin} does not hold counts: a counts file is Parquet with the columns language, "
                "pretoken, count. To count text, use count()."
            )
        files.append(part.data)
    return files


class CutText(Protocol):
    """Anything that records how its text was cut and its split: counts, or the header of a counts file."""

    @property
    def pretokenization(self) -> Pretokenization: ...
    @property
    def split(self) -> Split: ...
    @property
    def shard(self) -> Shard | None: ...


def check_alike(parts: Sequence[CutText], names: Sequence[str]) -> None:
    """Refuse to merge parts that were cut differently, are of different splits, or are an incomplete set of shards."""
    if not parts:
        raise PairityError("no counts to merge: give at least one.")
    first = parts[0]
    for name, part in zip(names, parts, strict=True):
        if part.pretokenization.hash != first.pretokenization.hash:
            raise PairityError(
                f"{names[0]} and {name} were split in different ways and cannot be merged: {names[0]} "
                f"with {first.pretokenization}, {name} with {part.pretokenization}. Count one of them "
                "again."
            )
        if part.split != first.split:
            raise PairityError(
                f"{names[0]} has split {first.split!r}, {name} has {part.split!r}: keep train and dev "
                "separate."
            )
    check_shards(zip(names, (part.shard for part in parts), strict=True))


def drawn_together(parts: Iterable[tuple[Mapping[str, TextSize], Selection | None]]) -> Selection | None:
    """How much was drawn of each language in total; parts that were not drawn count with all their text."""
    given: dict[str, Given] = {}
    settings: list[Mapping[str, Any]] = []
    for sizes, drawn in parts:
        for language, size in sizes.items():
            lines = size.lines or 0
            one = drawn.given[language] if drawn else Given(lines, size.bytes, lines, size.bytes)
            given[language] = given[language] + one if language in given else one
        settings += [one for one in (drawn.settings if drawn else ()) if one not in settings]
    return Selection(tuple(settings), given) if settings else None


def order_of(parts: Sequence[Iterable[str]]) -> list[str]:
    """An order that contradicts no part, by name where the parts leave a choice: it does not depend on their order."""
    graph: TopologicalSorter[str] = TopologicalSorter()
    for part in map(list, parts):
        for language in part:
            graph.add(language)
        for before, after in pairwise(part):
            graph.add(after, before)
    try:
        graph.prepare()
    except CycleError:
        return sorted({language for part in parts for language in part})
    order: list[str] = []
    ready: list[str] = []
    while graph.is_active():
        ready = sorted([*ready, *graph.get_ready()])
        order.append(ready.pop(0))
        graph.done(order[-1])
    return order
