"""The counts artefact: counting is exact, and what is written comes back."""

import _thread
import json
import operator
import unicodedata
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity import _core
from pairity.counts.counting import count
from pairity.counts.counts import Counts, merge
from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError
from pairity.text.pretokenizers import Pretokenization, pattern_of

LINES = {
    "eng_Latn": ["To be, or not to be:", "that is the question.", ""],
    "tha_Thai": ["สวัสดีชาวโลก ๑๒๓", "ขอบคุณ"],
    "tel_Telu": ["మూడవ పంక్తి 123456"],
}
KEYS = st.binary(min_size=1, max_size=4)
DICTS = st.dictionaries(
    st.sampled_from(["eng_Latn", "deu_Latn", "tel_Telu"]),
    st.dictionaries(KEYS, st.integers(1, 2**40), min_size=1, max_size=20),
    min_size=1,
)


def as_dict(counts: LanguageCounts) -> dict[bytes, int]:
    return dict(zip(counts.pretokens.to_pylist(), counts.counts.tolist(), strict=True))


def write_by_hand(path: Path, rows: dict[str, list[Any]]) -> Path:
    pq.write_table(pa.table(rows), path)
    return path


# Counting


@pytest.mark.parametrize(
    "pretokenizer", ["gpt4o", "gpt4", "qwen35", "gpt2", "whitespace", "none", r"\s+|\S+"]
)
@settings(max_examples=40, deadline=None)
@given(lines=st.lists(st.text(), min_size=1, max_size=8), threads=st.integers(1, 3))
def test_counting_is_a_counter_over_pretokens(pretokenizer: str, lines: list[str], threads: int) -> None:
    lines = [*lines, "never empty"]
    expected: Counter[bytes] = Counter()
    for line in lines:
        text = line[:-1].removesuffix("\r") if line.endswith("\n") else line
        expected.update(word.encode() for word in _core.pretokenize(pattern_of(pretokenizer), text))
    found = count({"x": lines}, pretokenizer=pretokenizer, threads=threads)["x"]
    assert as_dict(found) == expected
    assert found.pretokens.to_pylist() == sorted(expected)
    assert found.lines == len(lines)
    assert found.total == expected.total()
    assert found.bytes == sum(len(word) * number for word, number in expected.items())


def test_options_reach_the_counter() -> None:
    decomposed = {"x": ["cafe\u0301 12"]}
    assert b"caf\xc3\xa9" in as_dict(count(decomposed, normalize="nfc")["x"])
    assert count(decomposed, normalize="nfc")["x"].chars == len(unicodedata.normalize("NFC", "cafe\u0301 12"))
    assert b"cafe\xcc\x81" in as_dict(count(decomposed)["x"])
    assert b"12" in as_dict(count(decomposed)["x"])
    assert b"12" not in as_dict(count(decomposed, digits=True)["x"])
    assert count(decomposed)["x"].words is None
    assert count({"x": ["Hi, you!"]}, count_words=True)["x"].words == 4
    assert count(decomposed, split="dev").split == "dev"


@pytest.mark.parametrize(
    "options",
    [
        {"normalize": "nfkc"},
        {"split": "test"},
        {"errors": "ignore"},
        {"pretokenizer": "gpt5"},
        {"pretokenizer": "(x"},
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(PairityError):
        count(LINES, **options)


def test_summary() -> None:
    counts = count(LINES)
    assert [row.language for row in counts.summary()] == list(LINES)
    row = counts.summary()[0]
    assert (row.lines, row.bytes) == (3, len("".join(LINES["eng_Latn"])))
    assert (row.distinct, row.total) == (counts["eng_Latn"].distinct, counts["eng_Latn"].total)
    assert "3 languages" in repr(counts)


def test_counts_among_the_sources(tmp_path: Path) -> None:
    whole = count(LINES)
    count({"tha_Thai": LINES["tha_Thai"]}).save(tmp_path / "counts.parquet")
    mixed = count(
        [tmp_path / "counts.parquet", {"eng_Latn": LINES["eng_Latn"]}, count({"tel_Telu": LINES["tel_Telu"]})]
    )
    assert list(mixed) == ["tha_Thai", "eng_Latn", "tel_Telu"]
    assert mixed == whole
    assert count({language: whole[language] for language in whole}) == whole
    with pytest.raises(
        PairityError, match=r"'tha_Thai' is given twice: as counts .*counts.parquet.* and as text"
    ):
        count([tmp_path / "counts.parquet", LINES])
    only = count([tmp_path / "counts.parquet", count({"tel_Telu": ["x"]})], languages=["tel_Telu"])
    assert list(only) == ["tel_Telu"]
    assert only.left_out == ("tha_Thai",)


def test_counts_of_another_kind_are_refused_as_sources(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    count(LINES, pretokenizer="gpt2").save(path)
    with pytest.raises(
        PairityError,
        match=r"counts\.parquet was made with .* but .* was requested\. Ask for the same pre-tokenizer",
    ):
        count(path)
    with pytest.raises(
        PairityError, match=r"counts\.parquet holds counts of split 'train', but .dev. was requested"
    ):
        count(path, pretokenizer="gpt2", split="dev")
    with pytest.raises(PairityError, match="was requested"):
        count(count(LINES), normalize="nfc")


# The file


@pytest.mark.parametrize("options", [{}, {"pretokenizer": "none", "split": "dev", "count_words": True}])
def test_a_saved_file_comes_back(tmp_path: Path, options: dict[str, Any]) -> None:
    counts = count(LINES, **options)
    path = tmp_path / "new" / "counts.parquet"
    counts.save(path)
    loaded = Counts.load(path)
    assert loaded == counts
    assert list(loaded) == list(counts)
    assert (loaded.split, loaded.pretokenization) == (counts.split, counts.pretokenization)
    assert [loaded[language].digest() for language in loaded] == [
        counts[language].digest() for language in counts
    ]
    assert list(path.parent.iterdir()) == [path]


@settings(max_examples=60, deadline=None)
@given(data=DICTS)
def test_any_counts_come_back(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[bytes, int]]
) -> None:
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    counts = Counts.from_dicts(data)
    counts.save(path)
    loaded = Counts.load(path)
    assert {language: as_dict(loaded[language]) for language in loaded} == data
    assert loaded == counts


def test_the_file_is_what_the_documentation_says(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    count(LINES, split="dev", count_words=True).save(path)
    file = pq.ParquetFile(path)
    fields = [(field.name, field.type, field.nullable) for field in file.schema_arrow]
    assert fields == [
        ("language", pa.string(), False),
        ("pretoken", pa.binary(), False),
        ("count", pa.int64(), False),
    ]
    assert file.metadata.row_group(0).column(1).compression == "ZSTD"
    metadata = json.loads(file.schema_arrow.metadata[b"pairity"])
    assert metadata["format"] == 1
    assert metadata["split"] == "dev"
    assert metadata["pretokenization"] == {
        "hash": Pretokenization.of("gpt4o").hash,
        "pattern": pattern_of("gpt4o"),
        "normalize": None,
        "unicode": _core.UNICODE_VERSION,
    }
    assert metadata["languages"]["tha_Thai"] == {
        "documents": 2,
        "lines": 2,
        "bytes": len("".join(LINES["tha_Thai"]).encode()),
        "chars": len("".join(LINES["tha_Thai"])),
        "words": metadata["languages"]["tha_Thai"]["words"],
        "replaced": 0,
    }
    rows = file.read().to_pylist()
    assert [row["pretoken"] for row in rows if row["language"] == "eng_Latn"] == sorted(
        row["pretoken"] for row in rows if row["language"] == "eng_Latn"
    )


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    count(LINES, threads=1).save(tmp_path / "a.parquet")
    count(LINES, threads=3).save(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_row_groups_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = count(LINES)
    for limit in ("ROW_GROUP_ROWS", "ROW_GROUP_BYTES"):
        monkeypatch.setattr(f"pairity.counts.parquet.{limit}", 3)
        counts.save(tmp_path / "counts.parquet")
        assert pq.ParquetFile(tmp_path / "counts.parquet").num_row_groups > 3
        assert Counts.load(tmp_path / "counts.parquet") == counts


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    counts = count(LINES)
    counts.save(path)
    too_many = LanguageCounts(pa.array([b"a"], pa.large_binary()), np.array([2**63], np.uint64), 1, 1, 1)
    with pytest.raises(PairityError, match=r"'eng_Latn' add up to more than 2\*\*63"):
        Counts({"eng_Latn": too_many}, counts.pretokenization).save(path)
    assert Counts.load(path) == counts
    assert list(tmp_path.iterdir()) == [path]


def test_the_name_must_say_parquet(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "counts"):
        with pytest.raises(PairityError, match=r"counts\.parquet instead of"):
            count(LINES).save(path)


def test_files_are_summed_and_other_pretokenizations_refused(tmp_path: Path) -> None:
    one, two = (
        count({"eng_Latn": ["a b"], "deu_Latn": ["c"]}),
        count({"deu_Latn": ["c d"], "tel_Telu": ["e"]}),
    )
    one.save(tmp_path / "1.parquet")
    two.save(tmp_path / "2.parquet")
    together = Counts.load(tmp_path)
    assert list(together) == ["eng_Latn", "deu_Latn", "tel_Telu"]
    assert as_dict(together["deu_Latn"]) == {b"c": 2, b" d": 1}
    assert together["deu_Latn"].lines == 2
    assert together == Counts.load([tmp_path / "2.parquet", tmp_path / "1.parquet"]) == merge([one, two])
    assert together == count([tmp_path / "1.parquet", tmp_path / "2.parquet"])
    for options, said in (
        ({"pretokenizer": "gpt2"}, "pattern"),
        ({"normalize": "nfc"}, "normalize nfc"),
    ):
        count({"eng_Latn": ["x"]}, **options).save(tmp_path / "3.parquet")
        with pytest.raises(PairityError) as caught:
            Counts.load(tmp_path)
        for part in (f"{tmp_path}/1.parquet", f"{tmp_path}/3.parquet", said, one.pretokenization.hash[:12]):
            assert part in str(caught.value)
    with pytest.raises(PairityError, match=r"split 'train'.*'dev'"):
        merge([one, count({"eng_Latn": ["x"]}, split="dev")])
    with pytest.raises(PairityError, match="at least one"):
        merge([])


@settings(max_examples=60, deadline=None)
@given(parts=st.lists(DICTS, min_size=1, max_size=4))
def test_merging_sums(parts: list[dict[str, dict[bytes, int]]]) -> None:
    merged = merge([Counts.from_dicts(part) for part in parts])
    languages = {language for part in parts for language in part}
    expected = {
        language: dict(sum((Counter(part.get(language, {})) for part in parts), Counter()))
        for language in languages
    }
    assert {language: as_dict(merged[language]) for language in merged} == expected
    for language in merged:
        assert merged[language].pretokens.to_pylist() == sorted(expected[language])


@settings(max_examples=40, deadline=None)
@given(lines=st.lists(st.text(min_size=1), min_size=2, max_size=10), cut=st.integers(1, 9))
def test_counting_in_parts_and_merging_is_counting(lines: list[str], cut: int) -> None:
    first, second = [*lines[:cut], "x"], [*lines[cut:], "y"]
    assert merge([count({"a": first}), count({"a": second})]) == count({"a": first + second})


def test_lines_are_unknown_if_one_part_does_not_know_them() -> None:
    merged = merge([count({"a": ["x"]}), Counts.from_dicts({"a": {"x": 1}})])
    assert merged["a"].lines is None
    assert merged["a"].bytes == 2


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    count(LINES).save(path)
    table = pq.read_table(path)
    pq.write_table(table.filter(pa.compute.not_equal(table["language"], "tel_Telu")), path)
    with pytest.raises(PairityError, match=r"counts\.parquet was changed .* tel_Telu"):
        Counts.load(path)
    metadata = json.loads(table.schema.metadata[b"pairity"])
    for change, said in (
        ({"format": 99}, "format 99"),
        ({"languages": None}, "metadata is broken"),
        ({"split": "test"}, "split must be"),
        (
            {"languages": {name: size | {"bytes": None} for name, size in metadata["languages"].items()}},
            "metadata is broken.*bytes of",
        ),
        (
            {
                "languages": {
                    name: size | {"chars": size["chars"] + 1} for name, size in metadata["languages"].items()
                }
            },
            "metadata is broken.*does not match its digest",
        ),
        ({"pretokenization": metadata["pretokenization"] | {"pattern": "x"}}, "the hash is not that of"),
    ):
        pq.write_table(table.replace_schema_metadata({"pairity": json.dumps(metadata | change)}), path)
        with pytest.raises(PairityError, match=said):
            Counts.load(path)
    del metadata["digest"]  # as in files made before there were digests
    pq.write_table(table.replace_schema_metadata({"pairity": json.dumps(metadata)}), path)
    assert Counts.load(path) == count(LINES)
    pq.write_table(table.replace_schema_metadata({"pairity": "{"}), path)
    with pytest.raises(PairityError, match="metadata is broken"):
        Counts.load(path)


def test_one_flipped_bit_in_the_rows_is_found(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    count({"a": [f"word{n}" for n in range(2000)]}).save(path)
    pretokens = pq.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    data[pretokens.data_page_offset + pretokens.total_compressed_size // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(PairityError, match=r"counts\.parquet: broken Parquet file"):
        Counts.load(path)


def test_text_is_not_loaded_as_counts(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_text("x")
    with pytest.raises(PairityError, match="holds no counts"):
        Counts.load(tmp_path)
    with pytest.raises(PairityError, match="no such file"):
        Counts.load(tmp_path / "none.parquet")


# Counts made by hand


def test_a_hand_made_file_needs_a_pretokenizer(tmp_path: Path) -> None:
    path = write_by_hand(
        tmp_path / "hand.parquet",
        {
            "count": pa.array([3, 1, 4, 1], pa.int32()),
            "language": ["deu", "eng", "deu", "eng"],
            "pretoken": ["b", "é", "a", "é"],
        },
    )
    with pytest.raises(PairityError, match=r"hand\.parquet does not say how .*pretokenizer="):
        Counts.load(path)
    counts = Counts.load(path, pretokenizer="whitespace", split="dev")
    assert {language: as_dict(counts[language]) for language in counts} == {
        "deu": {b"a": 4, b"b": 3},
        "eng": {"é".encode(): 2},
    }
    assert list(counts) == ["deu", "eng"]
    assert counts.split == "dev"
    assert counts.pretokenization == Pretokenization.of("whitespace")
    english = counts["eng"]
    assert (english.lines, english.words, english.bytes, english.chars) == (None, None, 4, 2)
    assert count(path, pretokenizer="whitespace", split="dev") == counts


def test_dicts_and_tables_are_the_same_door() -> None:
    rows = {"language": ["a", "a", "b"], "pretoken": [b"x", b"yy", b"x"], "count": [1, 2, 3]}
    dicts = {"a": {"x": 1, b"yy": 2}, "b": {"x": np.int64(3)}}
    lines = {"a": 7}
    expected = Counts.from_dicts(dicts, lines=lines)
    assert expected["a"].lines == 7
    assert expected["b"].lines is None
    assert Counts.from_arrow(pa.table(rows), lines=lines) == expected
    assert Counts.from_arrow(pa.table(rows).to_reader(), lines=lines) == expected
    dictionary = pa.table(rows | {"pretoken": pa.array(["x", "yy", "x"]).dictionary_encode()})
    assert Counts.from_arrow(dictionary, lines=lines) == expected
    assert count(pa.table(rows)) == count(dicts) == Counts.from_dicts(dicts)
    assert as_dict(Counts.from_dicts({"a": {"x": 1, b"x": 2}})["a"]) == {b"x": 3}


@pytest.mark.parametrize(
    ("counts", "parts"),
    [
        ({"fine": 1, "bad": 0}, ("row 2", "'bad'", "above 0")),
        ({"bad": -1}, ("row 1", "above 0")),
        ({"bad": 1.5}, ("row 1", "above 0", "1.5")),
        ({"bad": True}, ("row 1", "above 0")),
        ({"bad": 2**63}, ("row 1",)),
        ({"": 1}, ("row 1", "not empty")),
        ({3: 1}, ("row 1", "string or bytes")),
        ({"\ud800": 1}, ("row 1", "surrogate")),
        ({}, ("empty",)),
    ],
)
def test_bad_dicts_name_language_and_row(counts: dict[Any, Any], parts: tuple[str, ...]) -> None:
    for make in (Counts.from_dicts, count):
        with pytest.raises(PairityError) as caught:
            make({"eng_Latn": counts})
        for part in ("'eng_Latn'", *parts):
            assert part in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ({"count": [1, 0]}, ("row 2", "'deu'", "above 0")),
        ({"count": [1, -5]}, ("row 2", "'deu'", "above 0")),
        ({"count": [1, None]}, ("row 2", "'deu'", "'count' is null")),
        ({"count": [1.0, 2.0]}, ("'count'", "double", "whole numbers")),
        ({"count": pa.array([1, 2**63], pa.uint64())}, ("row 2", "'deu'")),
        ({"pretoken": [b"x", None]}, ("row 2", "'pretoken' is null")),
        ({"pretoken": [b"x", b""]}, ("row 2", "'deu'", "empty")),
        ({"pretoken": [1, 2]}, ("'pretoken'",)),
        ({"language": ["eng", None]}, ("row 2", "'language' is null")),
        ({"language": ["eng", ""]}, ("row 2", "no name")),
        ({"language": [[1], [2]]}, ("'language' must be strings",)),
        ({"language": ["eng", "a=b"]}, ("'a=b'", "cannot be the name of a language")),
        ({"language": ["eng", "a/b"]}, ("'a/b'", "cannot be the name of a language")),
        ({"language": ["eng", "a,b"]}, ("'a,b'", "cannot be the name of a language")),
        ({"language": ["eng", " "]}, ("' '", "cannot be the name of a language")),
        ({"language": ["eng", "a\n"]}, (r"'a\n'", "cannot be the name of a language")),
    ],
)
def test_bad_tables_name_file_language_and_row(
    tmp_path: Path, rows: dict[str, Any], parts: tuple[str, ...]
) -> None:
    table = {"language": ["eng", "deu"], "pretoken": [b"x", b"y"], "count": [1, 2]} | rows
    path = write_by_hand(tmp_path / "hand.parquet", table)
    with pytest.raises(PairityError) as caught:
        Counts.load(path, pretokenizer="gpt4o")
    for part in (str(path), *parts):
        assert part in str(caught.value)
    with pytest.raises(PairityError):
        Counts.from_arrow(pa.table(table))


def test_a_language_has_the_same_names_everywhere() -> None:
    with pytest.raises(PairityError, match=r"'a=b' .* cannot be the name of a language"):
        Counts.from_dicts({"a=b": {"x": 1}})


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    columns = {"language": ["eng"], "pretoken": [b"x"], "count": [1]}
    table = pa.table([*map(pa.array, columns.values()), pa.array([2])], [*columns, "count"])
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(PairityError, match="has 2 columns 'count'"):
        Counts.load(tmp_path / "x.parquet", pretokenizer="gpt4o")
    with pytest.raises(PairityError, match="has 2 columns 'count'"):
        Counts.from_arrow(table)


@pytest.mark.parametrize(
    "metadata",
    [
        b"{",
        b"[" * 100_000,
        b'{"format": ' + b"9" * 5000 + b"}",
        b"[]",
        b'{"format": "1"}',
        b'{"format": 1, "pretokenization": 3}',
        b'{"format": 1, "pretokenization": {"pattern": 5, "normalize": null, "unicode": "15", "hash": ""}}',
        b"\xff",
    ],
)
def test_broken_metadata_is_named(tmp_path: Path, metadata: bytes) -> None:
    columns = {"language": ["eng"], "pretoken": [b"x"], "count": [1]}
    table = pa.table(columns).replace_schema_metadata({b"pairity": metadata})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(PairityError, match=r"x\.parquet: its metadata is broken"):
        Counts.load(tmp_path / "x.parquet")


def test_tables_without_rows_or_columns() -> None:
    with pytest.raises(PairityError, match="no column 'count'; there are: language, pretoken"):
        Counts.from_arrow(pa.table({"language": ["a"], "pretoken": [b"x"]}))
    with pytest.raises(PairityError, match="empty"):
        Counts.from_arrow(pa.table({"language": [], "pretoken": [], "count": []}))
    with pytest.raises(PairityError, match="list is not an Arrow table"):
        Counts.from_arrow([])


def test_sums_that_do_not_fit_are_refused() -> None:
    huge = Counts.from_dicts({"eng_Latn": {"x": 2**62}})
    with pytest.raises(PairityError, match="'eng_Latn' add up to more"):
        merge([huge, huge, huge])


# Digests


def test_a_digest_is_of_the_content() -> None:
    counts = Counts.from_dicts({"a": {"x": 1, "yz": 2}}, lines={"a": 1})["a"]
    same = Counts.from_dicts({"b": {b"yz": 2, b"x": 1}}, lines={"b": 1}, pretokenizer="none")["b"]
    assert counts.digest() == same.digest()
    sliced = LanguageCounts(
        pa.array([b"before", b"x", b"yz", b"after"], pa.large_binary()).slice(1, 2), counts.counts, 1, 5, 5
    )
    assert sliced.digest() == counts.digest()
    others = [
        Counts.from_dicts({"a": {"x": 1, "yz": 2}}, lines={"a": 2}),
        Counts.from_dicts({"a": {"x": 1, "yz": 2}}),
        Counts.from_dicts({"a": {"xy": 1, "z": 2}}, lines={"a": 1}),
        Counts.from_dicts({"a": {"x": 2, "yz": 1}}, lines={"a": 1}),
    ]
    assert len({counts.digest(), *(other["a"].digest() for other in others)}) == 5


def test_real_text(shared: Path, tmp_path: Path) -> None:
    counts = count(shared / "data" / "flores200" / "dev", split="dev")
    assert len(counts) == 204
    assert {row.lines for row in counts.summary()} == {997}
    counts.save(tmp_path / "dev.parquet")
    assert Counts.load(tmp_path / "dev.parquet") == counts


@pytest.mark.parametrize("method", ["merge", "finish"])
def test_a_signal_is_heard_while_counts_are_put_together_or_sorted(method):
    """The signal is waiting when the call begins: `map` runs nothing of Python between the two."""
    counter, other = _core.Counter(None), _core.Counter(None)
    counter.add_lines(b"a\nb\n")
    arguments = [other] if method == "merge" else []
    calls = [_thread.interrupt_main, partial(getattr(counter, method), *arguments)]
    with pytest.raises(KeyboardInterrupt):
        list(map(operator.call, calls))
    with pytest.raises(ValueError, match="make a new one"):
        counter.finish()
