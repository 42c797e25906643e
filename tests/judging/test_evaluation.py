"""The evaluation as a whole: values against plain loops, intervals, leaks, failures, bad input, files."""

import gzip
import importlib.util
import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from pairity.errors import PairityError
from pairity.judging.evaluation import LeakWarning, evaluate, read_lines
from pairity.judging.measurement import text_digest
from pairity.judging.metrics import METRICS, gini
from pairity.judging.metrics.entropy import renyi_entropy
from pairity.judging.metrics.gold import MorphWord
from pairity.judging.metrics.vocabulary import Frequencies, average_token_rank
from pairity.judging.scores import Overview, Scores
from pairity.judging.tax import tax
from pairity.languages import LANGUAGES_30

COLUMNS = ["tokenizer", "language", "metric", "value", "low", "high", "aggregation", "unit", "n", "note"]


class Chunks:
    """Cuts every line into chunks of `size` bytes; ids are made up as chunks are seen."""

    def __init__(self, size: int, name: str = "chunks", vocab_size: int = 5000, dev: object = None) -> None:
        self.size, self.name, self.vocab_size, self.dev = size, name, vocab_size, dev
        self.pieces: list[bytes] = []
        self.ids: dict[bytes, int] = {}

    def encode_lines(self, lines):  # type: ignore[no-untyped-def]
        rows = [self.encode(line) for line in lines]
        return np.array([t for row in rows for t in row], dtype=np.uint32), np.cumsum([0, *map(len, rows)])

    def encode(self, line: str) -> list[int]:
        raw = line.encode()
        row = []
        for start in range(0, len(raw), self.size):
            piece = raw[start : start + self.size]
            if piece not in self.ids:
                self.ids[piece] = len(self.pieces)
                self.pieces.append(piece)
            row.append(self.ids[piece])
        return row

    def decode(self, ids):  # type: ignore[no-untyped-def]
        return b"".join(self.pieces[token] for token in ids)

    def token_bytes(self, token: int) -> bytes:
        return self.pieces[token]

    def steered_by(self, lines: list[str]) -> bool:
        return lines == self.dev

    def pretoken_counts(self, lines: list[str]):  # type: ignore[no-untyped-def]
        return np.array([len(line.split()) for line in lines])


class Fussy(Chunks):
    """Fails on every line that holds a word it does not like, as some tokenizers do on some scripts."""

    def __init__(self, word: str, **more) -> None:  # type: ignore[no-untyped-def]
        super().__init__(3, "fussy", **more)
        self.word = word

    def encode(self, line: str) -> list[int]:
        if self.word in line:
            raise RuntimeError(f"cannot read {self.word!r}")
        return super().encode(line)


TEXTS = {
    "eng_Latn": ["hello world", "one two three four", "a cat", "it rains again", "the end is near"],
    "ell_Grek": ["γειά σου κόσμε", "ένα δύο τρία τέσσερα", "μία γάτα", "βρέχει πάλι", "το τέλος είναι κοντά"],
    "zho_Hans": ["你好，世界", "一二三四", "一只猫", "又下雨了", "末日近了 😀"],
}


def scores_of(tokenizers=None, texts=TEXTS, **more) -> Scores:  # type: ignore[no-untyped-def]
    chosen = {"three": Chunks(3), "two": Chunks(2)} if tokenizers is None else tokenizers
    return evaluate(chosen, texts, **({"resamples": 200} | more))


def row(scores: Scores, tokenizer: str, metric: str, language: str | None = None) -> dict[str, object]:
    found = [r for r in scores.select(tokenizer, metric).to_pylist() if r["language"] == language]
    assert len(found) == 1
    return found[0]


def plain_costs(size: int, lines: list[int] | None = None) -> dict[str, float]:
    chosen = range(5) if lines is None else lines
    return {
        code: sum(-(-len(text[i].encode()) // size) for i in chosen) / len(chosen)
        for code, text in TEXTS.items()
    }


# --------------------------------------------------------------------------------------------- values


def test_the_table_is_tidy_and_complete() -> None:
    scores = scores_of(baseline="two")
    assert scores.table.column_names == COLUMNS
    assert (scores.tokenizers, scores.languages) == (["three", "two"], list(TEXTS))
    seen = set(scores.table["metric"].to_pylist())
    assert seen == {name for name, metric in METRICS.items() if metric.family != "morphology"}
    per_language_only = {"worst_language", "best_language"}
    for metric in seen - per_language_only:
        assert any(r["language"] is None for r in scores.select("three", metric).to_pylist()), metric
    across_only = {"gini", "worst_best", "change_worst"}
    for metric in seen - across_only - per_language_only:
        rows = scores.select("three", metric, per_language=True).to_pylist()
        assert [r["language"] for r in rows] == list(TEXTS), metric
    for r in scores.table.to_pylist():
        assert r["unit"] == METRICS[r["metric"]].unit
        metric, code = METRICS[r["metric"]], r["language"]
        if r["metric"] in per_language_only:
            assert (r["aggregation"], metric.over_languages) == ("across languages",) * 2
        else:
            assert r["aggregation"] == (metric.over_languages if code is None else "language"), r


def test_costs_rates_and_fairness_against_plain_loops() -> None:
    scores = scores_of(baseline="two")
    costs = plain_costs(3)
    assert scores.costs("three") == pytest.approx(costs)
    tokens = sum(cost * 5 for cost in costs.values())
    raw = sum(len(line.encode()) for text in TEXTS.values() for line in text)
    chars = sum(len(line) for text in TEXTS.values() for line in text)
    assert scores.value("three", "cost") == pytest.approx(sum(costs.values()) / 3)
    assert scores.value("three", "compression_rate_line") == pytest.approx(15 / tokens)
    assert scores.value("three", "compression_rate_byte") == pytest.approx(raw / tokens)
    assert scores.value("three", "compression_rate_char") == pytest.approx(chars / tokens)
    english = costs["eng_Latn"] * 5
    assert scores.value("three", "compression_rate_line", "eng_Latn") == pytest.approx(5 / english)
    assert scores.value("three", "fertility", "eng_Latn") == pytest.approx(english / 15)
    assert scores.value("three", "compression_rate_word", "eng_Latn") == pytest.approx(15 / english)
    assert scores.value("three", "worst_best") == pytest.approx(max(costs.values()) / min(costs.values()))
    worst = max(costs, key=lambda code: costs[code])
    assert scores.value("three", "worst_language", worst) == pytest.approx(costs[worst])
    pairs = [abs(a - b) for a in costs.values() for b in costs.values()]
    assert scores.value("three", "gini") == pytest.approx(
        np.mean(pairs) / (2 * np.mean(list(costs.values())))
    )
    other = plain_costs(2)
    for code, cost in costs.items():
        assert scores.value("three", "premium", code) == pytest.approx(cost / costs["eng_Latn"])
        assert scores.value("three", "change", code) == pytest.approx(cost / other[code] - 1)
    assert scores.value("two", "change") == 0
    rises = {code: costs[code] / other[code] - 1 for code in costs}
    assert scores.value("three", "change_worst") == pytest.approx(max(rises.values()))
    assert max(rises, key=lambda code: rises[code]) in str(row(scores, "three", "change_worst")["note"])


def test_paper_fertility_is_the_mean_over_lines() -> None:
    scores = scores_of()
    ratios = [-(-len(line.encode()) // 3) / len(line.split()) for text in TEXTS.values() for line in text]
    assert scores.value("three", "fertility_paper") == pytest.approx(np.mean(ratios))
    assert scores.value("three", "fertility_paper") != pytest.approx(scores.value("three", "fertility"))


def test_vocabulary_is_pooled_over_languages() -> None:
    scores = scores_of({"three": Chunks(3)})
    tokenizer = Chunks(3)
    counts = Counter(t for text in TEXTS.values() for line in text for t in tokenizer.encode(line))
    seen = Frequencies(list(counts.values()), 5000)
    assert scores.value("three", "vocabulary_utilisation") == pytest.approx(len(counts) / 5000)
    assert scores.value("three", "type_token_ratio") == pytest.approx(len(counts) / sum(counts.values()))
    assert scores.value("three", "average_token_rank") == pytest.approx(average_token_rank(seen))
    for key, order in (("1", 1), ("2.5", 2.5), ("inf", np.inf)):
        expected = renyi_entropy(seen, order)
        assert scores.value("three", f"renyi_entropy_{key}") == pytest.approx(expected)
    assert scores.value("three", "renyi_efficiency_2.5") == pytest.approx(
        renyi_entropy(seen, 2.5) / np.log2(5000)
    )
    assert scores.value("three", "renyi_efficiency_paper_2.5") == pytest.approx(
        renyi_entropy(seen, 2.5) / np.log2(len(counts))
    )


def test_integrity_and_floor() -> None:
    scores = scores_of()
    assert scores.value("two", "round_trip") == 1
    assert scores.value("two", "unknown_tokens") == 0
    assert scores.value("three", "split_characters", "eng_Latn") == 0
    assert row(scores, "three", "split_characters_3", "eng_Latn")["value"] is None
    assert "no such characters" in str(row(scores, "three", "split_characters_3", "eng_Latn")["note"])
    assert scores.value("two", "split_characters_3", "zho_Hans") == 1  # chunks of two cut all of these
    assert scores.value("two", "split_characters_4", "zho_Hans") == 1
    words = [len(line.split()) for line in TEXTS["ell_Grek"]]
    assert scores.value("two", "floor", "ell_Grek") == pytest.approx(np.mean(words))
    cost = plain_costs(2)["ell_Grek"]
    assert scores.value("two", "cost_over_floor", "ell_Grek") == pytest.approx(cost / np.mean(words))


def test_a_tokenizer_without_a_pretokenizer_has_no_floor_and_says_so() -> None:
    class Bare:
        name, vocab_size = "bare", 300

        def __init__(self) -> None:
            inner = Chunks(3)
            self.encode_lines, self.decode, self.token_bytes = (
                inner.encode_lines,
                inner.decode,
                inner.token_bytes,
            )

    scores = scores_of([Bare()])
    for language in (None, "eng_Latn"):
        found = row(scores, "bare", "floor", language)
        assert found["value"] is None
        assert "does not show its pre-tokenizer" in str(found["note"])


def test_lorenz_comes_from_the_costs() -> None:
    scores = scores_of()
    share, cost = scores.lorenz("three")
    assert share == pytest.approx([0, 1 / 3, 2 / 3, 1])
    ordered = sorted(plain_costs(3).values())
    assert cost == pytest.approx([0, *(np.cumsum(ordered) / sum(ordered))])


def test_groups_by_script_family_and_resource_level() -> None:
    groups = scores_of().groups.to_pylist()
    costs = plain_costs(3)

    def value(grouping: str, group: str, metric: str) -> object:
        (found,) = [
            r["value"]
            for r in groups
            if (r["tokenizer"], r["grouping"], r["group"], r["metric"]) == ("three", grouping, group, metric)
        ]
        return found

    assert value("script_family", "CJK", "cost") == pytest.approx(costs["zho_Hans"])
    assert value("script_family", "CJK", "gini") is None  # one language: never 0
    medium = [costs["ell_Grek"], costs["zho_Hans"]]
    assert value("resource_level", "medium", "cost") == pytest.approx(np.mean(medium))
    assert value("resource_level", "medium", "worst_best") == pytest.approx(max(medium) / min(medium))
    assert value("resource_level", "high", "premium") == 1


def test_only_the_metrics_asked_for() -> None:
    scores = scores_of(metrics=["gini", "entropy"])
    expected = {"gini", "failed_lines"} | {name for name in METRICS if name.startswith("renyi")}
    assert set(scores.table["metric"].to_pylist()) == expected
    with pytest.raises(PairityError, match=r"there is no metric 'gin'\. Families: compression"):
        scores_of(metrics=["gin"])


def test_morphology_has_both_conventions() -> None:
    gold = {
        "eng_Latn": [MorphWord("catdog", ("cat", "dog")), MorphWord("it", ("i", "t"))],
        "deu_Latn": [MorphWord("x", ("x",))],
    }
    scores = scores_of({"three": Chunks(3)}, morph=gold)
    assert scores.value("three", "morph_recall", "eng_Latn") == 1
    assert scores.value("three", "morph_precision", "eng_Latn") == 0.5
    assert scores.value("three", "morph_precision_corrected", "eng_Latn") == 1
    assert scores.value("three", "morph_precision_paper") == 0.75  # "it" is one token: (1, 1)
    assert row(scores, "three", "morph_recall_paper")["n"] == 2
    for name in (name for name, metric in METRICS.items() if metric.family == "morphology"):
        assert row(scores, "three", name)["aggregation"] == METRICS[name].over_languages
    with pytest.raises(PairityError, match="has MorphScore data: there is some for deu_Latn"):
        scores_of(morph={"deu_Latn": gold["deu_Latn"]})


# ------------------------------------------------------------------------------------------ intervals


def test_intervals_against_a_plain_loop_over_the_same_lines() -> None:
    scores = scores_of({"three": Chunks(3), "two": Chunks(2)}, resamples=300, seed=11)
    random = np.random.default_rng([11, 0])
    ginis, costs, rates, gaps = [], [], [], []
    for _ in range(300):
        lines = random.integers(5, size=5).tolist()
        drawn, other = plain_costs(3, lines), plain_costs(2, lines)
        values = np.array(list(drawn.values()))
        others = np.array(list(other.values()))
        ginis.append(float(gini(values)))
        costs.append(drawn["ell_Grek"])
        rates.append(3 / values.sum())
        gaps.append(ginis[-1] - float(gini(others)))
    for metric, language, drawn_values in (
        ("gini", None, ginis),
        ("cost", "ell_Grek", costs),
        ("compression_rate_line", None, rates),
    ):
        found = row(scores, "three", metric, language)
        assert [found["low"], found["high"]] == pytest.approx(np.percentile(drawn_values, [2.5, 97.5]))
    gap = scores.difference("three", "two", "gini")
    assert [gap.low, gap.high] == pytest.approx(np.percentile(gaps, [2.5, 97.5]))
    assert gap.value == pytest.approx(scores.value("three", "gini") - scores.value("two", "gini"))  # type: ignore[operator]


def test_differences_turn_round_and_are_paired() -> None:
    scores = scores_of({"three": Chunks(3), "same": Chunks(3), "two": Chunks(2)})
    there = scores.difference("three", "two", "cost", "eng_Latn")
    back = scores.difference("two", "three", "cost", "eng_Latn")
    assert (there.value, there.low, there.high) == (-back.value, -back.high, -back.low)  # type: ignore[operator]
    nothing = scores.difference("three", "same", "gini")
    assert (nothing.value, nothing.low, nothing.high) == (0, 0, 0)  # paired: no noise between equals
    with pytest.raises(PairityError, match="no difference in 'gini' between 'three' and 'four'"):
        scores.difference("three", "four")


def test_every_value_lies_in_its_interval_and_seeds_matter() -> None:
    scores = scores_of(resamples=500)
    rows = [
        r for r in scores.table.to_pylist() if r["low"] is not None and r["metric"] in {"cost", "premium"}
    ]
    assert rows
    assert all(r["low"] <= r["value"] <= r["high"] for r in rows)
    assert scores_of(resamples=500).table.equals(scores.table)
    assert not scores_of(resamples=500, seed=1).table.equals(scores.table)


def test_no_intervals_without_resamples_or_with_one_line() -> None:
    one_line = {code: text[:1] for code, text in TEXTS.items()}
    for scores in (scores_of(resamples=0), scores_of(texts=one_line)):
        assert scores.value("three", "gini") is not None
        assert pc.all(pc.is_null(scores.table["low"])).as_py()
        assert scores.meta["resamples"] == 0


# ----------------------------------------------------------------------------------------- leak guard


def test_evaluating_on_the_dev_text_is_said_loudly() -> None:
    steered = Chunks(3, "steered", dev=TEXTS["ell_Grek"])
    with pytest.warns(LeakWarning, match="steered is evaluated on the text that steered it: ell_Grek"):
        scores = scores_of([steered, Chunks(2, "clean")])
    assert scores.leaks == {"steered": ["ell_Grek"]}
    assert row(scores, "steered", "cost", "ell_Grek")["note"] == "evaluated on the text that steered it"
    assert row(scores, "steered", "cost", "eng_Latn")["note"] is None
    assert "steered it (1 of 3 languages)" in str(row(scores, "steered", "gini")["note"])
    assert row(scores, "clean", "gini")["note"] is None
    assert scores.warnings == [
        "steered is evaluated on the text that steered it: ell_Grek. "
        "Its scores there say nothing about new text."
    ]
    notes = {r["note"] for r in scores.differences.to_pylist()}
    assert notes == {"steered: evaluated on the text that steered it"}
    notes = {
        (r["tokenizer"], r["group"]): r["note"] for r in scores.groups.to_pylist() if r["metric"] == "cost"
    }
    assert notes["steered", "medium"] == "evaluated on the text that steered it (1 of 2 languages)"
    assert notes["steered", "high"] is None
    assert notes["clean", "medium"] is None


def test_other_text_is_no_leak() -> None:
    changed = [*TEXTS["ell_Grek"][:-1], "κάτι άλλο"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scores_of([Chunks(3, dev=changed)]).leaks == {}


def test_text_digest_is_plain_sha256_of_the_joined_lines() -> None:
    import hashlib

    assert text_digest(["a", "b"]) == hashlib.sha256(b"a\nb").hexdigest()
    assert text_digest(["e\u0301"]) != text_digest(["\u00e9"])  # not normalised


# ------------------------------------------------------------------------------------------ bad input


def test_lines_that_are_not_parallel() -> None:
    texts = TEXTS | {"deu_Latn": ["nur eine", "zwei"]}
    with pytest.raises(
        PairityError, match="the data is not parallel: most languages have 5 lines, but deu_Latn has 2"
    ):
        scores_of(texts=texts)
    scores = scores_of(texts=texts, parallel=False)
    assert scores.value("three", "cost", "deu_Latn") == pytest.approx(2.5)
    for metric in ("gini", "worst_best", "premium"):
        assert row(scores, "three", metric)["value"] is None
        assert "not parallel" in str(row(scores, "three", metric)["note"])
    assert not {"gini", "worst_best", "premium"} & set(scores.groups["metric"].to_pylist())
    assert not {"gini", "worst_best"} & set(scores.differences["metric"].to_pylist())
    assert scores.difference("two", "three", "cost", "deu_Latn").value > 0


def test_one_language_has_no_gini_and_the_scores_say_so() -> None:
    scores = scores_of(texts={"eng_Latn": TEXTS["eng_Latn"]})
    for metric in ("gini", "worst_best"):
        found = row(scores, "three", metric)
        assert found["value"] is None
        assert found["note"] == "needs at least 2 languages"
    assert any("one language only" in said for said in scores.warnings)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "no SOURCE given"),
        (TEXTS | {"deu_Latn": []}, "no text for 'deu_Latn': .* is empty"),
        (TEXTS | {"deu_Latn": [""] * 5}, "no text for 'deu_Latn': .* 5 blank lines"),
        (TEXTS | {"deu_Latn": ["a", "b", 3, "d", "e"]}, "'deu_Latn', item 3 is int, not a string"),
        (TEXTS | {"deu_Latn": ["a", "b", "\udc00", "d", "e"]}, "'deu_Latn', item 3: not UTF-8"),
    ],
)
def test_text_that_cannot_be_judged(texts: dict[str, list[str]], message: str) -> None:
    with pytest.raises(PairityError, match=message):
        scores_of(texts=texts)


def test_languages_are_chosen_by_name_and_near_misses_are_explained() -> None:
    texts = TEXTS | {"tgl_Latn": TEXTS["eng_Latn"]}
    assert scores_of(texts=texts, languages=["zho_Hans", "eng_Latn"]).languages == ["zho_Hans", "eng_Latn"]
    with pytest.raises(PairityError, match=r"'fil_Latn' \(but tgl_Latn is the same language as fil_Latn\)"):
        scores_of(texts=texts, languages=["eng_Latn", "fil_Latn"])
    twice = scores_of(texts=texts | {"fil_Latn": TEXTS["eng_Latn"]})
    assert any("fil_Latn and tgl_Latn are one language under two names" in said for said in twice.warnings)


def test_a_reference_that_is_not_there() -> None:
    scores = scores_of(reference="deu_Latn")
    found = row(scores, "three", "premium")
    assert found["value"] is None
    assert "no cost for the reference language deu_Latn" in str(found["note"])
    assert any("no token premium: the data has no deu_Latn" in said for said in scores.warnings)
    assert "premium" not in scores_of(reference=None).table["metric"].to_pylist()


def test_tokenizers_and_baseline_must_have_names_of_their_own() -> None:
    with pytest.raises(PairityError, match=r"two tokenizers have the same name \(chunks, chunks\)"):
        scores_of([Chunks(2), Chunks(3)])
    with pytest.raises(PairityError, match="no tokenizer to evaluate"):
        scores_of([])
    with pytest.raises(PairityError, match="baseline 'four' is not one of the tokenizers: three, two"):
        scores_of(baseline="four")
    assert scores_of(Chunks(2)).tokenizers == ["chunks"]


def test_a_tokenizer_that_fails_on_some_lines_is_judged_on_the_others() -> None:
    scores = scores_of({"fussy": Fussy("γάτα"), "three": Chunks(3)}, baseline="three")
    assert scores.lengths["fussy"]["ell_Grek"].tolist()[2] == -1
    assert row(scores, "fussy", "failed_lines", "ell_Grek")["value"] == 1
    assert scores.value("fussy", "failed_lines") == 1
    rest = plain_costs(3, [0, 1, 3, 4])  # the line goes in all languages: what is compared stays parallel
    assert scores.costs("fussy") == pytest.approx(rest)
    assert row(scores, "fussy", "cost", "eng_Latn")["n"] == 4
    assert "failed on 1 of 5 lines (the first is line 3: RuntimeError" in str(
        row(scores, "fussy", "cost", "ell_Grek")["note"]
    )
    assert "without the lines it failed on in ell_Grek" in str(row(scores, "fussy", "gini")["note"])
    assert scores.costs("three") == pytest.approx(plain_costs(3))  # the others are judged on everything
    assert scores.value("fussy", "change") == pytest.approx(0)  # and compared on the lines that both have
    assert scores.difference("fussy", "three", "gini").value == pytest.approx(0)
    assert scores.value("fussy", "round_trip", "ell_Grek") == pytest.approx(4 / 5)
    assert "fussy on ell_Grek: failed on 1 of 5" in scores.warnings[0]


def test_a_tokenizer_that_fails_on_a_language_is_judged_without_it() -> None:
    texts = TEXTS | {"xxx_Latn": ["bad"] * 5}
    scores = scores_of({"fussy": Fussy("bad"), "three": Chunks(3)}, texts)
    assert row(scores, "fussy", "cost", "xxx_Latn")["value"] is None
    assert "failed on 5 of 5 lines" in str(row(scores, "fussy", "cost", "xxx_Latn")["note"])
    assert "without xxx_Latn, where it failed" in str(row(scores, "fussy", "gini")["note"])
    assert row(scores, "fussy", "gini")["n"] == 3
    assert row(scores, "three", "gini")["n"] == 4
    assert scores.difference("fussy", "three", "gini").value == pytest.approx(0)  # over the languages of both
    assert scores.costs("fussy").keys() == TEXTS.keys()


def test_a_tokenizer_that_fails_on_everything_leaves_nulls() -> None:
    scores = scores_of({"fussy": Fussy(""), "three": Chunks(3)}, baseline="three")
    assert scores.costs("fussy") == {}
    assert row(scores, "fussy", "gini")["value"] is None
    assert row(scores, "fussy", "cost")["value"] is None
    assert row(scores, "fussy", "type_token_ratio")["value"] is None
    assert scores.value("fussy", "failed_lines") == 15
    assert scores.value("three", "gini") is not None


def test_a_decoder_that_fails_is_text_lost() -> None:
    class Mute(Chunks):
        def decode(self, ids):  # type: ignore[no-untyped-def]
            raise RuntimeError("no")

    assert scores_of([Mute(3)]).value("chunks", "round_trip") == 0


def test_the_user_can_interrupt() -> None:
    class Stop(Chunks):
        def encode(self, line: str) -> list[int]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scores_of([Stop(3)])


def test_progress_is_reported() -> None:
    seen: list[tuple[str, int, int]] = []
    scores_of(progress=lambda text, done, steps: seen.append((text, done, steps)))
    assert seen[0] == ("three: eng_Latn", 0, 6)
    assert seen[-1] == ("resampling", 6, 6)


# ---------------------------------------------------------------------------------------------- files


def test_read_lines_from_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_bytes("a\r\nb\u2028c\x85d\n\nlast".encode())
    (tmp_path / "deu_Latn.txt.gz").write_bytes(gzip.compress(b"x\ny\n"))
    (tmp_path / "fra_Latn").mkdir()
    (tmp_path / "fra_Latn" / "2.txt").write_text("zwei\n")
    (tmp_path / "fra_Latn" / "1.txt").write_text("eins\n")
    (tmp_path / "notes.md").write_text("not text of a language")
    everything = read_lines(tmp_path)
    assert everything == {
        "deu_Latn": ["x", "y"],
        "eng_Latn": ["a", "b\u2028c\x85d", "", "last"],
        "fra_Latn": ["eins", "zwei"],
    }
    assert read_lines(f"mine={tmp_path / 'eng_Latn.txt'}") == {"mine": everything["eng_Latn"]}
    assert read_lines([f"f={tmp_path / 'fra_Latn'}", f"deu_Latn={tmp_path / 'deu_Latn.txt.gz'}"]) == {
        "f": ["eins", "zwei"],
        "deu_Latn": ["x", "y"],
    }
    assert read_lines({"e": tmp_path / "eng_Latn.txt"}) == {"e": everything["eng_Latn"]}
    assert read_lines({"e": iter(["a\r\n", "b\n"])}) == {"e": ["a", "b"]}


def test_read_lines_names_the_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match="holds no text"):
        read_lines(tmp_path)
    with pytest.raises(PairityError, match="no such file or folder"):
        read_lines(tmp_path / "none")
    bad = tmp_path / "eng_Latn.txt"
    bad.write_bytes(b"fine\n\xff\n")
    with pytest.raises(PairityError, match=r"eng_Latn\.txt, line 2: not UTF-8"):
        read_lines(tmp_path)
    bad.rename(tmp_path / "eng_Latn.txt.gz")
    with pytest.raises(PairityError, match=r"eng_Latn\.txt\.gz, near line 1: broken gzip file"):
        read_lines(tmp_path)


def test_scores_survive_saving(tmp_path: Path) -> None:
    with pytest.warns(LeakWarning):
        scores = scores_of({"a/b=c": Chunks(3, dev=TEXTS["eng_Latn"]), "two": Chunks(2)})
    folder = tmp_path / "deep" / "scores"
    scores.save(folder)
    scores.save(folder)  # a second time over the first
    again = Scores.load(folder)
    assert again.table.equals(scores.table)
    assert again.differences.equals(scores.differences)
    assert again.groups.equals(scores.groups)
    assert again.leaks == scores.leaks
    assert again.meta == scores.meta
    assert again.tokenizers == scores.tokenizers
    for tokenizer in scores.tokenizers:
        for language in scores.languages:
            assert np.array_equal(again.lengths[tokenizer][language], scores.lengths[tokenizer][language])
    names = {path.name for path in folder.iterdir()}
    tables = {f"{name}.{kind}" for name in ("scores", "differences", "groups") for kind in ("csv", "parquet")}
    assert names == tables | {"lengths.npz", "scores.json"}
    header = (folder / "scores.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.replace('"', "").split(",") == COLUMNS


def test_damaged_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match=r"no scores in .*: there is no scores\.json"):
        Scores.load(tmp_path)
    scores_of().save(tmp_path)
    (tmp_path / "lengths.npz").unlink()
    with pytest.raises(PairityError, match=r"damaged \(.*lengths\.npz"):
        Scores.load(tmp_path)
    scores_of().save(tmp_path)
    content = json.loads((tmp_path / "scores.json").read_text())
    del content["lengths"]
    (tmp_path / "scores.json").write_text(json.dumps(content))
    with pytest.raises(PairityError, match=r"damaged \('lengths'\)"):
        Scores.load(tmp_path)


def test_the_overview_has_one_row_per_tokenizer() -> None:
    scores = scores_of()
    assert scores.overview() == [
        Overview(
            tokenizer=name,
            gini=scores.interval(name, "gini"),
            compression_rate=scores.value(name, "compression_rate_line"),
            worst_best=scores.value(name, "worst_best"),
            worst_language=max(plain_costs(size), key=plain_costs(size).__getitem__),
        )
        for name, size in (("three", 3), ("two", 2))
    ]
    assert scores.overview()[0].gini is not None
    few = scores_of({"three": Chunks(3)}, metrics=["compression_rate_byte"]).overview()
    assert few == [Overview("three", None, None, None, None)]
    alone = scores_of({"three": Chunks(3)}, {"eng_Latn": TEXTS["eng_Latn"]}).overview()
    assert (alone[0].gini, alone[0].worst_best, alone[0].worst_language) == (None, None, "eng_Latn")


def test_asking_for_a_row_that_is_not_there() -> None:
    with pytest.raises(PairityError, match="no 'gini' of 'four' over all languages"):
        scores_of().value("four", "gini")


# ------------------------------------------------------------------------------------------------ tax


def test_tax_is_the_price_of_the_same_content() -> None:
    costs = plain_costs(3)
    table = tax(scores_of({"three": Chunks(3)}), price_per_million=2.0).to_pylist()
    assert [r["language"] for r in table] == list(TEXTS)
    for r in table:
        premium = costs[r["language"]] / costs["eng_Latn"]
        assert r["tokens_per_line"] == pytest.approx(costs[r["language"]])
        assert r["price"] == pytest.approx(2 * premium)
        assert r["extra"] == pytest.approx(2 * premium - 2)
        assert r["low"] <= r["premium"] <= r["high"]
    assert table[1]["name"] == "Greek"
    assert tax(Chunks(3), 2.0, data=TEXTS).num_rows == 3
    both = tax(scores_of(), {"three": 1.0, "two": 4.0}).to_pylist()
    assert [r["price"] for r in both if r["language"] == "eng_Latn"] == [1.0, 4.0]


def test_tax_needs_a_reference_parallel_text_and_a_price() -> None:
    with pytest.raises(PairityError, match="needs parallel text to measure it on: give data="):
        tax(Chunks(3), 2.0)
    with pytest.raises(PairityError, match="no token premium for 'three'"):
        tax(scores_of(reference=None), 2.0)
    for price in (-1.0, float("nan")):
        with pytest.raises(
            PairityError, match=r"the price of 'three' must be a number of 0 or more, got (-1\.0|nan)"
        ):
            tax(scores_of(), price)


# ------------------------------------------------------------------------------------- real tokenizers


def package_file(package: str, *parts: str) -> str:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"the package {package} is not installed")
    return str(Path(found.submodule_search_locations[0], *parts))


def test_known_tokenizers_come_out_where_they_are_known_to(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tiktoken")
    # The package carries OpenAI's ranks as a cache of tiktoken.
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", package_file("litellm", "litellm_core_utils", "tokenizers"))
    tokenizers = {
        "o200k": "tiktoken:o200k_base",
        "llama3": package_file("llama_models", "llama3", "tokenizer.model"),
        "qwen": package_file("dashscope", "resources", "qwen.tiktoken"),
    }
    scores = evaluate(
        tokenizers,
        shared / "data" / "flores200" / "devtest",
        languages=LANGUAGES_30,
        baseline="o200k",
        morph=shared / "data" / "morph",
        resamples=200,
    )
    for name, known in (("o200k", 0.094), ("llama3", 0.352), ("qwen", 0.314)):
        found = row(scores, name, "gini")
        assert found["value"] == pytest.approx(known, abs=0.003)
        assert found["low"] < found["value"] < found["high"]  # type: ignore[operator]
        assert scores.value(name, "round_trip") == 1
        assert 0 < scores.value(name, "morph_recall") < 1  # type: ignore[operator]
    assert scores.difference("o200k", "llama3", "gini").high < 0  # type: ignore[operator]
    assert scores.value("llama3", "worst_language", "kat_Geor") == pytest.approx(262, abs=1)
    assert scores.value("o200k", "floor", "tel_Telu") < scores.value("llama3", "floor", "tel_Telu")  # type: ignore[operator]
    assert scores.meta["languages"]["eng_Latn"]["lines"] == 1012


def test_lines_are_drawn_once_for_all_languages_and_tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    draws: list[object] = []
    real = np.random.default_rng

    def counting(seed: object) -> np.random.Generator:
        draws.append(seed)
        return real(seed)  # type: ignore[arg-type]

    monkeypatch.setattr(np.random, "default_rng", counting)
    texts = dict.fromkeys(LANGUAGES_30, TEXTS["eng_Latn"])
    full = evaluate({f"t{size}": Chunks(size) for size in (2, 3, 4, 5)}, texts, resamples=1000, seed=5)
    assert draws == [[5, 0]]
    plain = evaluate({"t3": Chunks(3)}, texts, resamples=0)
    assert full.value("t3", "gini") == plain.value("t3", "gini") == 0


def test_values_do_not_depend_on_the_number_of_resamples() -> None:
    scores, plain = scores_of(resamples=333), scores_of(resamples=0)
    assert scores.table["value"].equals(plain.table["value"])
    assert scores.groups["value"].equals(plain.groups["value"])
