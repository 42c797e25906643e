"""95% intervals of what compares languages cover the truth, also near zero, where plain ones never do."""

import importlib.util
import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pairity.judging.metrics.bootstrap import Bootstrap, interval
from pairity.judging.metrics.comparisons import holm, p_value
from pairity.judging.metrics.corrected import holding, noisy, shared_noise, standard_errors, widest
from pairity.judging.metrics.fairness import gini, worst_best
from pairity.judging.metrics.shapes import ALSO_OF_EXTREMES, SHAPES, Fits, Shape, fitted
from pairity.judging.metrics.shapes import drawn as drawn_from

_path = Path(__file__).resolve().parents[2] / "docs" / "coverage.py"
_spec = importlib.util.spec_from_file_location("docs_coverage", _path)
assert _spec is not None
assert _spec.loader is not None
coverage = importlib.util.module_from_spec(_spec)
sys.modules["docs_coverage"] = coverage  # its dataclass looks itself up there
_spec.loader.exec_module(coverage)


@pytest.mark.parametrize(
    ("languages", "lines", "true", "shape", "corpora"),
    [
        (30, 40, 0.002, "alike", 120),
        (30, 300, 0.01, "alike", 120),
        (204, 40, 0.01, "alike", 40),
        (60, 100, 0.01, "some far off", 120),
        (204, 300, 0.01, "two groups", 40),
        (30, 300, 0.01, "three groups", 120),
        (30, 300, 0.002, coverage.ANY, 120),
    ],
)
def test_intervals_cover_the_truth(languages: int, lines: int, true: float, shape: str, corpora: int) -> None:
    cell = coverage.Cell(languages, lines, true, shape, corpora=corpora)
    found = coverage.simulate(cell)
    # From 93% to 97%, give or take three standard errors of so many corpora.
    chance = 3 * math.sqrt(0.95 * 0.05 / corpora)
    for name in ("Gini", "worst/best"):
        assert 0.93 - chance <= found[name]["corrected"] <= 0.97 + chance
        assert found[name]["holds"] == 1, "an interval lies beside its estimate"
        assert found[name]["bias"] > 0
    for other in ("percentile", "BCa"):
        assert found["Gini"][other] < 0.8, "then there would be no need for ours"


def test_intervals_of_differences_cover_the_truth_where_plain_ones_do_not() -> None:
    cell = coverage.Cell(30, 300, 0.01, second=coverage.HALF_AS_UNEQUAL, corpora=60)
    found = coverage.simulate_difference(cell)
    chance = 3 * math.sqrt(0.95 * 0.05 / cell.corpora)
    for name in ("Gini", "worst/best"):
        assert found[name]["corrected"] >= 0.93 - chance
    assert found["Gini"]["percentile"] < 0.8


def test_what_is_simulated_is_what_is_recorded() -> None:
    for name, cells in (("coverage", coverage.RECORDED), ("coverage-differences", coverage.DIFFERENCES)):
        rows = json.loads((_path.parent / "results" / f"{name}.json").read_text(encoding="utf-8"))["rows"]
        wanted = [coverage.labels(cell) for cell in cells]
        assert [row[: len(wanted[0])] for row in rows] == wanted


def test_recorded_intervals_cover_the_truth_where_the_shape_is_drawn_by_lot() -> None:
    rows = json.loads((_path.parent / "results" / "coverage.json").read_text(encoding="utf-8"))["rows"]
    by_lot = 0
    for cell, row in zip(coverage.RECORDED, rows, strict=True):
        gini, worst = row[-2:]
        if cell.shape == coverage.ANY:
            by_lot += 1
            assert cell.corpora >= 1000
            assert 0.93 <= round(min(gini, worst), 2) <= round(max(gini, worst), 2) <= 0.97, row
        else:  # what the page says of single shapes
            assert 0.92 <= gini <= 0.98, row
            assert 0.92 <= worst <= 0.99, row
    assert by_lot == 8


def costs_of(tokens: np.ndarray, resamples: int = 100) -> np.ndarray:
    return Bootstrap(resamples, seed=1).sums(tokens) / len(tokens)


def deviations(tokens: np.ndarray, costs: np.ndarray) -> Iterator[np.ndarray]:
    return iter((tokens / costs[0] - 1).T)


def test_far_from_zero_the_correction_is_small() -> None:
    tokens = coverage.corpus(np.array([10.0, 20.0, 30.0, 60.0]), 500, np.random.default_rng(0))
    costs = costs_of(tokens, 500)
    ours = noisy(costs, partial(deviations, tokens, costs))
    for statistic in (gini, worst_best):
        plain = statistic(costs)
        value, low, high = interval(ours.samples(statistic, of_extremes=statistic is worst_best))
        assert value == plain[0]
        assert [low, high] == pytest.approx(list(np.percentile(plain[1:], [2.5, 97.5])), rel=0.03)


def test_noise_is_shared_as_far_as_the_lines_show_it() -> None:
    random = np.random.default_rng(4)
    apart = 10 + random.normal(size=(60, 40))
    together = apart + 3 * random.normal(size=(60, 1)) * np.repeat([1.0, -1.0], 20)
    shares = []
    for tokens in (apart, together):
        costs = costs_of(tokens, 400)
        own = costs[1:] / costs[0] - 1
        own -= own.mean(axis=1, keepdims=True)
        shares.append(shared_noise(own, partial(deviations, tokens, costs)))
    assert shares[0] < 0.4
    assert shares[1] > 0.95


def test_lines_longer_in_all_languages_alike_are_no_noise_of_the_gini_coefficient() -> None:
    random = np.random.default_rng(5)
    lengths = np.exp(random.normal(0, 0.4, (40, 1)))
    tokens = lengths * (1 + 0.15 * random.normal(size=(40, 200)))
    costs = costs_of(tokens, 400)
    ours = noisy(costs, partial(deviations, tokens, costs))
    assert ours.noise is not None
    assert ours.errors is not None
    of_own_noise = gini(1 + random.normal(size=(400, 200)) * ours.errors / costs[0])
    assert gini(1 + ours.noise).std() == pytest.approx(of_own_noise.std(), rel=0.25)


def test_standard_errors_are_right_on_average_and_shrunk_by_what_is_chance() -> None:
    random = np.random.default_rng(6)
    own = np.repeat([0.1, 0.2], 100)
    ratios, apart = [], []
    for lines in (20, 2000):
        lengths = np.exp(random.normal(0, 0.4, (lines, 1)))
        tokens = lengths * (1 + own * random.normal(size=(lines, 200)))
        errors = standard_errors(partial(deviations, tokens, costs_of(tokens, 20)))
        # What the lengths are is known; the noise of a mean then is the noise of a line times this.
        expected = own * np.sqrt((lengths**2).sum()) / lengths.sum()
        ratios.append((errors**2).mean() / (expected**2).mean())
        apart.append(errors[100:].mean() / errors[:100].mean())
    assert ratios == pytest.approx([1, 1], abs=0.05)
    assert apart[0] < apart[1] == pytest.approx(2, abs=0.05)


def far_off(random: np.random.Generator) -> np.ndarray:
    """100 languages that cost the same, but for 5 that cost twice as much, seen with noise of size 1."""
    return np.where(np.arange(100) < 5, 60.0, 30.0) + random.normal(size=100)


def test_draws_are_without_noise_and_leave_what_is_far_off() -> None:
    random = np.random.default_rng(2)
    drawn = Fits.of(far_off(random), np.ones(100)).draws(random.normal(size=(300, 100)), random)
    assert drawn.shape == (300, 100)
    assert drawn[:, :5].mean() == pytest.approx(60, abs=1.5)
    inner = np.median(drawn[:, 5:].std(axis=1))
    assert inner < 0.6, "what is seen has noise of size 1 in it, and a resample of it 1.4"
    assert (drawn[:, 5:].std(axis=1) == 0).any(), "all of it may be noise"


def test_draws_are_the_resamples_where_noise_is_small() -> None:
    random = np.random.default_rng(3)
    costs = 30 + 10 * random.normal(size=40)
    noise = 0.01 * random.normal(size=(50, 40))
    fits = Fits.of(costs, np.full(40, 0.01))
    for drawn in (fits.draws(noise, random), *fits.draws_of_each(noise, random)):
        assert drawn == pytest.approx(costs + noise, abs=0.005)


def test_of_a_normal_spread_of_costs_its_size_is_found() -> None:
    random = np.random.default_rng(8)
    costs = 30 + np.sqrt(2) * random.normal(size=400)  # as much noise as inequality
    drawn = Fits.of(costs, np.ones(400)).draws(random.normal(size=(300, 400)), random)
    spread = drawn.std(axis=1)
    assert spread.mean() == pytest.approx(1, abs=0.15)
    assert 0.02 < spread.std() < 0.12


@pytest.mark.parametrize(
    ("true", "expected"),
    [
        (np.zeros(90), Shape(1, True)),
        (np.repeat([-4.0, 4.0], 45), Shape(2, True)),
        (np.concatenate([np.zeros(80), np.linspace(-40, 40, 10)]), Shape(2, False)),
        (np.repeat([-6.0, 0.0, 6.0], 30), Shape(3, True)),
        (np.concatenate([np.zeros(80), np.linspace(-40, 40, 10)]), Shape(2, False, same_mean=True)),
        (np.concatenate([np.zeros(40), 5 + np.linspace(-3, 3, 40), 30 * np.arange(1, 11)]), Shape(3, False)),
    ],
)
def test_each_shape_is_found_where_it_is_right(true: np.ndarray, expected: Shape) -> None:
    costs = 50 + true + np.random.default_rng(7).normal(size=90)
    among = (*SHAPES, *ALSO_OF_EXTREMES) if expected in ALSO_OF_EXTREMES else SHAPES
    likelihood = {shape: fitted(shape, costs, np.ones(90))[0] for shape in among}
    assert max(among, key=lambda shape: likelihood[shape] - 1.5 * shape.parameters) == expected


def test_groups_have_variances_of_their_own_only_where_the_shape_says_so() -> None:
    random = np.random.default_rng(12)
    costs = 50 + np.repeat([-9.0, 9.0], 45) + np.repeat([0.1, 3.0], 45) * random.normal(size=90)
    same, own = (fitted(Shape(2, each), costs, np.full(90, 0.01))[1].variances[0] for each in (True, False))
    assert same[0] == same[1] == pytest.approx(4.5, rel=0.3)
    assert sorted(own) == pytest.approx([0, 9], abs=2.5)


def test_groups_with_the_same_mean_have_one_centre_and_two_widths() -> None:
    random = np.random.default_rng(11)
    shape = Shape(2, False, same_mean=True)
    far = np.array([-40, -30, -25, -20, -10, 10, 20, 25, 30, 40])
    costs = 50 + np.concatenate([np.zeros(90), far]) + random.normal(size=100)
    _, fit = fitted(shape, costs, np.ones(100))
    assert fit.means[0] == pytest.approx([50, 50], abs=1)
    assert fit.means[0, 0] == fit.means[0, 1]
    assert sorted(np.sqrt(fit.variances[0])) == pytest.approx([0.4, 25], abs=5)
    noise = random.normal(size=(300, 100))
    seen = drawn_from(shape, fit, costs, np.ones(100), noise, random.permutation(noise), random)
    assert np.abs(seen.mean(axis=0) - costs)[90:].max() < 0.4, "what is far off is not drawn in"
    assert seen[:, :90].std(axis=1).mean() < 0.7, "what is alike has its noise taken off"


@pytest.mark.parametrize("languages", [2, 3, 4])
def test_few_languages_have_draws(languages: int) -> None:
    random = np.random.default_rng(languages)
    fits = Fits.of(np.arange(1.0, languages + 1), np.ones(languages))
    noise = random.normal(size=(50, languages))
    for drawn in (fits.draws(noise, random), *fits.draws_of_each(noise, random)):
        assert drawn.shape == noise.shape
        assert np.all(np.isfinite(drawn))


def test_shapes_that_the_costs_refute_are_not_drawn_from() -> None:
    random = np.random.default_rng(9)
    noise = random.normal(size=(20, 90))
    apart = Fits.of(50 + np.repeat([-6.0, 0.0, 6.0], 30) + random.normal(size=90), np.ones(90))
    assert len(apart.draws_of_each(noise, random)) == 3, "three groups, alike inside or not, or four"
    alike = Fits.of(50 + random.normal(size=90), np.ones(90))
    assert len(alike.draws_of_each(noise, random)) == len(SHAPES) + len(ALSO_OF_EXTREMES)


def test_the_widest_interval_holds_all() -> None:
    random = np.random.default_rng(10)
    low, high = (np.concatenate([[3.0], random.normal(mean, 1, 999)]) for mean in (0, 4))
    value, start, end = interval(widest([low, high]))
    assert value == 3
    assert (start, end) == (interval(low)[1], interval(high)[2])


def test_the_lower_tail_misses_what_the_upper_cannot() -> None:
    truths = np.arange(1.0, 1000.0)[:, None]  # the k-th of 999 is at k / 1000

    def only(costs: np.ndarray) -> np.ndarray:
        return np.asarray(costs[..., 0])

    def tails(value: float, noise: list[float], of_the_rest: float = 1.0) -> tuple[float, float]:
        samples = np.concatenate([[value], truths[:, 0]])
        _, low, high = interval(holding(only, samples, truths, np.array(noise)[:, None], of_the_rest))
        return low, high

    # Noise never lowers the value: no truth above it is missed, and the lower tail has all of the 5%.
    assert tails(2000, [1.1] * 100) == pytest.approx((50, 2000), abs=0.1)
    assert tails(900, [1.1] * 100) == pytest.approx((50, 975), abs=0.1)
    # It does so once in a hundred times.
    assert tails(2000, [0.9] + [1.1] * 99) == pytest.approx((40, 2000), abs=0.1)
    # Half of the rest is kept back.
    assert tails(2000, [1.1] * 100, 0.5) == pytest.approx((37.5, 2000), abs=0.1)
    assert tails(2000, [0.9] + [1.1] * 99, 0.5) == pytest.approx((32.5, 2000), abs=0.1)
    # It does so half of the time: nothing is to be made up for.
    assert tails(500, [0.9, 1.1] * 50) == pytest.approx((25, 975), abs=0.1)
    # The value is the lowest.
    assert tails(0, [1.1] * 100) == pytest.approx((0, 975), abs=0.1)


@pytest.mark.parametrize(
    "tokens",
    [
        np.full((10, 3), 4.0),  # no noise
        np.array([[0.0, 3.0], [0.0, 5.0], [0.0, 4.0]]),  # a language that costs nothing
        np.array([[3.0, 3.0], [5.0, 4.0]]),  # two lines
        np.array([[3.0], [5.0], [4.0]]),  # one language
    ],
)
def test_what_cannot_be_corrected_is_as_it_was(tokens: np.ndarray) -> None:
    costs = costs_of(tokens)
    ours = noisy(costs, partial(deviations, tokens, costs))

    def largest(values: np.ndarray) -> np.ndarray:
        return np.asarray(values.max(axis=-1))

    samples = ours.samples(largest)
    assert len(samples) == 101
    assert samples[0] == costs[0].max()
    if ours.noise is None:
        assert np.array_equal(samples, largest(costs))


@pytest.mark.parametrize(
    "tokens",
    [
        np.array([[10.0, 8.0, 6.0], [3.0, 4.0, 1.0], [1.0, 1.0, 2.0]]),
        np.exp(np.random.default_rng(0).normal(size=(10, 30))),
    ],
)
def test_noise_larger_than_a_cost_makes_no_cost_negative(tokens: np.ndarray) -> None:
    costs = costs_of(tokens, 200)
    ours = noisy(costs, partial(deviations, tokens, costs))
    assert ours.noise is not None
    for statistic in (gini, worst_best):
        for of_extremes in (False, True):
            value, low, high = interval(ours.samples(statistic, of_extremes))
            assert 0 <= low <= value <= high < math.inf


@pytest.mark.parametrize("lines", [2, 3])
def test_of_very_few_lines_no_language_seems_to_have_less_noise_than_others(lines: int) -> None:
    tokens = 1 + 0.1 * np.random.default_rng(lines).normal(size=(lines, 30))
    errors = standard_errors(partial(deviations, tokens, costs_of(tokens, 20)))
    assert errors.max() < 1.5 * errors.min()


def test_p_values() -> None:
    assert p_value(np.array([1.0, *np.full(90, 1.0), *np.full(9, -1.0)])) == pytest.approx(0.2)
    assert p_value(np.array([0.0, *np.zeros(99)])) == 1
    normal = np.random.default_rng(0).normal(10, 1, 999)
    assert 0 < p_value(np.array([10.0, *normal])) < 1e-20
    assert p_value(np.array([3.0, *np.random.default_rng(0).uniform(1, 5, 99)])) == pytest.approx(
        0.01, abs=0.02
    )
    assert math.isnan(p_value(np.array([1.0])))
    assert math.isnan(p_value(np.array([1.0, math.nan])))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
    found = holm([0.01, math.nan])
    assert found[0] == 0.01
    assert math.isnan(found[1])
