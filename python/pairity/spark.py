"""Counting on Apache Spark: on the machines of a cluster, going on when one of them is lost.

    counts = pairity.spark.count(df, language_column="lang")             # texts that Spark has
    counts = pairity.count("corpus/", engine=pairity.spark.on(session))  # files that all workers see

A task counts its part of the text with pairity's own counter, in one table for all of it. Spark adds up what the tasks
found and sorts it. The result is the `Counts` that one process would make.

On the way, the rows of counts have one column more: where `size` is "lines", "bytes" and so on, `count` is that of
the text and there is no pre-token; so they are added up like all others.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairity.counts.counting import Engine, TextCounter, count_texts
from pairity.counts.counts import Counts
from pairity.counts.parquet import NO_ROWS
from pairity.counts.shards import deal, files_only
from pairity.counts.tables import rows_by_language
from pairity.counts.values import LanguageCounts, Split, check_split
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.text.columns import refuse_column
from pairity.text.inputs import TextInput
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.reading import BytesListener

__all__ = ["count", "on"]

COLUMNS = "language string, size string, pretoken binary, count long"
SCHEMA = pa.schema(
    [("language", pa.string()), ("size", pa.string()), ("pretoken", pa.binary()), ("count", pa.int64())]
)
SIZES = ("lines", "bytes", "chars", "words", "replaced")
BATCH_ROWS = 1 << 16
TASK_BYTES = 256 << 20
"""A task with less would find mostly what others find too, and one with more would lose more with its worker."""

Batches = Iterator[Any]  # of pa.RecordBatch


def count(
    df: Any,
    *,
    text_column: str = "text",
    language_column: str | None = None,
    language: str | None = None,
    pretokenizer: str | Pretokenization = DEFAULT_PRETOKENIZER,
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    split: Split = "train",
    errors: Literal["strict", "replace"] = "strict",
    count_words: bool = False,
) -> Counts:
    """Count the pre-tokens of a Spark DataFrame with one text per row.

    The language of a row is in `language_column`, or all rows are of one `language`. The languages are in the order of
    their names; what is not said here is as in `pairity.count`.
    """
    functions = load_functions()
    cut = Pretokenization.of(pretokenizer, digits, normalize)
    if (language is None) == (language_column is None):
        raise PairityError("the language is not clear: give either language_column or language.")
    for column in (text_column, language_column):
        if column is not None and column.partition(".")[0] not in df.columns:
            refuse_column("the DataFrame", column, df.columns)
    named = functions.lit(language) if language_column is None else functions.col(language_column)
    texts = df.select(
        named.cast("string").alias("language"), functions.col(text_column).cast("binary").alias("text")
    )
    task = partial(count_rows, cut=cut, errors=errors, count_words=count_words)
    languages = sum_up(map_in_arrow(texts, task, COLUMNS))
    for name, counts in languages.items():
        if not counts.bytes:
            raise PairityError(f"no text for {name!r}: its rows are empty. Leave them out.")
    return Counts(languages, cut, check_split(split))


def on(session: Any) -> Engine:
    """An engine for `pairity.count`: text is read on the workers of this SparkSession, which all see the files."""

    def count_on_spark(
        inputs: Sequence[TextInput],
        cut: Pretokenization,
        errors: str,
        text_column: str,
        threads: int | None,
        count_words: bool,
        progress: BytesListener | None,
    ) -> Mapping[str, LanguageCounts]:
        if threads is not None:
            raise PairityError(f"threads is {threads}: on Spark the master says how many, as in local[8,4].")
        if not inputs:
            return {}
        found = [absolute(files_only(part)) for part in inputs]
        sizes = [file.size for part in found for file in part.files]
        wanted = max(4 * session.sparkContext.defaultParallelism, sum(sizes) // TASK_BYTES)
        shares = deal(found, min(wanted, len(sizes)))
        task = partial(
            count_share,
            shares=shares,
            cut=cut,
            errors=errors,
            text_column=text_column,
            count_words=count_words,
        )
        numbers = session.range(0, len(shares), 1, len(shares))  # one row in each partition: which share
        return sum_up(map_in_arrow(numbers, task, COLUMNS))

    return count_on_spark


def absolute(part: TextInput) -> TextInput:
    """A worker has a working folder of its own."""
    return replace(part, files=tuple(replace(file, path=file.path.absolute()) for file in part.files))


# What tasks do: Arrow batches in, Arrow batches out


def count_share(
    batches: Batches,
    shares: Sequence[Sequence[TextInput]],
    cut: Pretokenization,
    errors: str,
    text_column: str,
    count_words: bool,
) -> Batches:
    for batch in batches:
        for number in batch.column("id").to_pylist():
            share = shares[number]
            yield from as_rows(count_texts(share, cut, errors, text_column, 1, count_words, None))


def count_rows(batches: Batches, cut: Pretokenization, errors: str, count_words: bool) -> Batches:
    counter = TextCounter(cut, errors, count_words)
    for batch in batches:
        for name in ("language", "text"):
            if batch.column(name).null_count:
                raise PairityError(f"a row of the DataFrame has no {name}: it is null. Remove such rows.")
        names = batch.column("language").dictionary_encode()
        for code, language in enumerate(names.dictionary.to_pylist()):
            counter.add(language, batch.column("text").filter(pc.equal(names.indices, code)))
    yield from as_rows(counter.finish())


def as_rows(languages: Mapping[str, LanguageCounts]) -> Batches:
    for language, counts in languages.items():
        sizes = {name: getattr(counts, name) for name in SIZES if getattr(counts, name) is not None}
        yield row_batch(language, pa.array(list(sizes)), pa.array([b""] * len(sizes)), list(sizes.values()))
        for start in range(0, counts.distinct, BATCH_ROWS):
            pretokens = counts.pretokens.slice(start, BATCH_ROWS).cast(pa.binary())
            numbers = counts.counts[start : start + BATCH_ROWS].astype(np.int64)
            yield row_batch(language, pa.repeat("", len(numbers)), pretokens, numbers)


def row_batch(language: str, sizes: Any, pretokens: Any, counts: Any) -> Any:
    columns = [pa.repeat(language, len(pretokens)), sizes, pretokens, pa.array(counts, pa.int64())]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def pack(batches: Batches) -> Batches:
    """A batch as one value, so that the driver need not turn rows into Python objects."""
    for batch in batches:
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([stream.getvalue().to_pybytes()])], ["batch"])


# What the driver does


def sum_up(rows: Any) -> dict[str, LanguageCounts]:
    """The rows of all tasks, added up and sorted by Spark, as counts."""
    keys = ("language", "size", "pretoken")
    total = load_functions().sum("count").alias("count")
    packed = map_in_arrow(rows.groupBy(*keys).agg(total).orderBy(*keys), pack, "batch binary")
    with plain_errors():
        found = list(packed.toLocalIterator(prefetchPartitions=True))
    table = pa.concat_tables(pa.ipc.open_stream(bytes(row.batch)).read_all() for row in found)
    counted = pc.equal(table.column("size"), "")
    rest = table.filter(pc.invert(counted))
    sizes: dict[str, dict[str, int | None]] = {}
    for row in rest.to_pylist():
        sizes.setdefault(row["language"], {"words": None})[row["size"]] = row["count"]
    table = table.filter(counted)
    pretokens = rows_by_language(table, "what Spark gave") if table.num_rows else {}
    return {
        language: LanguageCounts(*pretokens.get(language, NO_ROWS), **size)  # type: ignore[arg-type]
        for language, size in sizes.items()
    }


def map_in_arrow(df: Any, task: Any, columns: str) -> Any:
    with warnings.catch_warnings():  # about pandas, which Spark wants to be there and does not use for this
        warnings.simplefilter("ignore")
        return df.mapInArrow(task, columns)


def load_functions() -> Any:
    load_extra("pyspark", "counting on Spark")
    from pyspark.sql import functions

    return functions


@contextmanager
def plain_errors() -> Iterator[None]:
    """The sentence of a task that failed, without the stack of Java and Python around it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        if found := re.search(r"PairityError: (.+)", str(error)):
            raise PairityError(found[1]) from error
        if lost := re.search(r"Python worker exited unexpectedly|ExecutorLostFailure", str(error)):
            raise PairityError(
                f"Spark gave up ({lost[0]}): a worker was killed, perhaps for lack of memory. On one machine, a second "
                "number lets Spark try again: local[2,4]."
            ) from error
        raise PairityError(f"Spark gave up: {str(error).strip().splitlines()[0]}") from error


@contextmanager
def start(master: str) -> Iterator[Any]:
    """A SparkSession of our own, on a master such as local[2,4] or spark://host:7077."""
    load_extra("pyspark", "counting on Spark")
    from pyspark.sql import SparkSession

    check_java()
    check_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.log.level": "OFF",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": str(sys.stderr.isatty()).lower(),
    }
    try:
        session = SparkSession.builder.appName("pairity").config(map=settings).master(master).getOrCreate()
    except Exception as error:
        raise PairityError(
            f"Spark does not start with master {master!r}: {str(error).strip().splitlines()[-1]}"
        ) from error
    try:
        yield session
    finally:
        session.stop()


def check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        raise PairityError(
            "Spark needs Java 17 or newer, which is neither on the PATH nor in JAVA_HOME: "
            "apt install openjdk-17-jre-headless, or brew install openjdk@17."
        )


def check_master(master: str) -> None:
    """Spark itself would try for a minute, and then not say why."""
    addresses = re.findall(r"([^,/]+):(\d+)", master) if master.startswith("spark://") else []
    for host, port in addresses:
        try:
            with socket.create_connection((host, int(port)), timeout=10):
                return
        except (OSError, OverflowError) as error:
            reason = str(error)
    if addresses:
        raise PairityError(
            f"the Spark master {master} cannot be reached ({reason}): check its address, or count here: local[2,4]."
        )
