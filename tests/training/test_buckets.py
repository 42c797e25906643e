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
from pairity.training.estimating import ENOUGH, LineEstimate, estimate, relatives, script_of
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


def chars_per_line(name):
    return sum(map(len, DEV[name])) / len(DEV[name])


def test_auto_is_estimated_by_the_languages_of_the_same_script():
    size = (chars_per_line("deu_Latn") + chars_per_line("eng_Latn")) / 2
    auto, _ = learn({"code": "auto", "math": "auto"})
    equivalent = auto.record["languages"]["code"]["line_equivalent"]
    assert equivalent["bytes"] == pytest.approx(size), "a byte is a character in code"
    stated, _ = learn(dict.fromkeys(("code", "math"), equivalent["bytes"]))
    assert auto == stated
    languages = auto.record["languages"]
    for name in ("code", "math"):
        source = {"languages": ["deu_Latn", "eng_Latn"], "lines": None}
        assert languages[name]["line_equivalent"] == equivalent | {
            "estimated_from": source,
            "copied_from": None,
        }
    given = {"bytes": equivalent["bytes"], "copied_from": None}
    assert stated.record["languages"]["code"]["line_equivalent"] == given
    assert "line_equivalent" not in languages["eng_Latn"]
    assert auto.record["method"]["ratios"] == {"code": "auto", "math": "auto"}


def test_a_ratio_may_be_copied_from_a_language():
    tokenizer, _ = learn({"code": "tam_Taml", "math": 50.0})
    expected = {"bytes": bytes_per_line(DEV["tam_Taml"]), "copied_from": "tam_Taml"}
    assert tokenizer.record["languages"]["code"]["line_equivalent"] == expected


GREEK = ["αβγ δε", "ζη θ"]
HINDI = ["कख ग", "घ"]
KANJI = ["日本語"]
KANA = ["あいう", "日あい"]


@pytest.mark.parametrize(
    ("lines", "script", "related"),
    [
        (["x = 1", "12.5"], "Latn", ["deu_Latn", "eng_Latn"]),
        (DEV["tam_Taml"], "Taml", ["tam_Taml"]),
        (HINDI, "Deva", ["tam_Taml"]),  # another script of the same family
        (GREEK, "Grek", []),  # nothing is alike
        (["1 + 2 = 3"], "", []),
        (KANJI, "Hani", []),
        (KANA, "Jpan", []),
        (["abc " * 3 + GREEK[0] * 9], "Grek", []),
    ],
)
def test_who_is_written_alike(lines, script, related):
    text = count({"x": lines})["x"]
    assert script_of(text) == script
    assert list(relatives(text, count(DEV, split="dev"))) == related


def test_one_script_of_many_words_is_that_of_most_text():
    words = {f"w{number}": 1 for number in range(3 * ENOUGH)} | {GREEK[0][:3]: 9 * ENOUGH}
    assert script_of(count({"x": words})["x"]) == "Grek"


def test_the_estimate_is_the_same_by_hand():
    train_text, dev = count({"x": HINDI})["x"], count(DEV, split="dev")
    found = estimate(train_text, dev)
    size = sum(len(line.encode()) for line in HINDI) / sum(map(len, HINDI))
    assert found == LineEstimate(found.bytes, ("tam_Taml",))
    assert found.bytes == pytest.approx(chars_per_line("tam_Taml") * size)
    assert estimate(train_text, {}) is None
    assert estimate(train_text, count({"x": {"a": 3}}, split="dev")) is None


def test_a_few_lines_of_dev_text_make_a_better_estimate():
    few = DEV | {"tam_Taml": DEV["tam_Taml"][:10]}
    tokenizer, said = learn({"tam_Taml": "auto"}, DEV, few)
    found = tokenizer.record["languages"]["tam_Taml"]["line_equivalent"]
    assert found["estimated_from"] == {"languages": ["deu_Latn", "eng_Latn"], "lines": 10}
    sizes = {name: [len(line.encode()) for line in lines] for name, lines in DEV.items()}
    worth = sum(sum(sizes[name][:10]) for name in NAMES[:2]) / sum(sum(sizes[name]) for name in NAMES[:2])
    assert found["bytes"] == pytest.approx(sum(sizes["tam_Taml"][:10]) / (worth * len(sizes["eng_Latn"])))
    assert said == []
    true = bytes_per_line(DEV["tam_Taml"])
    without, _ = learn({"tam_Taml": "auto"}, DEV, {name: DEV[name] for name in NAMES[:2]})
    guess = without.record["languages"]["tam_Taml"]["line_equivalent"]["bytes"]
    assert abs(found["bytes"] - true) < abs(guess - true)
    all_lines, said = learn({"tam_Taml": "auto"}, DEV, DEV)
    assert [one for one in said if "has all dev lines" in one] == [
        "'tam_Taml' has all dev lines, which measure it better than an estimated ratio: remove the ratio."
    ]
    assert all_lines.record["languages"]["tam_Taml"]["line_equivalent"]["bytes"] == pytest.approx(true)


def test_a_few_lines_are_read_once_and_from_files_too(tmp_path):
    few = DEV | {"tam_Taml": DEV["tam_Taml"][:10]}
    for name, lines in few.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ratios = {"tam_Taml": "auto"}
    given, _ = learn(ratios, DEV, few)
    assert learn(ratios, DEV, tmp_path)[0] == given
    once, _ = learn(ratios, DEV, {name: iter(lines) for name, lines in few.items()})
    assert once == given
    assert once.record == given.record


def test_more_lines_than_others_have_are_no_first_lines(monkeypatch):
    monkeypatch.setattr("pairity.training.texts.check_train", None)  # train is not even read
    with pytest.raises(PairityError, match=r"its dev text \(61 lines, 61 bytes\) cannot be compared"):
        learn({"tam_Taml": "auto"}, DEV, DEV | {"tam_Taml": ["a"] * 61})


def test_unequal_dev_texts_are_refused_with_the_way_out():
    with pytest.raises(PairityError, match=r"tam_Taml has 10\..*--ratio LANG=auto estimates the rest"):
        learn(None, DEV, DEV | {"tam_Taml": DEV["tam_Taml"][:10]})


def test_counts_do_not_say_how_long_lines_are():
    with pytest.raises(
        PairityError, match=r"'tam_Taml' is auto and there is dev text .* dev counts do not record"
    ):
        learn({"tam_Taml": "auto"}, DEV, count(DEV, split="dev"))


@pytest.mark.parametrize(
    ("ratio", "message"),
    [("auto", "'code' is estimated, but the dev counts do"), ("eng_Latn", "of 'eng_Latn' do")],
)
def test_a_ratio_needs_to_know_how_many_lines_there_were(ratio, message):
    dev = count({name: {"a": 3} for name in NAMES}, split="dev")
    others = dict.fromkeys(NAMES, 100.0)
    with pytest.raises(PairityError, match=f"{message} not record how many lines"):
        learn(others | {"code": ratio}, DEV | {"code": CODE}, dev)


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
    size = (chars_per_line("deu_Latn") + chars_per_line("eng_Latn")) / 2
    before, after = said
    assert before.startswith("the ratio of 'code' is 10 bytes per line, but dev lines have ")
    assert "looks cheap and will hardly be served" in before
    assert after.startswith("code was never served: its line-equivalent of 10 bytes takes ")
    for warning in said:
        assert f"--ratio code=auto estimates it at {size:,.1f} bytes." in warning


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
    dev, corpus = count(DEV, split="dev"), count(CORPUS)
    shortest, longest = (pick(map(bytes_per_line, DEV.values())) for pick in (min, max))
    for fine in (shortest / 2, shortest, longest, longest * 2):
        assert unlikely_ratios({"code": fine}, corpus, dev) == []
    assert "cheap" in unlikely_ratios({"code": shortest / 2.01}, corpus, dev)[0]
    assert "take most of the merges" in unlikely_ratios({"code": longest * 2.01}, corpus, dev)[0]
    assert unlikely_ratios({"code": 1e-9}, corpus, {}) == []


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
    assert any(warning.startswith("code was never served: no pair in the training text") for warning in said)


def test_classical_serves_nobody_and_says_nothing():
    train(CORPUS, dev=DEV, num_merges=600, method=Classical(), progress=False)


def test_costs_in_a_unit_of_their_own_are_in_no_gini():
    tokenizer, _ = learn({"code": 80.0, "math": 60.0})
    names = [name for name in tokenizer.trace.column_names if "cost" in name]
    assert names == [*(f"cost:{name}" for name in NAMES), "own_cost:code", "own_cost:math"]
    trace = Trace.from_table(tokenizer.trace)
    assert trace.languages == tuple(CORPUS)
    assert trace.set_apart == {"code", "math"}
    costs = trace.final_costs()
    tokens = tokenizer.count(CODE).sum() / sum(len(text.encode()) for text in CODE)
    assert costs["code"] == pytest.approx(tokens * 80.0)
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
        " code, math: tokens per line-equivalent of the training text, because there is no dev text."
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


def test_auto_says_when_no_language_is_written_alike():
    latin = {name: DEV[name] for name in ("deu_Latn", "eng_Latn")}
    _, said = learn({"tam_Taml": "auto"}, DEV, latin, merges=20)
    assert any("no language with dev text has the script of 'tam_Taml'" in one for one in said)
    _, said = learn({"eng_Latn": "auto"}, latin, {"deu_Latn": DEV["deu_Latn"]}, merges=20)
    assert not any("rough guess" in one for one in said)
