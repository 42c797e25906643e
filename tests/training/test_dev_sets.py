"""Several dev sets: what they say together, on the way to one dev text."""

import json
import warnings

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity import (
    Classical,
    DevSets,
    Fair,
    PairityError,
    PairityWarning,
    Parity,
    Tokenizer,
    count,
    reference,
    sample,
    train,
)
from pairity.cli.program import main
from pairity.training.dev_sets import SCALE, together
from pairity.training.measure import Measure, on_dev

NAMES = ("deu_Latn", "eng_Latn", "tam_Taml")
NEWS = {name: sample.read("dev")[name] for name in NAMES}
CHAT = {name: [line[:30] for line in sample.read("test")[name][:20]] for name in NAMES}
CORPUS = {name: [*sample.read("test")[name], *NEWS[name]] for name in NAMES}
SETS = DevSets({"news": NEWS, "chat": CHAT}, weights={"chat": 0.5})


def without_english(texts):
    return {name: texts[name] for name in NAMES if name != "eng_Latn"}


def learn(dev, method=Parity(), merges=150, **settings):  # noqa: B008 (immutable)
    return train(CORPUS, dev=dev, num_merges=merges, method=method, progress=False, **settings)


def pairs(tokenizer):
    return tokenizer.merges.tolist()


def words_of(counts):
    return {
        language: dict(zip(one.pretokens.to_pylist(), one.counts.tolist(), strict=True))
        for language, one in counts.items()
    }


lines = st.lists(st.text("ab é", min_size=1, max_size=8), min_size=2, max_size=4)


@st.composite
def dev_sets(draw):
    """Two or three parallel sets of two languages, with weights."""
    sets = {}
    for name in draw(st.sampled_from([("x", "y"), ("z", "x", "y")])):
        one = draw(lines)
        sets[name] = {
            "p": one,
            "q": draw(st.lists(st.text("abc", min_size=1, max_size=5), min_size=len(one), max_size=len(one))),
        }
    weights = {name: draw(st.sampled_from([1, 0.5, 3.0, 1e-3, 1 / 3])) for name in sets}
    return DevSets(sets, weights)


@pytest.mark.filterwarnings("ignore::pairity.PairityWarning")  # there is little to learn
@settings(max_examples=25, deadline=None)
@given(
    dev_sets(),
    lines,
    lines,
    st.sampled_from(
        [Parity(), Parity(window=3), Fair(beta=3.5), Parity(unit="byte"), Parity(global_merges=2)]
    ),
)
def test_the_engine_learns_what_the_specification_says(sets, one, other, method):
    corpus = count({"p": one, "q": other})
    counts = {name: count(texts, split="dev") for name, texts in sets.sets.items()}
    dev, units = reference.together(
        {name: words_of(texts) for name, texts in counts.items()},
        {
            name: {code: on_dev(code, texts[code], method.unit).units for code in texts}
            for name, texts in counts.items()
        },
        sets.describe(),
    )
    expected = reference.train(
        words_of(corpus), dev=dev, dev_units=units, method=method, num_merges=12, min_frequency=1
    )
    made = train(corpus, dev=sets, num_merges=12, method=method, min_frequency=1, progress=False)
    steps = made.trace.to_pylist()[1:]
    assert [(step["left"], step["right"]) for step in steps] == expected.merges
    assert [step["language"] for step in steps] == expected.served
    costs = {code: text["cost"] for code, text in made.record["languages"].items()}
    assert costs == pytest.approx(expected.costs[-1], rel=1e-12)


def test_a_cost_is_the_weighted_mean_of_costs_relative_to_each_set():
    tokenizer = learn(SETS)
    tokens = {
        name: {code: tokenizer.count(text).sum() / len(text) for code, text in texts.items()}
        for name, texts in SETS.sets.items()
    }
    means = {
        name: sum(len(line.encode()) for text in texts.values() for line in text) / len(texts["eng_Latn"]) / 3
        for name, texts in SETS.sets.items()
    }
    for code, text in tokenizer.record["languages"].items():
        relative = tokens["news"][code] / means["news"] * 2 / 3 + tokens["chat"][code] / means["chat"] / 3
        assert text["cost"] == pytest.approx(relative * means["news"], rel=1e-9)


def test_both_sets_steer():
    both = learn(SETS, merges=400)
    for alone in (NEWS, CHAT):
        assert pairs(both) != pairs(learn(alone, merges=400))


def test_one_set_with_a_name_is_that_set():
    named = learn(DevSets({"news": NEWS}))
    assert named == learn(NEWS)
    assert named.record["dev_sets"] == {"news": 1.0}
    assert "dev_sets" not in learn(NEWS).record


def test_the_same_set_twice_is_that_set():
    twice = learn(DevSets({"a": NEWS, "b": NEWS}))
    once = learn(NEWS)
    assert pairs(twice) == pairs(once)
    for code, text in once.record["languages"].items():
        assert twice.record["languages"][code]["cost"] == pytest.approx(text["cost"], rel=1e-9)


def test_the_record_names_sets_and_weights(tmp_path):
    tokenizer = learn(SETS)
    record = tokenizer.record
    assert record["dev_sets"] == {"news": 1.0, "chat": 0.5}
    alone = learn(NEWS).record["languages"]
    for code, text in record["languages"].items():
        assert text["dev"] == alone[code]["dev"]
        assert text["further_dev"]["chat"]["lines"] == 20
    assert all(tokenizer.steered_by(texts[code]) for texts in (NEWS, CHAT) for code in NAMES)
    assert not tokenizer.steered_by(CORPUS["eng_Latn"])


@pytest.mark.parametrize(
    "method",
    [Fair(), Classical(), Parity(unit="char"), Parity(on="train"), Parity(ratios={"eng_Latn": "auto"})],
)
def test_every_policy_takes_sets(method):
    sets = SETS
    if method.ratios:
        sets = DevSets({name: without_english(texts) for name, texts in SETS.sets.items()})
    tokenizer = learn(sets, method)
    assert set(tokenizer.trace.column_names) > {f"cost:{name}" for name in ("deu_Latn", "tam_Taml")}
    if method.ratios:
        assert tokenizer.record["languages"]["eng_Latn"]["line_equivalent"]["estimated_from"][
            "languages"
        ] == ["deu_Latn"]
    if method.on == "train":
        assert pairs(tokenizer) == pairs(learn(None, method))


def test_sets_may_be_counts_and_folders(tmp_path):
    for name, texts in SETS.sets.items():
        (tmp_path / name).mkdir()
        for code, text in texts.items():
            (tmp_path / name / f"{code}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")
    count(tmp_path / "chat", split="dev").save(tmp_path / "chat.parquet")
    given = DevSets({"news": tmp_path / "news", "chat": tmp_path / "chat.parquet"}, {"chat": 0.5})
    assert learn(given) == learn(SETS)


REFUSED = {
    "a language is missing": (
        {"news": NEWS, "chat": {name: CHAT[name] for name in NAMES[:2]}},
        {},
        "dev set 'chat': no dev text for 'tam_Taml'",
    ),
    "not parallel": (
        {"news": NEWS, "chat": CHAT | {"eng_Latn": ["one"]}},
        {},
        "dev set 'chat': dev text is not parallel: .* eng_Latn has 1",
    ),
    "counts without lines": (
        {"news": NEWS, "chat": {name: {"a": 1} for name in NAMES}},
        {},
        "dev set 'chat': the dev counts of 'deu_Latn' do not record how many lines",
    ),
    "no such file": ({"news": NEWS, "chat": "nowhere/"}, {}, "dev set 'chat': .*nowhere"),
    "unknown weight": (
        {"news": NEWS},
        {"chat": 1},
        "a weight is given for 'chat', but the dev sets are news",
    ),
    "no weight": (
        {"news": NEWS},
        {"news": 0},
        "the weight of the dev set 'news' is 0: it must be a positive",
    ),
    "no number": ({"news": NEWS}, {"news": float("nan")}, "'news' is nan"),
    "too small": ({"news": NEWS, "chat": CHAT}, {"chat": 1e-20}, "the dev set 'chat' counts for nothing"),
    "no set": ({}, {}, "the dev sets are {}: give one SOURCE per name"),
    "no names": ([NEWS], {}, "give one SOURCE per name"),
    "a name that is no text": ({1: NEWS}, {}, "give one SOURCE per name"),
    "weights without names": ({"news": NEWS}, [0.5], "give a number for each name, as in {'news': 0.5}"),
    "an empty name": ({"": NEWS}, {}, "give one SOURCE per name"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_with_a_set_is_said_before_the_work(case, monkeypatch):
    sets, weights, message = case
    monkeypatch.setattr("pairity.training.texts.check_train", None)  # train is not even read
    with pytest.raises(PairityError, match=message):
        learn(DevSets(sets, weights))


def test_what_is_wrong_with_a_weight_says_what_to_write():
    words = [
        "train",
        "--train",
        "x",
        "--dev-set",
        "a=x",
        "--dev-weight",
        "a=much",
        "--num-merges",
        "5",
        "-o",
        "out",
    ]
    said = CliRunner().invoke(main, words)
    assert "'much' is not a number: write NAME=W, such as news=0.5." in str(said.exception)


def test_dev_text_of_a_language_with_a_ratio_is_not_used_in_further_sets():
    made = learn(DevSets({"news": without_english(NEWS), "chat": CHAT}), Parity(ratios={"eng_Latn": 90}))
    assert made.record["notes"] == ["dev text of languages with a ratio was not used: eng_Latn"]


def test_a_ratio_is_estimated_from_the_lines_of_any_set_or_the_user_is_told_to_give_that_set_first():
    news, chat = ("news", NEWS), ("chat", without_english(CHAT))
    auto = Parity(ratios={"eng_Latn": "auto"})
    with pytest.raises(
        PairityError, match=r"'chat': no dev text for 'eng_Latn'.*a ratio with --ratio eng_Latn="
    ):
        learn(DevSets(dict([news, chat])))
    with warnings.catch_warnings():  # none says to remove the ratio, which would be the error above
        warnings.simplefilter("error")
        made = learn(DevSets(dict([news, chat])), auto)
    assert made.record["languages"]["eng_Latn"]["line_equivalent"]["estimated_from"]["lines"] == len(
        NEWS["eng_Latn"]
    )
    with pytest.raises(PairityError, match=r"'news': it has text of 'eng_Latn'.*'chat'.*: give 'news' first"):
        learn(DevSets(dict([chat, news])), auto)


def test_a_language_with_text_in_all_sets_needs_no_estimate():
    with pytest.warns(PairityWarning, match="'eng_Latn' has all dev lines.*remove the ratio"):
        learn(SETS, Parity(ratios={"eng_Latn": "auto"}))


def test_no_count_is_beyond_64_bits():
    """All text is in one of many languages, and all of it is one word: nothing costs more times the mean."""
    texts = {f"l{number}": {"a" * 100: 1} for number in range(50)} | {"dear": {"a" * 100: 10**6}}
    counts = count(texts, split="dev")
    measures = {code: Measure(one, 1.0) for code, one in counts.items()}
    joined = together({"x": measures, "y": measures}, {"x": 1.0, "y": 1.0})
    assert joined["dear"].text.pretoken_bytes() <= 1.01 * SCALE * len(texts)
    cost = joined["dear"].text.pretoken_bytes() / joined["dear"].units
    assert cost == pytest.approx(1e8, rel=1e-3)


def test_a_checkpoint_is_of_these_weights(tmp_path):
    place = tmp_path / "run.parquet"
    first = learn(SETS, checkpoint=place)
    assert learn(SETS, checkpoint=place, resume=True) == first
    with pytest.raises(PairityError, match="other settings"):
        learn(DevSets(SETS.sets, {"chat": 0.6}), checkpoint=place, resume=True)


def folders(tmp_path):
    for name, texts in {"train": CORPUS, **SETS.sets}.items():
        (tmp_path / name).mkdir()
        for code, text in texts.items():
            (tmp_path / name / f"{code}.txt").write_text("\n".join(text) + "\n", encoding="utf-8")


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_command_line(tmp_path):
    folders(tmp_path)
    sets = ["--dev-set", f"news={tmp_path / 'news'}", f"chat={tmp_path / 'chat'}", "--dev-weight", "chat=0.5"]
    common = ["train", "--train", tmp_path / "train", "--num-merges", 150, "-o", tmp_path / "out"]
    done = run(*common, *sets)
    assert done.exit_code == 0, done.output
    assert Tokenizer.load(tmp_path / "out") == learn(SETS)
    again = run(*common, *sets, "--resume")
    assert "is finished" in again.output
    sets[-1] = "chat=0.25"
    changed = run(*common, *sets, "--resume")
    assert changed.exit_code != 0
    assert "is finished" not in changed.output
    assert json.loads((tmp_path / "out" / "pairity.json").read_text())["record"]["dev_sets"] == {
        "news": 1.0,
        "chat": 0.5,
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dev", "x/", "--dev-set", "a=y/"], "--dev and --dev-set cannot be combined"),
        (["--dev", "x/", "--dev-weight", "a=2"], "--dev-weight needs --dev-set"),
        (["--dev-set", "y/"], "--dev-set 'y/': write NAME=SOURCE"),
        (
            ["--dev-set", "a=eng=x.txt,y.txt,deu=z.txt,b=eng=v.txt"],
            "names several sets: write them as separate words, --dev-set a=eng=x.txt,y.txt,deu=z.txt b=eng=v.txt",
        ),
        (["--dev-set", "a=y/", "--dev-weight", "a"], "--dev-weight 'a': write NAME=W"),
        (["--dev-set", "a=y/", "--dev-weight", "a=much"], "'much' is not a number"),
        (["--dev-set", "a=y/", "--dev-weight", "a=1", "a=2"], "--dev-weight is given twice for 'a'"),
    ],
)
def test_mistakes_on_the_command_line(words, message, tmp_path):
    done = run("train", "--train", tmp_path, *words, "--num-merges", 5, "-o", tmp_path / "out")
    assert isinstance(done.exception, PairityError)
    assert message in str(done.exception)
