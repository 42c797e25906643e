"""The counts artefact: counting is exact, and what is written comes back."""

import _thread
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
from pairity.counts.values import LanguageCounts, sum_language
from pairity.errors import PairityError
from pairity.text.pretokenizers import Pretokenization, pattern_of
from small_counts import DICTS, LINES, as_dict


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


@pytest.mark.parametrize("option", ["text_colum", "max_line", "dedup_memory", "cut"])
def test_an_option_that_is_not_there_is_named(option: str) -> None:
    """Also settings of the reading that no caller gives."""
    with pytest.raises(TypeError, match=rf"^count\(\) got an unexpected keyword argument '{option}'"):
        count(LINES, **{option: 3})  # type: ignore[arg-type]


def test_a_misspelled_option_is_told_how_it_is_written() -> None:
    with pytest.raises(TypeError, match=r"argument 'text_colum'\. Did you mean 'text_column'\?$"):
        count(LINES, text_colum="message")  # type: ignore[call-arg]


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
        match=r"counts\.parquet was made with .* but .* was requested\. Use the same pre-tokenizer",
    ):
        count(path)
    with pytest.raises(
        PairityError, match=r"counts\.parquet holds counts of split 'train', but .dev. was requested"
    ):
        count(path, pretokenizer="gpt2", split="dev")
    with pytest.raises(PairityError, match="was requested"):
        count(count(LINES), normalize="nfc")


# The file


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
        ({"pretokenizer": "gpt2"}, "pre-tokenizer gpt2"),
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
    with pytest.raises(PairityError, match=r"hand\.parquet does not record how .*pretokenizer="):
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


def test_hand_made_counts_that_cannot_be_added_up_are_refused() -> None:
    def part(words: list[bytes], kind: Any) -> LanguageCounts:
        return LanguageCounts(pa.array(words, pa.large_binary()), np.ones(len(words), kind), 1, 3, 3)

    good = part([b"a", b"b"], np.uint64)
    with pytest.raises(PairityError, match=r"'eng_Latn' cannot be added up: \"a\" comes after a greater"):
        sum_language("eng_Latn", [good, part([b"b", b"a"], np.uint64)])
    with pytest.raises(PairityError, match=r"the counts of 'eng_Latn' are int32: make them uint64"):
        sum_language("eng_Latn", [good, part([b"a", b"b"], np.int32)])


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
