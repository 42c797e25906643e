"""Every metric against a computation of another kind, hand-made cases, and the properties it must have."""

import csv
import doctest
import importlib.util
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
from pairity.judging import metrics as catalogue
from pairity.judging.metrics import FAMILIES, METRICS, bootstrap, fairness, morphology
from pairity.judging.metrics.bootstrap import Bootstrap, interval
from pairity.judging.metrics.compression import (
    bits_per_byte,
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
from pairity.judging.metrics.gold import MorphWord, read_morph, read_morph_file
from pairity.judging.metrics.integrity import (
    split_characters,
    unknown_tokens,
    utf8_integrity,
    whole_character_tokens,
)
from pairity.judging.metrics.lines import Lines, comes_back, failed_lines, round_trip
from pairity.judging.metrics.morphology import MorphScore, macro, morph_score, word_scores
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


# ---------------------------------------------------------------------------------------- compression


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


def test_bits_per_byte() -> None:
    assert bits_per_byte(nats=math.log(2) * 80, text_bytes=10) == pytest.approx(8)
    with pytest.raises(PairityError, match="needs text: it was given 0 bytes"):
        bits_per_byte(1.0, 0)


def test_units_of_scripts_with_combining_marks() -> None:
    units = count_units(["नमस्ते दुनिया!", "don't", "ภาษาไทย", "a\u2028b", ""])
    assert units.words.tolist() == [3, 3, 1, 2, 0]  # a mark belongs to its word; "!" is one of its own
    assert units.split_words.tolist() == [2, 1, 1, 2, 0]
    assert units.chars.tolist() == [len("नमस्ते दुनिया!"), 5, 7, 3, 0]
    assert units.bytes.tolist() == [len("नमस्ते दुनिया!".encode()), 5, 21, 5, 0]
    with pytest.raises(PairityError, match=r"tam_Taml, line 2: not Unicode text"):
        count_units(["fine", "\ud800"], "tam_Taml")


# --------------------------------------------------------------------------- vocabulary and entropy


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
    text = comes_back(lines, ids, offsets, lambda t: "".join("abé"[i] for i in t))
    raw = comes_back(lines, ids, offsets, lambda t: b"".join([b"a", b"b", b"\xc3"][i] for i in t))
    assert text.tolist() == [True, True, True]
    assert raw.tolist() == [True, True, False]
    became = Lines(failed=np.array([False, False, True]), came_back=raw)
    assert round_trip(became) == pytest.approx(2 / 3)
    assert failed_lines(became) == 1
    assert math.isnan(round_trip(Lines(failed=became.failed, came_back=None)))


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
    found = word_scores(parts.split("|"), [token.encode() for token in tokens.split("|")])
    assert found == (None if expected is None else pytest.approx(expected))


WORDS = [
    MorphWord("lighted", ("light", "ed"), 3.0),
    MorphWord("cats", ("cat", "s"), 1.0),
    MorphWord("dogs", ("dog", "s"), 2.0),
]
CUTS: dict[str, list[bytes | None]] = {
    "lighted": [b"light", b"ed"],
    "cats": [b"cats"],
    "dogs": [b"do", b"gs"],
}


def test_morph_score_conventions_and_weights() -> None:
    own = morph_score(WORDS, Pieces(CUTS))
    assert (own.recall, own.precision, own.precision_corrected) == pytest.approx((3 / 5, 1.5 / 5, 3 / 5))
    assert (own.words, own.single_token_words, own.skipped_words) == (2, 1, 0)
    paper = morph_score(WORDS, Pieces(CUTS), exclude_single_token=False, weighted=False)
    assert (paper.recall, paper.precision) == pytest.approx((2 / 3, 1.5 / 3))
    assert paper.words == 3


def test_morph_boundaries_inside_a_character_hit_nothing() -> None:
    words = [MorphWord("éa", ("é", "a"))]
    assert morph_score(words, Pieces({"éa": [b"\xc3", b"\xa9a"]})).recall == 0
    assert morph_score(words, Pieces({"éa": [b"\xc3", b"\xa9", b"a"]})).recall == 1


def test_morph_aligns_what_tokenizers_do_to_words() -> None:
    words = [MorphWord("Cats", ("Cat", "s"))]
    for pieces in ([b" Cat", b"s"], [b" ", b"Cat", b"s"], [b"cat", b"s"]):  # a space in front; lower case
        found = morph_score(words, Pieces({"Cats": list(pieces)}))
        assert (found.recall, found.precision) == (1, 0.5), pieces
    for pieces in ([None], [b"C", b"s"], [b"\xff", b"Cats"]):  # unknown; letters lost
        found = morph_score(words, Pieces({"Cats": list(pieces)}))
        assert found.skipped_words == 1, pieces
        assert math.isnan(found.recall), pieces


def test_morph_macro_is_the_unweighted_mean_over_languages_with_data() -> None:
    one = MorphScore(0.5, 0.25, 0.5, 10, 0, 0)
    two = MorphScore(1.0, 0.75, 1.0, 1000, 0, 2)
    empty = MorphScore(math.nan, math.nan, math.nan, 0, 5, 0)
    found = macro([one, two, empty])
    assert (found.recall, found.precision, found.words, found.skipped_words) == (0.75, 0.5, 1010, 2)
    assert math.isnan(macro([empty]).recall)


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
    found = read_morph(tmp_path)
    assert found["eng_Latn"] == [
        MorphWord("lighted", ("light", "ed")),
        MorphWord("one", ("one",)),
    ]
    assert found["tur_Latn"] == [MorphWord("Unlighted", ("un", "light", "ed"), 0.25)]
    assert found["zul_Latn"] == [MorphWord("lighted", ("light", "ed"))]
    assert read_morph({"eng_Latn": tmp_path / "english_morph_data.csv"})["eng_Latn"] == found["eng_Latn"]


def test_read_morph_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    with pytest.raises(
        PairityError, match=r"no MorphScore data in .*: it needs a folder with one \.csv or \.parquet"
    ):
        read_morph(tmp_path)
    bad = write_csv(tmp_path / "eng_Latn.csv", [{"word": "a", "cut": "b"}])
    with pytest.raises(PairityError, match=r"eng_Latn\.csv: this is not MorphScore data.* it has cut, word"):
        read_morph_file(bad)
    with pytest.raises(PairityError, match="no row whose parts"):
        read_morph_file(write_csv(bad, [{"full_word": "abc", "pt1": "x", "rest": "y"}]))
    row = {"wordform": "ab", "stem": "a", "preceding_part": "", "following_part": "b", "frequency": "often"}
    with pytest.raises(PairityError, match="'often' is not a number"):
        read_morph_file(write_csv(bad, [row]))
    write_csv(tmp_path / "klingon_morph_data.csv", [{"full_word": "ab", "pt1": "a", "rest": "b"}])
    write_csv(bad, [{"full_word": "ab", "pt1": "a", "rest": "b"}])
    with pytest.raises(PairityError, match="which language is this"):
        read_morph(tmp_path)


def test_read_morph_of_all_languages(shared: Path) -> None:
    found = read_morph(shared / "data" / "morph")
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
    monkeypatch.setattr(bootstrap, "BLOCK_BYTES", 20 * 8 * 3)
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
    with pytest.raises(PairityError, match="resamples must be 0 \\(no intervals\\) or more, got -1"):
        Bootstrap(-1, seed=0)


# ------------------------------------------------------------------------------------------ catalogue


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
    path = Path(__file__).resolve().parents[2] / "docs" / "metrics.py"
    spec = importlib.util.spec_from_file_location("docs_metrics", path)
    assert spec is not None
    assert spec.loader is not None
    page = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(page)
    assert page.main(["--check"]) == 0, "run: python docs/metrics.py"
    assert all(f"| `{name}` |" in page.page() for name in METRICS)


@pytest.mark.parametrize("module", [fairness, morphology])
def test_examples_in_docstrings(module) -> None:  # type: ignore[no-untyped-def]
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
