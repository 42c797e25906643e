"""The counts file: one Parquet file with the columns language, pretoken, count.

Its metadata say how the text was cut, what split it is, how large each language's text was, and what the rows of
every row group digest to. They are written last, so the rows may be written while they are still being made.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairity.counts.shards import Shard
from pairity.counts.tables import from_table, rows_by_language
from pairity.counts.values import (
    MAX_COUNT,
    Array,
    LanguageCounts,
    Split,
    check_split,
    refuse_sum,
    text_buffers,
)
from pairity.errors import PairityError
from pairity.files.digests import digest_of
from pairity.files.writing import write_file
from pairity.text.inputs import COUNTS_COLUMNS, PARQUET_DAMAGE, refuse_broken
from pairity.text.pretokenizers import Pretokenization

FORMAT = 1
METADATA_KEY = b"pairity"
ROW_GROUP_ROWS = 1 << 20
ROW_GROUP_BYTES = 1 << 30  # an Arrow array of type binary holds less than 2 GiB
SCHEMA = pa.schema(
    [
        pa.field("language", pa.string(), nullable=False),
        pa.field("pretoken", pa.binary(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)
NO_ROWS = (pa.array([], pa.large_binary()), np.zeros(0, np.uint64))


class Stored(NamedTuple):
    """What a counts file holds."""

    languages: Mapping[str, LanguageCounts]
    pretokenization: Pretokenization
    split: Split
    shard: Shard | None = None


def check_name(path: Path) -> None:
    """Refuse a place that is not one for a file of counts."""
    if path.suffix != ".parquet" or path.is_dir():
        raise PairityError(
            f"counts are saved as one Parquet file: write {path / 'counts.parquet'} instead of {path}."
        )


def write(path: Path, stored: Stored) -> None:
    """Write one file; it appears under its name only when it is whole."""

    def fill(file: BinaryIO) -> None:
        groups = []
        with pq.ParquetWriter(
            file,
            SCHEMA,
            compression="zstd",
            use_dictionary=["language", "count"],
            # Sorted neighbours share their beginnings, which this encoding writes only once.
            column_encoding={"pretoken": "DELTA_BYTE_ARRAY"},
            write_page_checksum=True,
            store_schema=False,  # else readers take the metadata of the schema, which is written first
        ) as writer:
            for language, counts in stored.languages.items():
                for table in row_groups(language, counts):
                    writer.write_table(table)
                    groups.append({"rows": table.num_rows, "digest": digest_of_rows(table)})
            writer.add_key_value_metadata({METADATA_KEY: json.dumps(metadata_of(stored, groups))})

    write_file(path, fill)


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
            language: {
                "documents": counts.lines,  # every line is a text of its own
                "lines": counts.lines,
                "bytes": counts.bytes,
                "chars": counts.chars,
                "words": counts.words,
                "replaced": counts.replaced,
            }
            for language, counts in stored.languages.items()
        },
        "row_groups": list(groups),
    }
    if stored.shard:
        metadata["shard"] = asdict(stored.shard)
    return metadata | {"digest": digest_of(metadata)}


def digest_of_rows(table: Any) -> str:
    """SHA-256 of rows, equal for equal rows. Parquet's own checksums can be switched off by one flipped bit."""
    sha = hashlib.sha256(
        f"{table.num_rows} rows of {pc.unique(table.column('language')).to_pylist()}\n".encode()
    )
    data, offsets_buffer = text_buffers(table.column("pretoken").cast(pa.large_binary()).combine_chunks())
    offsets = np.frombuffer(offsets_buffer, np.int64)
    sha.update(np.diff(offsets).astype("<i8", copy=False).data)
    sha.update(memoryview(data)[offsets[0] : offsets[-1]])
    sha.update(table.column("count").to_numpy().astype("<i8", copy=False).data)
    return sha.hexdigest()


def row_groups(language: str, counts: LanguageCounts) -> Iterator[Any]:
    """The rows of one language, a row group at a time."""
    offsets = np.frombuffer(counts.buffers()[1], np.int64)
    start = 0
    while start < counts.distinct:
        fits = int(np.searchsorted(offsets, offsets[start] + ROW_GROUP_BYTES, side="right")) - 1
        stop = max(start + 1, min(fits, start + ROW_GROUP_ROWS, counts.distinct))
        numbers = counts.counts[start:stop]
        if int(numbers.max()) > MAX_COUNT:
            refuse_sum(language)
        columns = [
            pa.repeat(language, stop - start),
            counts.pretokens.slice(start, stop - start).cast(pa.binary()),
            pa.array(numbers.astype(np.int64)),
        ]
        yield pa.table(columns, schema=SCHEMA)
        start = stop


def read(path: Path, stated: Pretokenization | None, split: Split | None) -> Stored:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(columns=list(COUNTS_COLUMNS))
            stored = (file.metadata.metadata or {}).get(METADATA_KEY)
    except PARQUET_DAMAGE as error:
        refuse_broken(path, "Parquet", error)
    if stored is None:
        if stated is None:
            raise PairityError(
                f"{path} does not say how its text was cut (it was not made by pairity): say it with "
                "pretokenizer=... (--pretokenizer)."
            )
        return Stored(from_table(table, str(path), {}), stated, split or "train")
    try:
        metadata = json.loads(stored)
        if metadata["format"] > FORMAT:
            raise PairityError(
                f"{path} has format {metadata['format']}, and this pairity reads up to {FORMAT}: "
                "pip install -U pairity."
            )
        cut = metadata["pretokenization"]
        if not isinstance(cut["pattern"], str | None):
            raise ValueError(f"the pattern is {cut['pattern']!r}")
        made_with = Pretokenization(cut["pattern"], cut["normalize"], cut["unicode"])
        if cut["hash"] != made_with.hash:
            raise ValueError("the hash is not that of the pattern")
        stored_split = check_split(metadata["split"])
        shard = Shard(**metadata["shard"]) if "shard" in metadata else None
        rows = rows_by_language(table, str(path)) if table.num_rows or not shard else {}
        if shard:  # its languages may have no rows
            rows = dict.fromkeys(metadata["languages"], NO_ROWS) | rows
        languages = with_sizes(rows, metadata["languages"], path)
        if metadata.get("digest", digest_of(metadata)) != digest_of(metadata):
            raise ValueError("it does not match its digest")
        if "row_groups" in metadata:  # an older pairity wrote no digests
            check_rows(path, table, metadata["row_groups"])
    except PairityError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise PairityError(f"{path}: its metadata is broken ({error!r}). Count again.") from error
    check_same(str(path), made_with, stated or made_with, stored_split, split or stored_split)
    return Stored(languages, made_with, stored_split, shard)


def check_rows(path: Path, table: Any, groups: Sequence[Mapping[str, Any]]) -> None:
    """Refuse rows that are not those that were written."""
    start = 0
    for group in groups:
        if digest_of_rows(table.slice(start, group["rows"])) != group["digest"]:
            break
        start += group["rows"]
    if start != table.num_rows:
        raise PairityError(f"{path} is damaged: its rows do not match their digests. Count again.")


def with_sizes(
    rows: dict[str, tuple[Any, Array]], sizes: Mapping[str, Mapping[str, Any]], path: Path
) -> dict[str, LanguageCounts]:
    """The counts with the sizes of the text, which only the metadata knows, in the order of the metadata."""
    if set(rows) != set(sizes):
        odd = ", ".join(sorted(set(rows) ^ set(sizes)))
        raise PairityError(
            f"{path} was changed after it was made: rows and metadata differ on {odd}. Count again."
        )
    names = ("lines", "bytes", "chars", "words", "replaced")
    for language, size in sizes.items():
        for name in names:
            unknown = size[name] is None and name in ("lines", "words")
            if not unknown and (type(size[name]) is not int or size[name] < 0):
                raise ValueError(f"{name} of {language!r} is {size[name]!r}")
    return {
        language: LanguageCounts(*rows[language], **{name: size[name] for name in names})
        for language, size in sizes.items()
    }


def check_same(
    where: str, made_with: Pretokenization, asked: Pretokenization, split: str, asked_split: str
) -> None:
    if made_with.hash != asked.hash:
        raise PairityError(
            f"{where} was made with {made_with}, but {asked} was requested. "
            "Ask for the same pre-tokenizer, or count the text again."
        )
    if split != asked_split:
        raise PairityError(f"{where} holds counts of split {split!r}, but {asked_split!r} was requested.")


def give_back_memory() -> None:
    """Reading takes several times what is kept, and Arrow would keep the rest for itself through all of training."""
    pa.default_memory_pool().release_unused()
