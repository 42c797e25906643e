"""train(): what goes in is checked before any work, and what comes out explains itself."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import pairity
from pairity import Classical, PairityError, PairityWarning, Parity, Trace, sample, train
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.training.checks import check_not_learned

WORDS = {
    "eng": {" the": 9, " then": 4, " them": 3, " he": 5, " hen": 2},
    "deu": {" der": 9, " die": 8, " dies": 3, " er": 4, " sie": 3},
    "tel": {" తెలుగు": 3, " తెలు": 2},
}
DEV = {"eng": [" the hen", " them"], "deu": [" die er", " der"], "tel": [" తెలుగు", " తెలు"]}


def learn(corpus=WORDS, dev=DEV, **settings):
    settings.setdefault("num_merges", 12)
    return train(corpus, dev=dev, progress=False, **settings)


@pytest.fixture(scope="module")
def lines():
    return sample.read("dev"), sample.read("test")


def test_exact_vocabulary_with_special_tokens():
    tokenizer = learn(num_merges=None, vocab_size=270, special_tokens=["<s>", "</s>"])
    assert tokenizer.vocab_size == 270
    assert tokenizer.special_tokens == {"<s>": 0, "</s>": 1}
    assert tokenizer.record["merges"] == 12


def test_trace_tells_who_was_served_and_what_all_cost():
    tokenizer = learn()
    trace = Trace.from_table(tokenizer.trace)
    assert len(trace) == 12
    assert sum(trace.services().values()) == 12
    assert trace.left[0] + trace.right[0] in tokenizer.vocabulary
    assert trace.sampled[0] == 0
    assert trace.costs[0].tolist() == [len(" ".join(lines).encode()) / 2 - 0.5 for lines in DEV.values()]
    for language, cost in trace.final_costs().items():
        assert cost == tokenizer.count(DEV[language]).sum() / 2, "the trace's cost is what encoding gives"
    assert (np.diff(trace.costs, axis=0) <= 0).all()


@pytest.mark.parametrize(
    "method",
    [
        Classical(),
        Parity(),
        Parity(global_merges=0.5),
        Parity(window=5, alpha=1.0),
        Parity(global_merges=3, window=2),
    ],
    ids=str,
)
def test_final_costs_are_those_of_the_tokenizer(lines, method):
    dev, _ = lines
    tokenizer = train(dev, dev=dev, num_merges=1500, method=method, progress=False)
    costs = Trace.from_table(tokenizer.trace).final_costs()
    assert costs == {language: tokenizer.count(text).sum() / len(text) for language, text in dev.items()}


def test_parity_is_fairer_than_classical(lines):
    dev, test = lines
    from pairity.judging.metrics import gini

    ginis = {}
    for name, method in {"classical": Classical(), "parity": Parity()}.items():
        tokenizer = train(dev, dev=dev, num_merges=3000, method=method, progress=False)
        ginis[name] = float(gini([tokenizer.count(text).sum() for text in test.values()]))
    assert ginis["parity"] < ginis["classical"] / 2


def test_threads_and_order_of_files_change_nothing(tmp_path, lines):
    dev, _ = lines
    folder = tmp_path / "train"
    for language, text in dev.items():
        (folder / language).mkdir(parents=True)
        for part, cut in {"a": text[:30], "b": text[30:]}.items():
            (folder / language / f"{part}.txt").write_text("\n".join(cut) + "\n", encoding="utf-8")
    swapped = tmp_path / "swapped"
    for language, text in dev.items():
        (swapped / language).mkdir(parents=True)
        for part, cut in {"a": text[30:], "b": text[:30]}.items():
            (swapped / language / f"{part}.txt").write_text("\n".join(cut) + "\n", encoding="utf-8")
    runs = [
        train(source, dev=dev, num_merges=800, threads=threads, progress=False)
        for source, threads in [(folder, 1), (folder, 2), (swapped, 2)]
    ]
    assert runs[0] == runs[1] == runs[2]
    assert runs[0].trace.equals(runs[1].trace)
    assert runs[0].trace.equals(runs[2].trace)


def test_window_goes_on_when_languages_run_out():
    """Where Hugging Face's trainer hangs: one language has two words, the window wants it passed over."""
    with pytest.warns(PairityWarning, match="training stopped early: no pairs are left"):
        tokenizer = learn(num_merges=500, method=Parity(window=2, alpha=0.5), min_frequency=0)
    assert set(tokenizer.record["exhausted"]) == set(WORDS)


def test_stopping_early_is_said_and_keeps_what_was_learned():
    with pytest.warns(PairityWarning, match=r"at least 2 times, so vocab_size is 2\d\d instead of 5,000"):
        tokenizer = learn(num_merges=None, vocab_size=5000)
    assert tokenizer.vocab_size == 256 + tokenizer.record["merges"]


def test_stuck_language_is_reported(lines):
    """Its dev text has nothing of its train text, so serving it never helps."""
    dev, _ = lines
    corpus = {"eng_Latn": dev["eng_Latn"], "odd": dev["rus_Cyrl"] + dev["ell_Grek"]}
    with (
        pytest.warns(PairityWarning, match="odd is stuck"),
        pytest.warns(PairityWarning, match="eng_Latn was never served: others cost more at every merge"),
    ):
        tokenizer = train(
            corpus,
            dev={"eng_Latn": dev["eng_Latn"], "odd": ["0123456789" * 30] * 60},
            num_merges=800,
            progress=False,
        )
    assert tokenizer.record["stuck"]["odd"] > 500


def test_starved_language_is_reported(lines):
    dev, _ = lines
    corpus = {language: dev[language] for language in ("eng_Latn", "deu_Latn", "fra_Latn", "ita_Latn")}
    judge = dict(corpus) | {"ita_Latn": dev["tam_Taml"]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tokenizer = train(
            corpus | {"ita_Latn": ["xy xy"]}, dev=judge, num_merges=600, min_frequency=2, progress=False
        )
    assert "ita_Latn" in tokenizer.record["starved"]
    assert any("ita_Latn is starved" in str(warning.message) for warning in caught)


def test_mixed_dev_and_ratios(lines):
    dev, _ = lines
    code = [f"def function_{i}(argument):\n    return argument + {i}" for i in range(50)]
    corpus = {"eng_Latn": dev["eng_Latn"], "deu_Latn": dev["deu_Latn"], "code": code}
    judge = {language: dev[language] for language in ("eng_Latn", "deu_Latn")}
    stated = train(corpus, dev=judge, num_merges=500, method=Parity(ratios={"code": 80.0}), progress=False)
    like = train(
        corpus, dev=judge, num_merges=500, method=Parity(ratios={"code": "eng_Latn"}), progress=False
    )
    size = sum(len(line.encode()) for line in dev["eng_Latn"]) / len(dev["eng_Latn"])
    same = train(corpus, dev=judge, num_merges=500, method=Parity(ratios={"code": size}), progress=False)
    assert like == same != stated
    costs = Trace.from_table(stated.trace).final_costs()
    tokens = stated.count(code).sum() / sum(len(text.encode()) for text in code) * 80.0
    assert costs["code"] == pytest.approx(tokens)


@pytest.mark.parametrize("unit", ["line", "byte", "char", "word"])
def test_units(lines, unit):
    dev, _ = lines
    tokenizer = train(dev, dev=dev, num_merges=300, method=Parity(unit=unit), progress=False)
    costs = Trace.from_table(tokenizer.trace).final_costs()
    text = dev["ell_Grek"]
    size = {"line": len(text), "byte": sum(len(line.encode()) for line in text), "char": sum(map(len, text))}
    if unit in size:
        assert costs["ell_Grek"] == pytest.approx(tokenizer.count(text).sum() / size[unit])
    else:
        assert 1 < costs["ell_Grek"] < 20


def test_resume_gives_what_one_run_gives(tmp_path, lines):
    """A run killed at any time goes on from its checkpoint to the very same result."""
    from pairity import _core
    from pairity.training.checkpoint import Checkpoint

    dev, _ = lines
    settings = {
        "dev": dev,
        "num_merges": 900,
        "method": Parity(global_merges=200, window=20),
        "progress": False,
    }
    whole = train(dev, **settings)
    path = tmp_path / "run.checkpoint.parquet"
    original = _core.train

    def killed(*arguments, **options):
        cut = original(*arguments, **options | {"merges": 400, "checkpoint": None})
        options["checkpoint"](cut[0], cut[3])
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            train(dev, **settings, checkpoint=path)
    assert path.exists()
    with pytest.raises(PairityError, match="belongs to a run with other settings or other text"):
        train(dev, **settings | {"num_merges": 800}, checkpoint=path, resume=True)
    resumed = train(dev, **settings, checkpoint=path, resume=True)
    assert resumed == whole
    assert resumed.trace["left"].equals(whole.trace["left"])
    assert resumed.trace["language"].equals(whole.trace["language"])
    again = train(dev, **settings, checkpoint=path, resume=True)
    assert again == whole, "a finished run is kept until its tokenizer is saved"
    assert Checkpoint(tmp_path / "none", "x").load() is None


def test_two_goes_equal_one(lines):
    """Under the classical policy, going on from a tokenizer gives what a longer run gives."""
    dev, _ = lines
    counts = count(dev)
    settings = {"method": Classical(), "progress": False}
    whole = train(counts, vocab_size=1500, special_tokens=["<s>"], **settings)
    first = train(counts, vocab_size=800, special_tokens=["<s>"], **settings)
    assert first == whole.truncate(800)
    second = train(counts, vocab_size=1500, continue_from=first, **settings)
    assert second == whole
    said = second.record["continued_from"]
    assert (said["vocab_size"], said["merges"], len(said["digest"])) == (800, 543, 64)
    assert second.trace["left"].equals(whole.trace["left"])


def test_continuing_serves_whom_the_first_run_neglected(lines):
    dev, test = lines
    first = train(dev, num_merges=1000, method=Classical(), progress=False)
    further = train(dev, dev=dev, num_merges=1000, continue_from=first, progress=False)
    assert [further.token_of(i) for i in range(first.vocab_size)] == list(first.tokens)
    text = test["tam_Taml"]
    assert further.count(text).sum() < 0.8 * first.count(text).sum()
    assert further.record["merges"] == 2000
    costs = Trace.from_table(further.trace).final_costs()
    assert costs["tam_Taml"] == further.count(dev["tam_Taml"]).sum() / 60


def test_continuing_keeps_the_cut_and_the_special_tokens(lines):
    dev, _ = lines
    first = train(dev, num_merges=50, method=Classical(), pretokenizer="gpt2", progress=False)
    assert (
        train(dev, num_merges=5, method=Classical(), continue_from=first, progress=False).pretokenizer
        == "gpt2"
    )
    for settings, message in [
        ({"pretokenizer": "gpt4"}, r"Leave pretokenizer \(--pretokenizer\)"),
        ({"pretokenizer": "gpt4o"}, "cuts text with 'gpt2', but 'gpt4o' was requested"),
        ({"digits": True}, r"cuts text with 'gpt2', but 'gpt2:digits' was requested.*--single-digits"),
        ({"normalize": "nfc"}, r"Leave normalize \(--normalize\) out"),
        ({"special_tokens": ["<s>"]}, r"keeps its special tokens.*--special-token"),
        ({"reserved": 2}, r"keeps its special tokens.*--reserved"),
    ]:
        with pytest.raises(PairityError, match=message):
            train(dev, num_merges=5, method=Classical(), continue_from=first, progress=False, **settings)


def test_continuing_may_name_the_cut_that_is_kept(lines):
    dev, _ = lines
    settings = {"method": Classical(), "progress": False, "normalize": "nfc", "digits": True}
    first = train(dev, num_merges=50, pretokenizer="gpt4", **settings)
    for named in (None, "gpt4"):
        further = train(dev, num_merges=5, continue_from=first, pretokenizer=named, **settings)
        assert (further.pretokenizer, further.normalize) == ("gpt4:digits", "nfc")
    with pytest.raises(PairityError, match="cuts text with 'gpt4:digits', but 'gpt4' was requested"):
        train(dev, num_merges=5, continue_from=first, pretokenizer="gpt4", method=Classical())


def test_reserved_and_padded(lines):
    dev, _ = lines
    tokenizer = train(
        dev,
        vocab_size=1000,
        special_tokens=["<s>"],
        reserved=2,
        pad_to=128,
        method=Classical(),
        progress=False,
    )
    assert tokenizer.vocab_size == 1024
    assert list(tokenizer.special_tokens)[:4] == ["<s>", "<|reserved_0|>", "<|reserved_1|>", "<|reserved_2|>"]
    assert len(tokenizer.special_tokens) == 1 + 2 + 24


def test_resume_remembers_who_ran_out(tmp_path):
    """tel has three pairs; it runs out long before the run is cut."""
    from pairity import _core

    settings = {"num_merges": 14, "min_frequency": 1, "dev": DEV}
    with pytest.warns(PairityWarning, match="ran out"):
        whole = learn(WORDS | {"tel": {" త": 3}}, **settings)
    original = _core.train

    def killed(*arguments, **options):
        cut = original(*arguments, **options | {"merges": 12, "checkpoint": None})
        options["checkpoint"](cut[0], cut[3])
        raise KeyboardInterrupt

    path = tmp_path / "c.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            learn(WORDS | {"tel": {" త": 3}}, **settings, checkpoint=path)
    with pytest.warns(PairityWarning, match="ran out"):
        resumed = learn(WORDS | {"tel": {" త": 3}}, **settings, checkpoint=path, resume=True)
    assert whole.record["exhausted"]["tel"] < 12
    assert resumed.record["exhausted"] == whole.record["exhausted"]


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
        "nothing to measure 'eng', 'deu', 'tel' by.*--ratio eng=",
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
        r"'he' occurs in the train text of 'eng' \(23 times\), where it could be learned as an ordinary token.*"
        r"Take it out of the text.*choose another name, such as one in <\|\.\.\.\|>\.$",
    ),
    "separator in the text": (
        {
            "corpus": {name: words | {"<|end|>": 2} for name, words in WORDS.items()},
            "special_tokens": ["<|end|>"],
        },
        r"'<\|end\|>' occurs in the train text of 'eng' \(2 times\), 'deu' \(2 times\), 'tel' \(2 times\).*"
        r"choose another name\.$",
    ),
    "skip several": ({"skip": ["no", "eng", "nope"]}, "'no', 'nope' are to be skipped"),
    "ratio like nobody": (
        {"method": Parity(ratios={"tel": "nope"})},
        "the ratio of 'tel' is copied from 'nope', but there is no dev text",
    ),
    "ratio and dev": ({"method": Parity(ratios={"tel": 2.0})}, "both dev text and a ratio"),
    "vocabulary too small": (
        {"num_merges": None, "vocab_size": 257, "special_tokens": ["<s>"]},
        "more than 257",
    ),
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
        ({"ratios": {"a": 0.0}}, "ratio of 'a' is 0"),
        ({"ratios": {"a": -1.0}}, r"ratio of 'a' is -1\.0: it must be a positive"),
        ({"ratios": {"a": float("nan")}}, "ratio of 'a' is nan: it must be a positive"),
        ({"ratios": {"a": float("inf")}}, "ratio of 'a' is inf: it must be a positive"),
        ({"ratios": {"a": None}}, "ratio of 'a' is None: it must be a positive"),
        ({"ratios": {"a": 10**400}}, "ratio of 'a' is 10+: it must be a positive"),
        ({"window": 0}, "window is 0"),
        ({"window": 2.5}, r"window is 2\.5: it must be a whole number"),
        ({"alpha": "2"}, "alpha is 2: it must be a positive number"),
        ({"global_merges": "half"}, "global_merges is 'half': it must be a whole number"),
        ({"alpha": 0.0}, "alpha is 0"),
        ({"alpha": float("inf")}, "alpha is inf"),
        ({"alpha": 3.0}, r"alpha is 3\.0, but it limits nobody without a window: give window=100"),
        ({"on": "train", "unit": "byte"}, "on='train' compares train bytes, so unit='byte' .* does nothing"),
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


def test_dev_folder_may_hold_more_languages(tmp_path):
    for language, text in (DEV | {"fra": ["a", "b"]}).items():
        (tmp_path / f"{language}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    tokenizer = learn(dev=tmp_path)
    assert any("fra" in note for note in tokenizer.record["notes"])
    assert "fra" not in tokenizer.record["languages"]


def test_counts_and_text_give_the_same(lines, tmp_path):
    dev, _ = lines
    counts = count(dev)
    counts.save(tmp_path / "counts.parquet")
    loaded = Counts.load(tmp_path / "counts.parquet")
    runs = [train(source, dev=dev, num_merges=300, progress=False) for source in (dev, counts, loaded)]
    runs.append(train(str(tmp_path / "counts.parquet"), dev=dev, num_merges=300, progress=False))
    assert all(run == runs[0] for run in runs)
    assert len({run.record["languages"]["tam_Taml"]["train"]["digest"] for run in runs}) == 1


@pytest.mark.parametrize(
    "settings",
    [{"method": Classical()}, {"method": Parity(global_merges=100)}, {"num_merges": None, "vocab_size": 600}],
    ids=str,
)
def test_progress_ascends_to_the_total(lines, tmp_path, settings):
    dev, _ = lines
    for language, text in dev.items():
        (tmp_path / f"{language}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    heard = {}
    train(
        tmp_path,
        dev=tmp_path,
        **{"num_merges": 300} | settings,
        progress=lambda stage, done, total, _: heard.setdefault(stage, []).append((done, total)),
    )
    assert list(heard) == ["reading dev", "reading train", "learning merges"]
    for news in heard.values():
        assert news == sorted(news)
        assert news[-1][0] == news[-1][1] > 0


def test_stopping_early_ends_short_of_the_total():
    heard = []
    with pytest.warns(PairityWarning, match="stopped early"):
        tokenizer = train(WORDS, dev=DEV, num_merges=500, progress=lambda *news: heard.append(news))
    assert heard[-1] == ("learning merges", tokenizer.record["merges"], 500, "")


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


def test_a_language_that_is_named_can_be_skipped(lines):
    dev, _ = lines
    corpus = {language: dev[language] for language in ("eng_Latn", "deu_Latn")}
    alone = train({"eng_Latn": dev["eng_Latn"]}, num_merges=50, method=Classical(), progress=False)
    for given in (corpus, count(corpus)):
        skipped = train(given, num_merges=50, method=Classical(), skip=["deu_Latn"], progress=False)
        assert skipped == alone
        assert list(skipped.record["languages"]) == ["eng_Latn"]


def test_dev_counts_and_dev_text_give_the_same(lines, tmp_path):
    dev, test = lines
    count(test, split="dev").save(tmp_path / "dev.parquet")
    text = train(dev, dev=test, num_merges=200, progress=False)
    assert train(dev, dev=tmp_path / "dev.parquet", num_merges=200, progress=False) == text
    with pytest.raises(PairityError, match="no dev text for 'new': train has 26 languages, dev has 25"):
        train(dev | {"new": ["a"]}, dev=tmp_path / "dev.parquet", num_merges=200, progress=False)


def test_the_package_names_what_it_exports():
    assert all(hasattr(pairity, name) for name in pairity.__all__)
    assert Path(pairity.__file__).with_name("py.typed").exists()


def test_many_special_tokens_are_looked_for_as_one_by_one():
    names = [f"<|name_{i}|>" for i in range(300)] + ["<s>", "q", "né", "日"]
    spelled = {"x<|name_7|>y": 3, "<|name_77|": 9, "<s": 5, "b": 4, "<|name_299|>": 1}
    train_counts = count({"eng": spelled, "deu": {"<|name_7|>": 2, "c": 1}})
    with pytest.raises(
        PairityError, match=r"'<\|name_7\|>' occurs in the train text of 'eng' \(3 times\), 'deu'"
    ):
        check_not_learned(names, train_counts, 5)
    check_not_learned(names, train_counts, 6)
    with pytest.raises(PairityError, match=r"'<\|name_299\|>' occurs in the train text of 'eng' \(1 times\)"):
        check_not_learned(names[8:], train_counts, 1)


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
