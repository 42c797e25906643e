"""Lists of words: each is a text that occurs so many times."""

from pathlib import Path

import pytest

from pairity.counts.counting import count
from pairity.demo import word_counts
from pairity.errors import PairityError
from pairity.text.reading import read_texts
from pairity.text.words import WordList, in_text
from small_texts import PACK

WORDS = "the\t5\ndon't\t2\n well\t3\n\nco-op\t1\r\n"
LINES = [" the"] * 5 + [" don't"] * 2 + [" well"] * 3 + [" co-op"]


@pytest.mark.parametrize("packing", PACK)
def test_a_list_counts_as_so_many_lines(tmp_path: Path, packing: str) -> None:
    (tmp_path / f"eng_Latn.words.tsv{packing}").write_bytes(PACK[packing](WORDS.encode()))
    expected = count({"eng_Latn": LINES}, count_words=True)
    assert count(tmp_path, count_words=True) == expected
    path = tmp_path / f"eng_Latn.words.tsv{packing}"
    assert count(f"eng_Latn={path}", count_words=True) == expected
    for other in ("gpt2", "whitespace"):
        assert count(path, pretokenizer=other) == count({"eng_Latn": LINES}, pretokenizer=other)


def test_languages_without_spaces_get_none(tmp_path: Path) -> None:
    (tmp_path / "jpn_Jpan.words.tsv").write_text("日本\t4\n", encoding="utf-8")
    assert count(tmp_path) == count({"jpn_Jpan": ["日本"] * 4})
    assert in_text("ไทย", "tha_Thai") == "ไทย"
    assert in_text("한국", "kor_Hang") == " 한국"


def test_equal_words_add_up_and_are_not_compared(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.words.tsv").write_text("a\t2\na\t3\n")
    assert count(tmp_path, dedup="lines") == count({"eng_Latn": [" a"] * 5})


@pytest.mark.parametrize(
    "line",
    [
        "word",
        "word\tmany",
        "word\t1.5",
        "word\t0",
        "word\t-3",
        "\t3",
        "word\t9999999999999999",
        "word\t" + "9" * 5000,
        "a\tb\t3",
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "eng_Latn.words.tsv"
    path.write_text(f"fine\t2\n{line}\n")
    with pytest.raises(PairityError, match=r"eng_Latn\.words\.tsv, line 2: not a word, a tab and its count"):
        count(path)


def test_a_list_is_no_text_to_read(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.words.tsv").write_text("fine\t2\n")
    with pytest.raises(PairityError, match="is a word list, but text is needed here"):
        read_texts(tmp_path)


def test_other_tables_are_text(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.tsv").write_text("text\tcount\nfine\t2\n")
    assert count(tmp_path) == count({"eng_Latn": ["fine"]})


def test_the_lists_of_wordfreq() -> None:
    pytest.importorskip("wordfreq", reason="needs the extra demo")
    counts = count(["eng_Latn=wordfreq:en", "jpn_Jpan=wordfreq:ja"])
    words = WordList("en").words()
    assert counts["eng_Latn"].lines == sum(words.values())
    assert (
        words["the"] > words["The"] > words["tokenizer"]
        if "tokenizer" in words
        else words["the"] > words["The"]
    )
    found = dict(zip(counts["eng_Latn"].pretokens.to_pylist(), counts["eng_Latn"].counts, strict=True))
    assert found[b" the"] >= words["the"]
    assert word_counts("eng_Latn")[" the"] == words["the"]
    assert "日本" in word_counts("jpn_Jpan")
    with pytest.raises(PairityError, match="wordfreq has no list 'xx'"):
        count("eng_Latn=wordfreq:xx")
