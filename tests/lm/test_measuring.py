"""Recipes and tables of bits: all that needs no torch."""

import math

import numpy as np
import pyarrow.parquet as pq
import pytest

import pairity
from pairity.lm.measuring import TABLE, Comparison, Estimate, Scored, measure, write_table
from pairity.lm.recipe import Recipe, sizes

# ---------------------------------------------------------------- recipes


def test_the_names_of_sizes_are_their_parameters():
    for name in sizes():
        number = float(name[:-1]) * {"M": 1e6, "B": 1e9}[name[-1]]
        assert Recipe(size=name).shape(32_768).parameters == pytest.approx(number, rel=0.06), name


def test_the_learning_rate_rises_stays_and_falls_by_the_root():
    recipe = Recipe(learning_rate=1.0, warmup=0.04)
    rates = [recipe.rate(step, 1000) for step in range(1000)]
    assert rates[0] == pytest.approx(1 / 40)
    assert rates[39:800] == [1.0] * 761
    assert rates[850] == pytest.approx(1 - math.sqrt(50 / 200))
    assert 0 < rates[-1] < 0.01


def test_steps_of_equal_bytes_and_of_equal_compute():
    assert Recipe(batch=2, context=10, epochs=1.5).steps(1000) == 75
    assert Recipe(batch=2, context=10, tokens=400).steps(1000) == 20
    with pytest.raises(pairity.PairityError, match="do not fill one batch"):
        Recipe(batch=64).steps(1000)


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": "7B"},
        {"batch": 0},
        {"epochs": 0},
        {"learning_rate": math.nan},
        {"decay": 0.95, "warmup": 0.1},
        {"precision": "fp8"},
        {"batch": 8, "micro_batch": 3},
    ],
)
def test_bad_recipes_are_refused(wrong):
    with pytest.raises(pairity.PairityError):
        Recipe(**wrong)


# ---------------------------------------------------------------- tables of bits


def scored(tokenizer: str, seed: int, add: float = 0.0, text: str = "parallel") -> Scored:
    random = np.random.default_rng(4)
    size = {
        "eng_Latn": random.integers(50, 90, 40).astype(float),
        "tam_Taml": random.integers(200, 300, 40) * 1.0,
    }
    bits = {language: 1.5 * one + random.normal(0, 5, 40) + add for language, one in size.items()}
    return Scored(f"{tokenizer}-{seed}", tokenizer, seed, text, bits, size, 1000, 4000)


def test_the_table_has_a_row_per_measure_and_language_and_one_for_all(tmp_path):
    table = measure([scored("classical", 1), scored("parity", 1, text="held-out")], resamples=200)
    assert set(table.schema) < set(TABLE)
    rows = table.to_pylist()
    assert [row["language"] for row in rows] == ["eng_Latn", "tam_Taml", None] * 3
    measures = ["bits_per_byte", "bits_per_line", "bits_per_byte"]
    assert [row["measure"] for row in rows[::3]] == measures, "lines compare on parallel text alone"
    one = scored("classical", 1)
    english = one.bits["eng_Latn"].sum() / one.bytes["eng_Latn"].sum()
    assert rows[0]["value"] == pytest.approx(english)
    assert rows[3]["value"] == pytest.approx(one.bits["eng_Latn"].mean())
    for row in rows:
        assert row["low"] < row["value"] < row["high"]
    assert rows[2]["value"] == pytest.approx((rows[0]["value"] + rows[1]["value"]) / 2)
    assert rows[2]["documents"] == 80
    write_table(table, tmp_path / "bits.parquet")
    assert pq.read_table(tmp_path / "bits.parquet").equals(table)
    write_table(table, tmp_path / "bits.csv")
    assert (tmp_path / "bits.csv").read_text().count("\n") == 10
    with pytest.raises(pairity.PairityError, match=r"\.parquet or \.csv"):
        write_table(table, tmp_path / "bits.xlsx")


def test_differences_are_paired_over_lines_and_seeds():
    models = [
        scored(name, seed, add) for name, add in (("classical", 0), ("parity", -3)) for seed in (1, 2, 3)
    ]
    found = Comparison(models, unit="line", resamples=200)
    mean = found.overall("parity", "mean", "classical")
    assert mean.value == pytest.approx(-3)
    assert mean.low == pytest.approx(-3)
    assert mean.high == pytest.approx(-3), "the same lines are drawn for both, so nothing else is left"
    assert mean.seeds == pytest.approx((-3, -3, -3))
    alone = found.overall("parity", "mean")
    assert alone.high - alone.low > 3
    costs = [one.mean() for one in models[0].bits.values()]
    assert found.overall("classical", "gini").value == pytest.approx(
        abs(costs[0] - costs[1]) / sum(costs) / 2
    )
    assert found.overall("classical", "spread").value == pytest.approx(np.std(costs))
    assert found.worst_language("parity") == "tam_Taml"
    with pytest.raises(pairity.PairityError, match="no seed in common"):
        Comparison([scored("a", 1), scored("b", 2)], unit="line").overall("a", "mean", "b")


def test_an_interval_is_over_lines_and_seeds():
    assert Estimate(1, 0, 3, (1.0,)).interval == (0, 3)
    low, high = Estimate(1, 1, 1, (0.0, 1.0, 2.0)).interval
    assert (low, high) == pytest.approx((1 - 4.303 / 3**0.5, 1 + 4.303 / 3**0.5))
    wide = Estimate(1, -2, 4, (0.0, 1.0, 2.0)).interval
    assert wide[0] < -2
    assert wide[1] > 4


def test_the_smallest_visible_difference():
    assert Estimate(0, -1.96, 1.96, (0.5,)).smallest_visible == pytest.approx(2.8)
    assert Estimate(0, 0, 0, (1.0, -1.0)).smallest_visible == pytest.approx(2.8)
