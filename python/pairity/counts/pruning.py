"""Pruning: leave out rare pre-tokens on request, and say how much that loses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from pairity.counts.values import (
    Chunk,
    LanguageCounts,
    Pruned,
    Rows,
    Summary,
    TextSize,
    cut_again,
    in_memory,
    language_counts,
    sum_language,
)
from pairity.errors import PairityError, listed
from pairity.text.pretokenizers import Pretokenization


def check_min_count(min_count: int, split: str) -> None:
    if isinstance(min_count, bool) or not isinstance(min_count, int) or min_count < 1:
        raise PairityError(f"min_count is {min_count!r}: give a whole number, at least 1.")
    if min_count > 1 and split != "train":
        raise PairityError(
            f"min_count is {min_count}, but languages are compared on {split} text, which must be "
            "complete: leave out min_count (--min-count)."
        )


class PrunedRows:
    """The rows of one language (`values.Rows`) without those rarer than `min_count`."""

    pruned: Pruned | None

    def __init__(self, language: str, rows: Rows, min_count: int) -> None:
        self.size, self.pruned = rows.size, rows.pruned
        self._language, self._rows, self._min_count = language, rows, min_count

    def chunks(self) -> Iterator[Chunk]:
        distinct = occurrences = kept = 0
        for pretokens, counts in self._rows.chunks():
            often = counts >= self._min_count
            distinct += int((~often).sum())
            occurrences += int(counts[~often].sum())
            kept += int(often.sum())
            yield pretokens.filter(pa.array(often)), counts[often]
        if not kept:
            raise PairityError(
                f"min_count is {self._min_count}, but no pre-token of {self._language!r} occurs that "
                "often: give a smaller number, or more text."
            )
        self.pruned = Pruned.sum([self._rows.pruned, Pruned(self._min_count, distinct, occurrences)])


class HalvedPhrases:
    """The rows of one language, with phrases rarer than `min_count` counted as their halves."""

    pruned: Pruned | None

    def __init__(self, language: str, rows: Rows, min_count: int, halves: Pretokenization) -> None:
        self.size, self.pruned = rows.size, rows.pruned
        self._language, self._rows, self._min_count, self._halves = language, rows, min_count, halves

    def chunks(self) -> Iterator[Chunk]:
        parts: list[LanguageCounts] = []
        for pretokens, counts in self._rows.chunks():
            often = counts >= self._min_count
            frequent, rare = (
                language_counts(pretokens.filter(pa.array(some)), counts[some], TextSize())
                for some in (often, ~often)
            )
            parts += [frequent, cut_again(rare, self._halves.pattern)]
        yield from sum_language(self._language, parts).chunks() if parts else ()
        self.pruned = self._rows.pruned


def without_rare(language: str, rows: Rows, min_count: int, cut: Pretokenization) -> Rows:
    """Halve rare phrases until their parts are frequent or single words; only rare words are left out."""
    if min_count == 1:
        return rows
    while halves := cut.halves:
        halved = HalvedPhrases(language, rows, min_count, halves)
        rows, cut = in_memory(halved) if isinstance(rows, LanguageCounts) else halved, halves
    pruned = PrunedRows(language, rows, min_count)
    return in_memory(pruned) if isinstance(rows, LanguageCounts) else pruned


def pruning_notes(summary: Iterable[Summary]) -> list[str]:
    """Notes for the user: ["min_count 5 left out 1.9% of all pre-tokens and 71.3% of the distinct ones ..."]"""
    rows = [row for row in summary if row.pruned is not None]
    if not rows:
        return []
    shares = {row.language: share(row.pruned.occurrences, row.total) for row in rows if row.pruned}
    worst = max(shares, key=shares.__getitem__)
    dropped = Pruned.sum(row.pruned for row in rows)
    assert dropped is not None
    of_all = share(dropped.occurrences, sum(row.total for row in rows))
    distinct = share(dropped.distinct, sum(row.distinct for row in rows))
    most = f", most of {worst} ({shares[worst]:.1%})" if len(rows) > 1 else f" of {worst}"
    return [
        f"min_count {dropped.min_count} left out {of_all:.1%} of all pre-tokens{most}, and {distinct:.1%} of the "
        "distinct ones"
    ]


def pruned_early(parts: Mapping[str, Sequence[Pruned | None]]) -> list[str]:
    """Warnings about merged counts of which some parts were pruned: that differs from pruning after merging."""
    found = [language for language, some in parts.items() if len(some) > 1 and any(some)]
    if not found:
        return []
    return [
        (
            f"counts of {listed(found)} were pruned before they were merged, so words that are rare in each "
            "part are missing: count without --min-count, and pass it to merge instead"
        )
    ]


def share(left_out: int, kept: int) -> float:
    return left_out / max(left_out + kept, 1)
