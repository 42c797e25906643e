"""Merging counts files of any size: write their rows as sorted runs, then merge the runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from pairity.counts import parquet
from pairity.counts.counts import Counts, check_alike, check_text, drawn_together, order_of
from pairity.counts.parquet import Header
from pairity.counts.pruning import check_min_count, pruned_early, without_rare
from pairity.counts.runs import MergedRuns, Runs, silence
from pairity.counts.tables import measured, rows_by_language
from pairity.counts.values import Chunk, Pruned, Rows, TextSize
from pairity.progress import BytesListener
from pairity.text.pretokenizers import Pretokenization

ToSum = dict[str, list[tuple[TextSize, Pruned | None]]]
"""Language -> for each part, the size of its text and what was pruned."""


def merge_files(
    files: Sequence[Path],
    folder: Path,
    *,
    min_count: int = 1,
    heard: BytesListener = silence,
) -> Counts:
    """The sum of counts files. The order of the languages does not depend on that of the files.

    Runs go into `folder`, which must exist until the counts are saved. `heard(done, total, what)` gets bytes of files,
    and then of runs.
    """
    headers = [parquet.read_header(path, None, None) for path in files]
    check_alike(headers, list(map(str, files)))
    runs = Runs(folder)
    parts: ToSum = {}
    orders, drawn = [], []
    sizes = [path.stat().st_size for path in files]
    for number, (path, header) in enumerate(zip(files, headers, strict=True)):
        heard(sum(sizes[:number]), sum(sizes), path.name)
        orders.append(add_file(runs, parts, path, header))
        drawn.append(({language: parts[language][-1][0] for language in orders[-1]}, header.drawn))
    check_min_count(min_count, headers[0].split)
    cut, split = headers[0].pretokenization, headers[0].split
    languages = merged(runs, parts, order_of(orders), cut, min_count=min_count, heard=heard)
    check_text({language: rows.size for language, rows in languages.items()})
    return Counts(languages, cut, split, drawn_together(drawn), notes=pruned_early(pruned_in(parts)))


def add_file(runs: Runs, parts: ToSum, path: Path, header: Header) -> list[str]:
    """Write the rows of a counts file as runs; returns its languages in order."""
    sizes: dict[str, list[TextSize]] = {}

    def rows() -> Iterator[tuple[str, Chunk]]:
        first = 0
        for table in parquet.tables(path, header):
            where = f"{path}, counted from row {first + 1}" if first else str(path)
            for language, chunk in rows_by_language(table, where).items():
                sizes.setdefault(language, [])
                if header.sizes is None:
                    sizes[language].append(measured(*chunk, None).size)
                yield language, chunk
            first += table.num_rows

    for language, chunks in groupby(rows(), key=lambda row: row[0]):
        runs.add(language, (chunk for _, chunk in chunks))
    if header.sizes is not None:
        if not header.shard:  # its languages may have no rows
            parquet.check_languages(path, sizes, header.sizes)
        sizes = {language: [size] for language, size in header.sizes.items()}
    for language, some in sizes.items():
        parts.setdefault(language, []).append((TextSize.sum(some), header.pruned.get(language)))
    return list(sizes)


def add_counts(runs: Runs, parts: ToSum, counts: Counts) -> None:
    """The same for counts in memory."""
    for language, one in counts.items():
        runs.add(language, one.chunks())
        parts.setdefault(language, []).append((one.size, one.pruned))


def merged(
    runs: Runs,
    parts: ToSum,
    order: Sequence[str],
    cut: Pretokenization,
    *,
    min_count: int,
    heard: BytesListener = silence,
) -> dict[str, Rows]:
    listeners = runs.listeners(order, heard)
    return {
        language: without_rare(
            language,
            MergedRuns(
                runs,
                language,
                TextSize.sum(size for size, _ in parts[language]),
                listeners[language],
                Pruned.sum(pruned for _, pruned in parts[language]),
            ),
            min_count,
            cut,
        )
        for language in order
    }


def pruned_in(parts: ToSum) -> dict[str, list[Pruned | None]]:
    return {language: [pruned for _, pruned in some] for language, some in parts.items()}
