"""Files of several languages: a column names the language of each record."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.text import blocks
from pairity.text.reading import read_texts
from pairity.training.training import train
from small_texts import PACK

RECORDS = [
    {"text": f"{word} number {number}", "lang": lang}
    for number in range(40)
    for lang, word in (("tam_Taml", "எண்"), ("deu_Latn", "Nummer"), ("eng_Latn", "some"))
    if number % 3 or lang != "deu_Latn"
]
BY_LANGUAGE = {
    lang: [record["text"] for record in RECORDS if record["lang"] == lang]
    for lang in ("deu_Latn", "eng_Latn", "tam_Taml")
}


def as_jsonl(path: Path, records: list[Any]) -> None:
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))


def as_csv(path: Path, records: list[dict[str, str]]) -> None:
    rows = ["lang,text", *(f'{record["lang"]},"{record["text"]}"' for record in records)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def as_tsv(path: Path, records: list[dict[str, str]]) -> None:
    rows = ["text\tlang", *(f"{record['text']}\t{record['lang']}" for record in records)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def as_parquet(path: Path, records: list[dict[str, str]]) -> None:
    pq.write_table(pa.Table.from_pylist(records), path, row_group_size=17)


WRITERS = [("all.jsonl", as_jsonl), ("all.csv", as_csv), ("all.tsv", as_tsv), ("all.parquet", as_parquet)]


@pytest.mark.parametrize(("name", "write"), WRITERS)
@pytest.mark.parametrize("block", [100, 1 << 20])
def test_each_record_goes_to_its_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, write: Callable[..., None], block: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", block)
    write(tmp_path / name, RECORDS)
    expected = count(BY_LANGUAGE)
    for threads in (1, 3):
        counts = count(tmp_path / name, language_column="lang", threads=threads)
        assert list(counts) == sorted(BY_LANGUAGE)
        assert counts == expected
    assert read_texts(tmp_path / name, language_column="lang") == BY_LANGUAGE


def test_a_folder_a_glob_and_compressed_files(tmp_path: Path) -> None:
    as_jsonl(tmp_path / "a.jsonl", RECORDS[:50])
    as_parquet(tmp_path / "b.parquet", RECORDS[50:90])
    (tmp_path / "c.jsonl.zst").write_bytes(
        PACK[".zst"](b"".join(json.dumps(record).encode() + b"\n" for record in RECORDS[90:]))
    )
    (tmp_path / "README.md").write_text("not text")
    expected = count(BY_LANGUAGE)
    found = count(tmp_path, language_column="lang")
    assert found == expected
    assert len([note for note in found.notes if "documentation" in note]) == 1
    (tmp_path / "README.md").unlink()
    assert count(f"{tmp_path}/*", language_column="lang") == expected
    assert count(sorted(map(str, tmp_path.iterdir()))[::-1], language_column="lang") == expected


def test_columns_within_others(tmp_path: Path) -> None:
    records = [
        {"id": 1, "body": {"text": record["text"]}, "meta": {"by": {"lang": record["lang"]}}}
        for record in RECORDS
    ]
    as_jsonl(tmp_path / "a.jsonl", records)
    as_parquet(tmp_path / "b.parquet", records)
    as_jsonl(tmp_path / "c.jsonl", [{"x": {"text": r["text"], "lang": r["lang"]}} for r in RECORDS])
    options = {"text_column": "body.text", "language_column": "meta.by.lang"}
    for name in ("a.jsonl", "b.parquet"):
        assert read_texts(tmp_path / name, **options) == BY_LANGUAGE
    found = read_texts(tmp_path / "c.jsonl", text_column="x.text", language_column="x.lang")
    assert found == BY_LANGUAGE


def test_columns_by_number(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("eng_Latn\thello\ndeu_Latn\thallo\n")
    found = read_texts(tmp_path / "a.tsv", text_column="2", language_column="1")
    assert found == {"deu_Latn": ["hallo"], "eng_Latn": ["hello"]}
    with pytest.raises(PairityError, match="one column is given by number and one by name"):
        count(tmp_path / "a.tsv", text_column="2", language_column="lang")


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("", "'' (from {}, line 2) cannot be the name of a language"),
        (None, "{}, line 2: 'lang' is null, not a string"),
        (7, "{}, line 2: 'lang' is a number, not a string"),
        ("a/b", "'a/b' (from {}, line 2) cannot be the name of a language"),
        (" eng", "' eng' (from {}, line 2) cannot be the name"),
    ],
)
def test_a_bad_label_is_an_error_with_file_and_line(tmp_path: Path, label: Any, message: str) -> None:
    path = tmp_path / "all.jsonl"
    as_jsonl(path, [*RECORDS[:1], {"text": "x", "lang": label}, *RECORDS[:1]])
    with pytest.raises(PairityError) as caught:
        count(path, language_column="lang")
    assert message.format(path) in str(caught.value)
    skipping = count(path, language_column="lang", on_error="skip")
    assert skipping == count({RECORDS[0]["lang"]: [RECORDS[0]["text"]] * 2})
    assert "1 line was skipped" in skipping.notes[0]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": "x"}, "no column 'lang'; there are: text. Name the column that holds the language"),
        ([1], "not a JSON object"),
    ],
)
def test_a_record_without_the_column(tmp_path: Path, record: Any, message: str) -> None:
    as_jsonl(tmp_path / "all.jsonl", [record])
    with pytest.raises(PairityError, match="line 1") as caught:
        count(tmp_path / "all.jsonl", language_column="lang")
    assert message in str(caught.value)


def test_parquet_without_the_column_or_with_another_type(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["x"], "lang": [3]}), path)
    with pytest.raises(PairityError, match=r"the column 'lang' holds int64, not text.*--language-column"):
        count(path, language_column="lang")
    with pytest.raises(PairityError, match=r"no column 'language'; there are: text, lang"):
        count(path, language_column="language")
    pq.write_table(pa.table({"text": ["x", "y"], "lang": [b"eng", b"\xff"]}), path)
    with pytest.raises(PairityError, match=r"row 2: the language b'\\xff' is not UTF-8"):
        count(path, language_column="lang")
    pq.write_table(pa.table({"text": ["x", "y"], "lang": ["eng", None]}), path)
    with pytest.raises(PairityError, match=r"a\.parquet, row 2: the language is null"):
        count(path, language_column="lang")


def test_sources_that_name_their_language_may_stand_beside(tmp_path: Path) -> None:
    as_jsonl(tmp_path / "all.jsonl", RECORDS)
    (tmp_path / "code.txt").write_text("def f\n")
    expected = count(BY_LANGUAGE | {"code": ["def f"]})
    for code in (f"code={tmp_path}/code.txt", tmp_path / "code.txt"):
        counts = count([tmp_path / "all.jsonl", code], language_column="lang")
        assert counts == expected
        assert list(counts) == [*sorted(BY_LANGUAGE), "code"]
    with pytest.raises(PairityError, match=r"'eng_Latn' is given twice: by this record"):
        count([tmp_path / "all.jsonl", {"eng_Latn": ["x"]}], language_column="lang")
    with pytest.raises(PairityError, match=r"'eng_Latn' is given twice: as counts .* and in records"):
        count([tmp_path / "all.jsonl", {"eng_Latn": {"x": 1}}], language_column="lang")
    with pytest.raises(PairityError, match=r"all\.jsonl is given twice"):
        count([tmp_path / "all.jsonl", tmp_path / "all.jsonl"], language_column="lang")
    with pytest.raises(PairityError, match=r"and others \(code\.txt\): give them separately"):
        count(tmp_path, language_column="lang")


def test_one_text_column_for_all() -> None:
    with pytest.raises(PairityError, match="give one name for all"):
        count(RECORDS, text_column={"eng_Latn": "text"}, language_column="lang")


def test_a_text_column_for_each_language(tmp_path: Path) -> None:
    as_jsonl(tmp_path / "eng_Latn.jsonl", [{"content": "one"}])
    as_jsonl(tmp_path / "deu_Latn.jsonl", [{"text": "zwei"}])
    columns = {"eng_Latn": "content"}
    assert count(tmp_path, text_column=columns) == count({"deu_Latn": ["zwei"], "eng_Latn": ["one"]})
    with pytest.raises(
        PairityError, match="text_column has a name for 'fra_Latn', but there is no such text"
    ):
        count(tmp_path, text_column={"fra_Latn": "content"})
    for bad in ("", {"eng_Latn": ""}, {"eng_Latn": 3}):
        with pytest.raises(PairityError, match="text_column is"):
            count(tmp_path, text_column=bad)  # type: ignore[arg-type]


def test_training_reads_such_files(tmp_path: Path) -> None:
    as_jsonl(tmp_path / "all.jsonl", [*RECORDS, RECORDS[0]])
    dev = {language: BY_LANGUAGE[language][:2] for language in ("eng_Latn", "tam_Taml")}
    options = {"vocab_size": 265, "progress": False}
    found = train(
        tmp_path / "all.jsonl", dev=dev, skip=["deu_Latn"], language_column="lang", dedup="lines", **options
    )
    without = {language: lines for language, lines in BY_LANGUAGE.items() if language != "deu_Latn"}
    assert found.model.tokens == train(without, dev=dev, skip=[], **options).model.tokens


def test_languages_that_are_not_wanted_are_left_out() -> None:
    found = count(RECORDS, language_column="lang", languages=["eng_Latn", "tam_Taml"])
    assert list(found) == ["eng_Latn", "tam_Taml"]
    assert found.left_out == ("deu_Latn",)
    assert isinstance(found, Counts)
