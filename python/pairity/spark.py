"""Counting on Apache Spark: on the machines of a cluster, even if one of them is lost.

    counts = pairity.spark.count(df, language_column="lang")             # texts that Spark has
    counts = pairity.count("corpus/", engine=pairity.spark.on(session))  # files that all workers see

A task counts its part of the text with pairity's own counter. A language whose files all go to one task is then done;
the others are summed by further tasks, one per language. The result is the `Counts` that one process would make.

Spark moves whole tables, as bytes, and never sees a pre-token. `groupBy("language", "pretoken").sum("count")` gives the
same result, but turning tables into rows and back takes several times as long as counting itself.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from pairity.counts.counting import Engine, TextCounter, count_texts
from pairity.counts.counts import Counts
from pairity.counts.shards import deal, files_only
from pairity.counts.storage import Storage
from pairity.counts.values import (
    Array,
    LanguageCounts,
    Split,
    TextSize,
    check_split,
    in_memory,
    sum_language,
)
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.progress import BytesListener
from pairity.text.columns import FIXES, refuse_column
from pairity.text.inputs import TextInput
from pairity.text.mistakes import check_one_given
from pairity.text.options import TextReading
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization

__all__ = ["count", "on"]

LOST = "Python worker exited unexpectedly|ExecutorLostFailure|Connection reset|EOFException|Broken pipe|SocketException"
"""How Spark reports a lost worker, depending on what it was doing."""
PIECE_ROWS = 1 << 20  # Spark moves nothing of 2 GiB or more
TASK_BYTES = 256 << 20
"""Smaller tasks find mostly the same words as others; larger ones lose more work with their worker."""
TOGETHER = 1 / 2
"""Files of one language stay together up to this share of a task. A free core takes the next task, so uneven tasks cost
less than summing."""
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java only passes bytes on here. Its defaults, made for long-running servers, would slow down the start."""

NOTES = ""
"""Notes travel as pieces of this language."""
SIZES = tuple(field.name for field in fields(TextSize))


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
    check_one_given(language, language_column, "language_column")
    for column in (text_column, language_column):
        if column is not None and column.partition(".")[0] not in df.columns:
            refuse_column("the DataFrame", column, df.columns, FIXES[column is language_column])
    named = functions.lit(language) if language_column is None else functions.col(language_column)
    texts = df.select(
        named.cast("string").alias("language"), functions.col(text_column).cast("binary").alias("text")
    )
    task = partial(count_rows, cut=cut, errors=errors, count_words=count_words)
    with warnings.catch_warnings():  # Spark warns about pandas, although it does not use it here
        warnings.simplefilter("ignore")
        pieces = texts.mapInArrow(task, "language string, counts binary").rdd.map(tuple)
    languages, _ = collect(added_up(pieces))
    if not languages:
        raise PairityError("the DataFrame has no rows: there is nothing to count.")
    for name, counts in languages.items():
        if not counts.bytes:
            raise PairityError(f"no text for {name!r}: its rows are empty. Leave them out.")
    return Counts(languages, cut, check_split(split))


def on(session: Any) -> Engine:
    """An engine for `pairity.count`: text is read on the workers of this SparkSession, which all see the files.

    A SparkContext will do as well.
    """

    def count_on_spark(
        inputs: Sequence[TextInput],
        cut: Pretokenization,
        how: TextReading,
        count_words: bool,
        progress: BytesListener | None,
    ) -> tuple[Mapping[str, LanguageCounts], Sequence[str]]:
        context = getattr(session, "sparkContext", session)
        found = [absolute(files_only(part)) for part in inputs]
        sizes = [file.size for part in found for file in part.files]
        without_files = [replace(part, files=()) for part in found]
        nothing = dict(counted(without_files, cut, how, count_words)[0])
        if not sizes:
            return nothing, ()
        wanted = max(4 * context.defaultParallelism, sum(sizes) // TASK_BYTES)
        hands = deal(found, min(wanted, len(sizes)), TOGETHER)
        task = partial(count_share, cut=cut, how=how, count_words=count_words)
        whole, shared = (context.parallelize(some, len(some) or 1).flatMap(task) for some in in_two(hands))
        languages, notes = collect(whole.union(added_up(shared)))
        return nothing | languages, notes

    return count_on_spark


def in_two(hands: Sequence[Sequence[TextInput]]) -> Iterator[list[list[TextInput]]]:
    """The hands twice: first the languages of which a hand has all files, then the others, which must be summed.

    If records name their languages, any hand may find any of them. Hands with records also get the names of all
    languages that have their own SOURCE, without its files, so that a record of such a language is refused.
    """
    holders = [sum(bool(part.files) for part in parts) for parts in zip(*hands, strict=True)]
    for alone in (True, False):
        halves = []
        for hand in hands:
            half = [
                part
                for part, number in zip(hand, holders, strict=True)
                if part.files and (number == 1 and part.language != "") == alone
            ]
            languages = {part.language for part in half}
            if "" in languages:
                half += [replace(part, files=()) for part in hand if part.language not in languages]
            halves.append(half)
        yield [half for half in halves if half]


def check_threads(threads: int | None) -> None:
    if threads is not None:
        raise PairityError(
            f"threads is {threads}: leave it out, because on Spark the master decides how many, as in "
            "local[8,4]."
        )


def absolute(part: TextInput) -> TextInput:
    """With absolute paths: a worker has another current folder."""
    return replace(
        part,
        files=tuple(
            replace(file, path=file.path.absolute()) if isinstance(file.path, Path) else file
            for file in part.files
        ),
    )


# What tasks do


def count_share(
    share: Sequence[TextInput], cut: Pretokenization, how: TextReading, count_words: bool
) -> Iterator[tuple[str, bytes]]:
    languages, notes = counted(share, cut, how, count_words)
    only_named = {part.language for part in share if not part.files}
    yield from in_pieces({name: counts for name, counts in languages.items() if name not in only_named})
    yield from ((NOTES, note.encode()) for note in notes)


def counted(
    inputs: Sequence[TextInput], cut: Pretokenization, how: TextReading, count_words: bool
) -> tuple[dict[str, LanguageCounts], Sequence[str]]:
    """Counts made by one thread, in memory."""
    made, passed = count_texts(inputs, cut, how, Storage(threads=1), count_words=count_words)
    return {language: in_memory(rows) for language, rows in made.items()}, passed.notes


def count_rows(batches: Iterable[Any], cut: Pretokenization, errors: str, count_words: bool) -> Iterator[Any]:
    """Arrow batches in, Arrow batches out."""
    counter = TextCounter(cut, errors, count_words)
    for batch in batches:
        for name in ("language", "text"):
            if batch.column(name).null_count:
                raise PairityError(f"a row of the DataFrame has no {name}: it is null. Remove such rows.")
        names = batch.column("language").dictionary_encode()
        for code, language in enumerate(names.dictionary.to_pylist()):
            counter.add(language, batch.column("text").filter(pc.equal(names.indices, code)))
    for language, piece in in_pieces(counter.finish()):
        yield pa.RecordBatch.from_pydict({"language": [language], "counts": [piece]})


def add_pieces(pieces: tuple[str, Iterable[bytes]]) -> Iterator[tuple[str, bytes]]:
    language, found = pieces
    if language == NOTES:
        return ((NOTES, note) for note in found)
    return in_pieces({language: sum_language(language, [from_bytes(piece) for piece in found])})


def in_pieces(languages: Mapping[str, LanguageCounts]) -> Iterator[tuple[str, bytes]]:
    """Counts as bytes, in pieces. The first piece of a language has the sizes of its text."""
    for language, counts in languages.items():
        sizes = {name: getattr(counts, name) for name in SIZES}
        for start in range(0, max(counts.distinct, 1), PIECE_ROWS):
            pretokens = counts.pretokens.slice(start, PIECE_ROWS)
            yield language, to_bytes(pretokens, counts.counts[start : start + PIECE_ROWS], sizes)
            sizes = {name: None if size is None else 0 for name, size in sizes.items()}


def to_bytes(pretokens: Any, counts: Array, sizes: Mapping[str, int | None]) -> bytes:
    # Not pa.array: it imports pandas if that is installed, which takes every worker half a second.
    numbers = pa.Array.from_buffers(pa.uint64(), len(counts), [None, pa.py_buffer(counts)])
    table = pa.table({"pretoken": pretokens, "count": numbers}, metadata={"sizes": json.dumps(sizes)})
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    found: bytes = stream.getvalue().to_pybytes()
    return found


def from_bytes(data: bytes) -> LanguageCounts:
    table = pa.ipc.open_stream(data).read_all()
    sizes = json.loads(table.schema.metadata[b"sizes"])
    return LanguageCounts(
        table.column("pretoken").combine_chunks(), table.column("count").to_numpy(), **sizes
    )


# What the driver does


def added_up(pieces: Any) -> Any:
    """An RDD of (language, counts as bytes) with the counts of every language summed."""
    return pieces.groupByKey().flatMap(add_pieces)


def collect(pieces: Any) -> tuple[dict[str, LanguageCounts], list[str]]:
    """An RDD of (language, counts as bytes) as counts by name; and the notes.

    All pieces of a language come from one task: the one that read all its files, or the one that summed it.
    """
    from pyspark import StorageLevel

    found: dict[str, list[LanguageCounts]] = {}
    notes: list[str] = []
    with plain_errors():
        # count() makes all pieces in parallel; the iterator alone would make one after the other.
        made = pieces.persist(StorageLevel.DISK_ONLY)
        made.count()
        for language, piece in made.toLocalIterator():
            if language == NOTES:
                notes.append(piece.decode())
            else:
                found.setdefault(language, []).append(from_bytes(piece))
        made.unpersist()
    summed = {language: sum_language(language, parts) for language, parts in sorted(found.items())}
    return summed, sorted(notes)


def load_functions() -> Any:
    load_extra("pyspark", "counting on Spark")
    from pyspark.sql import functions

    return functions


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise the message of a failed task without the stack traces of Java and Python."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        if found := re.search(r"PairityError: (.+)", str(error)):
            raise PairityError(found[1]) from error
        if lost := re.search(LOST, str(error)):
            raise PairityError(
                f"Spark gave up ({lost[0]}): a worker was killed, perhaps for lack of memory. On one machine, a second "
                "number lets Spark try again: local[2,4]."
            ) from error
        raise PairityError(f"Spark gave up: {str(error).strip().splitlines()[0]}") from error


@contextmanager
def start(master: str) -> Iterator[Any]:
    """A SparkContext of our own, on a master such as local[2,4] or spark://host:7077."""
    load_extra("pyspark", "counting on Spark")
    from pyspark import SparkConf, SparkContext

    check_java()
    check_master(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        # Errors are reported in a sentence, and progress on Spark's own page.
        "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.defaultJavaOptions": JAVA_OPTIONS,
    }
    try:
        context = SparkContext(
            conf=SparkConf().setAppName("pairity").setMaster(master).setAll([*settings.items()])
        )
    except Exception as error:
        raise PairityError(
            f"Spark did not start with master {master!r}: {str(error).strip().splitlines()[-1]}"
        ) from error
    try:
        yield context
    finally:
        context.stop()


def check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        raise PairityError(
            "Spark needs Java 17 or newer, which is neither on the PATH nor in JAVA_HOME: "
            "apt install openjdk-17-jre-headless, or brew install openjdk@17."
        )


def check_master(master: str) -> None:
    """Refuse a master that cannot be reached: Spark would try for a minute, and then not say why."""
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
