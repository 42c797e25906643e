"""Drawing: sample lines of every language, the same ones in every run.

The place of a line in its language is a hash of the seed, the language and the line itself, and a draw takes the lines
with the lowest places. So it depends neither on the order of files and lines nor on threads, a smaller draw is part of
a larger one, and equal lines are drawn together.

    drawn = draw(resolve("train/"), Draw(balance="temperature", temperature=3.3, seed=1))
    drawn.given["tel_Telu"]     # Given(lines=9120, bytes=704288, of_lines=9120, ...)
    drawn.sift("tel_Telu", block)

Two reads find the exact place up to which lines are taken, in little memory. The first sums the sizes of all lines in
BUCKETS, by the first bits of their places, which shows the bucket in which the goal is reached. The second looks at the
lines of that bucket one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.errors import PairityError
from pairity.progress import BytesListener
from pairity.text.blocks import Block
from pairity.text.columns import text_buffers
from pairity.text.inputs import Resolved, TextInput
from pairity.text.options import TextReading
from pairity.text.reading import DEFAULT, read
from pairity.text.sampling import Amount, Draw, targets
from pairity.text.words import WordList

ALL = 1 << 64
"""Every place is below this."""
BITS = 12
BUCKETS = 1 << BITS

Places = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Given:
    """How much was drawn of a language, and how much it has."""

    lines: int
    bytes: int
    of_lines: int
    of_bytes: int

    def __add__(self, other: Given) -> Given:
        return Given(
            self.lines + other.lines,
            self.bytes + other.bytes,
            self.of_lines + other.of_lines,
            self.of_bytes + other.of_bytes,
        )


@dataclass(frozen=True)
class Selection:
    """How counted text was drawn: the settings (several if counts were merged), and how much of each language."""

    settings: Sequence[Mapping[str, Any]]
    given: Mapping[str, Given]

    def describe(self) -> dict[str, Any]:
        given = {language: asdict(one) for language, one in self.given.items()}
        return {"settings": list(self.settings), "given": given}

    @classmethod
    def read(cls, described: Mapping[str, Any]) -> Selection:
        given = {language: Given(**numbers) for language, numbers in described["given"].items()}
        if any(type(number) is not int for one in given.values() for number in asdict(one).values()):
            raise ValueError("the sample sizes are not whole numbers")
        return cls(tuple(described["settings"]), given)

    def only(self, languages: Iterable[str]) -> Selection:
        return replace(self, given={language: self.given[language] for language in languages})


@dataclass(frozen=True)
class Drawn:
    """The drawn text: the lines of a language with places less than its `below`."""

    seed: int
    below: Mapping[str, int]
    given: Mapping[str, Given]
    notes: Sequence[str] = ()

    def sift(self, language: str, block: Block) -> Block:
        """The drawn lines of a block."""
        below = self.below.get(language, 0)
        if below == ALL:
            return block
        return block.as_texts().only(places_in(self.seed, language, block)[0] < np.uint64(below))


def draw(
    sources: Resolved,
    wanted: Draw,
    *,
    how: TextReading = DEFAULT,
    threads: int | None = None,
    progress: BytesListener | None = None,
    is_wanted: Callable[[str], bool] = lambda language: True,
) -> Drawn:
    """Read all text and draw from it. Records may name languages that are not wanted; those are ignored."""
    inputs = [part for part in sources.inputs if isinstance(part, TextInput)]
    check_sources(sources)
    if all(part.language for part in inputs):
        wanted.check_languages(part.language for part in inputs)

    def look_at(parts: Sequence[TextInput], look: Callable[[str, Block], None], what: str) -> None:
        def hear(done: int, total: int, language: str) -> None:
            if progress:
                progress(done, total, f"{what} {language}")

        read(parts, look, how=how, threads=threads, progress=hear)

    sums = {part.language: BucketSums() for part in inputs if part.language}
    words = wanted.goes_by == "words"
    limit = round(wanted.sample * ALL)

    def measure(language: str, block: Block) -> None:
        sums.setdefault(language, BucketSums()).add(
            *places_in(wanted.seed, language, block, words=words), limit
        )

    look_at(inputs, measure, "measuring")
    if any(not part.language for part in inputs):
        sums = {language: sums[language] for language in sorted(sums) if is_wanted(language)}
    wanted.check_languages(sums)
    for language, one in sums.items():
        if not one.amount.bytes:
            raise PairityError(
                f"sample = {wanted.sample} takes nothing from {language!r}: give a larger share, or more "
                "text."
            )
    amounts = {language: one.amount for language, one in sums.items()}
    goals = targets(wanted, amounts)
    edges = {
        language: edge
        for language, one in sums.items()
        if (edge := one.edge({"bytes": wanted.limit(language)} | {wanted.unit: goals[language]})) is not None
    }

    def gather(language: str, block: Block) -> None:
        if language in edges:
            edges[language].add(*places_in(wanted.seed, language, block)[:2])

    look_at([part for part in inputs if part.language in edges or not part.language], gather, "drawing from")
    below, given = {}, {}
    for language, one in sums.items():
        below[language], taken = edges[language].find() if language in edges else (limit, one.amount)
        if not taken.bytes:
            raise PairityError(
                f"the share of {language!r} would be {goals[language]:,} {wanted.unit}, less than its "
                f"first line: take more in total, or leave out {language}."
            )
        given[language] = Given(taken.lines, taken.bytes, one.of_lines, one.of_bytes)
    return Drawn(wanted.seed, below, given, notes_on(wanted, given))


def check_sources(sources: Resolved) -> None:
    """Refuse what no lines can be drawn from: counts, and text that can be read only once."""
    for part in sources.inputs:
        if not isinstance(part, TextInput):
            raise PairityError(
                f"{part.origin} holds counts, and lines cannot be sampled from counts: give text, or "
                "leave out the sampling options."
            )
        if isinstance(part.lines, WordList) or any(file.kind == "words" for file in part.files):
            raise PairityError(
                f"{part.origin} is a word list, and lines cannot be sampled from it: give text."
            )
        if isinstance(part.lines, Iterator) or any(file.once for file in part.files):
            raise PairityError(
                f"{part.origin} can be read only once, but sampling reads text several times: give a file "
                "or a list."
            )


def notes_on(wanted: Draw, given: Mapping[str, Given]) -> list[str]:
    whole = all((one.lines, one.bytes) == (one.of_lines, one.of_bytes) for one in given.values())
    if wanted.budget is not None and whole:
        return [
            (
                f"the budget is {wanted.budget}, which is at least as much as there is: all of the text is "
                "taken"
            )
        ]
    return []


class BucketSums:
    """Sizes of the lines of a language by bucket. `of_...` includes the lines beyond the limit."""

    def __init__(self) -> None:
        self.lines: Numbers = np.zeros(BUCKETS, np.int64)
        self.bytes: Numbers = np.zeros(BUCKETS, np.int64)
        self.words = self.of_lines = self.of_bytes = 0
        self.lock = threading.Lock()

    def add(self, places: Places, sizes: Numbers, words: Numbers, limit: int) -> None:
        keep = places <= np.uint64(limit - 1)
        bucket = (places[keep] >> np.uint64(64 - BITS)).astype(np.intp)
        lines = np.bincount(bucket, minlength=BUCKETS)
        # bincount sums in 64-bit floats, which are exact for the bytes of any block.
        size = np.bincount(bucket, sizes[keep], BUCKETS).astype(np.int64)
        with self.lock:
            self.lines += lines
            self.bytes += size
            self.words += int(words[keep].sum()) if len(words) else 0
            self.of_lines += len(places)
            self.of_bytes += int(sizes.sum())

    @property
    def amount(self) -> Amount:
        return Amount(int(self.lines.sum()), int(self.bytes.sum()), self.words)

    def edge(self, goals: Mapping[str, int | None]) -> Edge | None:
        """The bucket in which a goal, such as {"bytes": 5000}, is passed; None if there is none."""
        reached = BUCKETS
        for unit, goal in goals.items():
            if goal is not None:
                passed = np.searchsorted(np.cumsum(getattr(self, unit)), goal, side="right")
                reached = min(reached, int(passed))
        if reached == BUCKETS:
            return None
        before = Amount(int(self.lines[:reached].sum()), int(self.bytes[:reached].sum()))
        return Edge(reached, before, goals)


class Edge:
    """The lines of the bucket where a draw ends. `before` is the sum of all earlier buckets."""

    def __init__(self, bucket: int, before: Amount, goals: Mapping[str, int | None]) -> None:
        self.bucket = np.uint64(bucket)
        self.before = before
        self.goals = goals
        self.found: list[tuple[Places, Numbers, Numbers]] = []

    def add(self, places: Places, sizes: Numbers) -> None:
        here = places >> np.uint64(64 - BITS) == self.bucket
        self.found.append(together(places[here], sizes[here], np.ones(int(here.sum()), np.int64)))

    def find(self) -> tuple[int, Amount]:
        """The place of the first line that is not taken, and what is taken."""
        places, sizes, lines = together(*(np.concatenate(column) for column in zip(*self.found, strict=True)))
        sums = {
            "bytes": self.before.bytes + np.cumsum(sizes),
            "lines": self.before.lines + np.cumsum(lines),
        }
        goals = {unit: goal for unit, goal in self.goals.items() if goal is not None}
        taken = min(int(np.searchsorted(sums[unit], goal, side="right")) for unit, goal in goals.items())
        amount = Amount(
            self.before.lines + int(lines[:taken].sum()), self.before.bytes + int(sizes[:taken].sum())
        )
        return int(places[taken]), amount


def together(places: Places, sizes: Numbers, lines: Numbers) -> tuple[Places, Numbers, Numbers]:
    """Sorted by place, with lines of the same place (they are equal) added up."""
    distinct, which = np.unique(places, return_inverse=True)
    sums = [np.zeros(len(distinct), np.int64) for _ in range(2)]
    np.add.at(sums[0], which, sizes)
    np.add.at(sums[1], which, lines)
    return distinct, sums[0], sums[1]


def places_in(
    seed: int, language: str, block: Block, *, words: bool = False
) -> tuple[Places, Numbers, Numbers]:
    """The place of every line (0 <= place < ALL), its bytes, and its words if asked for."""
    key = f"{seed}\0{language}\0".encode()
    places, sizes, number = _core.places_of_texts(key, *text_buffers(block.as_texts().texts), words=words)
    return np.frombuffer(places, "<u8"), np.frombuffer(sizes, "<i8"), np.frombuffer(number, "<i8")
