"""The counts file: one Parquet file with the columns language, pretoken, count.

Its metadata record how the text was cut, the split, the size of each language's text, and a digest of the rows of
every row group. They are written last, so rows can be written while later ones are still being made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairity.counts.shards import Shard
from pairity.counts.tables import from_table, rows_by_language
from pairity.counts.values import (
    MAX_COUNT,
    PASSED,
    Array,
    Chunk,
    Pruned,
    Rows,
    Split,
    Summary,
    TextSize,
    check_split,
    language_counts,
    refuse_sum,
)
from pairity.errors import PairityError
from pairity.files.digests import digest_of
from pairity.files.reading import check_format
from pairity.files.writing import write_file
from pairity.text.columns import text_buffers
from pairity.text.drawing import Selection
from pairity.text.inputs import COUNTS_COLUMNS, PARQUET_DAMAGE, refuse_broken
from pairity.text.pretokenizers import Pretokenization

FORMAT = 1
METADATA_KEY = b"pairity"
ROW_GROUP_ROWS = 1 << 20
ROW_GROUP_BYTES = 1 << 25  # of pre-tokens; writing a group takes several times as much memory
BATCH_ROWS = 1 << 16
SCHEMA = pa.schema(
    [
        pa.field("language", pa.string(), nullable=False),
        pa.field("pretoken", pa.binary(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)
NO_ROWS = (pa.nulls(0, pa.large_binary()), np.zeros(0, np.uint64))


class Stored(NamedTuple):
    """What a counts file holds, or is to hold."""

    languages: Mapping[str, Rows]
    pretokenization: Pretokenization
    split: Split
    drawn: Selection | None = None
    shard: Shard | None = None


def check_name(path: Path) -> None:
    """Refuse a path that cannot be a counts file."""
    if path.suffix != ".parquet" or path.is_dir():
        raise PairityError(
            f"counts are saved as one Parquet file: write {path / 'counts.parquet'} instead of {path}."
        )


def write(path: Path, stored: Stored) -> list[Summary]:
    """Write one file, which appears under its name only when complete. Rows are taken one row group at a time."""
    summary = []

    def fill(file: BinaryIO) -> None:
        groups = []
        with pq.ParquetWriter(
            file,
            SCHEMA,
            compression="zstd",
            use_dictionary=["language", "count"],
            # Sorted neighbours share prefixes, which this encoding writes only once.
            column_encoding={"pretoken": "DELTA_BYTE_ARRAY"},
            write_page_checksum=True,
            store_schema=False,  # or readers would take the metadata of the schema, which is written first
        ) as writer:
            for language, rows in stored.languages.items():
                distinct = total = 0
                for table in row_groups(language, rows.chunks()):
                    writer.write_table(table)
                    groups.append({"rows": table.num_rows, "digest": digest_of_rows(table)})
                    distinct += table.num_rows
                    total += pc.sum(table.column("count")).as_py()
                size = rows.size
                summary.append(Summary(language, size.lines, size.bytes, distinct, total, rows.pruned))
            writer.add_key_value_metadata({METADATA_KEY: json.dumps(metadata_of(stored, groups))})

    write_file(path, fill)
    return summary


def metadata_of(stored: Stored, groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    cut = stored.pretokenization
    metadata = {
        "format": FORMAT,
        "pretokenization": {
            "hash": cut.hash,
            "pattern": cut.pattern,
            "normalize": cut.normalize,
            "unicode": cut.unicode,
        },
        "split": stored.split,
        "languages": {
            # Every line is a document.
            language: {"documents": rows.size.lines, **described(rows.size)}
            | ({"pruned": asdict(rows.pruned)} if rows.pruned else {})
            for language, rows in stored.languages.items()
        },
        "row_groups": list(groups),
    }
    if stored.drawn:
        metadata["drawn"] = stored.drawn.describe()
    if stored.shard:
        metadata["shard"] = asdict(stored.shard)
    return metadata | {"digest": digest_of(metadata)}


def described(size: TextSize) -> dict[str, int | None]:
    return {name: value for name, value in asdict(size).items() if value or name not in PASSED}


def digest_of_rows(table: Any) -> str:
    """SHA-256 of rows. Parquet has checksums too, but one flipped bit can switch them off."""
    sha = hashlib.sha256(
        f"{table.num_rows} rows of {pc.unique(table.column('language')).to_pylist()}\n".encode()
    )
    data, offsets_buffer = text_buffers(table.column("pretoken").cast(pa.large_binary()).combine_chunks())
    offsets = np.frombuffer(offsets_buffer, np.int64)
    sha.update(np.diff(offsets).astype("<i8", copy=False).data)
    sha.update(memoryview(data)[offsets[0] : offsets[-1]])
    sha.update(table.column("count").to_numpy().astype("<i8", copy=False).data)
    return sha.hexdigest()


def row_groups(language: str, chunks: Iterable[Chunk]) -> Iterator[Any]:
    """The rows of one language, a row group at a time. The groups do not depend on how rows come in chunks."""
    waiting: list[Chunk] = []
    rows = size = 0
    for chunk in chunks:
        waiting.append(chunk)
        rows += len(chunk[1])
        size += bytes_in(chunk[0])
        if rows < ROW_GROUP_ROWS and size < ROW_GROUP_BYTES:
            continue
        pretokens, counts = together(waiting)
        ends = group_ends(pretokens)
        for start, stop in pairwise([0, *ends[:-1]]):
            yield row_group(language, pretokens.slice(start, stop - start), counts[start:stop])
        start = ends[-2] if len(ends) > 1 else 0  # the last group may continue in the next chunk
        waiting = [(pretokens.slice(start), counts[start:])]
        rows, size = len(counts) - start, bytes_in(waiting[0][0])
    pretokens, counts = together(waiting)
    for start, stop in pairwise([0, *group_ends(pretokens)]):
        yield row_group(language, pretokens.slice(start, stop - start), counts[start:stop])


def group_ends(pretokens: Any) -> list[int]:
    """Where each group ends, if each takes as many rows as fit."""
    offsets = np.frombuffer(text_buffers(pretokens)[1], np.int64)
    ends = [0]
    while ends[-1] < len(pretokens):
        start = ends[-1]
        fits = int(np.searchsorted(offsets, offsets[start] + ROW_GROUP_BYTES, side="right")) - 1
        ends.append(max(start + 1, min(fits, start + ROW_GROUP_ROWS, len(pretokens))))
    return ends[1:]


def together(chunks: Sequence[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    words = [pretokens for pretokens, _ in chunks]
    numbers = [counts for _, counts in chunks]
    return (
        pa.concat_arrays(words) if words else pa.array([], pa.large_binary()),
        np.concatenate([np.empty(0, np.uint64), *numbers]),
    )


def bytes_in(pretokens: Any) -> int:
    offsets = np.frombuffer(text_buffers(pretokens)[1], np.int64)
    return int(offsets[-1] - offsets[0])


def row_group(language: str, pretokens: Any, counts: Array) -> Any:
    if int(counts.max()) > MAX_COUNT:
        refuse_sum(language)
    columns = [
        pa.repeat(language, len(counts)),
        pretokens.cast(pa.binary()),
        pa.array(counts.astype(np.int64)),
    ]
    return pa.table(columns, schema=SCHEMA)


class Header(NamedTuple):
    """The metadata of a counts file; for a file that pairity did not make, what the user stated."""

    pretokenization: Pretokenization
    split: Split
    sizes: Mapping[str, TextSize] | None = None
    pruned: Mapping[str, Pruned] = {}
    row_groups: Sequence[Mapping[str, Any]] | None = None
    drawn: Selection | None = None
    shard: Shard | None = None


def read(path: Path, stated: Pretokenization | None, split: Split | None) -> Stored:
    """A whole file, in memory."""
    header = read_header(path, stated, split)
    found = list(tables(path, header))
    if not found and not header.shard:
        raise PairityError(f"{path} is empty: it has no rows.")
    table = pa.concat_tables(found) if found else SCHEMA.empty_table()
    if header.sizes is None:
        return Stored(from_table(table, str(path), {}), header.pretokenization, header.split)
    rows = rows_by_language(table, str(path)) if found else {}
    if header.shard:  # its languages may have no rows
        rows = dict.fromkeys(header.sizes, NO_ROWS) | rows
    check_languages(path, rows, header.sizes)
    languages = {
        language: language_counts(*rows[language], size, header.pruned.get(language))
        for language, size in header.sizes.items()
    }
    return Stored(languages, header.pretokenization, header.split, header.drawn, header.shard)


def read_header(path: Path, stated: Pretokenization | None, split: Split | None) -> Header:
    """The header of a file; its text must be cut as requested and of this split."""
    try:
        with pq.ParquetFile(path) as file:
            stored = (file.metadata.metadata or {}).get(METADATA_KEY)
    except PARQUET_DAMAGE as error:
        refuse_broken(path, "Parquet", error)
    if stored is None:
        if stated is None:
            raise PairityError(
                f"{path} does not record how its text was split (it was not made by pairity): pass "
                "pretokenizer=... (--pretokenizer)."
            )
        return Header(stated, split or "train")
    try:
        header = parse_header(json.loads(stored), path)
    except PairityError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise PairityError(f"{path}: its metadata is broken ({error!r}). Count again.") from error
    asked = stated or header.pretokenization
    check_same(str(path), header.pretokenization, asked, header.split, split or header.split)
    return header


def parse_header(metadata: Any, path: Path) -> Header:
    check_format(metadata["format"], FORMAT, f"{path} has")
    cut = metadata["pretokenization"]
    if not isinstance(cut["pattern"], str | None):
        raise ValueError(f"the pattern is {cut['pattern']!r}")
    made_with = Pretokenization(cut["pattern"], cut["normalize"], cut["unicode"])
    if cut["hash"] != made_with.hash:
        raise ValueError("the hash is not that of the pattern")
    split = check_split(metadata["split"])
    languages = dict(metadata["languages"])
    sizes = {language: text_size_in(language, size) for language, size in languages.items()}
    drawn = Selection.read(metadata["drawn"]) if "drawn" in metadata else None
    if drawn and set(drawn.given) != set(languages):
        raise ValueError("the sample is of other languages")
    if metadata.get("digest", digest_of(metadata)) != digest_of(metadata):
        raise ValueError("it does not match its digest")
    groups = metadata.get("row_groups")  # older versions wrote none
    if groups is not None and not all(type(group["rows"]) is int and group["rows"] > 0 for group in groups):
        raise ValueError("the rows of its row groups are not whole numbers")
    return Header(
        made_with,
        split,
        sizes,
        {language: Pruned(**size["pruned"]) for language, size in languages.items() if "pruned" in size},
        groups,
        drawn,
        Shard(**metadata["shard"]) if "shard" in metadata else None,
    )


def text_size_in(language: str, described: Mapping[str, Any]) -> TextSize:
    values = {one.name: described[one.name] for one in fields(TextSize) if one.name not in PASSED}
    values |= {name: described.get(name, 0) for name in PASSED}
    for name, value in values.items():
        unknown = value is None and name in ("lines", "words")
        if not unknown and (type(value) is not int or value < 0):
            raise ValueError(f"{name} of {language!r} is {value!r}")
    return TextSize(**values)


def tables(path: Path, header: Header) -> Iterator[Any]:
    """The rows of a file, some at a time; each table is checked against its digest first."""
    groups = iter(header.row_groups or ())
    due = next(groups, None)
    waiting: list[Any] = []
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=list(COUNTS_COLUMNS)):
                table = pa.Table.from_batches([batch])
                if header.row_groups is None:
                    yield table
                    continue
                waiting.append(table)
                while due is not None and sum(map(len, waiting)) >= due["rows"]:
                    table = pa.concat_tables(waiting)
                    if digest_of_rows(group := table.slice(0, due["rows"])) != due["digest"]:
                        refuse_rows(path, header)
                    yield group
                    waiting, due = [table.slice(due["rows"])], next(groups, None)
        if due is not None or any(map(len, waiting)):
            refuse_rows(path, header)
    except PairityError:
        raise
    except PARQUET_DAMAGE as error:
        refuse_broken(path, "Parquet", error)


def refuse_rows(path: Path, header: Header) -> NoReturn:
    with pq.ParquetFile(path) as file:
        names = pc.unique(file.read(["language"], use_threads=False).column(0)).to_pylist()
    if not header.shard:  # its languages may have no rows
        check_languages(path, names, header.sizes or ())
    raise PairityError(f"{path} is damaged: its rows do not match their digests. Count again.")


def check_languages(path: Path, rows: Collection[str], sizes: Collection[str]) -> None:
    if set(rows) != set(sizes):
        odd = ", ".join(sorted(map(str, set(rows) ^ set(sizes))))
        raise PairityError(
            f"{path} was changed after it was written: rows and metadata differ on {odd}. Count again."
        )


def check_same(
    where: str, made_with: Pretokenization, asked: Pretokenization, split: str, asked_split: str
) -> None:
    if made_with.hash != asked.hash:
        raise PairityError(
            f"{where} was made with {made_with}, but {asked} was requested. Use the same pre-tokenizer, "
            f"or count the text again{how_to_count(made_with, asked)}."
        )
    if split != asked_split:
        raise PairityError(f"{where} holds counts of split {split!r}, but {asked_split!r} was requested.")


def how_to_count(made_with: Pretokenization, asked: Pretokenization) -> str:
    """How to count the text again; words alone do not tell which phrases they were in."""
    if asked.words is None or asked.words.hash != made_with.hash:
        return ""
    digits = " --single-digits" if ":digits" in asked.name else ""
    name = asked.name.replace(":digits", "")
    return f" in phrases, which superwords are learned from: pairity count --pretokenizer {name}{digits}"


def give_back_memory() -> None:
    """Reading takes several times the memory of the result, and Arrow would hold on to it during all of training."""
    pa.default_memory_pool().release_unused()
