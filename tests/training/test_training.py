"""train(): what goes in is checked before any work, and what comes out explains itself."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import pairity
from pairity import Classical, PairityError, PairityWarning, Parity, Trace, train
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.training.checks import check_not_learned
from small_corpus import DEV, WORDS, learn


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


def test_a_language_that_is_named_can_be_skipped(lines):
    dev, _ = lines
    corpus = {language: dev[language] for language in ("eng_Latn", "deu_Latn")}
    alone = train({"eng_Latn": dev["eng_Latn"]}, num_merges=50, method=Classical(), progress=False)
    for given in (corpus, count(corpus)):
        skipped = train(given, num_merges=50, method=Classical(), skip=["deu_Latn"], progress=False)
        assert skipped == alone
        assert list(skipped.record["languages"]) == ["eng_Latn"]


@pytest.mark.parametrize(
    "given",
    [{"skip": ["deu_Latn"]}, {"choose": ["eng_Latn"]}, {"skip": "deu_Latn"}, {"choose": "eng_Latn"}],
)
def test_dev_text_of_a_language_that_is_not_wanted_is_left_out(lines, given):
    dev, _ = lines
    corpus = {language: dev[language] for language in ("eng_Latn", "deu_Latn")}
    tokenizer = train(corpus, dev=corpus, num_merges=50, progress=False, **given)
    assert tokenizer == train({"eng_Latn": dev["eng_Latn"]}, dev={"eng_Latn": dev["eng_Latn"]}, num_merges=50)
    assert any("was not used: deu_Latn" in note for note in tokenizer.record["notes"])
    with pytest.raises(PairityError, match=r"dev names 'xxx' .* which train lacks"):
        train(corpus, dev={**corpus, "xxx": ["a"]}, num_merges=50, progress=False, **given)


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
        PairityError, match=r"'<\|name_7\|>' occurs in the training text of 'eng' \(3 times\), 'deu'"
    ):
        check_not_learned(names, train_counts, 5)
    check_not_learned(names, train_counts, 6)
    with pytest.raises(
        PairityError, match=r"'<\|name_299\|>' occurs in the training text of 'eng' \(1 times\)"
    ):
        check_not_learned(names[8:], train_counts, 1)
