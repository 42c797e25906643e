"""MorphScore: its rules, its conventions, and the files that its gold words come in."""

import csv
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.errors import PairityError, PairityWarning
from pairity.judging.metrics.gold import MorphWord, read_morph, read_morph_file
from pairity.judging.metrics.morphology import MorphScore, macro, morph_score, word_scores


class Pieces:
    """A tokenizer that cuts every line at the places a test asks for: the cut marks are part of its table."""

    name = "pieces"
    vocab_size = 1000

    def __init__(self, table: dict[str, list[bytes | None]]) -> None:
        self.table = table
        self.ids: dict[bytes | None, int] = {}

    def encode_lines(self, lines):  # type: ignore[no-untyped-def]
        rows = [[self.ids.setdefault(p, len(self.ids)) for p in self.table[line]] for line in lines]
        offsets = np.cumsum([0, *map(len, rows)])
        return np.array([token for row in rows for token in row], dtype=np.uint32), offsets

    def token_bytes(self, token: int) -> bytes | None:
        return list(self.ids)[token]

    def decode(self, ids):  # type: ignore[no-untyped-def]
        return b"".join(self.token_bytes(token) or b"" for token in ids)


@pytest.mark.parametrize(
    ("parts", "tokens", "expected"),
    [
        ("light|ed", "light|ed", (1, 1 / 2, 1)),
        ("light|ed", "lig|ht|ed", (1, 1 / 3, 1 / 2)),
        ("light|ed", "ligh|ted", (0, 0, 0)),
        ("light|ed", "lighted", (1, 1, 1)),
        ("un|light|ed", "un|light|ed", (1, 2 / 3, 1)),
        ("un|light|ed", "un|lighted", (0.5, 1 / 2, 1)),
        ("un|light|ed", "u|n|lighted", (0.5, 1 / 3, 1 / 2)),
        ("un|light|ed", "unl|ighted", (0, 0, 0)),
        ("light", "lig|ht", None),
        ("light", "light", (1, 1, 1)),
    ],
)
def test_word_scores_by_the_rules(parts: str, tokens: str, expected: tuple[float, ...] | None) -> None:
    found = word_scores(parts.split("|"), [token.encode() for token in tokens.split("|")])
    assert found == (None if expected is None else pytest.approx(expected))


WORDS = [
    MorphWord("lighted", ("light", "ed"), 3.0),
    MorphWord("cats", ("cat", "s"), 1.0),
    MorphWord("dogs", ("dog", "s"), 2.0),
]

CUTS: dict[str, list[bytes | None]] = {
    "lighted": [b"light", b"ed"],
    "cats": [b"cats"],
    "dogs": [b"do", b"gs"],
}


def test_morph_score_conventions_and_weights() -> None:
    own = morph_score(WORDS, Pieces(CUTS))
    assert (own.recall, own.precision, own.precision_corrected) == pytest.approx((3 / 5, 1.5 / 5, 3 / 5))
    assert (own.words, own.single_token_words, own.skipped_words) == (2, 1, 0)
    paper = morph_score(WORDS, Pieces(CUTS), exclude_single_token=False, weighted=False)
    assert (paper.recall, paper.precision) == pytest.approx((2 / 3, 1.5 / 3))
    assert paper.words == 3


def test_morph_boundaries_inside_a_character_hit_nothing() -> None:
    words = [MorphWord("éa", ("é", "a"))]
    assert morph_score(words, Pieces({"éa": [b"\xc3", b"\xa9a"]})).recall == 0
    assert morph_score(words, Pieces({"éa": [b"\xc3", b"\xa9", b"a"]})).recall == 1


def test_morph_aligns_what_tokenizers_do_to_words() -> None:
    words = [MorphWord("Cats", ("Cat", "s"))]
    for pieces in ([b" Cat", b"s"], [b" ", b"Cat", b"s"], [b"cat", b"s"]):  # a space in front; lower case
        found = morph_score(words, Pieces({"Cats": list(pieces)}))
        assert (found.recall, found.precision) == (1, 0.5), pieces
    for pieces in ([None], [b"C", b"s"], [b"\xff", b"Cats"]):  # unknown; letters lost
        found = morph_score(words, Pieces({"Cats": list(pieces)}))
        assert found.skipped_words == 1, pieces
        assert math.isnan(found.recall), pieces


def test_morph_macro_is_the_unweighted_mean_over_languages_with_data() -> None:
    one = MorphScore(0.5, 0.25, 0.5, 10, 0, 0)
    two = MorphScore(1.0, 0.75, 1.0, 1000, 0, 2)
    empty = MorphScore(math.nan, math.nan, math.nan, 0, 5, 0)
    found = macro([one, two, empty])
    assert (found.recall, found.precision, found.words, found.skipped_words) == (0.75, 0.5, 1010, 2)
    assert math.isnan(macro([empty]).recall)


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_read_morph_both_layouts(tmp_path: Path) -> None:
    v1 = [
        {"": "0", "full_word": "lighted", "pt1": "light", "rest": "ed"},
        {"": "1", "full_word": "x", "pt1": "渡", "rest": "ら"},
        {"": "2", "full_word": "one", "pt1": "one", "rest": ""},
    ]
    v2 = {"wordform": "Unlighted", "stem": "light", "preceding_part": "un", "following_part": "ed"}
    write_csv(tmp_path / "english_morph_data.csv", v1)
    write_csv(tmp_path / "tur_Latn.csv", [v2 | {"word_freq_norm": "0.25"}])
    pq.write_table(
        pa.Table.from_pylist([v2 | {"preceding_part": None, "wordform": "lighted"}]),
        tmp_path / "zulu_data.parquet",
    )
    found = read_morph(tmp_path)
    assert found["eng_Latn"] == [
        MorphWord("lighted", ("light", "ed")),
        MorphWord("one", ("one",)),
    ]
    assert found["tur_Latn"] == [MorphWord("Unlighted", ("un", "light", "ed"), 0.25)]
    assert found["zul_Latn"] == [MorphWord("lighted", ("light", "ed"))]
    assert read_morph({"eng_Latn": tmp_path / "english_morph_data.csv"})["eng_Latn"] == found["eng_Latn"]


def test_read_morph_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(
        PairityError, match=r"no MorphScore data in .*: it needs a folder with one \.csv or \.parquet"
    ):
        read_morph(tmp_path)
    bad = write_csv(tmp_path / "eng_Latn.csv", [{"word": "a", "cut": "b"}])
    with pytest.raises(PairityError, match=r"eng_Latn\.csv: this is not MorphScore data.* it has cut, word"):
        read_morph_file(bad)
    with pytest.raises(PairityError, match="in no row do the parts"):
        read_morph_file(write_csv(bad, [{"full_word": "abc", "pt1": "x", "rest": "y"}]))
    row = {"wordform": "ab", "stem": "a", "preceding_part": "", "following_part": "b", "frequency": "often"}
    with pytest.raises(PairityError, match="'often' is not a number"):
        read_morph_file(write_csv(bad, [row]))
    write_csv(tmp_path / "klingon_morph_data.csv", [{"full_word": "ab", "pt1": "a", "rest": "b"}])
    write_csv(bad, [{"full_word": "ab", "pt1": "a", "rest": "b"}])
    with pytest.warns(PairityWarning, match=r"left out: klingon_morph_data\.csv"):
        assert set(read_morph(tmp_path)) == {"eng_Latn"}
    bad.unlink()
    with pytest.raises(PairityError, match=r"unknown languages: klingon_morph_data\.csv\."):
        read_morph(tmp_path)
    for content in (b"full_word,pt1\xff", b'wordform\n"' + b"x" * 200_000):
        bad.write_bytes(content)
        with pytest.raises(PairityError, match="broken CSV file"):
            read_morph_file(bad)
    (tmp_path / "eng_Latn.parquet").write_bytes(b"PAR1")
    with pytest.raises(PairityError, match="broken Parquet file"):
        read_morph_file(tmp_path / "eng_Latn.parquet")
    with pytest.raises(PairityError, match=r"cannot read .*: Is a directory"):
        read_morph_file(tmp_path)


def test_the_second_version_is_read_as_morphscore_reads_it_by_default(tmp_path: Path) -> None:
    row = {
        "wordform": "lighted",
        "stem": "light",
        "lemma": "Light",
        "preceding_part": "",
        "following_part": "ed",
    }
    rows = [
        row | {"unique": "True"},
        row | {"unique": "False", "wordform": "lights", "following_part": "s"},
        row | {"unique": "True", "wordform": "sang", "stem": "sang", "lemma": "sing", "following_part": ""},
        row | {"unique": "True", "wordform": "light4", "following_part": "4"},
    ]
    path = write_csv(tmp_path / "scottish_gaelic_data.csv", rows)
    assert [word.word for word in read_morph_file(path)] == ["lighted"]
    assert [word.word for word in read_morph_file(path, every_row=True)] == [
        "lighted",
        "lights",
        "sang",
        "light4",
    ]
    assert set(read_morph(tmp_path)) == {"gla_Latn"}
    assert len(read_morph(tmp_path, every_row=True)["gla_Latn"]) == 4


def test_read_morph_of_all_languages(shared: Path) -> None:
    found = read_morph(shared / "data" / "morph")
    assert len(found) == 22
    assert len(found["eng_Latn"]) == 2000
    assert len(found["guj_Gujr"]) == 547 - 191  # rows that were shifted against each other in that file
