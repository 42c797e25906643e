"""Cleaning: what happens to a block between reading it and handing it over.

records of several languages -> a block for each; broken texts and duplicates -> dropped, and counted
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType

import numpy as np

from pairity import _core
from pairity.errors import PairityError, listed
from pairity.text.aside import Aside
from pairity.text.blocks import Block, broken_text
from pairity.text.columns import text_buffers
from pairity.text.mistakes import check_language
from pairity.text.options import TextReading
from pairity.text.skipping import Skipped

NOT_UTF8, SEEN, WAITS = 1, 2, 3
"""What a sieve answers about a text: 0 is good; WAITS + i sends it to part i of what waits on disk."""


@dataclass(frozen=True)
class Passed:
    """How many texts of each language were dropped because they were broken, and how many as duplicates."""

    skipped: Mapping[str, int]
    duplicates: Mapping[str, int]
    cuts: Mapping[str, int]
    """How many cuts were made in lines too long for memory, per language."""
    notes: tuple[str, ...]


class Cleaning:
    """The rules of one reading, and what all its threads have dropped so far."""

    def __init__(self, how: TextReading) -> None:
        self.how = how
        self.skipped = Skipped(how.on_error)
        self._lock = threading.Lock()
        self._duplicates: Counter[str] = Counter()
        self._cuts: Counter[str] = Counter()
        self._depth = 0
        self._aside = Aside()
        self._check = how.on_error == "skip" and how.errors == "strict"
        self._sieve = self.new_sieve()

    def new_sieve(self) -> _core.Sieve | None:
        if not self._check and self.how.dedup is None:
            return None
        return _core.Sieve(check_utf8=self._check, distinct=self.how.room, depth=self._depth)

    def __enter__(self) -> Cleaning:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._aside.remove()

    def clean(self, block: Block, language: str) -> Iterator[tuple[str, Block]]:
        """The good texts of a block, one block per language."""
        block = self.without_nulls(block, language)
        for name, part in self.by_language(block) if not language else [(language, block)]:
            good = self.sift(part, name)
            if good.lines or (good.texts is not None and len(good.texts)):
                if good.goes_on:
                    with self._lock:
                        self._cuts[name] += 1
                yield name, good

    def without_nulls(self, block: Block, language: str) -> Block:
        columns = zip(("text", "language"), (block.texts, block.labels), strict=True)
        for what, column in columns:
            if column is not None and column.null_count:
                null = np.asarray(column.is_null())
                for index in np.flatnonzero(null).tolist():
                    place = f"{block.place(index)}: the {what} is null. Remove such {block.unit}s"
                    error = PairityError(f"{place}, or skip them with on_error='skip' (--on-error skip).")
                    self.skipped.meet(error, block, index, language)
                return self.without_nulls(block.only(~null), language)
        return block

    def by_language(self, block: Block) -> Iterator[tuple[str, Block]]:
        """Split a block by the labels of its texts."""
        encoded = block.labels.dictionary_encode()
        codes = encoded.indices.to_numpy()
        for code, label in enumerate(encoded.dictionary.to_pylist()):
            rows = codes == code
            part = block if rows.all() else block.only(rows)
            try:
                name = label_in(label, part.place(0))
            except PairityError as error:
                for index in range(len(part.texts)):
                    self.skipped.meet(error, part, index, "")
                continue
            yield name, replace(part, labels=None)

    def sift(self, block: Block, language: str) -> Block:
        """Drop broken texts and duplicates. Parts of a long line and words of a list are never duplicates.

        Of a long line, only the last part can be broken here: the others were checked when they were cut off.
        """
        sieve = self._sieve
        if block.part or block.times is not None:
            sieve = _core.Sieve(check_utf8=True) if self._check else None
        if sieve is None:
            return block
        found = block.as_texts()
        data, offsets = text_buffers(found.texts)
        verdicts = np.frombuffer(sieve.look(language, data, offsets), np.uint8)
        if not verdicts.any():
            return block
        for index in np.flatnonzero(verdicts == NOT_UTF8).tolist():
            column = first_broken(found.texts[index].as_py())
            self.skipped.meet(broken_text(block, index, column), block, index, language)
        with self._lock:
            self._duplicates[language] += int(np.count_nonzero(verdicts == SEEN))
        if (waits := verdicts >= WAITS).any():
            self._aside.put(language, found.only(waits), verdicts[waits] - WAITS)
        return found.only(verdicts == 0)

    def waiting(self) -> Iterator[Iterator[Block]]:
        """The blocks that had to wait, part by part. Each part gets a fresh, empty sieve."""
        aside, self._depth = self._aside, self._depth + 1
        try:
            for blocks in aside.parts():
                self._aside, self._sieve = Aside(), self.new_sieve()
                yield blocks
                yield from self.waiting()
        finally:
            aside.remove()
        self._depth -= 1

    def passed(self) -> Passed:
        duplicates = +self._duplicates
        notes = self.skipped.notes()
        if duplicates:
            languages = listed(f"{name} {number:,}" for name, number in sorted(duplicates.items()))
            notes.append(f"duplicate texts were left out: {languages}.")
        cuts = self._cuts - self.skipped.ends
        return Passed(dict(self.skipped.languages), dict(duplicates), dict(cuts), tuple(notes))


def label_in(label: bytes, place: str) -> str:
    """The name of a language, checked, as the language column has it."""
    try:
        name = label.decode()
    except UnicodeDecodeError:
        raise PairityError(f"{place}: the language {label!r} is not UTF-8.") from None
    check_language(name, place)
    return name


def first_broken(text: bytes) -> int:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0
