"""Fair: weights that are the same everywhere, a knob that does what it says, refusals, and the way through train."""

import itertools
from fractions import Fraction

import pytest

from pairity import Fair, PairityError, Parity, Tokenizer, reference, train
from pairity.reference import is_time_to_weigh, power

TRAIN = {
    "cheap": {b"water": 60, b"wafer": 50, b"later": 40, b"wet": 30},
    "dear": {b"quotation": 3, b"question": 4, b"quiz": 2, b"nation": 3},
}
UNITS = {"cheap": 100.0, "dear": 4.0}


def learned(beta, merges=6):
    return reference.train(TRAIN, dev=TRAIN, dev_units=UNITS, method=Fair(beta=beta), num_merges=merges)


def test_powers_are_the_same_everywhere():
    """The engine has the same numbers in src/fair/mod.rs."""
    powers = [(0.97, 150.0), (0.3, 0.1), (0.999, 1234.75), (0.5, 3.5), (0.2, 1e5), (0.7, 0.0)]
    assert [power(base, exponent).hex() for base, exponent in powers] == [
        "0x1.53ca22d9c463fp-7",
        "0x1.c5ec42b8b4a10p-1",
        "0x1.29b48d8527e46p-2",
        "0x1.6a09e667f3bcdp-4",
        "0x0.0p+0",
        "0x1.0000000000000p+0",
    ]
    for base, exponent in itertools.product((0.05, 0.5, 0.93, 1.0), (0.0, 0.25, 1.0, 7.3, 64.0)):
        assert power(base, exponent) == pytest.approx(base**exponent)


def test_weights_are_renewed_less_often_as_merges_change_less():
    assert all(map(is_time_to_weigh, range(2048)))
    spans = [(2048, 4096), (4096, 8192), (16384, 32768)]
    assert [sum(map(is_time_to_weigh, range(*span))) for span in spans] == [1024] * 3


def test_the_larger_beta_the_more_equal_the_costs():
    spread = [max(costs.values()) - min(costs.values()) for costs in (learned(b).costs[-1] for b in (0, 100))]
    assert spread[1] < spread[0]


def test_the_dearest_language_decides_when_beta_is_large():
    """Each has pairs of its own, so what is taken for one is of no use to the other."""
    words = {"a": {b"abcd": 5, b"ab": 2}, "b": {b"vwxyz": 4, b"vw": 1}}
    case = {"dev": words, "dev_units": {"a": 1.0, "b": 1.0}, "num_merges": 5}
    fair = reference.train(words, method=Fair(beta=1e6), **case)
    assert fair.merges == reference.train(words, method=Parity(), **case).merges
    assert fair.served == [None] * 5


@pytest.mark.parametrize("beta", [-1, float("nan"), float("inf"), "64", True, False])
def test_beta_is_a_finite_number(beta):
    with pytest.raises(PairityError, match=rf"beta is {beta}: it must be a finite number, 0 or more"):
        Fair(beta=beta)


def test_beta_becomes_a_float():
    for beta in (4, 4.0, Fraction(4)):
        assert repr(Fair(beta=beta)) == repr(Fair(beta=4.0))
    with pytest.raises(PairityError, match="beta is 0j"):
        Fair(beta=0j)  # type: ignore[arg-type]


def test_every_language_needs_a_measure():
    with pytest.raises(PairityError, match="there is nothing to compare 'cheap', 'dear' by"):
        train(TRAIN, num_merges=2, method=Fair(), progress=False)


def test_train_says_how_a_tokenizer_was_learned(tmp_path):
    lines = {"a": ["the thin thing", "this is it"], "b": ["shining string", "sing a song"]}
    text = {language: some * 20 for language, some in lines.items()}
    fair = train(
        text, dev=lines, num_merges=20, method=Fair(beta=4), pretokenizer="whitespace", progress=False
    )
    again = train(
        text, dev=lines, num_merges=20, method=Fair(beta=4), pretokenizer="whitespace", progress=False
    )
    assert fair.merges.tolist() == again.merges.tolist()
    assert len(fair.merges) == 20
    fair.save(tmp_path / "fair")
    method = Tokenizer.load(tmp_path / "fair").record["method"]
    assert method == {"name": "fair", "beta": 4, "ratios": None, "unit": "line", "on": "dev"}
