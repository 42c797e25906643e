"""One language under one tokenizer, against plain loops over the same lines."""

from __future__ import annotations

import dataclasses
from collections import Counter
from functools import cache

import pyarrow.csv
import pytest

import pairity
from pairity import sample
from pairity.errors import PairityError
from pairity.judging.in_text import spelled
from pairity.judging.profile import inspect_language, inspect_languages
from pairity.tokenizer import inspection
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.trace import Trace
from small_tokenizers import small

TEST = sample.read("test")
FEW = {code: TEST[code] for code in ("eng_Latn", "deu_Latn", "tam_Taml", "jpn_Jpan")}


@cache
def trained() -> Tokenizer:
    dev = {code: lines for code, lines in sample.read("dev").items() if code in FEW}
    return pairity.train(
        dev, dev=dev, vocab_size=700, method=pairity.Parity(global_merges=100), progress=False
    )


@pytest.mark.parametrize("code", list(FEW))
def test_costs_and_words_against_plain_loops(code: str) -> None:
    tokenizer = trained()
    text = inspect_language(tokenizer, code, FEW).text
    assert text is not None
    words = Counter(word for line in FEW[code] for word in tokenizer.pretokenize(line))
    tokens = int(tokenizer.count(FEW[code]).sum())
    assert text.cost == tokens / 40
    assert text.floor == words.total() / 40
    assert text.cost_over_floor == tokens / words.total()
    ids = {token for line in FEW[code] for token in tokenizer.encode(line)}
    assert text.types == len(ids)
    extra = {word: times * (len(tokenizer.encode(word)) - 1) for word, times in words.items()}
    assert [word.extra for word in text.words] == sorted(extra.values(), reverse=True)[:10]
    for word in text.words:
        assert word.count == words[word.pretoken.decode()]
        assert b"".join(word.tokens) == word.pretoken
        assert list(word.tokens) == [tokenizer.token_of(i) for i in tokenizer.encode(word.pretoken)]
    assert text.extra == sum(extra.values())


def test_cut_characters_are_those_of_the_metric() -> None:
    tokenizer = small(merges=300)
    scores = pairity.evaluate({"small": tokenizer}, FEW, metrics=["integrity"], resamples=0)
    for code, lines in FEW.items():
        text = inspect_language(tokenizer, code, FEW).text
        assert text is not None
        assert text.cut_share == pytest.approx(scores.value("small", "split_characters", code))
        for one in text.cut:
            assert one.count == "".join(lines).count(one.character)
            assert 0 < one.cut <= one.count
        assert [one.cut for one in text.cut] == sorted((one.cut for one in text.cut), reverse=True)
    assert inspect_language(tokenizer, "tam_Taml", FEW).text.cut[0].count > 100  # type: ignore[union-attr]


def test_neighbours_share_tokens_with_a_letter() -> None:
    tokenizer = trained()
    text = inspect_language(tokenizer, "deu_Latn", FEW).text
    assert text is not None

    def used(code: str) -> set[int]:
        found = {token for line in FEW[code] for token in tokenizer.encode(line)}
        texts = {token: inspection.token_text(tokenizer.token_of(token)) or "" for token in found}
        return {token for token, shown in texts.items() if any(map(str.isalpha, shown))}

    nearest = text.neighbours[0]
    assert nearest.language == "eng_Latn"
    both, either = used("deu_Latn") & used("eng_Latn"), used("deu_Latn") | used("eng_Latn")
    assert (nearest.shared, nearest.overlap) == (len(both), len(both) / len(either))
    assert inspect_language(tokenizer, "deu_Latn", {"deu_Latn": FEW["deu_Latn"]}).text.neighbours == ()  # type: ignore[union-attr]


def test_training_is_told_from_the_trace() -> None:
    tokenizer = trained()
    assert tokenizer.trace is not None
    served = tokenizer.trace["language"].to_pylist()[1:]
    for profile in inspect_languages(tokenizer, list(FEW), FEW):
        about, steps = profile.training, [i for i, code in enumerate(served, 1) if code == profile.language]
        assert about is not None
        assert about.served == len(steps) == tokenizer.record["languages"][profile.language]["served"]
        assert (about.first, about.last) == (steps[0], steps[-1])
        assert sum(about.tenths) == len(steps)
        assert about.tenths[0] == sum(step <= (len(served) + 9) // 10 for step in steps)
        assert about.shared == 100
        assert about.cost == tokenizer.record["languages"][profile.language]["cost"]
        costs = [one["cost"] for one in tokenizer.record["languages"].values()]
        assert (about.rank, about.measured) == (1 + sum(cost > about.cost for cost in costs), 4)
        dev = sample.read("dev")[profile.language]
        assert about.floor == sum(len(tokenizer.pretokenize(line)) for line in dev) / len(dev)


def test_merges_of_an_earlier_run_served_nobody_in_this_one() -> None:
    longer = pairity.train(FEW, dev=FEW, continue_from=trained(), add_tokens=50, progress=False)
    assert longer.trace is not None
    table = longer.trace.to_pylist()[1:]
    assert {row["count"] for row in table[:-50]} == {None}
    about = inspect_language(longer, "tam_Taml", FEW).training
    assert about is not None
    assert (about.merges, about.shared) == (50, 0)
    assert sum(about.tenths) == about.served == sum(row["language"] == "tam_Taml" for row in table)
    assert Trace.from_table(longer.trace).table() == longer.trace


def test_a_language_with_a_ratio_has_its_own_unit_and_no_rank() -> None:
    dev = {code: sample.read("dev")[code] for code in ("eng_Latn", "tam_Taml")}
    code = [f"def function_{i}(argument):\n    return argument + {i}" for i in range(50)]
    tokenizer = pairity.train(
        dev | {"code": code},
        dev=dev,
        num_merges=100,
        method=pairity.Parity(ratios={"code": "auto"}),
        progress=False,
    )
    about = inspect_language(tokenizer, "code", {"code": code}).training
    assert about is not None
    assert about.cost == tokenizer.record["languages"]["code"]["cost"]
    assert (about.unit, about.rank, about.floor) == ("line-equivalent", None, None)
    others = [inspect_language(tokenizer, name, dev).training for name in dev]
    assert [one and one.unit for one in others] == ["dev line"] * 2
    assert sorted((one.rank, one.measured) for one in others if one) == [(1, 2), (2, 2)]


def test_a_truncated_tokenizer_tells_of_itself_and_not_of_the_larger_one() -> None:
    whole, cut = trained(), trained().truncate(500)
    about = inspect_language(cut, "tam_Taml", FEW).training
    assert about is not None
    assert about.merges == len(cut.merges)
    assert about.cost is not None
    assert about.vocab_size is not None
    assert about.vocab_size <= 500
    assert about.cost > whole.record["languages"]["tam_Taml"]["cost"]
    without = Tokenizer.from_model(dataclasses.replace(cut.model, trace=None))
    about = inspect_language(without, "tam_Taml", FEW).training
    assert about is not None
    assert (about.cost, about.served) == (None, None)


def test_what_an_imported_tokenizer_cannot_know_is_said() -> None:
    tokenizer = small(merges=300)
    profile = inspect_language(tokenizer, "tam_Taml")
    assert profile.training is None
    assert profile.text is not None
    assert profile.text.source == "the embedded sample"
    assert profile.text.lines == 40
    assert any("no record and no trace" in note for note in profile.notes)


def test_without_text_there_is_what_training_says() -> None:
    dev = {"xxx_Latn": ["qux vorp zan"] * 5, "yyy_Latn": ["blib nar tok wem"] * 5}
    tokenizer = pairity.train(dev, dev=dev, vocab_size=262, method=pairity.Parity(), progress=False)
    profile = inspect_language(tokenizer, "xxx_Latn")
    assert profile.text is None
    assert profile.training is not None
    assert any("need text" in note for note in profile.notes)
    assert "evaluated on its own dev text" in inspect_language(tokenizer, "xxx_Latn", dev).notes


def test_the_table_is_tidy_and_can_be_read_back(tmp_path) -> None:  # type: ignore[no-untyped-def]
    profile = inspect_language(trained(), "tam_Taml", FEW)
    inspection.write(profile.table(), tmp_path / "tamil.csv")
    rows = pyarrow.csv.read_csv(tmp_path / "tamil.csv").to_pylist()
    assert {row["language"] for row in rows} == {"tam_Taml"}
    by_what = Counter(row["what"] for row in rows)
    assert by_what["word"] == 10
    assert by_what["merges_in_tenth"] == 10
    [cost] = [row["value"] for row in rows if row["what"] == "cost"]
    assert profile.text is not None
    assert cost == profile.text.cost


def test_counts_give_what_their_text_gives(tmp_path) -> None:  # type: ignore[no-untyped-def]
    counts = pairity.count(FEW, split="dev")
    counts.save(tmp_path / "counts.parquet")
    expected = inspect_language(trained(), "tam_Taml", FEW)
    assert inspect_language(trained(), "tam_Taml", counts) == expected
    assert inspect_language(trained(), "tam_Taml", str(tmp_path / "counts.parquet")) == expected
    by_hand = pairity.Counts.from_dicts({"tam_Taml": {" அ": 3, " the": 2}})
    about = inspect_language(trained(), "tam_Taml", by_hand).text
    assert about is not None
    assert (about.cost, about.floor) == (None, None)
    assert about.pretokens == 5


@pytest.mark.parametrize(
    ("code", "data", "message"),
    [
        (
            "Tamil",
            None,
            "'Tamil' is neither in the training nor in the embedded sample. Did you mean tam_Taml?",
        ),
        ("tam-taml", FEW, "'tam-taml' is not in the text given. Did you mean tam_Taml?"),
        ("fil_Latn", {"tgl_Latn": ["a b"]}, "Did you mean tgl_Latn?"),
        (
            "zzz_Qqqq",
            FEW,
            "There are deu_Latn, eng_Latn, jpn_Jpan, tam_Taml. Or give its text: zzz_Qqqq=PATH",
        ),
        ("tam_Taml", pairity.Counts.from_dicts({"tam_Taml": {"a": 1}}, pretokenizer="gpt2"), "was made with"),
        ("tam_Taml", {"tam_Taml": [""]}, "tam_Taml"),
    ],
)
def test_mistakes_name_the_language_and_what_to_do(code: str, data: object, message: str) -> None:
    with pytest.raises(PairityError) as error:
        inspect_language(trained(), code, data)
    assert message in str(error.value)


def test_no_language_and_the_same_language_twice() -> None:
    with pytest.raises(PairityError, match="name one"):
        inspect_languages(trained(), [], FEW)
    assert len(inspect_languages(trained(), ["tam_Taml", "tam_Taml"], FEW)) == 1


def test_records_made_by_hand_do_not_break_it() -> None:
    for record in (
        {"languages": 5},
        {"languages": {"tam_Taml": None}, "method": 1, "merges": "x"},
        {"languages": []},
    ):
        odd = Tokenizer.from_model(dataclasses.replace(small(merges=300).model, record=record))
        assert inspect_language(odd, "tam_Taml").text is not None


def test_tokens_are_spelled_in_one_line() -> None:
    assert [spelled(token) for token in (b" a", b"\n", "é".encode(), b"\xe0\xae")] == [
        "␣a",
        "\\n",
        "é",
        "<E0AE>",
    ]
