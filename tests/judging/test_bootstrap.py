"""The resampled lines: the same for all, whatever the size of a block."""

import math

import numpy as np
import pytest

from pairity.errors import PairityError
from pairity.judging.evaluation import evaluate
from pairity.judging.metrics import bootstrap
from pairity.judging.metrics.bootstrap import Bootstrap, interval


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
    assert value == pytest.approx(values.mean())
    assert [low, high] == pytest.approx([value - 1.96 * error, value + 1.96 * error], abs=0.1 * error)


def test_no_resamples_no_interval() -> None:
    value, low, high = interval(Bootstrap(0, seed=0).sums(np.ones((4, 1)))[:, 0])
    assert value == 4
    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize("resamples", [-1, 1, 19])
def test_too_few_resamples_for_an_interval(resamples: int) -> None:
    said = f"resamples is {resamples}: give at least 20 for 95% intervals, such as 1000, or 0 for none"
    with pytest.raises(PairityError, match=said):
        Bootstrap(resamples, seed=0)
    with pytest.raises(PairityError, match=said):
        evaluate("no tokenizer", "no text", resamples=resamples)


def test_an_interval_holds_its_value() -> None:
    drawn = np.arange(1.0, 1000.0)  # the k-th of 999 is at k / 1000
    assert interval(np.concatenate([[500.0], drawn])) == pytest.approx((500, 25, 975))
    assert interval(np.concatenate([[2000.0], drawn])) == pytest.approx((2000, 25, 2000))
    assert interval(np.concatenate([[-3.0], drawn])) == pytest.approx((-3, -3, 975))


def test_resamples_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "BLOCK_BYTES", 20 * 8 * 50)
    drawing = Bootstrap(50, seed=3)
    columns = np.arange(40.0).reshape(20, 2)
    first = drawing.sums(columns, stream=1)
    for stream in range(2, 12):
        drawing.sums(columns, stream)
    assert sum(block.nbytes for kept in drawing._kept.values() for block in kept) <= 4 * 20 * 8 * 50
    assert np.array_equal(drawing.sums(columns, stream=1), first)
