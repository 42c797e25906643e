"""UnigramLM over bytes: lossless, exact in size, cut as the counts were cut, and good enough to be compared with."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pairity import Classical, PairityError, count, evaluate, train
from pairity.counts.counts import Counts
from pairity.experiments.substrings import frequent_pieces, merged
from pairity.experiments.unigram import train_unigram, with_all_bytes
from pairity.sample import FOLDER

FLORES = Path(__file__).resolve().parents[3] / "shared" / "data" / "flores200" / "devtest"
LANGUAGES = ["eng_Latn", "hin_Deva", "jpn_Jpan"]
SIZE = 700


@pytest.fixture(scope="module")
def counts() -> Counts:
    return count(FOLDER / "dev", languages=LANGUAGES)


@pytest.fixture(scope="module")
def unigram(counts: Counts) -> Any:
    pytest.importorskip("sentencepiece")
    return train_unigram(counts, SIZE)


def all_substrings(words: dict[bytes, int], longest: int) -> dict[bytes, int]:
    """Every substring of at least two bytes with how often it occurs, the slow way."""
    found: dict[bytes, int] = {}
    for word, number in words.items():
        for start in range(len(word)):
            for end in range(start + 2, min(len(word), start + longest) + 1):
                found[word[start:end]] = found.get(word[start:end], 0) + number
    return found


def test_pieces_are_counted_in_the_text_and_not_in_the_list_of_words() -> None:
    words = merged(Counts.from_dicts({"a": {" the": 80, " then": 3}, "b": {" then": 2, "x": 9}}))
    assert list(words.rows()) == [(b" the", 80), (b" then", 5), (b"x", 9)]
    assert frequent_pieces(words, 4, 64) == [(b" the", 85), (b"the", 85), (b"he", 85), (b" then", 5)]


def test_pieces_are_those_of_counting_one_by_one(counts: Counts) -> None:
    longest, most = 12, 2000
    words = merged(counts)
    every = all_substrings(dict(words.rows()), longest + 1)
    continued = {piece[:-1] for piece, number in every.items() if every.get(piece[:-1]) == number}
    expected = {
        piece: number
        for piece, number in every.items()
        if number > 1 and len(piece) <= longest and piece not in continued
    }
    covered = sorted((number * len(piece) for piece, number in expected.items()), reverse=True)
    found = frequent_pieces(words, most, longest)
    assert [number * len(piece) for piece, number in found] == covered[:most]
    assert all(expected[piece] == number for piece, number in found)
    assert len({piece for piece, _ in found}) == most


def test_the_vocabulary_has_exactly_the_size_asked_for_and_all_bytes(unigram: Any) -> None:
    assert unigram.get_vocab_size() == SIZE
    any_bytes = "\x00\x7fÿ€\U0010ffff"
    assert unigram.decode(unigram.encode(any_bytes).ids) == any_bytes


def test_the_same_counts_give_the_same_tokenizer(counts: Counts, unigram: Any) -> None:
    assert train_unigram(counts, SIZE).to_str() == unigram.to_str()


def test_text_is_cut_as_it_was_counted(counts: Counts, unigram: Any) -> None:
    bpe = train(counts, vocab_size=SIZE, method=Classical(), progress=False)
    theirs = json.loads(unigram.to_str())["pre_tokenizer"]
    assert theirs == json.loads(bpe.to_huggingface().to_str())["pre_tokenizer"]


def test_it_can_be_judged_beside_bpe_and_is_not_a_list_of_bytes(counts: Counts, unigram: Any) -> None:
    bpe = train(counts, vocab_size=SIZE, method=Classical(), progress=False)
    scores = evaluate({"unigram": unigram, "bpe": bpe}, FOLDER / "test", languages=LANGUAGES, resamples=0)
    assert scores.value("unigram", "round_trip") == 1
    theirs, ours = (scores.value(name, "compression_rate_line") for name in ("unigram", "bpe"))
    assert theirs is not None
    assert ours is not None
    assert 0.7 * ours < theirs, "seeds that ignore how often a word occurs give half of it"


def test_all_of_flores_comes_back(unigram: Any) -> None:
    if not FLORES.is_dir():
        pytest.skip("needs ../shared/data/flores200")
    for file in sorted(FLORES.glob("*.txt.gz")):
        lines = gzip.decompress(file.read_bytes()).decode().splitlines()[::10]
        ids = [encoding.ids for encoding in unigram.encode_batch(lines)]
        assert unigram.decode_batch(ids) == lines, file.name


def test_bytes_that_the_text_lacks_take_the_place_of_the_least_likely_pieces() -> None:
    pieces = with_all_bytes([("a", -1.0), ("bc", -2.0), ("bcd", -3.0)], 257)
    assert len(pieces) == 257
    assert dict(pieces)["bc"] == -2.0
    assert "bcd" not in dict(pieces)
    assert max(score for piece, score in pieces if piece not in ("a", "bc")) < -3.0


def test_a_size_that_cannot_be_is_told(counts: Counts) -> None:
    with pytest.raises(PairityError, match="vocab_size is 256: it includes the 256 bytes"):
        train_unigram(counts, 256)
    pytest.importorskip("sentencepiece")
    with pytest.raises(PairityError, match=r"but UnigramLM found [\d,]+ pieces in this text"):
        train_unigram(counts, 1_000_000)
