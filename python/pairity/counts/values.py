"""The counts of one language as a value that can be compared, digested and summed."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, NamedTuple, NoReturn, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pairity import _core
from pairity.errors import PairityError
from pairity.text.columns import text_buffers
from pairity.text.inputs import AlreadyCounted

Split = Literal["train", "dev"]
Array = npt.NDArray[np.uint64]

MAX_COUNT = 2**63 - 1

PASSED = ("skipped", "duplicates")
"""Sizes of what was skipped. Usually nothing was, and then files do not mention them."""

Chunk = tuple[Any, Array]
"""Some distinct pre-tokens, sorted, as a pa.LargeBinaryArray, and how often each occurs."""


@dataclass(frozen=True)
class TextSize:
    """How much text was counted; `lines` and `words` are None if they were not counted."""

    lines: int | None = 0
    bytes: int = 0
    chars: int = 0
    words: int | None = 0
    replaced: int = 0
    skipped: int = 0
    """Broken texts that were passed over."""
    duplicates: int = 0
    """Texts that were equal to another one, and were passed over."""

    @staticmethod
    def sum(parts: Iterable[TextSize]) -> TextSize:
        parts = list(parts)
        return TextSize(
            lines=sum_known(part.lines for part in parts),
            bytes=sum(part.bytes for part in parts),
            chars=sum(part.chars for part in parts),
            words=sum_known(part.words for part in parts),
            **{name: sum(getattr(part, name) for part in parts) for name in ("replaced", *PASSED)},
        )


@dataclass(frozen=True)
class Pruned:
    """What was left out because it is rarer than `min_count`: the number of distinct pre-tokens and of occurrences."""

    min_count: int
    distinct: int
    occurrences: int

    @staticmethod
    def sum(parts: Iterable[Pruned | None]) -> Pruned | None:
        """For merged counts: the largest limit, and everything that is missing."""
        known = [part for part in parts if part is not None]
        if not known:
            return None
        return Pruned(
            max(part.min_count for part in known),
            sum(part.distinct for part in known),
            sum(part.occurrences for part in known),
        )


class Summary(NamedTuple):
    """One row of `Counts.summary()`."""

    language: str
    lines: int | None
    bytes: int
    distinct: int
    total: int
    pruned: Pruned | None = None


class Rows(Protocol):
    """The counts of one language, in memory or still to be merged from disk."""

    @property
    def size(self) -> TextSize: ...
    @property
    def pruned(self) -> Pruned | None:
        """Known only after the last chunk."""

    def chunks(self) -> Iterator[Chunk]: ...


@dataclass(frozen=True, eq=False)
class LanguageCounts(AlreadyCounted):
    """The distinct pre-tokens of one language, sorted by bytes, how often each occurs, and the text's size.

    `lines` counts texts: lines of a .txt file, records of others. It and `words` are None where not counted.
    """

    pretokens: Any  # pa.LargeBinaryArray
    counts: Array
    lines: int | None
    bytes: int
    chars: int
    words: int | None = None
    replaced: int = 0
    skipped: int = 0
    """Broken texts that were passed over."""
    duplicates: int = 0
    """Texts that were equal to another one, and were passed over."""
    pruned: Pruned | None = None

    @property
    def distinct(self) -> int:
        return len(self.counts)

    @property
    def total(self) -> int:
        """The number of pre-tokens in the text."""
        return int(self.counts.sum())

    @property
    def size(self) -> TextSize:
        return TextSize(**{field.name: getattr(self, field.name) for field in fields(TextSize)})

    def chunks(self) -> Iterator[Chunk]:
        yield self.pretokens, self.counts

    def buffers(self) -> tuple[pa.Buffer, pa.Buffer]:
        """The bytes of all pre-tokens and their n + 1 offsets (int64), as the core reads them."""
        return text_buffers(self.pretokens)

    def pretoken_bytes(self) -> int:
        """Bytes of the text after cutting: its number of tokens before the first merge."""
        offsets = np.frombuffer(self.buffers()[1], np.int64)
        return weighted(np.diff(offsets), self.counts)

    def digest(self) -> str:
        """SHA-256 of the counts: equal for equal text, no matter how it was counted."""
        data, offsets_buffer = self.buffers()
        offsets = np.frombuffer(offsets_buffer, np.int64)
        sha = hashlib.sha256(f"{self.distinct} pre-tokens in {self.lines} lines\n".encode())
        sha.update((offsets - offsets[0]).astype("<i8").tobytes())
        sha.update(self.counts.astype("<u8", copy=False).tobytes())
        sha.update(memoryview(data)[offsets[0] : offsets[-1]])
        return sha.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LanguageCounts):
            return NotImplemented
        sizes = operator.attrgetter("size", "pruned")
        same: bool = self.pretokens.equals(other.pretokens)
        return same and np.array_equal(self.counts, other.counts) and sizes(self) == sizes(other)

    __hash__ = None  # type: ignore[assignment]


def weighted(sizes: npt.NDArray[np.int64], counts: Array) -> int:
    """The sum of sizes * counts. Beyond 2**63, which no real text reaches, the sum is rounded."""
    rounded = float(sizes.astype(np.float64) @ counts)
    return int(rounded) if rounded > MAX_COUNT else int(sizes.astype(np.uint64) @ counts)


def sum_language(language: str, parts: Sequence[LanguageCounts]) -> LanguageCounts:
    if len(parts) == 1:
        return parts[0]
    if sum(float(part.counts.sum(dtype=np.float64)) for part in parts) > MAX_COUNT:
        refuse_sum(language)
    if others := [str(part.counts.dtype) for part in parts if part.counts.dtype != np.uint64]:
        raise PairityError(
            f"the counts of {language!r} are {others[0]}: make them uint64, as in counts.astype('uint64')."
        )
    lists = [(*part.buffers(), pa.py_buffer(np.ascontiguousarray(part.counts))) for part in parts]
    try:
        summed = _core.sum_counts(lists)
    except ValueError as error:
        raise PairityError(f"the counts of {language!r} cannot be added up: {error}.") from error
    pretokens, counts = chunk_of(*summed)
    size, pruned = TextSize.sum(part.size for part in parts), Pruned.sum(part.pruned for part in parts)
    return language_counts(pretokens, counts, size, pruned)


def chunk_of(data: bytes, offsets: bytes, counts: bytes) -> Chunk:
    """Buffers of the core as Arrow and NumPy arrays."""
    numbers: Array = np.frombuffer(counts, "<u8")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), len(numbers), buffers), numbers


def language_counts(
    pretokens: Any, counts: Array, size: TextSize, pruned: Pruned | None = None
) -> LanguageCounts:
    return LanguageCounts(pretokens, counts, **asdict(size), pruned=pruned)


def cut_again(counts: LanguageCounts, pattern: str | None) -> LanguageCounts:
    """The same text, each pre-token cut into smaller ones: {b"to be": 2} -> {b" be": 2, b"to": 2}."""
    counter = _core.Counter(pattern)
    counter.add_texts(*counts.buffers(), pa.py_buffer(counts.counts.astype(np.int64)))
    pretokens, numbers = chunk_of(*counter.finish()[:3])
    return replace(counts, pretokens=pretokens, counts=numbers)


def in_memory(rows: Rows) -> LanguageCounts:
    """All chunks as one value."""
    if isinstance(rows, LanguageCounts):
        return rows
    chunks = list(rows.chunks())
    counts = np.concatenate([np.empty(0, np.uint64), *(counts for _, counts in chunks)])
    words = [pretokens for pretokens, _ in chunks]
    del chunks  # free them before concatenating: only the words are then held twice
    pretokens = pa.concat_arrays(words) if words else pa.array([], pa.large_binary())
    return language_counts(pretokens, counts, rows.size, rows.pruned)


def summary_of(language: str, rows: Rows) -> Summary:
    distinct = total = 0
    for _, counts in rows.chunks():
        distinct += len(counts)
        total += int(counts.sum())
    return Summary(language, rows.size.lines, rows.size.bytes, distinct, total, rows.pruned)


def sum_known(sizes: Iterable[int | None]) -> int | None:
    """The sum, or None if any part is unknown."""
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total


def distinct(language: str, pretokens: Any, counts: Array) -> tuple[Any, Array]:
    """Sort by bytes and sum equal keys. Input that is already in this form is returned unchanged."""
    if (
        len(pretokens) < 2
        or pc.all(pc.less(pretokens.slice(0, len(pretokens) - 1), pretokens.slice(1))).as_py()
    ):
        return pretokens, counts
    if float(counts.sum(dtype=np.float64)) > MAX_COUNT:
        refuse_sum(language)
    table = pa.table({"pretoken": pretokens, "count": pa.array(counts)})
    summed = table.group_by("pretoken").aggregate([("count", "sum")]).sort_by("pretoken")
    return summed.column("pretoken").combine_chunks(), summed.column("count_sum").to_numpy()


def refuse_sum(language: str) -> NoReturn:
    raise PairityError(
        f"the counts of {language!r} add up to more than 2**63 - 1: no text is that long. Check them."
    )


def check_split(split: str) -> Split:
    if split not in ("train", "dev"):
        raise PairityError(f"split must be 'train' or 'dev', not {split!r}.")
    return cast(Split, split)
