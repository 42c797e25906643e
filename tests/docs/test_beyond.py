"""The page about what goes beyond the paper: its tables come from the record, and so does what it says of them."""

import json
from itertools import product
from pathlib import Path
from statistics import fmean

import pytest

import beyond

SIZES, RESULTS = beyond.SIZES, Path(beyond.RECORD).parent
ROWS = beyond.read()


def rows_of(name: str, size: int, text: str = "devtest") -> list[beyond.Row]:
    return [row for row in ROWS if (row.name, row.size, row.text) == (name, size, text)]


def gini(name: str, size: int) -> float:
    return fmean(row.gini for row in rows_of(name, size))


def rate(name: str, size: int) -> float:
    return fmean(row.rate for row in rows_of(name, size))


def test_every_policy_was_judged_in_every_sample():
    found = {(row.name, row.size, row.text, row.seed) for row in ROWS}
    assert found == set(product(beyond.POLICIES, SIZES, beyond.TEXTS, beyond.SEEDS))
    assert len(ROWS) == len(found)
    assert all(len(row.cost_changes) == 30 for row in ROWS)


@pytest.mark.parametrize(("size", "text"), list(product(SIZES, beyond.TEXTS)))
def test_tables_are_those_of_the_record(size, text):
    written = json.loads((RESULTS / f"beyond-{text}-{size // 1000}k.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(beyond.table(ROWS, size, text)))


@pytest.mark.parametrize("size", SIZES)
def test_figures_are_those_of_the_record(size):
    drawn = beyond.HERE / f"beyond-{size // 1000}k.svg"
    assert drawn.read_text(encoding="utf-8") == beyond.figure(ROWS, size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["joint 0.7", "joint 0.5", "joint 0.5, superwords"])
def test_joint_makes_no_language_worse_off_than_parity(name, size):
    for row in rows_of(name, size):
        assert max(change for change, _, _ in row.cost_changes.values()) < 0


@pytest.mark.parametrize(("size", "gain"), [(32_000, 0.01), (128_000, 0.015)])
def test_superwords_compress_more_and_are_nearly_as_fair(size, gain):
    for row in rows_of("joint 0.5, superwords", size):
        assert row.rate_gain[1] > gain, "with its whole interval"
    assert gini("joint 0.5, superwords", size) - gini("parity", size) < 0.0004


@pytest.mark.parametrize("size", SIZES)
def test_fair_is_better_than_hybrids_on_both_axes(size):
    for hybrid in ("hybrid", "hybrid + window"):
        assert gini("fair 16", size) < gini(hybrid, size)
        assert rate("fair 16", size) > rate(hybrid, size)
    assert gini("fair 64", size) < gini("hybrid", size) / 2
    assert rate("fair 64", size) == pytest.approx(rate("hybrid", size), rel=0.001)
