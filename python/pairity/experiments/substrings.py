"""Frequent substrings of words in the text, from which UnigramLM starts.

    {" the": 80, " then": 5}  ->  " the" 85 times, " then" 5 times, ...

A substring that is always followed by the same byte is left out in favour of the longer one: " th" here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity.counts.counts import Counts
from pairity.counts.values import LanguageCounts, sum_language
from pairity.judging.arrays import Integers


@dataclass(frozen=True)
class JoinedWords:
    """Distinct words end to end, where each begins (n + 1 offsets), and how often it occurs."""

    content: npt.NDArray[np.uint8]
    offsets: Integers
    counts: Integers

    @property
    def distinct(self) -> int:
        return len(self.counts)

    def rows(self) -> Iterator[tuple[bytes, int]]:
        """(word, how often) one by one."""
        data, offsets = self.content.tobytes(), self.offsets.tolist()
        for start, end, number in zip(offsets, offsets[1:], self.counts.tolist(), strict=False):
            yield data[start:end], number


def merged(counts: Counts) -> JoinedWords:
    """The pre-tokens of all languages together."""
    return words_of(sum_language("all languages", list(counts.values())))


def words_of(counts: LanguageCounts) -> JoinedWords:
    """The pre-tokens of one language."""
    data, offsets_buffer = counts.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int64)
    content = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    return JoinedWords(content, offsets - offsets[0], counts.counts.astype(np.int64))


def frequent_pieces(words: JoinedWords, most: int, longest: int) -> list[tuple[bytes, int]]:
    """Substrings of 2 to `longest` bytes with their counts: the `most` that cover the most bytes of the text."""
    ends = np.repeat(words.offsets[1:], np.diff(words.offsets))
    weights = np.repeat(words.counts, np.diff(words.offsets))
    places = np.arange(len(words.content))  # where the substrings of this length begin
    # The number of the substring that begins at each place; equal substrings have equal numbers.
    numbers = words.content.astype(np.int64)
    totals = np.bincount(numbers, weights, 256).astype(np.int64)
    needed = 0  # bytes that a substring must cover to be in the top `most` so far
    candidates = np.zeros((3, 0), np.int64)  # count, place, length
    for length in range(1, longest + 1):
        at = np.flatnonzero(places + length < ends[places])
        nexts, parents = places[at], numbers[at]
        keys = pa.array(parents << 8 | words.content[nexts + length]).dictionary_encode()
        longer = keys.indices.to_numpy()
        parent_of = keys.dictionary.to_numpy() >> 8
        longer_totals = np.bincount(longer, weights[nexts], len(parent_of)).astype(np.int64)
        if length > 1:
            branching = np.ones(len(totals), bool)
            branching[parent_of[longer_totals == totals[parent_of]]] = False
            first = np.zeros(len(totals), np.int64)
            first[numbers[::-1]] = places[::-1]
            rows = np.stack([totals, first, np.full(len(totals), length)])[:, branching & (totals > 1)]
            candidates = np.concatenate([candidates, rows], axis=1)
            if candidates.shape[1] > most:
                covered = candidates[0] * candidates[2]
                needed = int(np.partition(covered, -most)[-most])
                candidates = candidates[:, covered >= needed]
        # Drop substrings that could not cover enough even at the greatest length.
        alive = (longer_totals > 1) & (longer_totals * longest >= needed)
        renumbered = np.cumsum(alive) - 1
        kept = alive[longer]
        places, numbers, totals = nexts[kept], renumbered[longer[kept]], longer_totals[alive]
        if not len(places):
            break
    order = np.lexsort((candidates[1], -candidates[0] * candidates[2]))[:most]
    data = words.content.tobytes()
    return [(data[place : place + length], count) for count, place, length in candidates[:, order].T.tolist()]
