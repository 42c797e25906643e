"""Data that a program has in hand: records, tables of Arrow, data sets of Hugging Face."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.text.reading import read_texts
from small_texts import TEXTS

RECORDS = [{"id": n, "text": text, "lang": f"l{n % 2}"} for n, text in enumerate(TEXTS * 400)]
BY_LANGUAGE = {lang: [r["text"] for r in RECORDS if r["lang"] == lang] for lang in ("l0", "l1")}
TABLE = pa.Table.from_pylist(RECORDS)


class StandIn:
    """What `datasets.Dataset` and `IterableDataset` offer: batches as tables of Arrow, or rows as dicts."""

    def __init__(self, table: Any, kind: str | None = None) -> None:
        self.table, self.kind = table, kind

    def with_format(self, kind: str) -> "StandIn":
        return StandIn(self.table, kind)

    def iter(self, batch_size: int) -> Iterator[Any]:
        assert self.kind == "arrow"
        for start in range(0, len(self.table), batch_size):
            yield self.table.slice(start, batch_size)

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("rows need not become objects")


class Table:
    """Arrow data of a library that is not Arrow."""

    def __init__(self, table: Any) -> None:
        self.table, self.columns = table, table.column_names

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


MADE = [
    lambda: StandIn(TABLE),
    lambda: TABLE,
    lambda: Table(TABLE),
    lambda: RECORDS,
    lambda: iter(RECORDS),
    lambda: (record for record in RECORDS),
]
NAMES = ["data set", "table", "other table", "list", "iterator", "generator"]


@pytest.mark.parametrize("make", MADE, ids=NAMES)
def test_data_of_one_language(make: Any) -> None:
    expected = count({"eng_Latn": TEXTS * 400})
    assert count({"eng_Latn": make()}) == expected
    assert read_texts({"eng_Latn": make()}) == {"eng_Latn": TEXTS * 400}


@pytest.mark.parametrize("make", MADE, ids=NAMES)
def test_data_of_several_languages(make: Any) -> None:
    counts = count(make(), language_column="lang")
    assert list(counts) == ["l0", "l1"]
    assert counts == count(BY_LANGUAGE)
    assert count([make(), {"x": ["y"]}], language_column="lang")["l0"] == counts["l0"]


@pytest.mark.parametrize("make", MADE[:3], ids=NAMES[:3])
def test_a_column_that_is_not_there(make: Any) -> None:
    with pytest.raises(PairityError, match="no column 'body'; there are: id, text, lang"):
        count({"eng_Latn": make()}, text_column="body")
    with pytest.raises(PairityError, match="the column 'id' holds int64, not text"):
        count({"eng_Latn": make()}, text_column="id")


def test_a_field_within_another_and_null() -> None:
    table = pa.table({"message": [{"text": "one"}, {"text": "two"}, {"text": None}]})
    with pytest.raises(PairityError, match="the lines given for 'a', row 3: the text is null"):
        count({"a": StandIn(table)}, text_column="message.text")
    found = count({"a": StandIn(table)}, text_column="message.text", on_error="skip")
    assert (found["a"].lines, found["a"].skipped) == (2, 1)


def test_a_table_of_counts_stays_one() -> None:
    table = pa.table({"language": ["a"], "pretoken": [b"x"], "count": [3]})
    assert count(table)["a"].total == count(Table(table), language_column="lang")["a"].total == 3


def test_a_table_without_a_language_column_is_no_text() -> None:
    with pytest.raises(PairityError):
        count(TABLE)
    with pytest.raises(PairityError, match="name that column with language_column"):
        count(iter(RECORDS))


def test_lines_among_records_of_several_languages() -> None:
    with pytest.raises(PairityError, match=r"item 2 is str, not a record with the column 'lang'"):
        count(iter([RECORDS[0], "x"]), language_column="lang")


def test_splits_are_no_languages() -> None:
    class Splits(dict[str, Any]):
        column_names = {"train": ["text"]}  # noqa: RUF012 (as `datasets.DatasetDict` has it)

    with pytest.raises(PairityError, match=r"has several splits: give one of them, such as \['train'\]"):
        count(Splits(train=StandIn(TABLE)))


def rows_of(rows: list[Any]) -> Iterator[Any]:
    yield from rows


def test_the_real_data_sets() -> None:
    datasets = pytest.importorskip("datasets", reason="needs the package datasets")
    whole = datasets.Dataset(datasets.table.InMemoryTable(TABLE), fingerprint="small texts")
    expected, several = count({"eng_Latn": TEXTS * 400}), count(BY_LANGUAGE)
    for data in (whole, whole.to_iterable_dataset(), whole.to_iterable_dataset(num_shards=3)):
        assert count({"eng_Latn": data}) == expected
        assert count(data, language_column="lang") == several
        assert count({"eng_Latn": data.take(7)})["eng_Latn"].lines == 7
    streamed = datasets.IterableDataset.from_generator(rows_of, gen_kwargs={"rows": RECORDS})
    assert count(streamed, language_column="lang") == several
    with pytest.raises(PairityError, match="has several splits"):
        count(datasets.DatasetDict(train=whole))
