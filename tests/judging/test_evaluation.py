"""The evaluation as a whole: values against plain loops, intervals, leaks."""

import warnings
from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pytest

from chunk_tokenizers import TEXTS, Chunks, plain_costs, row, scores_of
from pairity.errors import PairityError, PairityWarning
from pairity.judging.evaluation import LeakWarning, evaluate
from pairity.judging.measurement import text_digest
from pairity.judging.metrics import METRICS
from pairity.judging.metrics.comparisons import holm
from pairity.judging.metrics.entropy import renyi_entropy
from pairity.judging.metrics.gold import MorphWord
from pairity.judging.metrics.vocabulary import Frequencies, average_token_rank
from pairity.languages import LANGUAGES_30

COLUMNS = ["tokenizer", "language", "metric", "value", "low", "high", "aggregation", "unit", "n", "note"]


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


def test_one_language_needs_no_list() -> None:
    code = next(iter(TEXTS))
    assert evaluate({"t": Chunks(3)}, TEXTS, languages=code, resamples=0, reference=None).languages == [code]


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
    expected = {"gini", "failed_lines", "round_trip"} | {name for name in METRICS if name.startswith("renyi")}
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


def test_intervals_against_a_plain_loop_over_the_same_lines() -> None:
    scores = scores_of({"three": Chunks(3), "two": Chunks(2)}, resamples=300, seed=11)
    random = np.random.default_rng([11, 0])
    costs, rates, gaps = [], [], []
    for _ in range(300):
        lines = random.integers(5, size=5).tolist()
        drawn, other = plain_costs(3, lines), plain_costs(2, lines)
        costs.append(drawn["ell_Grek"])
        rates.append(3 / sum(drawn.values()))
        gaps.append(rates[-1] - 3 / sum(other.values()))

    def ends(values: list[float]) -> list[float]:
        return list(np.percentile(values, [2.5, 97.5], method="weibull"))

    for metric, language, drawn_values in (
        ("cost", "ell_Grek", costs),
        ("compression_rate_line", None, rates),
    ):
        found = row(scores, "three", metric, language)
        assert [found["low"], found["high"]] == pytest.approx(ends(drawn_values))
    gap = scores.difference("three", "two", "compression_rate_line")
    assert [gap.low, gap.high] == pytest.approx(ends(gaps))
    gap = scores.difference("three", "two", "gini")
    assert gap.value == pytest.approx(scores.value("three", "gini") - scores.value("two", "gini"))  # type: ignore[operator]


def test_values_are_these_to_the_last_bit() -> None:
    """However intervals are made: the values are the metrics of the costs as they were measured."""
    scores = scores_of(baseline="two")
    for metric, three, two in (
        ("cost", 6.066666666666667, 9.133333333333335),
        ("compression_rate_line", 0.16483516483516483, 0.10948905109489052),
        ("fertility", 2.3947368421052633, 3.6052631578947367),
        ("gini", 0.1831501831501834, 0.18004866180048662),
        ("worst_best", 2.1363636363636362, 2.121212121212121),
        ("premium", 1.378787878787879, 1.3838383838383839),
        ("change", -0.33828197945845, 0.0),
        ("change_worst", -0.3285714285714285, 0.0),
    ):
        assert (scores.value("three", metric), scores.value("two", metric)) == (three, two), metric


def test_every_interval_holds_its_value() -> None:
    words = [
        MorphWord(f"{stem}{end}", (stem, end))
        for stem in ("cat", "house", "read", "run")
        for end in ("s", "er")
    ]
    gold = {
        "eng_Latn": words,
        "ell_Grek": [MorphWord("γάτες", ("γάτ", "ες")), MorphWord("δύο", ("δύο",))] * 9,
    }
    scores = scores_of({"three": Chunks(3), "two": Chunks(2), "one": Chunks(1)}, baseline="two", morph=gold)
    for table in (scores.table, scores.differences, scores.groups):
        rows = [one for one in table.to_pylist() if one["low"] is not None]
        assert {"cost", "gini", "worst_best"} <= {one["metric"] for one in rows}
        for one in rows:
            assert one["low"] <= one["value"] <= one["high"], one
    assert {"change_worst", "morph_recall", "morph_recall_paper"} <= {
        one["metric"] for one in scores.table.to_pylist() if one["low"] is not None
    }


def test_all_pairs_are_corrected_together() -> None:
    scores = scores_of({"three": Chunks(3), "two": Chunks(2), "one": Chunks(1), "same": Chunks(1)})
    rows = [one for one in scores.differences.to_pylist() if one["metric"] == "cost"]
    everywhere = [one for one in rows if one["language"] is None]
    assert len(everywhere) == 6
    assert [one["p_holm"] for one in everywhere] == holm([one["p"] for one in everywhere])
    each = [one for one in rows if one["language"] is not None]
    assert len(each) == 18
    assert [one["p_holm"] for one in each] == holm([one["p"] for one in each])
    equals = [one for one in everywhere if {one["tokenizer"], one["against"]} == {"one", "same"}]
    assert [one["p"] for one in equals] == [1.0]
    clear = [one["p"] for one in everywhere if one not in equals]
    assert all(0 <= p < 0.05 for p in clear)
    none = scores_of(resamples=0).differences.to_pylist()
    assert {(one["p"], one["p_holm"]) for one in none} == {(None, None)}


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


def test_evaluating_on_the_dev_text_is_said_loudly() -> None:
    assert issubclass(LeakWarning, PairityWarning)
    steered = Chunks(3, "steered", dev=TEXTS["ell_Grek"])
    with pytest.warns(LeakWarning, match="steered is evaluated on its own dev text: ell_Grek"):
        scores = scores_of([steered, Chunks(2, "clean")])
    assert scores.leaks == {"steered": ["ell_Grek"]}
    assert row(scores, "steered", "cost", "ell_Grek")["note"] == "evaluated on its own dev text"
    assert row(scores, "steered", "cost", "eng_Latn")["note"] is None
    assert "its own dev text (1 of 3 languages)" in str(row(scores, "steered", "gini")["note"])
    assert row(scores, "clean", "gini")["note"] is None
    assert scores.warnings == [
        "steered is evaluated on its own dev text: ell_Grek. Its scores there say nothing about new text."
    ]
    notes = {r["note"] for r in scores.differences.to_pylist()}
    assert notes == {"steered: evaluated on its own dev text"}
    notes = {
        (r["tokenizer"], r["group"]): r["note"] for r in scores.groups.to_pylist() if r["metric"] == "cost"
    }
    assert notes["steered", "medium"] == "evaluated on its own dev text (1 of 2 languages)"
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


def test_progress_is_reported() -> None:
    seen: list[tuple[str, int, int]] = []
    scores_of(progress=lambda text, done, steps: seen.append((text, done, steps)))
    assert seen[0] == ("three: eng_Latn", 0, 12)
    assert [done for _, done, _ in seen] == [0, 1, 2, 3, 4, 5, 6, 9]
    assert seen[-2][0] == "three: resampling"


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
