"""Every metric against a computation of another kind, hand-made cases, and the properties it must have."""

import doctest
import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

import metrics as metrics_page
from pairity.errors import PairityError
from pairity.judging import metrics as catalogue
from pairity.judging.metrics import FAMILIES, METRICS, fairness, morphology
from pairity.judging.metrics.compression import (
    compression_rate_line,
    cost,
    cost_over_floor,
    fertility,
    fertility_paper,
    floor,
)
from pairity.judging.metrics.entropy import renyi_efficiency, renyi_efficiency_paper, renyi_entropy
from pairity.judging.metrics.fairness import (
    best_language,
    change,
    change_worst,
    gini,
    lorenz,
    premium,
    worst_best,
    worst_language,
)
from pairity.judging.metrics.integrity import (
    split_characters,
    unknown_tokens,
    utf8_integrity,
    whole_character_tokens,
)
from pairity.judging.metrics.lines import Lines, comes_back, failed_lines, round_trip
from pairity.judging.metrics.sums import Sums, line_table
from pairity.judging.metrics.units import Units, count_units
from pairity.judging.metrics.vocabulary import (
    Frequencies,
    average_token_rank,
    type_token_ratio,
    vocabulary_utilisation,
)

settings.register_profile("patient", deadline=None)  # a busy machine is no error

settings.load_profile("patient")

costs = st.lists(st.floats(0.5, 1e4), min_size=2, max_size=40)

counts = st.lists(st.integers(1, 10_000), min_size=1, max_size=60)


def gini_by_pairs(values: list[float]) -> float:
    """Half the mean absolute difference of all pairs, relative to the mean: another form of the same
    number.
    """
    c = np.asarray(values)
    return float(np.abs(c[:, None] - c[None, :]).mean() / (2 * c.mean()))


@given(costs)
def test_gini_is_half_the_relative_mean_difference(values: list[float]) -> None:
    assert float(gini(values)) == pytest.approx(gini_by_pairs(values), abs=1e-12)


@given(costs, st.floats(0.01, 100))
def test_gini_is_scale_free_and_ignores_order(values: list[float], scale: float) -> None:
    scaled = [value * scale for value in reversed(values)]
    assert float(gini(scaled)) == pytest.approx(float(gini(values)), abs=1e-9)


@given(st.floats(0.1, 1e6), st.integers(2, 60))
def test_gini_of_equal_costs_is_exactly_zero(value: float, n: int) -> None:
    assert float(gini([value] * n)) == 0.0


def test_gini_known_answers() -> None:
    assert float(gini([1, 3])) == pytest.approx(0.25)
    assert float(gini([0, 0, 0, 1])) == pytest.approx(0.75)  # all on one of n: 1 - 1/n


def test_gini_goes_along_the_last_axis() -> None:
    table = np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 5.0]])
    assert gini(table) == pytest.approx([gini_by_pairs([1, 3, 2]), 0.0])


def test_gini_of_one_language_is_an_error_and_not_zero() -> None:
    with pytest.raises(PairityError, match="at least 2, got 1"):
        gini([40.0])
    with pytest.raises(PairityError, match="worst/best compares languages: it needs at least 2, got 1"):
        worst_best([40.0])
    with pytest.raises(PairityError, match="cannot be negative"):
        gini([1.0, -1.0])


@given(costs)
def test_gini_is_twice_the_area_above_the_lorenz_curve(values: list[float]) -> None:
    share, cost = lorenz(values)
    area = integrate.trapezoid(cost, share)
    assert float(gini(values)) == pytest.approx(1 - 2 * area, abs=1e-9)
    assert cost[0] == 0
    assert cost[-1] == pytest.approx(1)
    assert np.all(np.diff(cost) >= -1e-12)
    assert np.all(cost <= share + 1e-12)


def test_lorenz_needs_a_cost() -> None:
    for nothing in ([], [0.0, 0.0]):
        with pytest.raises(PairityError, match="needs the cost of at least one language"):
            lorenz(nothing)


def test_worst_best_premium_and_change() -> None:
    table = {"a": 20.0, "b": 50.0, "c": 40.0, "d": 50.0}
    assert float(worst_best(list(table.values()))) == 2.5
    assert worst_language(table) == "b"  # the first of equals
    assert best_language(table) == "a"
    assert premium([20.0, 50.0], 20.0) == pytest.approx([1.0, 2.5])
    assert change([18.0, 50.0], [20.0, 40.0]) == pytest.approx([-0.1, 0.25])
    assert float(change_worst([18.0, 50.0], [20.0, 40.0])) == pytest.approx(0.25)


def summed(tokens: list[int], words: list[int], pretokens: list[int] | None = None) -> Sums:
    """Sums over lines with these numbers of tokens, words (however they are cut) and pre-tokens."""
    units = Units(*(np.array(words, dtype=np.int64) for _ in range(4)))
    before = None if pretokens is None else np.array(pretokens, dtype=np.int64)
    lengths = np.array(tokens, dtype=np.int64)
    table = line_table(units, lengths, np.ones(len(tokens), dtype=bool), before)
    return Sums(["all"], *map(np.asarray, table.sum(axis=0)))


def test_rates_are_ratios_of_sums_and_not_means_of_ratios() -> None:
    sums = summed(tokens=[10, 40], words=[5, 15], pretokens=[8, 12])
    assert float(compression_rate_line(sums)) == pytest.approx(2 / 50)
    assert float(compression_rate_line(sums)) != pytest.approx(np.mean([1 / 10, 1 / 40]))
    assert float(cost(sums)) == 25
    assert float(fertility(sums)) == 2.5
    assert float(floor(sums)) == 10
    assert float(cost_over_floor(sums)) == 2.5
    nothing = summed(tokens=[], words=[], pretokens=[])
    for metric in (cost, compression_rate_line, fertility, fertility_paper, floor, cost_over_floor):
        assert math.isnan(float(metric(nothing))), metric  # nothing counted is not zero
    assert math.isnan(float(floor(summed(tokens=[10, 40], words=[5, 15]))))  # no pre-tokenizer to be seen


def test_lines_that_are_not_kept_count_nowhere() -> None:
    units = Units(*(np.array([4, 6]) for _ in range(4)))
    kept = line_table(units, np.array([2, 3]), np.array([True, False]), np.array([1, 1]))
    assert kept.tolist() == [[2, 1, 4, 4, 4, 0.5, 1, 1], [0] * 8]


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40)), min_size=1, max_size=30))
def test_fertility_paper_is_the_mean_over_lines_with_words(rows: list[tuple[int, int]]) -> None:
    ratios = [tokens / words for tokens, words in rows if words]
    found = float(fertility_paper(summed([t for t, _ in rows], [w for _, w in rows])))
    expected = sum(ratios) / len(ratios) if ratios else math.nan
    assert found == pytest.approx(expected, nan_ok=True)


def test_units_of_scripts_with_combining_marks() -> None:
    units = count_units(["नमस्ते दुनिया!", "don't", "ภาษาไทย", "a\u2028b", ""])
    assert units.words.tolist() == [3, 3, 1, 2, 0]  # a mark belongs to its word; "!" is one of its own
    assert units.split_words.tolist() == [2, 1, 1, 2, 0]
    assert units.chars.tolist() == [len("नमस्ते दुनिया!"), 5, 7, 3, 0]
    assert units.bytes.tolist() == [len("नमस्ते दुनिया!".encode()), 5, 21, 5, 0]
    with pytest.raises(PairityError, match=r"tam_Taml, line 2: not Unicode text"):
        count_units(["fine", "\ud800"], "tam_Taml")


@given(counts, st.integers(60, 500))
def test_vocabulary_metrics_against_a_plain_loop(frequencies: list[int], size: int) -> None:
    tokens = [token for token, count in enumerate(frequencies) for _ in range(count)][:20_000]
    counted = Counter(tokens)
    ranks = {token: rank for rank, (token, _) in enumerate(counted.most_common(), start=1)}
    seen = Frequencies(list(counted.values()), size)
    assert average_token_rank(seen) == pytest.approx(sum(ranks[t] for t in tokens) / len(tokens))
    assert type_token_ratio(seen) == pytest.approx(len(set(tokens)) / len(tokens))
    assert vocabulary_utilisation(seen) == pytest.approx(len(set(tokens)) / size)


def test_vocabulary_metrics_of_no_text_are_undefined() -> None:
    nothing = Frequencies([], 1000)
    assert vocabulary_utilisation(nothing) == 0  # none of the vocabulary is used, which is known
    for metric in (type_token_ratio, average_token_rank):
        assert math.isnan(metric(nothing)), metric


@given(counts)
def test_entropies_against_scipy(frequencies: list[int]) -> None:
    p = np.array(frequencies) / sum(frequencies)
    seen = Frequencies(frequencies, 1000)
    assert renyi_entropy(seen, 1) == pytest.approx(stats.entropy(p, base=2), abs=1e-9)
    assert renyi_entropy(seen, 0) == pytest.approx(math.log2(len(p)), abs=1e-9)
    assert renyi_entropy(seen, 2) == pytest.approx(-math.log2(np.sum(p * p)), abs=1e-9)
    assert renyi_entropy(seen, math.inf) == pytest.approx(-math.log2(p.max()), abs=1e-9)


@given(counts)
def test_entropy_is_continuous_at_one_and_falls_to_the_min_entropy(frequencies: list[int]) -> None:
    seen = Frequencies(frequencies, 1000)
    near = [renyi_entropy(seen, order) for order in (1 - 1e-7, 1, 1 + 1e-7)]
    assert near == pytest.approx([near[1]] * 3, abs=1e-4)
    orders = [0, 0.5, 1, 2, 2.5, 10, 1000, math.inf]
    bits = [renyi_entropy(seen, order) for order in orders]
    assert all(high >= low - 1e-9 for high, low in itertools.pairwise(bits))
    assert bits[-2] == pytest.approx(bits[-1], rel=0.01, abs=0.01)


def test_entropy_of_equal_counts_is_the_logarithm_for_every_order() -> None:
    for order in (0, 1, 2.5, math.inf):
        assert renyi_entropy(Frequencies([7] * 32, 1024), order) == pytest.approx(5)
        assert renyi_entropy(Frequencies([7], 1024), order) == 0
    assert renyi_efficiency(Frequencies([7] * 32, 1024), 2.5) == pytest.approx(0.5)
    assert renyi_efficiency_paper(Frequencies([7] * 32 + [0] * 5, 1024), 2.5) == pytest.approx(1)
    assert math.isnan(renyi_efficiency_paper(Frequencies([3], 1024), 2.5))
    assert math.isnan(renyi_entropy(Frequencies([], 1024), 2))
    with pytest.raises(PairityError, match="the order of a Rényi entropy must be 0 or more, got -1"):
        renyi_entropy(Frequencies([1], 1024), -1)


def cut(text: bytes, places: set[int]) -> list[bytes]:
    edges = [0, *sorted(p for p in places if 0 < p < len(text)), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges)]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.text("aé漢😀ß ", max_size=12), st.sets(st.integers(1, 40))), max_size=6))
def test_utf8_integrity_against_a_walk_over_the_characters(rows: list[tuple[str, set[int]]]) -> None:
    pieces = [[piece for piece in cut(text.encode(), places) if piece] for text, places in rows]
    table = sorted({piece for row in pieces for piece in row})
    ids = np.array([table.index(piece) for row in pieces for piece in row], dtype=np.uint32)
    offsets = np.cumsum([0, *map(len, pieces)])
    found = utf8_integrity(ids, offsets, lambda token: table[token])
    whole, all_of, split = 0, [0] * 4, [0] * 4
    for (text, _), row in zip(rows, pieces, strict=True):
        edges = set(np.cumsum([len(piece) for piece in row]).tolist())
        whole += sum(piece.decode(errors="ignore").encode() == piece for piece in row)
        at = 0
        for character in text:
            width = len(character.encode())
            all_of[width - 1] += 1
            split[width - 1] += any(at + inside in edges for inside in range(1, width))
            at += width
    assert found.whole_tokens == whole
    assert found.tokens == len(ids)
    assert found.unknown_tokens == 0
    assert found.characters.tolist() == all_of
    assert found.split_characters.tolist() == split
    assert (split_characters(found).part, split_characters(found).whole) == (sum(split), sum(all_of))
    for width in (1, 2, 3, 4):
        share = split_characters(found, width)
        assert (share.part, share.whole) == (split[width - 1], all_of[width - 1])


def test_a_character_is_not_split_across_lines_and_unknown_tokens_are_counted() -> None:
    table = [b"\xc3", b"\xa9", None]
    found = utf8_integrity(np.array([0, 1, 2], dtype=np.uint32), np.array([0, 1, 2, 3]), table.__getitem__)
    assert found.split_characters.tolist() == [0, 0, 0, 0]
    assert (found.whole_tokens, found.unknown_tokens) == (0, 1)
    assert unknown_tokens(found).value == pytest.approx(1 / 3)
    both = found + found
    assert both.tokens == 6
    assert whole_character_tokens(both).value == 0


def test_integrity_of_no_tokens_is_undefined() -> None:
    found = utf8_integrity(np.zeros(0, dtype=np.uint32), np.array([0, 0]), lambda _: b"")
    assert math.isnan(whole_character_tokens(found).value)
    assert math.isnan(split_characters(found, 3).value)
    assert split_characters(found, 3).nothing == "the text has no such characters"


def test_round_trip_of_text_and_of_bytes() -> None:
    lines = ["ab", "", "é"]
    ids, offsets = np.array([0, 1, 2], dtype=np.uint32), np.array([0, 2, 2, 3])
    text, _ = comes_back(lines, ids, offsets, lambda t: "".join("abé"[i] for i in t))
    raw, lost = comes_back(lines, ids, offsets, lambda t: b"".join([b"a", b"b", b"\xc3"][i] for i in t))
    assert text.tolist() == [True, True, True]
    assert raw.tolist() == [True, True, False]
    assert lost.tolist() == [False, False, True]
    became = Lines(failed=np.array([False, False, True]), came_back=raw)
    assert round_trip(became) == pytest.approx(2 / 3)
    assert failed_lines(became) == 1
    assert math.isnan(round_trip(Lines(failed=became.failed, came_back=None)))


def test_another_normal_form_loses_no_text() -> None:
    ids, offsets = np.array([0, 1], dtype=np.uint32), np.array([0, 1, 2])
    same, lost = comes_back(["e\u0301", "E"], ids, offsets, lambda t: "\u00e9" if t == [0] else "e")
    assert same.tolist() == [False, False]
    assert lost.tolist() == [False, True]


def test_no_two_entries_share_a_name_or_a_title() -> None:
    lists = [value for name, value in vars(catalogue).items() if name.isupper() and isinstance(value, list)]
    names = [metric.name for entries in lists for metric in entries]
    assert sorted(names) == sorted(METRICS)  # each entry once, none lost
    for field in ("title", "short_title"):
        texts = [getattr(metric, field) for metric in METRICS.values()]
        assert len(set(texts)) == len(texts)
    assert set(FAMILIES) == {metric.family for metric in METRICS.values()}


def test_the_papers_columns_are_numbered_without_gaps() -> None:
    columns = sorted(metric.paper_column for metric in METRICS.values() if metric.paper_column)
    assert columns == list(range(1, 10))


def test_the_page_of_metrics_is_up_to_date() -> None:
    assert metrics_page.main(["--check"]) == 0, "run: python docs/metrics.py"
    assert all(f"| `{name}` |" in metrics_page.page() for name in METRICS)


@pytest.mark.parametrize("module", [fairness, morphology])
def test_examples_in_docstrings(module) -> None:  # type: ignore[no-untyped-def]
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
