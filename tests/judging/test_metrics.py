"""Every metric against a computation of another kind, hand-made cases, and the properties it must have."""

import csv
import doctest
import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from pairity.errors import PairityError
from pairity.judging import metrics
from pairity.judging.metrics import bootstrap, compression, fairness, morphology
from pairity.judging.metrics.bootstrap import Bootstrap, interval

settings.register_profile("patient", deadline=None)  # a busy machine is no error
settings.load_profile("patient")

costs = st.lists(st.floats(0.5, 1e4), min_size=2, max_size=40)
counts = st.lists(st.integers(1, 10_000), min_size=1, max_size=60)


class Pieces:
    """A tokenizer that cuts every line at the places a test asks for: the cut marks are part of its table."""

    name = "pieces"
    vocab_size = 1000

    def __init__(self, table: dict[str, list[bytes | None]]) -> None:
        self.table = table
        self.ids: dict[bytes | None, int] = {}

    def encode_lines(self, lines):  # type: ignore[no-untyped-def]
        rows = [[self.ids.setdefault(p, len(self.ids)) for p in self.table[line]] for line in lines]
        offsets = np.cumsum([0, *map(len, rows)])
        return np.array([token for row in rows for token in row], dtype=np.uint32), offsets

    def token_bytes(self, token: int) -> bytes | None:
        return list(self.ids)[token]

    def decode(self, ids):  # type: ignore[no-untyped-def]
        return b"".join(self.token_bytes(token) or b"" for token in ids)


# ------------------------------------------------------------------------------------------- fairness


def gini_by_pairs(values: list[float]) -> float:
    """Half the mean absolute difference of all pairs, relative to the mean: another form of the same
    number.
    """
    c = np.asarray(values)
    return float(np.abs(c[:, None] - c[None, :]).mean() / (2 * c.mean()))


@given(costs)
def test_gini_is_half_the_relative_mean_difference(values: list[float]) -> None:
    assert float(metrics.gini(values)) == pytest.approx(gini_by_pairs(values), abs=1e-12)


@given(costs, st.floats(0.01, 100))
def test_gini_is_scale_free_and_ignores_order(values: list[float], scale: float) -> None:
    scaled = [value * scale for value in reversed(values)]
    assert float(metrics.gini(scaled)) == pytest.approx(float(metrics.gini(values)), abs=1e-9)


@given(st.floats(0.1, 1e6), st.integers(2, 60))
def test_gini_of_equal_costs_is_exactly_zero(value: float, n: int) -> None:
    assert float(metrics.gini([value] * n)) == 0.0


def test_gini_known_answers() -> None:
    assert float(metrics.gini([1, 3])) == pytest.approx(0.25)
    assert float(metrics.gini([0, 0, 0, 1])) == pytest.approx(0.75)  # all on one of n: 1 - 1/n


def test_gini_goes_along_the_last_axis() -> None:
    table = np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 5.0]])
    assert metrics.gini(table) == pytest.approx([gini_by_pairs([1, 3, 2]), 0.0])


def test_gini_of_one_language_is_an_error_and_not_zero() -> None:
    with pytest.raises(PairityError, match="at least 2, got 1"):
        metrics.gini([40.0])
    with pytest.raises(PairityError, match="at least 2"):
        metrics.worst_best([40.0])
    with pytest.raises(PairityError, match="negative"):
        metrics.gini([1.0, -1.0])


@given(costs)
def test_gini_is_twice_the_area_above_the_lorenz_curve(values: list[float]) -> None:
    share, cost = metrics.lorenz(values)
    area = integrate.trapezoid(cost, share)
    assert float(metrics.gini(values)) == pytest.approx(1 - 2 * area, abs=1e-9)
    assert cost[0] == 0
    assert cost[-1] == pytest.approx(1)
    assert np.all(np.diff(cost) >= -1e-12)
    assert np.all(cost <= share + 1e-12)


def test_lorenz_needs_a_cost() -> None:
    for nothing in ([], [0.0, 0.0]):
        with pytest.raises(PairityError, match="Lorenz"):
            metrics.lorenz(nothing)


def test_worst_best_premium_and_change() -> None:
    table = {"a": 20.0, "b": 50.0, "c": 40.0, "d": 50.0}
    assert float(metrics.worst_best(list(table.values()))) == 2.5
    assert metrics.worst_language(table) == "b"  # the first of equals
    assert metrics.best_language(table) == "a"
    assert metrics.premium([20.0, 50.0], 20.0) == pytest.approx([1.0, 2.5])
    assert metrics.change([18.0, 50.0], [20.0, 40.0]) == pytest.approx([-0.1, 0.25])


# ---------------------------------------------------------------------------------------- compression


def test_rates_are_ratios_of_sums_and_not_means_of_ratios() -> None:
    tokens, lines = np.array([10, 40]), np.array([1, 1])
    assert float(metrics.compression_rate(lines.sum(), tokens.sum())) == pytest.approx(2 / 50)
    assert float(metrics.compression_rate(lines.sum(), tokens.sum())) != pytest.approx(
        np.mean(lines / tokens)
    )
    assert float(metrics.cost(tokens.sum(), lines.sum())) == 25
    assert float(metrics.fertility(50, 20)) == 2.5
    assert float(metrics.floor(30, 10)) == 3
    assert float(metrics.cost_over_floor(60, 30)) == 2
    assert math.isnan(float(metrics.cost(5, 0)))  # nothing counted is not zero


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40)), min_size=1, max_size=30))
def test_fertility_paper_is_the_mean_over_lines_with_words(rows: list[tuple[int, int]]) -> None:
    ratios = [tokens / words for tokens, words in rows if words]
    found = metrics.fertility_paper([t for t, _ in rows], [w for _, w in rows])
    assert found == pytest.approx(sum(ratios) / len(ratios)) if ratios else math.isnan(found)


def test_bits_per_byte() -> None:
    assert metrics.bits_per_byte(nats=math.log(2) * 80, text_bytes=10) == pytest.approx(8)
    with pytest.raises(PairityError, match="needs text"):
        metrics.bits_per_byte(1.0, 0)


def test_units_of_scripts_with_combining_marks() -> None:
    units = metrics.count_units(["नमस्ते दुनिया!", "don't", "ภาษาไทย", "a\u2028b", ""])
    assert units.words.tolist() == [3, 3, 1, 2, 0]  # a mark belongs to its word; "!" is one of its own
    assert units.blank_words.tolist() == [2, 1, 1, 2, 0]
    assert units.chars.tolist() == [len("नमस्ते दुनिया!"), 5, 7, 3, 0]
    assert units.bytes.tolist() == [len("नमस्ते दुनिया!".encode()), 5, 21, 5, 0]
    with pytest.raises(PairityError, match=r"tam_Taml, line 2: not Unicode text"):
        metrics.count_units(["fine", "\ud800"], "tam_Taml")


# --------------------------------------------------------------------------- vocabulary and entropy


@given(counts, st.integers(60, 500))
def test_vocabulary_metrics_against_a_plain_loop(frequencies: list[int], size: int) -> None:
    tokens = [token for token, count in enumerate(frequencies) for _ in range(count)][:20_000]
    counted = Counter(tokens)
    ranks = {token: rank for rank, (token, _) in enumerate(counted.most_common(), start=1)}
    values = list(counted.values())
    assert metrics.average_token_rank(values) == pytest.approx(sum(ranks[t] for t in tokens) / len(tokens))
    assert metrics.type_token_ratio(values) == pytest.approx(len(set(tokens)) / len(tokens))
    assert metrics.vocabulary_utilisation(values, size) == pytest.approx(len(set(tokens)) / size)


@given(counts)
def test_entropies_against_scipy(frequencies: list[int]) -> None:
    p = np.array(frequencies) / sum(frequencies)
    assert metrics.renyi_entropy(frequencies, 1) == pytest.approx(stats.entropy(p, base=2), abs=1e-9)
    assert metrics.renyi_entropy(frequencies, 0) == pytest.approx(math.log2(len(p)), abs=1e-9)
    assert metrics.renyi_entropy(frequencies, 2) == pytest.approx(-math.log2(np.sum(p * p)), abs=1e-9)
    assert metrics.renyi_entropy(frequencies, math.inf) == pytest.approx(-math.log2(p.max()), abs=1e-9)


@given(counts)
def test_entropy_is_continuous_at_one_and_falls_to_the_min_entropy(frequencies: list[int]) -> None:
    near = [metrics.renyi_entropy(frequencies, order) for order in (1 - 1e-7, 1, 1 + 1e-7)]
    assert near == pytest.approx([near[1]] * 3, abs=1e-4)
    orders = [0, 0.5, 1, 2, 2.5, 10, 1000, math.inf]
    bits = [metrics.renyi_entropy(frequencies, order) for order in orders]
    assert all(high >= low - 1e-9 for high, low in itertools.pairwise(bits))
    assert bits[-2] == pytest.approx(bits[-1], rel=0.01, abs=0.01)


def test_entropy_of_equal_counts_is_the_logarithm_for_every_order() -> None:
    for order in (0, 1, 2.5, math.inf):
        assert metrics.renyi_entropy([7] * 32, order) == pytest.approx(5)
        assert metrics.renyi_entropy([7], order) == 0
    assert metrics.renyi_efficiency([7] * 32, 2.5, vocab_size=1024) == pytest.approx(0.5)
    assert metrics.renyi_efficiency_paper([7] * 32 + [0] * 5, 2.5) == pytest.approx(1)
    assert math.isnan(metrics.renyi_efficiency_paper([3], 2.5))
    assert math.isnan(metrics.renyi_entropy([], 2))
    with pytest.raises(PairityError, match="order"):
        metrics.renyi_entropy([1], -1)


# ------------------------------------------------------------------------------------------ integrity


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
    found = metrics.utf8_integrity(ids, offsets, lambda token: table[token])
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
    if sum(all_of):
        assert found.split_share() == pytest.approx(sum(split) / sum(all_of))
        assert sum(all_of[:1]) == 0 or found.split_share(1) == 0


def test_a_character_is_not_split_across_lines_and_unknown_tokens_are_counted() -> None:
    table = [b"\xc3", b"\xa9", None]
    found = metrics.utf8_integrity(
        np.array([0, 1, 2], dtype=np.uint32), np.array([0, 1, 2, 3]), table.__getitem__
    )
    assert found.split_characters.tolist() == [0, 0, 0, 0]
    assert (found.whole_tokens, found.unknown_tokens) == (0, 1)
    assert found.unknown_share() == pytest.approx(1 / 3)
    both = found + found
    assert both.tokens == 6
    assert both.whole_character_tokens() == 0


def test_integrity_of_no_tokens_is_undefined() -> None:
    found = metrics.utf8_integrity(np.zeros(0, dtype=np.uint32), np.array([0, 0]), lambda _: b"")
    assert math.isnan(found.whole_character_tokens())
    assert math.isnan(found.split_share(3))


def test_round_trip_of_text_and_of_bytes() -> None:
    lines = ["ab", "", "é"]
    ids, offsets = np.array([0, 1, 2], dtype=np.uint32), np.array([0, 2, 2, 3])
    text = metrics.round_trip(lines, ids, offsets, lambda t: "".join("abé"[i] for i in t))
    raw = metrics.round_trip(lines, ids, offsets, lambda t: b"".join([b"a", b"b", b"\xc3"][i] for i in t))
    assert text.tolist() == [True, True, True]
    assert raw.tolist() == [True, True, False]


# ----------------------------------------------------------------------------------------- MorphScore


@pytest.mark.parametrize(
    ("parts", "tokens", "expected"),
    [
        ("light|ed", "light|ed", (1, 1 / 2, 1)),
        ("light|ed", "lig|ht|ed", (1, 1 / 3, 1 / 2)),
        ("light|ed", "ligh|ted", (0, 0, 0)),
        ("light|ed", "lighted", (1, 1, 1)),
        ("un|light|ed", "un|light|ed", (1, 2 / 3, 1)),
        ("un|light|ed", "un|lighted", (0.5, 1 / 2, 1)),
        ("un|light|ed", "u|n|lighted", (0.5, 1 / 3, 1 / 2)),
        ("un|light|ed", "unl|ighted", (0, 0, 0)),
        ("light", "lig|ht", None),
        ("light", "light", (1, 1, 1)),
    ],
)
def test_word_scores_by_the_rules(parts: str, tokens: str, expected: tuple[float, ...] | None) -> None:
    found = metrics.word_scores(parts.split("|"), [token.encode() for token in tokens.split("|")])
    assert found == (None if expected is None else pytest.approx(expected))


WORDS = [
    metrics.MorphWord("lighted", ("light", "ed"), 3.0),
    metrics.MorphWord("cats", ("cat", "s"), 1.0),
    metrics.MorphWord("dogs", ("dog", "s"), 2.0),
]
CUTS: dict[str, list[bytes | None]] = {
    "lighted": [b"light", b"ed"],
    "cats": [b"cats"],
    "dogs": [b"do", b"gs"],
}


def test_morph_score_conventions_and_weights() -> None:
    own = metrics.morph_score(WORDS, Pieces(CUTS))
    assert (own.recall, own.precision, own.precision_corrected) == pytest.approx((3 / 5, 1.5 / 5, 3 / 5))
    assert (own.words, own.single_token_words, own.skipped_words) == (2, 1, 0)
    paper = metrics.morph_score(WORDS, Pieces(CUTS), exclude_single_token=False, weighted=False)
    assert (paper.recall, paper.precision) == pytest.approx((2 / 3, 1.5 / 3))
    assert paper.words == 3


def test_morph_boundaries_inside_a_character_hit_nothing() -> None:
    words = [metrics.MorphWord("éa", ("é", "a"))]
    assert metrics.morph_score(words, Pieces({"éa": [b"\xc3", b"\xa9a"]})).recall == 0
    assert metrics.morph_score(words, Pieces({"éa": [b"\xc3", b"\xa9", b"a"]})).recall == 1


def test_morph_aligns_what_tokenizers_do_to_words() -> None:
    words = [metrics.MorphWord("Cats", ("Cat", "s"))]
    for pieces in ([b" Cat", b"s"], [b" ", b"Cat", b"s"], [b"cat", b"s"]):  # a space in front; lower case
        found = metrics.morph_score(words, Pieces({"Cats": list(pieces)}))
        assert (found.recall, found.precision) == (1, 0.5), pieces
    for pieces in ([None], [b"C", b"s"], [b"\xff", b"Cats"]):  # unknown; letters lost
        found = metrics.morph_score(words, Pieces({"Cats": list(pieces)}))
        assert found.skipped_words == 1, pieces
        assert math.isnan(found.recall), pieces


def test_morph_macro_is_the_unweighted_mean_over_languages_with_data() -> None:
    one = metrics.MorphScore(0.5, 0.25, 0.5, 10, 0, 0)
    two = metrics.MorphScore(1.0, 0.75, 1.0, 1000, 0, 2)
    empty = metrics.MorphScore(math.nan, math.nan, math.nan, 0, 5, 0)
    found = morphology.macro([one, two, empty])
    assert (found.recall, found.precision, found.words, found.skipped_words) == (0.75, 0.5, 1010, 2)
    assert math.isnan(morphology.macro([empty]).recall)


def write_csv(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_read_morph_both_layouts(tmp_path: Path) -> None:
    v1 = [
        {"": "0", "full_word": "lighted", "pt1": "light", "rest": "ed"},
        {"": "1", "full_word": "x", "pt1": "渡", "rest": "ら"},
        {"": "2", "full_word": "one", "pt1": "one", "rest": ""},
    ]
    v2 = {"wordform": "Unlighted", "stem": "light", "preceding_part": "un", "following_part": "ed"}
    write_csv(tmp_path / "english_morph_data.csv", v1)
    write_csv(tmp_path / "tur_Latn.csv", [v2 | {"word_freq_norm": "0.25"}])
    pq.write_table(
        pa.Table.from_pylist([v2 | {"preceding_part": None, "wordform": "lighted"}]),
        tmp_path / "zulu_data.parquet",
    )
    found = metrics.read_morph(tmp_path)
    assert found["eng_Latn"] == [
        metrics.MorphWord("lighted", ("light", "ed")),
        metrics.MorphWord("one", ("one",)),
    ]
    assert found["tur_Latn"] == [metrics.MorphWord("Unlighted", ("un", "light", "ed"), 0.25)]
    assert found["zul_Latn"] == [metrics.MorphWord("lighted", ("light", "ed"))]
    assert (
        metrics.read_morph({"eng_Latn": tmp_path / "english_morph_data.csv"})["eng_Latn"] == found["eng_Latn"]
    )


def test_read_morph_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match="no MorphScore data"):
        metrics.read_morph(tmp_path)
    bad = write_csv(tmp_path / "eng_Latn.csv", [{"word": "a", "cut": "b"}])
    with pytest.raises(PairityError, match="full_word, pt1, rest"):
        metrics.read_morph_file(bad)
    with pytest.raises(PairityError, match="no row whose parts"):
        metrics.read_morph_file(write_csv(bad, [{"full_word": "abc", "pt1": "x", "rest": "y"}]))
    row = {"wordform": "ab", "stem": "a", "preceding_part": "", "following_part": "b", "frequency": "often"}
    with pytest.raises(PairityError, match="'often' is not a number"):
        metrics.read_morph_file(write_csv(bad, [row]))
    write_csv(tmp_path / "klingon_morph_data.csv", [{"full_word": "ab", "pt1": "a", "rest": "b"}])
    write_csv(bad, [{"full_word": "ab", "pt1": "a", "rest": "b"}])
    with pytest.raises(PairityError, match="which language is this"):
        metrics.read_morph(tmp_path)


def test_read_morph_of_all_languages(shared: Path) -> None:
    found = metrics.read_morph(shared / "data" / "morph")
    assert len(found) == 22
    assert len(found["eng_Latn"]) == 2000
    assert len(found["guj_Gujr"]) == 547 - 191  # rows that were shifted against each other in that file


# ------------------------------------------------------------------------------------------ bootstrap


def test_bootstrap_sums_against_a_plain_loop() -> None:
    columns = np.random.default_rng(1).integers(0, 50, (13, 3)).astype(float)
    found = Bootstrap(20, seed=7).sums(columns)
    assert found.shape == (21, 3)
    assert found[0].tolist() == columns.sum(axis=0).tolist()
    draws = np.random.default_rng([7, 0])
    for row in found[1:]:
        lines = draws.integers(13, size=13).tolist()
        assert row.tolist() == [sum(columns[line, c] for line in lines) for c in range(3)]


def test_bootstrap_is_the_same_for_every_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.arange(40.0).reshape(20, 2)
    whole = Bootstrap(50, seed=3).sums(columns)
    monkeypatch.setattr(bootstrap, "_BLOCK_BYTES", 20 * 8 * 3)
    drawing = Bootstrap(50, seed=3)
    assert np.array_equal(drawing.sums(columns), whole)
    assert np.array_equal(drawing.sums(columns), whole)  # a second call sees the same lines
    assert not np.array_equal(drawing.sums(columns, stream=1)[1:], whole[1:])


def test_interval_of_a_mean_matches_the_normal_approximation() -> None:
    values = np.random.default_rng(0).normal(100, 10, 2000)
    sums = Bootstrap(2000, seed=0).sums(np.stack([values, np.ones(2000)], axis=1))
    value, low, high = interval(sums[:, 0] / sums[:, 1])
    error = values.std() / math.sqrt(2000)
    assert float(value) == pytest.approx(values.mean())
    assert [float(low), float(high)] == pytest.approx(
        [value - 1.96 * error, value + 1.96 * error], abs=0.1 * error
    )


def test_no_resamples_no_interval() -> None:
    value, low, high = interval(Bootstrap(0, seed=0).sums(np.ones((4, 1))))
    assert value.tolist() == [4]
    assert np.isnan(low).all()
    assert np.isnan(high).all()
    with pytest.raises(PairityError, match="resamples"):
        Bootstrap(-1, seed=0)


# ------------------------------------------------------------------------------------------ catalogue


def test_the_catalogue_is_consistent() -> None:
    assert set(metrics.FAMILIES) == {metric.family for metric in metrics.METRICS.values()}
    assert all(name == metric.name and metric.title for name, metric in metrics.METRICS.items())


@pytest.mark.parametrize("module", [compression, fairness, morphology])
def test_examples_in_docstrings(module) -> None:  # type: ignore[no-untyped-def]
    assert doctest.testmod(module).failed == 0
