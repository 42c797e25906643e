"""Counts given as sources: files, tables and values, read and summed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from pairity.counts import parquet
from pairity.counts.counts import Counts, check_text, drawn_together, merge
from pairity.counts.merging import ToSum, add_counts, add_file, merged, pruned_in
from pairity.counts.pruning import pruned_early
from pairity.counts.shards import Shard, check_shards
from pairity.counts.storage import Storage, temporary_runs
from pairity.counts.tables import from_dict, from_table
from pairity.counts.values import LanguageCounts, Rows, Split
from pairity.errors import PairityError
from pairity.text.drawing import Selection
from pairity.text.inputs import CountsInput, TextInput
from pairity.text.pretokenizers import Pretokenization


@dataclass(frozen=True)
class GivenCounts:
    """Counts given as sources: the languages of each, their sums, and how their text was drawn."""

    origins: Sequence[str]
    languages_of: Sequence[Sequence[str]]
    rows: Mapping[str, Rows]
    drawn: Selection | None = None
    notes: Sequence[str] = ()

    def refuse_twice(self, texts: Mapping[str, Any]) -> None:
        for origin, languages in zip(self.origins, self.languages_of, strict=True):
            for language in languages:
                if language in texts:
                    part = texts[language]
                    where = f"as text ({part.origin})" if isinstance(part, TextInput) else "in records"
                    raise PairityError(
                        f"the language {language!r} is given twice: as counts ({origin}) and {where}. Leave one out."
                    )

    def order(self, inputs: Sequence[TextInput | CountsInput], of_records: Sequence[str]) -> list[str]:
        """All languages in the order of the sources; those that records name, by name."""
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
    """Read and sum the counts; with limited memory, the sums are on disk."""
    origins = [part.origin for part in parts]
    if not parts:
        return GivenCounts((), (), {})
    if storage.limit is None:
        given = [counts_of(part, cut, split) for part in parts]
        summed = merge(given, origins=origins)
        return GivenCounts(origins, list(map(list, given)), dict(summed), summed.drawn, summed.notes)
    runs, to_sum, languages_of, drawn = temporary_runs(), ToSum(), [], []
    shards: list[Shard | None] = []
    for part in parts:
        if isinstance(part.data, Path):
            header = parquet.read_header(part.data, cut, split)
            shards.append(header.shard)
            languages_of.append(add_file(runs, to_sum, part.data, header))
            sizes = {language: to_sum[language][-1][0] for language in languages_of[-1]}
            drawn.append((sizes, header.drawn))
        else:
            counts = counts_of(part, cut, split)
            shards.append(counts.shard)
            add_counts(runs, to_sum, counts)
            languages_of.append(list(counts))
            drawn.append((counts.sizes, counts.drawn))
    check_shards(zip(origins, shards, strict=True))
    rows = merged(runs, to_sum, list(to_sum), cut, min_count=1)
    check_text({language: one.size for language, one in rows.items()})
    notes = pruned_early(pruned_in(to_sum))
    return GivenCounts(origins, languages_of, rows, drawn_together(drawn), notes)


def counts_of(part: CountsInput, cut: Pretokenization, split: Split) -> Counts:
    """The counts of one source; they must be cut as requested and of this split."""
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
