"""Languages without parallel text, such as code and math: ratios, and what is said of those that have one."""

import warnings

import numpy as np
import pytest

from pairity import Classical, PairityError, PairityWarning, Parity, Trace, sample, train
from pairity.counts.counting import count
from pairity.judging.metrics import gini
from pairity.reporting.figures import race_figures
from pairity.reporting.race import race
from pairity.training.checks import unlikely_ratios
from pairity.training.measure import set_apart
from pairity.training.run import run_of

NAMES = ("deu_Latn", "eng_Latn", "tam_Taml")
DEV = {name: sample.read("dev")[name] for name in NAMES}
CODE = [f"def function_{i}(argument):\n    return argument + {i}" for i in range(50)]
MATH = [rf"\frac{{{i}}}{{{i + 1}}} \leq \sqrt{{{i}}}" for i in range(50)]
CORPUS = DEV | {"code": CODE, "math": MATH}


def bytes_per_line(lines):
    return sum(len(line.encode()) for line in lines) / len(lines)


def learn(ratios, corpus=CORPUS, dev=DEV, merges=300, **settings):
    """The tokenizer, and the warnings that were given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        method = Parity(ratios=ratios, **settings)
        tokenizer = train(corpus, dev=dev, num_merges=merges, method=method, progress=False)
    assert all(issubclass(one.category, PairityWarning) for one in caught)
    said = [str(one.message) for one in caught]
    assert said == tokenizer.record["warnings"], "what is said is what is kept"
    return tokenizer, said


def test_auto_is_the_length_of_an_english_dev_line():
    size = bytes_per_line(DEV["eng_Latn"])
    auto, _ = learn({"code": "auto", "math": "auto"})
    stated, _ = learn({"code": size, "math": "eng_Latn"})
    assert auto == stated
    languages = auto.record["languages"]
    for name in ("code", "math"):
        assert languages[name]["line_equivalent"] == {"bytes": size, "copied_from": "eng_Latn"}
    assert stated.record["languages"]["code"]["line_equivalent"] == {"bytes": size, "copied_from": None}
    assert "line_equivalent" not in languages["eng_Latn"]
    assert auto.record["method"]["ratios"] == {"code": "auto", "math": "auto"}


def test_auto_without_english_is_the_first_that_has_dev_text():
    corpus = {name: text for name, text in CORPUS.items() if name not in ("eng_Latn", "math")}
    dev = {name: text for name, text in DEV.items() if name != "eng_Latn"}
    auto, _ = learn({"code": "auto"}, corpus, dev)
    expected = {"bytes": bytes_per_line(DEV["deu_Latn"]), "copied_from": "deu_Latn"}
    assert auto.record["languages"]["code"]["line_equivalent"] == expected


def test_auto_needs_to_know_how_many_lines_there_were():
    dev = count({name: {"a": 3} for name in NAMES}, split="dev")
    with pytest.raises(
        PairityError, match="of 'deu_Latn' is copied from 'eng_Latn', but the dev counts of 'eng_L"
    ):
        learn(dict.fromkeys(NAMES, "auto"), DEV, dev)


def test_a_dev_folder_may_have_the_language_under_another_code(tmp_path):
    for name, text in DEV.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    (tmp_path / "eng_Latn.txt").rename(tmp_path / "tgl_Latn.txt")
    corpus = {"deu_Latn": DEV["deu_Latn"], "fil_Latn": DEV["eng_Latn"]}
    message = r"no dev text for 'fil_Latn' \(but tgl_Latn is the same language as fil_Latn\): train has 2"
    with pytest.raises(PairityError, match=message):
        train(corpus, dev=tmp_path, num_merges=5, progress=False)
    count(tmp_path, split="dev").save(tmp_path / "dev.parquet")
    with pytest.raises(PairityError, match=message):
        train(corpus, dev=tmp_path / "dev.parquet", num_merges=5, progress=False)


def test_what_is_never_served_is_a_warning_with_a_ratio_that_would_help():
    tokenizer, said = learn({"code": 10.0, "math": "auto"})
    assert tokenizer.record["languages"]["code"]["served"] == 0
    size = bytes_per_line(DEV["eng_Latn"])
    before, after = said
    assert before.startswith("the ratio of 'code' is 10 bytes per line, but dev lines have ")
    assert "looks cheap and will hardly be served" in before
    assert after.startswith("code was never served: its line-equivalent of 10 bytes takes ")
    for warning in said:
        assert (
            f"--ratio code=auto makes it {size:,.1f} bytes, the length of a dev line of eng_Latn." in warning
        )


def test_a_ratio_is_doubted_before_the_work(monkeypatch):
    def never(*_, **__):
        raise InterruptedError

    monkeypatch.setattr("pairity._core.train", never)
    method = Parity(ratios={"code": 1e-5, "math": "auto"})
    with (
        pytest.warns(PairityWarning, match="the ratio of 'code' is 1e-05 bytes per line"),
        pytest.raises(InterruptedError),
    ):
        train(CORPUS, dev=DEV, num_merges=5, method=method, progress=False)


def test_which_ratios_are_doubted():
    dev = count(DEV, split="dev")
    shortest, longest = (pick(map(bytes_per_line, DEV.values())) for pick in (min, max))
    for fine in (shortest / 2, shortest, longest, longest * 2):
        assert unlikely_ratios({"code": fine}, dev) == []
    assert "cheap" in unlikely_ratios({"code": shortest / 2.01}, dev)[0]
    assert "take most of the merges" in unlikely_ratios({"code": longest * 2.01}, dev)[0]
    assert unlikely_ratios({"code": 1e-9}, {}) == []


def test_a_language_with_dev_text_that_is_never_served_is_a_warning():
    """Its lines are so short that others cost more all the time."""
    corpus = {name: DEV[name] for name in ("eng_Latn", "tam_Taml")}
    dev = corpus | {"eng_Latn": [line[:3] for line in corpus["eng_Latn"]]}
    _, said = learn(None, corpus, dev, merges=250)
    assert [warning[:34] for warning in said] == ["eng_Latn was never served: others "]
    assert learn(None, corpus, dev, merges=150)[1] == [], "it may have its turn later"


def test_who_has_no_pairs_is_never_served():
    tokenizer, _ = learn(None, DEV)
    dearest = max(Trace.from_table(tokenizer.trace).final_costs().values())
    _, said = learn({"code": dearest + 1}, DEV | {"code": ["a", "b"]})  # a token per byte, and no pair
    assert any(warning.startswith("code was never served: no pair of the train text") for warning in said)


def test_classical_serves_nobody_and_says_nothing():
    train(CORPUS, dev=DEV, num_merges=600, method=Classical(), progress=False)


def test_costs_in_a_unit_of_their_own_are_in_no_gini():
    tokenizer, _ = learn({"code": "auto", "math": 60.0})
    names = [name for name in tokenizer.trace.column_names if "cost" in name]
    assert names == [*(f"cost:{name}" for name in NAMES), "own_cost:code", "own_cost:math"]
    trace = Trace.from_table(tokenizer.trace)
    assert trace.languages == tuple(CORPUS)
    assert trace.set_apart == {"code", "math"}
    costs = trace.final_costs()
    tokens = tokenizer.count(CODE).sum() / sum(len(text.encode()) for text in CODE)
    assert costs["code"] == pytest.approx(tokens * bytes_per_line(DEV["eng_Latn"]))
    assert trace.table().equals(tokenizer.trace)
    one = race(trace)
    of_languages = [costs[name] for name in NAMES]
    assert one.gini[-1] == pytest.approx(float(gini(of_languages)))
    assert one.worst_cost[-1] == max(of_languages)
    assert set(one.worst) <= set(NAMES)
    assert one.costs[-1][one.languages.index("code")] == costs["code"], "its line is drawn all the same"
    assert set(run_of(tokenizer.record).set_apart) == {"code", "math"}
    lines, fairness, _ = race_figures("ours", one)
    assert lines.caption.endswith(
        " code, math: tokens per line-equivalent of the training text, for want of dev text."
    )
    assert "of the languages with dev text" in fairness.caption


def test_where_all_have_ratios_all_are_compared():
    ratios = {name: bytes_per_line(text) for name, text in DEV.items()}
    tokenizer, _ = learn(ratios, DEV)
    trace = Trace.from_table(tokenizer.trace)
    assert trace.set_apart == set()
    assert trace.compared().all()
    assert run_of(tokenizer.record).set_apart == []
    assert run_of(tokenizer.record).on == "train"
    assert race(trace).gini[-1] == pytest.approx(float(gini(list(trace.final_costs().values()))))


def test_who_is_set_apart():
    assert set_apart(["code"], ["eng", "code"]) == ["code"]
    assert set_apart(["code", "eng"], ["eng", "code"]) == []
    assert set_apart([], ["eng"]) == []


def test_a_trace_of_before_has_nobody_set_apart():
    tokenizer, _ = learn(None, DEV, merges=20)
    trace = Trace.from_table(tokenizer.trace)
    assert trace.set_apart == frozenset()
    assert np.array_equal(trace.compared(), [True] * 3)
