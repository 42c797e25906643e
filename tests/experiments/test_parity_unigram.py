"""Parity-aware UnigramLM: exactly the reference, lossless, exact in size, and fairer than all text taken as one."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity import PairityError, count, evaluate, reference_unigram
from pairity.bpe.alphabet import to_text
from pairity.counts.counts import Counts
from pairity.counts.values import sum_language
from pairity.experiments.parity_unigram import first_pieces, learn, train_parity_unigram
from pairity.experiments.unigram import wrapped
from pairity.sample import FOLDER
from small_counts import as_dict

LANGUAGES = ["eng_Latn", "hin_Deva", "jpn_Jpan"]
SIZE = 700

WORDS = st.dictionaries(
    st.text("abc", min_size=1, max_size=9).map(str.encode), st.integers(1, 9), min_size=1, max_size=8
)
CORPORA = st.dictionaries(
    st.sampled_from(["x", "y", "z"]), st.tuples(WORDS, WORDS, st.integers(1, 9)), min_size=1
)


@pytest.fixture(scope="module")
def texts() -> tuple[Counts, Counts]:
    return count(FOLDER / "dev", languages=LANGUAGES), count(FOLDER / "dev", languages=LANGUAGES, split="dev")


@pytest.fixture(scope="module")
def fair(texts: tuple[Counts, Counts]) -> Any:
    return train_parity_unigram(*texts, SIZE)


@settings(max_examples=150, deadline=None)
@given(corpora=CORPORA, part=st.floats(0, 1), most=st.integers(1, 60))
def test_the_reference_learns_the_very_same(
    corpora: dict[str, tuple[dict[bytes, int], dict[bytes, int], int]], part: float, most: int
) -> None:
    lines = {language: number for language, (_, _, number) in corpora.items()}
    train = {language: words for language, (words, _, _) in corpora.items()}
    dev = {language: words for language, (_, words, _) in corpora.items()}
    counts, dev_counts = Counts.from_dicts(train), Counts.from_dicts(dev, split="dev", lines=lines)
    seeds = first_pieces(counts, most)
    size = 256 + int(part * (len(seeds) - 256))
    expected = reference_unigram.train(train, dev, lines, seeds, size)
    assert learn(counts, dev_counts, seeds, size, threads=2) == expected
    assert len(expected) == size


def test_every_language_starts_from_its_own_pieces() -> None:
    counts = Counts.from_dicts({"a": {" the": 80, " then": 5}, "b": {"xyxy": 1, "xyz": 2}})
    found = first_pieces(counts, 2)
    assert list(found)[:256] == [bytes([byte]) for byte in range(256)]
    assert found[b"e"] == 85
    assert found[b"x"] == 4
    assert dict(list(found.items())[256:]) == {b" the": 85, b"the": 85, b"xy": 4, b"xyz": 2}


def test_the_vocabulary_has_exactly_the_size_asked_for_and_all_bytes(fair: Any) -> None:
    assert fair.get_vocab_size() == SIZE
    any_bytes = "".join(map(chr, range(0x800))) + "€\U0010ffff" + "a" * 300
    assert fair.decode(fair.encode(any_bytes).ids) == any_bytes


def test_the_number_of_threads_makes_no_difference(texts: tuple[Counts, Counts], fair: Any) -> None:
    assert train_parity_unigram(*texts, SIZE, threads=1).to_str() == fair.to_str()


def test_it_is_fairer_than_all_text_taken_as_one(texts: tuple[Counts, Counts], fair: Any) -> None:
    train, dev = texts
    whole = {"all": sum_language("all", list(train.values()))}
    pieces = learn(whole, {"all": sum_language("all", list(dev.values()))}, first_pieces(whole, 10_000), SIZE)
    assert sum(as_dict(whole["all"]).values()) == sum(sum(as_dict(one).values()) for one in train.values())
    ordinary = wrapped([(to_text(piece), score) for piece, score in pieces], train)
    scores = evaluate(
        {"fair": fair, "ordinary": ordinary},
        FOLDER / "dev",
        languages=LANGUAGES,
        resamples=0,
        metrics=["gini"],
    )
    gini = {name: scores.select(name, "gini").column("value")[0].as_py() for name in ("fair", "ordinary")}
    assert gini["fair"] < gini["ordinary"] / 4


def test_what_cannot_be_learned_is_refused(texts: tuple[Counts, Counts]) -> None:
    with pytest.raises(PairityError, match="it includes the 256 bytes"):
        train_parity_unigram(*texts, 256)
    with pytest.raises(PairityError, match="pieces that occur twice"):
        train_parity_unigram(*texts, 1_000_000)
