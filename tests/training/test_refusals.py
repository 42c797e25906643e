"""What training refuses, all of it before any work."""

import pytest

from pairity import PairityError, Parity, train
from pairity.counts.counting import count
from small_corpus import DEV, WORDS, learn

BAD = {
    "more global merges than merges": (
        {"method": Parity(global_merges=13)},
        "global_merges is 13, but only 12 are to be learned",
    ),
    "no dev text": (
        {"dev": {k: v for k, v in DEV.items() if k != "tel"}},
        "no dev text for 'tel'.*--ratio tel=.*--skip tel",
    ),
    "no dev at all": ({"dev": None}, "give parallel dev text.*--on train"),
    "dev names a language that train lacks": (
        {"dev": DEV | {"xxx": ["a", "b"]}},
        "dev names 'xxx'.*which train lacks",
    ),
    "empty dev": ({"dev": DEV | {"tel": []}}, "no text for 'tel'"),
    "blank dev": ({"dev": DEV | {"tel": ["", ""]}}, "no text for 'tel'"),
    "empty train": ({"corpus": WORDS | {"tel": []}}, "no text for 'tel'"),
    "unequal lines": ({"dev": DEV | {"tel": [" తె"]}}, "not parallel.*tel has 1"),
    "several without dev text": (
        {"dev": {"deu": DEV["deu"]}},
        "no dev text for 'eng', 'tel': train has 3 languages, dev has 1 of them.*--skip eng,tel",
    ),
    "nothing at all to measure by": (
        {"dev": None},
        "nothing to compare 'eng', 'deu', 'tel' by.*--ratio eng=",
    ),
    "dev names several that train lacks": (
        {"dev": DEV | {"xxx": ["a", "b"], "yyy": ["a", "b"]}},
        "dev names 'xxx' .*, 'yyy' .*, which train lacks.*Add xxx, yyy to train",
    ),
    "one language under two codes": (
        {
            "corpus": WORDS | {"fil_Latn": {" ang": 5}},
            "dev": [DEV, {"tgl_Latn": ["a", "b"]}],
        },
        r"dev names 'tgl_Latn' .*\(but fil_Latn is the same language as tgl_Latn\)",
    ),
    "unknown ratio": ({"method": Parity(ratios={"nope": 2.0})}, "nope.*no such language"),
    "unknown ratios": (
        {"method": Parity(ratios={"nope": 2.0, "eng": 3.0, "neither": "auto"})},
        "a ratio is given for 'nope', 'neither', but train has no such language: eng, deu, tel",
    ),
    "auto without dev": (
        {"dev": None, "method": Parity(ratios=dict.fromkeys(WORDS, "auto"))},
        "the ratio of 'eng', 'deu', 'tel' is auto.*but there is no dev text",
    ),
    "several ratios like nobody": (
        {"dev": {"eng": DEV["eng"]}, "method": Parity(ratios={"tel": "nope", "deu": "tel"})},
        "ratio of 'tel', 'deu' is copied from 'nope', 'tel', but there is no dev text for 'nope', 'tel'",
    ),
    "ratios and dev": (
        {"method": Parity(ratios={"tel": 2.0, "deu": 3.0})},
        "'tel', 'deu' have both dev text and a ratio",
    ),
    "special token in the text": (
        {"special_tokens": ["<s>", "he"]},
        r"'he' occurs in the training text of 'eng' \(23 times\), where it could be learned as an ordinary token.*"
        r"Remove it from the text.*choose another name, such as one in <\|\.\.\.\|>\.$",
    ),
    "separator in the text": (
        {
            "corpus": {name: words | {"<|end|>": 2} for name, words in WORDS.items()},
            "special_tokens": ["<|end|>"],
        },
        r"'<\|end\|>' occurs in the training text of 'eng' \(2 times\), 'deu' \(2 times\), 'tel' \(2 times\).*"
        r"choose another name\.$",
    ),
    "skip several": ({"skip": ["no", "eng", "nope"]}, "'no', 'nope' are in --skip"),
    "ratio like nobody": (
        {"method": Parity(ratios={"tel": "nope"})},
        "the ratio of 'tel' is copied from 'nope', but there is no dev text",
    ),
    "ratio and dev": ({"method": Parity(ratios={"tel": 2.0})}, "both dev text and a ratio"),
    "vocabulary too small": (
        {"num_merges": None, "vocab_size": 257, "special_tokens": ["<s>"]},
        "more than 257",
    ),
    "negative vocabulary": ({"num_merges": None, "vocab_size": -5}, "vocab_size is -5.* give more than 256"),
    "no size": ({"num_merges": None}, "give vocab_size .* or num_merges"),
    "two sizes": ({"vocab_size": 300}, "give vocab_size .* or num_merges"),
    "no merges": ({"num_merges": 0}, "num_merges is 0: give at least 1"),
    "negative frequency": ({"min_frequency": -1}, "min_frequency is -1: give at least 0"),
    "token length": ({"max_token_length": 1}, "max_token_length is 1: give at least 2"),
    "empty special token": ({"special_tokens": [""]}, "a special token is empty"),
    "special token twice": ({"special_tokens": ["<s>", "<s>"]}, "'<s>' is given twice"),
    "skip nobody": ({"skip": ["nope"]}, "nope.*no such language"),
    "skip all": ({"skip": list(WORDS)}, "every language of train is skipped"),
    "threads": ({"threads": 0}, "threads is 0: give at least 1"),
    "far too many threads": ({"threads": 100_000}, "at most 1024"),
    "broken regex": ({"pretokenizer": r"\p{L}+("}, "pattern is not a valid regular expression"),
    "regex that drops text": ({"pretokenizer": r"[a-z]+"}, 'drops text: it does not match "D"'),
    "regex that matches nothing": ({"pretokenizer": r"(?!)x"}, "drops text: it does not match"),
    "unknown name": ({"pretokenizer": "gpt5"}, "unknown pre-tokenizer 'gpt5'. Choose one of gpt4o"),
    "size that is no whole number": ({"num_merges": 10.0}, "num_merges is 10.0: it must be a whole number"),
    "size beyond all text": ({"num_merges": 10**30}, "num_merges is 10+: it must be below"),
    "resume from nowhere": ({"resume": True}, "resume needs the file to resume from: give checkpoint=PATH"),
    "negative reserve": ({"reserved": -1}, "reserved is -1: give at least 0"),
    "method by name": ({"method": "parity"}, r"give Parity\(\.\.\.\)"),
    "counts beyond 64 bits": (
        {"corpus": {k: {"ab": 2**62, "cd": 2**62} for k in WORDS}},
        "no text is that long",
    ),
    "skip nobody of counts": ({"corpus": count(WORDS), "skip": ["nope"]}, "nope.*no such language"),
    "dev before train": (
        {"corpus": WORDS | {"tel": ["\ud800"]}, "dev": DEV | {"tel": [" తె"]}},
        "not parallel",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_any_work(case, monkeypatch):
    settings, message = BAD[case]

    def never(*_, **__):
        pytest.fail("the engine was started")

    monkeypatch.setattr("pairity._core.train", never)
    with pytest.raises(PairityError, match=f"(?s){message}"):
        learn(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"dev": DEV | {"tel": [" a", " a"]}},
            "training text of 'deu' has a pre-token of 11 bytes, but the limit is 10: .*--pretokenizer gpt4o",
        ),
        ({"dev": DEV | {"tel": [" a", " తెలుగు"]}}, "dev text of 'tel' has a pre-token of 19 bytes"),
    ],
)
def test_a_pre_token_too_long_for_the_engine_is_refused_before_any_work(settings, message, monkeypatch):
    monkeypatch.setattr("pairity.training.checks.LONGEST", 10)
    monkeypatch.setattr("pairity._core.train", lambda *_, **__: pytest.fail("the engine was started"))
    corpus = WORDS | {"tel": {" a": 3}, "deu": {" abcdefghij": 2, " b": 5}}
    with pytest.raises(PairityError, match=message):
        learn(**{"corpus": corpus} | settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ratios": {"a": 0.0}}, "ratio of 'a' is 0"),
        ({"ratios": {"a": -1.0}}, r"ratio of 'a' is -1\.0: it must be a positive"),
        ({"ratios": {"a": float("nan")}}, "ratio of 'a' is nan: it must be a positive"),
        ({"ratios": {"a": float("inf")}}, "ratio of 'a' is inf: it must be a positive"),
        ({"ratios": {"a": None}}, "ratio of 'a' is None: it must be a positive"),
        ({"ratios": {"a": 10**400}}, "ratio of 'a' is 10+: it must be a positive"),
        (
            {"ratios": {"a": 1e308}},
            r"ratio of 'a' is 1e\+308 bytes per line: no text has such lines.*--ratio a=130",
        ),
        ({"ratios": {"a": 2 * 10**12}}, r"ratio of 'a' is 2e\+12 bytes per line: no text has such lines"),
        ({"ratios": {"a": 1e-300}}, "ratio of 'a' is 1e-300 bytes per line: no text has such lines"),
        ({"window": 0}, "window is 0"),
        ({"joint": 0.0}, r"joint is 0\.0: give a share above 0\.0"),
        ({"joint": 1.5}, r"joint is 1\.5: give a share"),
        ({"joint": float("nan")}, "joint is nan: give a share"),
        ({"window": 2.5}, r"window is 2\.5: it must be a whole number"),
        ({"alpha": "2"}, "alpha is 2: it must be a positive number"),
        ({"global_merges": "half"}, "global_merges is 'half': it must be a whole number"),
        ({"alpha": 0.0}, "alpha is 0"),
        ({"alpha": float("inf")}, "alpha is inf"),
        ({"alpha": 3.0}, r"alpha is 3\.0, but without a window it has no effect: also give window=100"),
        (
            {"on": "train", "unit": "byte"},
            "on='train' compares training bytes, so unit='byte' .* does nothing",
        ),
        ({"ratios": {"a": 1.0}, "unit": "word"}, "ratios are bytes per line, so unit='word' .* does nothing"),
        ({"global_merges": -1}, "global_merges is -1: give a number of merges"),
        ({"global_merges": 1.5}, r"global_merges is 1\.5: give a number of merges"),
        ({"unit": "page"}, "unit is 'page': choose one of line, byte, char, word"),
        ({"on": "test"}, "on is 'test': choose 'dev' or 'train'"),
        ({"on": "train", "ratios": {"a": 1.0}}, "leave out either on='train' or ratios"),
    ],
)
def test_policies_are_checked_when_made(settings, message):
    with pytest.raises(PairityError, match=message):
        Parity(**settings)


UNLIKE = r"\p{N}{1,3}+|\P{N}+"
"""Oniguruma takes `{1,3}+` for a repeat of a repeat."""


@pytest.mark.parametrize("resume", [False, True])
def test_a_pattern_that_could_not_be_saved_is_refused_before_any_work(tmp_path, resume):
    def untouched():
        pytest.fail("the text was read")
        yield

    with pytest.raises(PairityError, match=r"Oniguruma.*\{1,3\}\+"):
        train(
            {"eng": untouched()},
            dev={"eng": untouched()},
            num_merges=5,
            pretokenizer=UNLIKE,
            checkpoint=tmp_path / "run" / "checkpoint.parquet",
            resume=resume,
            progress=lambda *_: pytest.fail("work has begun"),
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bos_token": " "}, "is white space"),
        ({"special_tokens": ["\t"]}, "is white space"),
        ({"pretokenizer": ""}, "pattern is empty"),
    ],
)
def test_what_would_spoil_a_tokenizer_is_refused(settings, message):
    with pytest.raises(PairityError, match=message):
        train({"a": ["a text"] * 9}, dev={"a": ["a text"]}, num_merges=3, progress=False, **settings)
