"""Superwords: tokens that reach across spaces, learned in a second stage, and cut alike by every library."""

from pathlib import Path

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_engine import cases, columns

import pairity
from pairity import Classical, Fair, PairityError, Parity, Tokenizer, _core, count, reference, sample, train
from pairity.bpe.merges import BYTE_TOKENS
from pairity.text.pretokenizers import WITH_WORDS, Pretokenization, pattern_of
from pairity.training.engine import learn
from pairity.training.superwords import is_superword

TEXT = {
    language: lines * 2  # so that every pair of tokens occurs twice
    for language, lines in sample.read("dev").items()
    if language in ("eng_Latn", "deu_Latn", "vie_Latn", "tam_Taml", "zho_Hans")
}
SETTINGS = {"dev": {language: lines[:60] for language, lines in TEXT.items()}, "progress": False}
MERGES = {"num_merges": 600, "superwords": 0.7}


def learned(**settings) -> Tokenizer:
    return train(TEXT, **SETTINGS | MERGES | settings)


def superwords(tok: Tokenizer) -> list[str]:
    """Those that hold the edge of two words, whole characters or not."""
    return [token.decode(errors="ignore") for token in tok.tokens if b" " in token[1:] and token.strip()]


def test_tokens_reach_across_spaces_from_the_share_on():
    tok = learned()
    assert tok.pretokenizer == "gpt4o:words4"
    assert "en Sie" in superwords(tok)
    first = train(TEXT, **SETTINGS, num_merges=420)
    assert np.array_equal(tok.model.merges[:420], first.model.merges), (
        "the first stage is an ordinary training"
    )
    assert not superwords(first)


@pytest.mark.parametrize("name", WITH_WORDS)
def test_no_token_reaches_across_punctuation_digits_or_more_words_than_allowed(name):
    tok = learned(pretokenizer=f"{name}:words3", superwords=0.2, num_merges=350)
    found = superwords(tok)
    assert found
    for token in found:
        words = token.strip(" ").split(" ")
        assert len(words) <= 3
        for word in words:
            assert regex.fullmatch(r"[\p{L}\p{M}]+('\p{L}+)?|'\p{L}+", word), token


def test_the_record_says_what_each_language_got(tmp_path):
    tok = learned()
    assert tok.record["superwords"] == 0.7
    assert tok.record["stages"] == {"words": 420, "phrases": 180, "superwords": len(superwords(tok))}
    served = 0
    for language, text in tok.record["languages"].items():
        audit = text["superwords"]
        served += audit["served"]
        assert audit["cost_before"] > text["cost"], "all gain from the second stage"
        ids = [token for line in SETTINGS["dev"][language] for token in tok.encode(line)]
        ones = [token for token in ids if b" " in tok.tokens[token][1:] and tok.tokens[token].strip()]
        assert audit["share"] == len(ones) / len(ids)
    assert served == 180
    assert tok.record["languages"]["deu_Latn"]["superwords"]["share"] > 0
    tok.save(tmp_path / "tok")
    assert Tokenizer.load(tmp_path / "tok").record == tok.record


def test_words_that_run_out_of_pairs_end_the_first_stage_early():
    lines = ["a b a b", "a b"] * 3
    with pytest.warns(pairity.PairityWarning, match="training stopped early"):
        tok = train({"x": lines}, dev={"x": lines}, num_merges=50, superwords=0.9, progress=False)
    assert tok.record["stages"]["words"] == 2
    assert tok.record["exhausted"] == {"x": len(tok.merges)}


@st.composite
def two_stages(draw):
    """Phrases of words, and the same in words: as any cut with a space before every word but the first gives them."""
    case = draw(cases())
    case |= {"phrases": {}, "dev_phrases": {}}
    for whole, parts in (("train", "phrases"), ("dev", "dev_phrases")):
        for language, words in case[whole].items():
            plain = [word.replace(b" ", b"_") for word in words]
            some = st.lists(st.sampled_from(plain), min_size=1, max_size=3).map(b" ".join)
            case[parts][language] = draw(st.dictionaries(some, st.integers(1, 9), min_size=1, max_size=4))
            case[whole][language] = in_words(case[parts][language])
    case["words"] = case.pop("train")
    return case | {"superwords": draw(st.sampled_from([0.01, 0.3, 0.5, 0.9]))}


def in_words(phrases):
    found = {}
    for phrase, times in phrases.items():
        first, *others = phrase.split(b" ")
        for word in [first, *(b" " + other for other in others)]:
            if word:
                found[word] = found.get(word, 0) + times
    return found


def engine_in_two_stages(words, phrases, *, dev, dev_phrases, dev_units, method, superwords, **goal):
    limits = {key: goal.pop(key) for key in ("min_frequency", "max_token_length", "whole_characters")}
    ((kind, budget),) = goal.items()
    ratios = getattr(method, "ratios", None) or {}

    def stage(train, dev, goal, known=None):
        def measure(language):
            if language in ratios or method.on == "train":
                total = float(sum(len(word) * times for word, times in train[language].items()))
                return columns(train[language]), total, float(ratios.get(language, 1.0))
            return (columns(dev[language]), dev_units[language], 1.0) if language in dev_units else None

        return learn(
            [(columns(text), measure(language)) for language, text in train.items()],
            **{kind.removeprefix("num_"): goal},
            global_merges=method.global_merges_of(budget),
            **method.for_engine(),
            known=known,
            **limits,
        )

    first = stage(words, dev, round(superwords * budget))
    return stage(phrases, dev_phrases, budget, first.steps)


@settings(max_examples=40, deadline=None)
@given(two_stages())
def test_the_engine_has_the_two_stages_of_the_reference(case):
    expected = reference.in_two_stages(**case)
    got = engine_in_two_stages(**case)
    tokens, names = list(BYTE_TOKENS), list(case["words"])
    merges = []
    for left, right in got.steps.pairs:
        merges.append((tokens[left], tokens[right]))
        if (joined := tokens[left] + tokens[right]) not in tokens:
            tokens.append(joined)
    assert merges == expected.merges
    assert [None if one < 0 else names[one] for one in got.steps.served] == expected.served
    assert got.steps.count.tolist() == expected.counts
    assert [(names[one], step) for one, step in got.exhausted] == expected.exhausted


@pytest.mark.parametrize(
    "method", [Parity(joint=0.5, window=5), Fair(), Classical(), Parity(global_merges=0.8)]
)
def test_training_is_what_the_reference_says(method):
    some = {language: [line[:30] for line in lines[:6]] for language, lines in SETTINGS["dev"].items()}
    tok = train(some, dev=some, progress=False, method=method, superwords=0.3, num_merges=60)
    words, phrases = (
        {language: counts_of(lines, name) for language, lines in some.items()}
        for name in ("gpt4o", "gpt4o:words4")
    )
    expected = reference.in_two_stages(
        words,
        phrases,
        dev=words,
        dev_phrases=phrases,
        dev_units=dict.fromkeys(some, 6.0),
        method=method,
        superwords=0.3,
        num_merges=60,
        min_frequency=2,
    )
    made = [(tok.tokens[left], tok.tokens[right]) for left, right in tok.model.merges[:, :2]]
    assert made == expected.merges


def counts_of(lines, name):
    counts = count({"x": lines}, pretokenizer=name)["x"]
    return dict(zip(counts.pretokens.to_pylist(), counts.counts.tolist(), strict=True))


@pytest.mark.parametrize(("stage", "merges"), [(1, 200), (1, 420), (2, 421), (2, 500)])
def test_a_run_that_is_killed_in_either_stage_goes_on_as_if_it_had_not_been(
    tmp_path, monkeypatch, stage, merges
):
    whole, path, stages, engine = learned(), tmp_path / "c.parquet", [], _core.train

    def killed(*arguments, **options):
        stages.append(options)
        if len(stages) < stage:
            return engine(*arguments, **options)
        for number in (2, merges):  # in phrases, what was learned from words is made again first
            cut = engine(*arguments, **options | {"merges": number, "known": None, "checkpoint": None})
            if number == merges:
                cut = engine(*arguments, **options | {"merges": number, "checkpoint": None})
            options["checkpoint"](cut[0], cut[3])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_core, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            learned(checkpoint=path)
    again = learned(checkpoint=path, resume=True)
    assert again == whole
    assert again.record == whole.record
    assert again.trace.equals(whole.trace)


def test_a_run_that_is_killed_between_the_stages_goes_on(tmp_path, monkeypatch):
    whole, path, engine = learned(), tmp_path / "c.parquet", _core.train

    def killed(*arguments, **options):
        if options["merges"] == 600:
            raise KeyboardInterrupt
        return engine(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(_core, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            learned(checkpoint=path)
    assert learned(checkpoint=path, resume=True) == whole


def test_counts_of_phrases_are_enough(tmp_path: Path):
    counts = count(TEXT, pretokenizer="gpt4o:words4")
    counts.save(tmp_path / "counts.parquet")
    from_counts = train(tmp_path / "counts.parquet", **SETTINGS, **MERGES)
    assert from_counts == learned()
    words = count(TEXT)
    words.save(tmp_path / "words.parquet")
    for given_counts in (words, tmp_path / "words.parquet"):
        with pytest.raises(
            PairityError, match=r"in phrases, .*: pairity count --pretokenizer gpt4o:words4\."
        ):
            train(given_counts, **SETTINGS, num_merges=9, superwords=0.5)


def test_rare_phrases_are_halved_and_no_word_is_lost():
    lines = ["a b c d", "a b e f", "g h c d", "g h e x"]
    counts = count({"x": lines}, pretokenizer="gpt4o:words4", min_count=2)["x"]
    found = dict(zip(counts.pretokens.to_pylist(), counts.counts.tolist(), strict=True))
    assert found == {b"a b": 2, b"g h": 2, b" c d": 2, b" e": 2}
    assert counts.pruned == pairity.counts.values.Pruned(2, 2, 2), "f and x occur once"
    on_disk = count({"x": lines}, pretokenizer="gpt4o:words4", min_count=2, memory="1GB", threads=1)["x"]
    assert on_disk == counts


def test_a_tokenizer_with_superwords_is_continued_with_more_of_them():
    tok = learned()
    longer = train(TEXT, **SETTINGS, continue_from=tok, add_tokens=100)
    assert longer.tokens[: len(tok)] == tok.tokens
    assert len(superwords(longer)) > len(superwords(tok))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"superwords": 0}, "superwords is 0: give the share .* above 0 and below 1, such as 0.5"),
        ({"superwords": 1.0}, "superwords is 1.0: give the share"),
        ({"superwords": float("nan")}, "superwords is nan: give the share"),
        ({"superwords": "0.5"}, "superwords is '0.5': give the share"),
        ({"superwords": True}, "superwords is True: give the share"),
        ({"pretokenizer": "none"}, "'none' are not known. Choose one of gpt4o"),
        ({"pretokenizer": r"\w+|\W+"}, r"are not known. Choose one of gpt4o"),
        ({"pretokenizer": "none:words4"}, "'none' has no word boundaries"),
        ({"pretokenizer": "gpt4o:words1"}, "a phrase has 2 to 16 words, not 1: give gpt4o:words4"),
        ({"pretokenizer": "gpt5:words4"}, "unknown pre-tokenizer 'gpt5'"),
    ],
)
def test_what_cannot_be_is_an_error_before_any_work(settings, message):
    with pytest.raises(PairityError, match=message):
        train("no/such/folder", num_merges=9, **{"superwords": 0.5} | settings)


def test_a_tokenizer_that_is_continued_gets_no_second_stage():
    with pytest.raises(
        PairityError, match=r"keeps its way of splitting text: leave out superwords \(--superwords\)"
    ):
        train(TEXT, **SETTINGS, continue_from=learned(), add_tokens=9, superwords=0.5)


@given(st.text(alphabet="aB 'st12,.\n\u00a0\u3000\u0301éकिไ中ǅ", max_size=30) | st.text(max_size=30))
@example("by the way, I'm 12 years old")
@settings(max_examples=40, deadline=None)
def test_phrases_hold_the_words_of_the_text(text):
    for name in WITH_WORDS:
        for digits in (False, True):
            phrases = _core.pretokenize(pattern_of(f"{name}:words4", digits=digits), text)
            words = pattern_of(name, digits=digits)
            again = [word for phrase in phrases for word in _core.pretokenize(words, phrase)]
            assert again == _core.pretokenize(words, text)


def test_names_of_phrases():
    cut = Pretokenization.of("gpt4o:words5", digits=True)
    assert cut.name == "gpt4o:digits:words5"
    assert cut.words == Pretokenization.of("gpt4o", digits=True)
    assert Pretokenization.of("gpt4o").words is None
    assert Pretokenization.of("gpt2").in_phrases() == Pretokenization.of("gpt2:words4")
    halves = [cut]
    while half := halves[-1].halves:
        halves.append(half)
    assert [one.name for one in halves] == ["gpt4o:digits:words5", "gpt4o:digits:words2", "gpt4o:digits"]


def test_the_merges_of_words_cut_phrases_as_they_cut_words():
    """No merge of the first stage reaches over the edge of two words, so no cost changes between the stages."""
    tok = learned()
    first = Tokenizer.from_merges(tok.model.merges[:420, :2], pattern=pattern_of("gpt4o:words4"))
    plain = Tokenizer.from_merges(tok.model.merges[:420, :2], pattern=pattern_of("gpt4o"))
    for lines in TEXT.values():
        assert first.encode_batch(lines) == plain.encode_batch(lines)


def test_the_first_stage_is_steered_as_ever_by_several_dev_sets_and_estimated_ratios():
    dev = {language: lines for language, lines in SETTINGS["dev"].items() if language != "deu_Latn"}
    sets = pairity.DevSets({"one": dev, "other": {language: lines[:20] for language, lines in dev.items()}})
    settings = {"dev": sets, "progress": False, "method": Parity(ratios={"deu_Latn": "auto"})}
    tok = train(TEXT, **settings, **MERGES)
    assert np.array_equal(tok.model.merges[:420], train(TEXT, **settings, num_merges=420).model.merges)
    assert superwords(tok)


def test_part_of_a_white_space_character_is_no_word():
    assert is_superword(b" of the")
    assert is_superword(b"n Sie")
    assert not is_superword(b" the")
    assert not is_superword(b"\x80 "), "the end of U+3000 and a space"
