"""95% intervals of what compares languages cover the truth, also near zero, where plain ones never do."""

import importlib.util
import math
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pairity.judging.metrics.bootstrap import Bootstrap, interval
from pairity.judging.metrics.comparisons import holm, p_value
from pairity.judging.metrics.corrected import noisy, shared_noise, standard_errors
from pairity.judging.metrics.fairness import gini, worst_best

_path = Path(__file__).resolve().parents[2] / "docs" / "coverage.py"
_spec = importlib.util.spec_from_file_location("docs_coverage", _path)
assert _spec is not None
assert _spec.loader is not None
coverage = importlib.util.module_from_spec(_spec)
sys.modules["docs_coverage"] = coverage  # its dataclass looks itself up there
_spec.loader.exec_module(coverage)


@pytest.mark.parametrize(
    ("languages", "lines", "true", "corpora"),
    [(30, 40, 0.002, 120), (30, 300, 0.01, 120), (204, 40, 0.01, 25)],
)
def test_intervals_cover_the_truth(languages: int, lines: int, true: float, corpora: int) -> None:
    cell = coverage.Cell(languages, lines, true, corpora=corpora)
    found = coverage.simulate(cell)
    # From 93% to 97%, give or take three standard errors of so many corpora.
    chance = 3 * math.sqrt(0.95 * 0.05 / corpora)
    for name in ("Gini", "worst/best"):
        assert 0.93 - chance <= found[name]["corrected"] <= 0.97 + chance
        assert found[name]["holds"] == 1, "an interval lies beside its estimate"
        assert found[name]["bias"] > 0
    for other in ("percentile", "BCa"):
        assert found["Gini"][other] < 0.8, "then there would be no need for ours"


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
        value, low, high = interval(ours.samples(statistic))
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
