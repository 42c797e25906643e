"""The counts artefact, the waist of the system: how often each pre-token occurs in each language.

    eng_Latn.txt: "to be or not to be"  ->  eng_Latn: {b" be": 2, b" not": 1, b" or": 1, b" to": 1, b"to": 1}

Counts are a multiset: where a key occurs twice, in one file or in several, its counts are summed. So counting
may be cut into any parts and put together again, and `merge` is exact.
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairity import _core
from pairity.errors import PairityError
from pairity.text import reading as corpus
from pairity.text.pretokenizers import Pretokenization
from pairity.text.sources import COUNTS_COLUMNS, CountsInput, TextInput, resolve

Split = Literal["train", "dev"]
Array = npt.NDArray[np.uint64]

FORMAT = 1
METADATA_KEY = b"pairity"
MAX_COUNT = 2**63 - 1
ROW_GROUP_ROWS = 1 << 20
ROW_GROUP_BYTES = 1 << 30  # an Arrow array of type binary holds less than 2 GiB
SCHEMA = pa.schema(
    [
        pa.field("language", pa.string(), nullable=False),
        pa.field("pretoken", pa.binary(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True, eq=False)
class LanguageCounts:
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

    @property
    def distinct(self) -> int:
        return len(self.counts)

    @property
    def total(self) -> int:
        """Pre-tokens in the text."""
        return int(self.counts.sum())

    def buffers(self) -> tuple[pa.Buffer, pa.Buffer]:
        """The bytes of all pre-tokens and their n + 1 offsets (int64), as the core reads them."""
        return text_buffers(self.pretokens)

    def digest(self) -> str:
        """SHA-256 of what was counted: equal for equal text, wherever and however it was counted."""
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
        sizes = operator.attrgetter("lines", "bytes", "chars", "words", "replaced")
        same: bool = self.pretokens.equals(other.pretokens)
        return same and np.array_equal(self.counts, other.counts) and sizes(self) == sizes(other)

    __hash__ = None  # type: ignore[assignment]


class Summary(NamedTuple):
    """One row of `Counts.summary()`."""

    language: str
    lines: int | None
    bytes: int
    distinct: int
    total: int


class Counts(Mapping[str, LanguageCounts]):
    """Language -> its counts, in the order in which the languages were given.

    `left_out` lists languages that were found and not wanted, `notes` what else a user should hear.
    """

    def __init__(
        self,
        languages: Mapping[str, LanguageCounts],
        pretokenization: Pretokenization,
        split: Split = "train",
        *,
        left_out: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> None:
        self._languages = dict(languages)
        self.pretokenization = pretokenization
        self.split: Split = _check_split(split)
        self.left_out = tuple(left_out)
        self.notes = tuple(notes)

    def __getitem__(self, language: str) -> LanguageCounts:
        return self._languages[language]

    def __iter__(self) -> Iterator[str]:
        return iter(self._languages)

    def __len__(self) -> int:
        return len(self._languages)

    def __repr__(self) -> str:
        distinct = sum(counts.distinct for counts in self.values())
        return f"<Counts of {self.split}: {len(self)} languages, {distinct:,} distinct pre-tokens>"

    def summary(self) -> list[Summary]:
        """One row a language: [Summary(language='eng_Latn', lines=997, bytes=125289, ...), ...]."""
        return [
            Summary(language, counts.lines, counts.bytes, counts.distinct, counts.total)
            for language, counts in self.items()
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one Parquet file; it appears under its name only when it is whole."""
        path = Path(path)
        if path.suffix != ".parquet" or path.is_dir():
            raise PairityError(
                f"counts are saved as one Parquet file: write {path / 'counts.parquet'} instead of {path}."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
        schema = SCHEMA.with_metadata({METADATA_KEY: json.dumps(self._metadata())})
        try:
            with pq.ParquetWriter(
                unfinished,
                schema,
                compression="zstd",
                use_dictionary=["language", "count"],
                # Sorted neighbours share their beginnings, which this encoding writes only once.
                column_encoding={"pretoken": "DELTA_BYTE_ARRAY"},
                write_page_checksum=True,
            ) as writer:
                for language, counts in self.items():
                    for table in _tables(language, counts, schema):
                        writer.write_table(table)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def _metadata(self) -> dict[str, Any]:
        how = self.pretokenization
        return {
            "format": FORMAT,
            "pretokenization": {
                "hash": how.hash,
                "pattern": how.pattern,
                "normalize": how.normalize,
                "unicode": how.unicode,
            },
            "split": self.split,
            "languages": {
                language: {
                    "documents": counts.lines,  # every line is a text of its own
                    "lines": counts.lines,
                    "bytes": counts.bytes,
                    "chars": counts.chars,
                    "words": counts.words,
                    "replaced": counts.replaced,
                }
                for language, counts in self.items()
            },
        }

    @classmethod
    def load(
        cls,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        pretokenizer: str | Pretokenization | None = None,
        digits: bool = False,
        normalize: str | None = None,
        split: Split | None = None,
    ) -> Counts:
        """Read counts files, or folders of them, and sum what they hold.

        A file that pairity made says how its text was cut; for others `pretokenizer` must say it.
        """
        files: list[Path] = []
        for part in resolve(paths).inputs:
            if not (isinstance(part, CountsInput) and isinstance(part.data, Path)):
                raise PairityError(
                    f"{part.origin} holds no counts: a counts file is Parquet with the columns language, "
                    "pretoken, count. To count text use count()."
                )
            files.append(part.data)
        stated = None if pretokenizer is None else Pretokenization.of(pretokenizer, digits, normalize)
        counts = merge([_read_file(path, stated, split) for path in files], origins=list(map(str, files)))
        _give_back_memory()
        return counts

    @classmethod
    def from_dicts(
        cls,
        data: Mapping[str, Mapping[str | bytes, int]],
        *,
        pretokenizer: str | Pretokenization = "gpt4o",
        digits: bool = False,
        normalize: str | None = None,
        split: Split = "train",
        lines: Mapping[str, int] | None = None,
    ) -> Counts:
        """Counts made by hand: {"eng_Latn": {"the": 5, b" be": 2}}. `lines`: how many lines were counted."""
        how = Pretokenization.of(pretokenizer, digits, normalize)
        languages = {
            language: _from_dict(language, counts, (lines or {}).get(language))
            for language, counts in data.items()
        }
        return cls(languages, how, split)

    @classmethod
    def from_arrow(
        cls,
        data: Any,
        *,
        pretokenizer: str | Pretokenization = "gpt4o",
        digits: bool = False,
        normalize: str | None = None,
        split: Split = "train",
        lines: Mapping[str, int] | None = None,
    ) -> Counts:
        """Counts from a table (Arrow, polars, any `__arrow_c_stream__`): language, pretoken, count."""
        if not hasattr(data, "__arrow_c_stream__"):
            raise PairityError(f"{type(data).__name__} is not an Arrow table: it has no __arrow_c_stream__.")
        how = Pretokenization.of(pretokenizer, digits, normalize)
        return cls(_from_table(pa.table(data), "the table given", lines or {}), how, split)


def count(
    sources: Any,
    *,
    pretokenizer: str | Pretokenization = "gpt4o",
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    split: Split = "train",
    text_column: str = "text",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    count_words: bool = False,
    languages: Iterable[str] | None = None,
    progress: corpus.Progress | None = None,
) -> Counts:
    """Count the pre-tokens of every language in `sources` (what a SOURCE may be: see `pairity.text.sources`).

    Counts made before may stand among the sources; several of them are summed. `errors="replace"` reads
    bytes that are not UTF-8 as U+FFFD and counts them in `replaced`. With `languages` only these are counted:
    others found in a folder end in `left_out`, others named one by one are an error.
    `progress(done, total, what)` gets bytes of the files as they are on disk, and the language at work.
    """
    _check_split(split)
    if errors not in ("strict", "replace"):
        raise PairityError(f"errors must be 'strict' or 'replace', not {errors!r}.")
    how = Pretokenization.of(pretokenizer, digits, normalize)
    wanted = None if languages is None else list(languages)
    found = resolve(sources, wanted)
    texts = {part.language: part for part in found.inputs if isinstance(part, TextInput)}
    given: list[Counts] = []
    origins: list[str] = []
    order: dict[str, None] = {}
    for part in found.inputs:
        if isinstance(part, TextInput):
            order[part.language] = None
            continue
        counts = _counts_of(part, how, split)
        for language in counts.keys() & texts.keys():
            raise PairityError(
                f"the language {language!r} is given twice: as counts ({part.origin}) and as text "
                f"({texts[language].origin}). Leave one out."
            )
        order.update(dict.fromkeys(counts))
        given.append(counts)
        origins.append(part.origin)
    made = dict(merge(given, origins=origins)) if given else {}
    _give_back_memory()
    made |= _count_texts(list(texts.values()), how, errors, text_column, threads, count_words, progress)
    unwanted = [] if wanted is None else [language for language in order if language not in wanted]
    kept = {language: made[language] for language in order if language not in unwanted}
    return Counts(kept, how, split, left_out=[*found.left_out, *unwanted], notes=found.notes)


def count_lines(lines: Iterable[str], how: Pretokenization) -> LanguageCounts:
    """The counts of lines in memory: ["to be"] -> {b" be": 1, b"to": 1}."""
    counter = _core.Counter(how.pattern, nfc=how.normalize == "nfc")
    texts = pa.array([line.encode() for line in lines], pa.large_binary())
    counter.add_texts(*text_buffers(texts))
    return _from_core(*counter.finish(), words_counted=False)


def merge(parts: Sequence[Counts], *, origins: Sequence[str] = ()) -> Counts:
    """Sum counts that were cut in the same way and are of the same split; `origins` name them in errors."""
    if not parts:
        raise PairityError("no counts to merge: give at least one.")
    names = list(origins) or [f"counts {number}" for number in range(1, len(parts) + 1)]
    first = parts[0]
    for name, part in zip(names, parts, strict=True):
        if part.pretokenization.hash != first.pretokenization.hash:
            raise PairityError(
                f"{names[0]} and {name} were cut in different ways and cannot be put together: "
                f"{names[0]} with {first.pretokenization}, {name} with {part.pretokenization}. "
                "Count one of them again."
            )
        if part.split != first.split:
            raise PairityError(
                f"{names[0]} is of split {first.split!r}, {name} of {part.split!r}: keep train and dev apart."
            )
    order = dict.fromkeys(language for part in parts for language in part)
    languages = {
        language: _sum_language(language, [part[language] for part in parts if language in part])
        for language in order
    }
    return Counts(languages, first.pretokenization, first.split)


# Counting text


def text_buffers(texts: Any) -> tuple[pa.Buffer, pa.Buffer]:
    """A LargeBinaryArray as its bytes and its n + 1 offsets."""
    _, offsets, data = texts.buffers()
    size = (len(texts) + 1) * 8
    return data or pa.py_buffer(b""), offsets.slice(texts.offset * 8, size) if offsets else pa.py_buffer(
        bytes(8)
    )


def _count_texts(
    inputs: Sequence[TextInput],
    how: Pretokenization,
    errors: str,
    text_column: str,
    threads: int | None,
    count_words: bool,
    progress: corpus.Progress | None,
) -> dict[str, LanguageCounts]:
    # A thread takes an idle counter of the language or makes one, so a language has no more of them than it
    # had threads at once. Sums and sorted output make the result the same whoever counted what.
    idle: dict[str, list[_core.Counter]] = {part.language: [] for part in inputs}

    def new_counter() -> _core.Counter:
        return _core.Counter(
            how.pattern,
            nfc=how.normalize == "nfc",
            replace_invalid=errors == "replace",
            count_words=count_words,
        )

    def feed(language: str, block: corpus.Block) -> None:
        try:
            counter = idle[language].pop()
        except IndexError:
            counter = new_counter()
        try:
            if block.lines is not None:
                counter.add_lines(block.lines)
            else:
                counter.add_texts(*text_buffers(block.texts))
        except _core.NotUtf8Error as error:
            raise PairityError(corpus.not_utf8(block.place(error.line), error.column)) from None
        except ValueError as error:
            raise PairityError(f"{block.where}: {error}") from error
        idle[language].append(counter)

    made: dict[str, LanguageCounts] = {}

    def finish(language: str) -> None:
        counters = idle.pop(language)
        counter = counters.pop() if counters else new_counter()
        for other in counters:
            counter.merge(other)
        made[language] = _from_core(*counter.finish(), count_words)

    corpus.read(inputs, feed, finish, text_column=text_column, threads=threads, progress=progress)
    for part in inputs:
        if not made[part.language].bytes:
            raise PairityError(corpus.no_text(part, made[part.language].lines or 0))
    return made


def _from_core(
    data: bytes, offsets: bytes, counts: bytes, totals: Mapping[str, int], words_counted: bool
) -> LanguageCounts:
    numbers = np.frombuffer(counts, "<u8")
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return LanguageCounts(
        pretokens=pa.Array.from_buffers(pa.large_binary(), len(numbers), buffers),
        counts=numbers,
        lines=totals["lines"],
        bytes=totals["bytes"],
        chars=totals["chars"],
        words=totals["words"] if words_counted else None,
        replaced=totals["replaced"],
    )


def _counts_of(part: CountsInput, how: Pretokenization, split: Split) -> Counts:
    """Counts that came as a source, checked against what was asked for."""
    if isinstance(part.data, Path):
        return _read_file(part.data, how, split)
    if isinstance(part.data, Counts):
        _check_same(part.origin, part.data.pretokenization, how, part.data.split, split)
        return part.data
    if isinstance(part.data, LanguageCounts) and part.language:
        return Counts({part.language: part.data}, how, split)
    if part.language:
        return Counts({part.language: _from_dict(part.language, part.data, None)}, how, split)
    return Counts(_from_table(pa.table(part.data), part.origin, {}), how, split)


# Reading and checking counts


def _read_file(path: Path, stated: Pretokenization | None, split: Split | None) -> Counts:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(columns=list(COUNTS_COLUMNS))
            stored = (file.schema_arrow.metadata or {}).get(METADATA_KEY)
    except (OSError, pa.ArrowException) as error:
        raise PairityError(f"{path}: broken Parquet file ({error}). Make or fetch it again.") from error
    if stored is None:
        if stated is None:
            raise PairityError(
                f"{path} does not say how its text was cut (it was not made by pairity): say it with "
                "pretokenizer=... (--pretokenizer)."
            )
        return Counts(_from_table(table, str(path), {}), stated, split or "train")
    try:
        metadata = json.loads(stored)
        if metadata["format"] > FORMAT:
            raise PairityError(
                f"{path} has format {metadata['format']}, and this pairity reads up to {FORMAT}: "
                "pip install -U pairity."
            )
        cut = metadata["pretokenization"]
        made_with = Pretokenization(cut["pattern"], cut["normalize"], cut["unicode"])
        if cut["hash"] != made_with.hash:
            raise ValueError("the hash is not that of the pattern")
        stored_split = _check_split(metadata["split"])
        languages = _with_sizes(_rows(table, str(path)), metadata["languages"], path)
    except PairityError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise PairityError(f"{path}: its metadata is broken ({error!r}). Count again.") from error
    _check_same(str(path), made_with, stated or made_with, stored_split, split or stored_split)
    return Counts(languages, made_with, stored_split)


def _give_back_memory() -> None:
    """Reading takes several times what is kept, and Arrow would keep the rest for itself through all of training."""
    pa.default_memory_pool().release_unused()


def _with_sizes(
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


def _check_same(
    where: str, made_with: Pretokenization, asked: Pretokenization, split: str, asked_split: str
) -> None:
    if made_with.hash != asked.hash:
        raise PairityError(
            f"{where} was made with {made_with}, and asked for is {asked}. "
            "Ask for the same pre-tokenizer, or count the text again."
        )
    if split != asked_split:
        raise PairityError(f"{where} holds counts of split {split!r}, and asked for is {asked_split!r}.")


def _check_split(split: str) -> Split:
    if split not in ("train", "dev"):
        raise PairityError(f"split must be 'train' or 'dev', not {split!r}.")
    return cast(Split, split)


def _from_table(table: Any, where: str, lines: Mapping[str, int]) -> dict[str, LanguageCounts]:
    """Counts from rows of (language, pretoken, count) that came without the sizes of the text."""
    return {language: _measured(*rows, lines.get(language)) for language, rows in _rows(table, where).items()}


def _rows(table: Any, where: str) -> dict[str, tuple[Any, Array]]:
    """Language -> its distinct pre-tokens and counts, in the order in which languages first appear."""
    names, pretokens, counts = _check_columns(table, where)
    encoded = names.dictionary_encode().combine_chunks()
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    if (codes[1:] < codes[:-1]).any():
        by_language = np.argsort(codes, kind="stable")
        codes = codes[by_language]
        pretokens, counts = pretokens.take(pa.array(by_language)), counts[by_language]
    bounds = np.searchsorted(codes, np.arange(len(encoded.dictionary) + 1, dtype=codes.dtype))
    rows = {}
    for code, language in enumerate(encoded.dictionary.to_pylist()):
        start, stop = bounds[code], bounds[code + 1]
        rows[language] = _distinct(language, pretokens.slice(start, stop - start), counts[start:stop])
    return rows


def _check_columns(table: Any, where: str) -> tuple[Any, Any, Array]:
    """The three columns as (ChunkedArray, LargeBinaryArray, numpy array); every row is checked."""
    missing = [name for name in COUNTS_COLUMNS if name not in table.column_names]
    if missing:
        raise PairityError(
            f"{where} has no column {missing[0]!r}; there are: {', '.join(table.column_names)}. "
            "Counts have language, pretoken, count."
        )
    if not table.num_rows:
        raise PairityError(f"{where} is empty: it has no rows.")
    language, pretoken, number = (table.column(name) for name in COUNTS_COLUMNS)
    if not pa.types.is_integer(number.type):
        raise PairityError(f"{where}: the column 'count' holds {number.type}, not whole numbers.")
    try:
        language = language.cast(pa.large_string())
        if pa.types.is_dictionary(pretoken.type):
            pretoken = pretoken.cast(pretoken.type.value_type)
        pretoken = pretoken.cast(pa.large_binary()).combine_chunks()
    except pa.ArrowException as error:
        raise PairityError(
            f"{where}: 'language' must be strings and 'pretoken' bytes or strings ({error})."
        ) from error
    number = number.combine_chunks()

    def refuse(rows: Any, what: str) -> None:
        row = pc.index(rows, pa.scalar(True)).as_py()
        if row >= 0:
            raise PairityError(f"{where}, row {row + 1}, language {language[row].as_py()!r}: {what}")

    for name, column in zip(COUNTS_COLUMNS, (language, pretoken, number), strict=True):
        if column.null_count:
            refuse(pc.is_null(column), f"{name!r} is null. Remove the row or fill it.")
    refuse(pc.equal(language, ""), "the language has no name.")
    counts = number.to_numpy(zero_copy_only=False)
    wrong = (counts <= 0) | (counts > MAX_COUNT)
    refuse(pa.array(wrong), "a count must be a whole number above 0 and below 2**63. Remove the row.")
    refuse(pc.equal(pc.binary_length(pretoken), 0), "the pre-token is empty. Remove the row.")
    return language, pretoken, counts.astype(np.uint64)


def _from_dict(language: str, data: Any, lines: int | None) -> LanguageCounts:
    pretokens: list[bytes] = []
    numbers: list[int] = []
    for row, (pretoken, number) in enumerate(data.items(), start=1):
        where = f"the counts given for {language!r}, row {row} ({pretoken!r})"
        if not isinstance(pretoken, str | bytes) or not pretoken:
            raise PairityError(f"{where}: a pre-token is a string or bytes, and not empty.")
        if (
            isinstance(number, bool)
            or not hasattr(number, "__index__")
            or not 0 < operator.index(number) <= MAX_COUNT
        ):
            raise PairityError(
                f"{where}: a count must be a whole number above 0 and below 2**63, not {number!r}."
            )
        try:
            pretokens.append(pretoken.encode() if isinstance(pretoken, str) else pretoken)
        except UnicodeEncodeError:
            raise PairityError(
                f"{where}: not UTF-8, since it holds a lone surrogate. Give bytes instead."
            ) from None
        numbers.append(operator.index(number))
    if not pretokens:
        raise PairityError(
            f"no counts for {language!r}: what was given is empty. Add some, or leave {language} out."
        )
    return _measured(
        *_distinct(language, pa.array(pretokens, pa.large_binary()), np.array(numbers, np.uint64)), lines
    )


def _measured(pretokens: Any, counts: Array, lines: int | None) -> LanguageCounts:
    """Counts that came without sizes: bytes and characters follow from the pre-tokens, lines do not."""
    data, offsets_buffer = text_buffers(pretokens)
    offsets = np.frombuffer(offsets_buffer, np.int64)
    raw = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]]
    starts = np.concatenate([[0], np.cumsum((raw & 0xC0) != 0x80)])  # characters before each byte
    chars = np.diff(starts[offsets - offsets[0]])
    return LanguageCounts(
        pretokens, counts, lines, bytes=_weighted(np.diff(offsets), counts), chars=_weighted(chars, counts)
    )


def _weighted(sizes: npt.NDArray[np.int64], counts: Array) -> int:
    return int(sizes.astype(np.uint64) @ counts)


def _distinct(language: str, pretokens: Any, counts: Array) -> tuple[Any, Array]:
    """Sorted by bytes, equal keys summed. What is so already is returned as it is."""
    if (
        len(pretokens) < 2
        or pc.all(pc.less(pretokens.slice(0, len(pretokens) - 1), pretokens.slice(1))).as_py()
    ):
        return pretokens, counts
    if float(counts.sum(dtype=np.float64)) > MAX_COUNT:
        _refuse_sum(language)
    table = pa.table({"pretoken": pretokens, "count": pa.array(counts)})
    summed = table.group_by("pretoken").aggregate([("count", "sum")]).sort_by("pretoken")
    return summed.column("pretoken").combine_chunks(), summed.column("count_sum").to_numpy()


def _refuse_sum(language: str) -> NoReturn:
    raise PairityError(
        f"the counts of {language!r} add up to more than 2**63 - 1: no text is that long. Check them."
    )


def _sum_language(language: str, parts: Sequence[LanguageCounts]) -> LanguageCounts:
    if len(parts) == 1:
        return parts[0]
    pretokens, counts = _distinct(
        language,
        pa.concat_arrays([part.pretokens for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )
    return LanguageCounts(
        pretokens,
        counts,
        lines=_sum_known(part.lines for part in parts),
        bytes=sum(part.bytes for part in parts),
        chars=sum(part.chars for part in parts),
        words=_sum_known(part.words for part in parts),
        replaced=sum(part.replaced for part in parts),
    )


def _sum_known(sizes: Iterable[int | None]) -> int | None:
    """A sum is known only if all of its parts are."""
    total = 0
    for size in sizes:
        if size is None:
            return None
        total += size
    return total


def _tables(language: str, counts: LanguageCounts, schema: Any) -> Iterator[Any]:
    """The rows of one language, a row group at a time."""
    offsets = np.frombuffer(counts.buffers()[1], np.int64)
    start = 0
    while start < counts.distinct:
        fits = int(np.searchsorted(offsets, offsets[start] + ROW_GROUP_BYTES, side="right")) - 1
        stop = max(start + 1, min(fits, start + ROW_GROUP_ROWS, counts.distinct))
        numbers = counts.counts[start:stop]
        if int(numbers.max()) > MAX_COUNT:
            _refuse_sum(language)
        columns = [
            pa.repeat(language, stop - start),
            counts.pretokens.slice(start, stop - start).cast(pa.binary()),
            pa.array(numbers.astype(np.int64)),
        ]
        yield pa.table(columns, schema=schema)
        start = stop
