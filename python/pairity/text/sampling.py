"""Sampling: some of the lines of every language, the same ones wherever and however often they are drawn.

A line has a place in its language: a hash of the seed, the language and the line itself. A draw takes the first so and
so many in that order, so it depends neither on the order of files and lines nor on threads, a smaller one lies within
a larger one, and equal lines are drawn together.

    drawn = draw(resolve("train/"), Draw(balance="temperature", temperature=3.3, seed=1))
    count(drawn.lines()); drawn.given["tel_Telu"]     # Given(lines=9120, bytes=704288, of_lines=9120, ...)
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity import _core
from pairity.errors import PairityError
from pairity.text.blocks import Block, texts_in
from pairity.text.inputs import Resolved, TextInput
from pairity.text.options import TextReading
from pairity.text.reading import DEFAULT, BytesListener, blocks_of, read

ALL = 1 << 64
"""Every hash is below this."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """What to take: first `sample` of the lines of each language, then of these what `balance` leaves."""

    sample: float = 1.0
    """The share of the lines of each language."""
    balance: str | int = "natural"
    """"natural": all; "balanced": as many bytes of each language as the smallest has; a number: so many bytes of each
    (or all, where it has fewer); "temperature": see `temperature`."""
    temperature: float | None = None
    """Each language in proportion to words ** (1 / temperature), and as much in all as every language has the text for.

    Words lie between spaces and punctuation: a language written without spaces has few, and so caps all others."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not (is_number(self.sample) and 0 < self.sample <= 1):
            raise PairityError(f"sample is {self.sample!r}: give a share of the lines, above 0 and up to 1.")
        if isinstance(self.balance, int) and not isinstance(self.balance, bool):
            if self.balance < 1:
                raise PairityError(f"balance is {self.balance}: give a number of bytes, at least 1.")
        elif self.balance not in ("natural", "balanced", "temperature"):
            raise PairityError(
                f"balance is {self.balance!r}: choose 'natural', 'balanced' or 'temperature', or give the bytes that "
                "each language shall have."
            )
        if self.balance == "temperature" and self.temperature is None:
            raise PairityError("balance is 'temperature': say which, as in temperature = 3.3.")
        if self.temperature is not None:
            if not (
                is_number(self.temperature) and math.isfinite(self.temperature) and self.temperature >= 1
            ):
                raise PairityError(
                    f"temperature is {self.temperature!r}: give a number, at least 1 (1 leaves languages as they are)."
                )
            if self.balance != "temperature":
                raise PairityError(
                    f"temperature is {self.temperature}, but balance is {self.balance!r}: write balance = "
                    "'temperature', or leave temperature out."
                )

    @property
    def takes_all(self) -> bool:
        return self.sample == 1 and self.balance == "natural"

    def describe(self) -> dict[str, Any]:
        return {} if self.takes_all else asdict(self)


@dataclass(frozen=True)
class Given:
    """What a language gave, of what it has."""

    lines: int
    bytes: int
    of_lines: int
    of_bytes: int


@dataclass(frozen=True)
class Drawn:
    """The text that was chosen: `below` has the hash of each language's first line that was not."""

    inputs: Sequence[TextInput]
    seed: int
    below: Mapping[str, int]
    given: Mapping[str, Given]

    def lines(
        self, *, how: TextReading = DEFAULT, progress: BytesListener | None = None
    ) -> dict[str, Iterator[bytes]]:
        """{language: its lines}, to be counted; each can be read once."""
        total = sum(file.size for part in self.inputs for file in part.files)
        done = 0

        def chosen(part: TextInput) -> Iterator[bytes]:
            nonlocal done
            place, limit = places(self.seed, part.language), self.below[part.language]
            for at, _, block in blocks_of(part, how):
                if progress:
                    progress(done + at, total, part.language)
                yield from (line for line in texts_in(block) if place(line) < limit)
            done += sum(file.size for file in part.files)

        return {part.language: chosen(part) for part in self.inputs}


def draw(
    sources: Resolved,
    wanted: Draw,
    *,
    how: TextReading = DEFAULT,
    threads: int | None = None,
    progress: BytesListener | None = None,
) -> Drawn:
    """Read all text once, and choose. Keeps 16 bytes per line in memory."""
    inputs = [part for part in sources.inputs if isinstance(part, TextInput)]
    if counted := [part.origin for part in sources.inputs if not isinstance(part, TextInput)]:
        raise PairityError(
            f"{counted[0]} holds counts, of which no lines can be drawn: give text, or leave sample and balance out."
        )
    limit = round(wanted.sample * ALL)
    sizes: dict[str, list[Sizes]] = {part.language: [] for part in inputs}
    place = {part.language: places(wanted.seed, part.language) for part in inputs}

    def look(language: str, block: Block) -> None:
        texts = texts_in(block)
        lines = [(at, line) for line in texts if (at := place[language](line)) < limit]
        sizes[language].append(
            Sizes(
                hashes=np.array([at for at, _ in lines], np.uint64),
                lengths=np.array([len(line) for _, line in lines], np.int64),
                words=words_in([line for _, line in lines]),
                of_lines=len(texts),
                of_bytes=sum(map(len, texts)),
            )
        )

    read(inputs, look, how=how, threads=threads, progress=progress)
    found = {language: together(parts) for language, parts in sizes.items()}
    for language, one in found.items():
        if not one.bytes:
            raise PairityError(
                f"nothing of {language!r} is drawn by sample = {wanted.sample}: give a larger share, or more text."
            )
    targets = targets_of(wanted, found)
    below, given = {}, {}
    for language, one in found.items():
        total = np.cumsum(one.lengths)
        below[language] = limit
        taken = int(np.searchsorted(total, targets[language], side="right"))
        if taken < len(total):
            below[language] = int(one.hashes[taken])
            taken = int(np.searchsorted(one.hashes, one.hashes[taken]))  # lines equal to the next go with it
        if not taken or not total[taken - 1]:
            raise PairityError(
                f"{language!r} would give {targets[language]:,} bytes, less than its first line: balance by more bytes."
            )
        given[language] = Given(taken, int(total[taken - 1]), one.of_lines, one.of_bytes)
    return Drawn(inputs, wanted.seed, below, given)


@dataclass(frozen=True)
class Sizes:
    """Of the lines of a block, or of all lines of a language: `of_` counts those that `sample` leaves out too."""

    hashes: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.int64]
    words: int
    of_lines: int
    of_bytes: int

    @property
    def bytes(self) -> int:
        return int(self.lengths.sum())


def together(parts: Sequence[Sizes]) -> Sizes:
    """In the order of the hashes; equal ones are of equal lines, so nothing depends on which block came first."""
    hashes = np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in parts)])
    lengths = np.concatenate([np.zeros(0, np.int64), *(part.lengths for part in parts)])
    order = np.argsort(hashes, kind="stable")
    sums = (sum(getattr(part, name) for part in parts) for name in ("words", "of_lines", "of_bytes"))
    return Sizes(hashes[order], lengths[order], *sums)


def targets_of(wanted: Draw, found: Mapping[str, Sizes]) -> dict[str, int]:
    """How many bytes each language may give."""
    if isinstance(wanted.balance, int):
        return dict.fromkeys(found, wanted.balance)
    sizes = {language: one.bytes for language, one in found.items()}
    if wanted.balance == "balanced":
        return dict.fromkeys(found, min(sizes.values()))
    if wanted.temperature is None:
        return sizes
    # Shares of the words, times what makes the language that has the fewest for its share give all of them.
    words = {language: max(one.words, 1) for language, one in found.items()}
    shares = {language: number ** (1 / wanted.temperature) / number for language, number in words.items()}
    most = max(shares.values())
    return {language: math.floor(size * (shares[language] / most)) for language, size in sizes.items()}


def places(seed: int, language: str) -> Callable[[bytes], int]:
    """A function that gives every line of a language its place, from 0 to ALL."""
    begun = hashlib.blake2b(f"{seed}\0{language}\0".encode(), digest_size=8)

    def place(line: bytes) -> int:
        sha = begun.copy()
        sha.update(line)
        return int.from_bytes(sha.digest(), "big")

    return place


def words_in(lines: Sequence[bytes]) -> int:
    """Words as the metrics count them; what is not UTF-8 is refused when the text is counted."""
    counter = _core.Counter(None, nfc=False, replace_invalid=True, count_words=True)
    texts = pa.array(lines, pa.large_binary())
    _, offsets, data = texts.buffers()
    counter.add_texts(data or b"", offsets)
    return counter.finish()[3]["words"]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
