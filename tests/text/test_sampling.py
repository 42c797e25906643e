"""How much each language gives: worked out by hand."""

import random

import pytest

from pairity.errors import PairityError
from pairity.text.sampling import Amount, Draw, parse_budget, targets

TWO = {"a": Amount(lines=1000, bytes=16_000, words=4000), "b": Amount(lines=10, bytes=160, words=40)}


def test_natural_takes_all_and_balanced_as_much_as_the_smallest_has() -> None:
    assert targets(Draw(), TWO) == {"a": 16_000, "b": 160}
    assert targets(Draw(balance="balanced"), TWO) == {"a": 160, "b": 160}
    assert targets(Draw(balance="balanced", by="lines"), TWO) == {"a": 10, "b": 10}, "the paper's documents"
    odd = {"a": Amount(3, 1_000_003), "b": Amount(7, 777_777), "c": Amount(5, 999_999_999_989)}
    assert set(targets(Draw(balance="balanced"), odd).values()) == {777_777}, "no rounding"


def test_a_temperature_goes_by_words_bytes_or_lines() -> None:
    half = Draw(balance="temperature", temperature=2.0)
    assert targets(half, TWO) == {"a": 1600, "b": 160}, "4000 and 40 words: their roots are as 10 to 1"
    long_words = TWO | {"b": Amount(lines=10, bytes=1600, words=40)}
    assert targets(half, long_words) == {"a": 1600, "b": 1600}
    by_bytes = Draw(balance="temperature", temperature=2.0, by="bytes")
    assert targets(by_bytes, TWO | {"b": Amount(1, 160_000)}) == {
        "a": 16_000,
        "b": 50_596,
    }, "roots of 1 to 10: 3.16"
    by_lines = Draw(balance="temperature", temperature=2.0, by="lines")
    assert targets(by_lines, TWO) == {"a": 100, "b": 10}
    assert targets(Draw(balance="temperature", temperature=1.0), TWO) == {"a": 16_000, "b": 160}


def test_a_weight_multiplies_what_a_language_gives_compared_with_others() -> None:
    assert targets(Draw(weights={"a": 0.25}), TWO) == {"a": 4000, "b": 160}
    assert targets(Draw(weights={"a": 4}), TWO) == {"a": 16_000, "b": 40}
    assert targets(Draw(balance="balanced", weights={"a": 3}), TWO) == {"a": 480, "b": 160}
    assert targets(Draw(weights={"a": 3}, budget=7000), TWO | {"b": Amount(9, 16_000)}) == {
        "a": 5250,
        "b": 1750,
    }


def test_max_bytes_is_as_if_there_were_no_more() -> None:
    assert targets(Draw(max_bytes=1000), TWO) == {"a": 1000, "b": 160}
    assert targets(Draw(max_bytes={"b": 100}), TWO) == {"a": 16_000, "b": 100}
    assert targets(Draw(max_bytes={"*": "1KB", "a": "2KB"}), TWO) == {"a": 2000, "b": 160}
    assert targets(Draw(max_bytes={"b": 100}, balance="balanced"), TWO) == {"a": 100, "b": 100}
    assert targets(Draw(max_bytes={"a": 4000}, balance="temperature", temperature=2.0), TWO) == {
        "a": 800,
        "b": 160,
    }, "1000 and 40 words: as 5 to 1"
    assert targets(Draw(balance=1000), TWO) == targets(Draw(max_bytes=1000), TWO)


def test_a_budget_is_filled_and_who_has_too_little_gives_all() -> None:
    assert targets(Draw(budget=1616), TWO) == {"a": 1600, "b": 16}, "a tenth of each"
    assert targets(Draw(budget=100, balance="balanced"), TWO) == {"a": 50, "b": 50}
    assert targets(Draw(budget=1000, balance="balanced"), TWO) == {"a": 840, "b": 160}
    assert targets(Draw(budget="110 lines", balance="balanced"), TWO) == {"a": 100, "b": 10}
    assert targets(Draw(budget="101 lines"), TWO) == {"a": 100, "b": 1}
    assert targets(Draw(budget=10**9, weights={"a": 0.1}), TWO) == {"a": 16_000, "b": 160}, "all there is"
    assert targets(Draw(budget=1000, balance="balanced", max_bytes={"a": 100}), TWO) == {"a": 100, "b": 160}


@pytest.mark.parametrize("seed", range(20))
def test_a_budget_is_met_but_for_a_byte_a_language_in_any_order(seed: int) -> None:
    chance = random.Random(seed)
    names = [f"l{number}" for number in range(30)]
    amounts = {name: Amount(9, chance.randrange(1, 10**9), chance.randrange(1, 10**8)) for name in names}
    weights = {name: chance.random() + 0.01 for name in chance.sample(names, 9)}
    budget = chance.randrange(1, sum(amount.bytes for amount in amounts.values()))
    wanted = Draw(balance="temperature", temperature=3.3, weights=weights, budget=budget)
    found = targets(wanted, amounts)
    assert 0 <= budget - sum(found.values()) < 30
    assert all(found[name] <= amounts[name].bytes for name in names)
    chance.shuffle(names)
    assert targets(wanted, {name: amounts[name] for name in names}) == found


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        ("10GB", (10**10, "bytes")),
        (5000, (5000, "bytes")),
        ("2M lines", (2_000_000, "lines")),
        ("300lines", (300, "lines")),
        ("1.5KiB", (1536, "bytes")),
    ],
)
def test_a_budget_is_in_bytes_or_lines(written: str, amount: tuple[int, str]) -> None:
    assert parse_budget(written) == amount


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"sample": 0}, "sample is 0: give a share"),
        ({"sample": 1.5}, "sample is 1.5"),
        ({"sample": True}, "sample is True"),
        ({"balance": "even"}, "balance is 'even': choose"),
        ({"balance": 0}, "balance is 0"),
        ({"balance": "temperature"}, "temperature = 3.3"),
        ({"temperature": 3.3}, "but balance is 'natural'"),
        ({"balance": "temperature", "temperature": 0.5}, "at least 1"),
        ({"balance": "temperature", "temperature": float("inf")}, "give a number"),
        ({"balance": "balanced", "by": "tokens"}, "by is 'tokens': choose"),
        ({"by": "lines"}, "neither balanced nor sampled by temperature"),
        ({"weights": {"a": -1}}, "weight is -1 for 'a': give a number above 0"),
        ({"weights": {"a": 0}}, "To leave out a language"),
        ({"weights": {"a": float("nan")}}, "weight is nan for 'a'"),
        ({"max_bytes": 0}, "max_bytes is 0 for '\\*': give at least 1"),
        ({"max_bytes": {"a": "much"}}, "max_bytes is 'much', which is not a size: write a number"),
        ({"budget": "0GB"}, "budget is '0GB': give at least one line"),
        ({"budget": "2GB lines"}, "write '2GB' for bytes, or '2M lines'"),
        ({"budget": "ten"}, "budget is 'ten', which is not a size"),
        ({"budget": "ten lines"}, "budget is 'ten', which is not a size"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict, match: str) -> None:
    with pytest.raises(PairityError, match=match):
        Draw(**settings)


def test_languages_that_are_not_there_are_named() -> None:
    with pytest.raises(PairityError, match=r"weight is given for 'eng', .*Did you mean eng_Latn\?"):
        Draw(weights={"eng": 2}).check_languages(["eng_Latn", "tam_Taml"])
    with pytest.raises(PairityError, match=r"max_bytes is given for 'xyz'"):
        Draw(max_bytes={"*": 5, "xyz": 3}).check_languages(["eng_Latn"])


def test_what_is_described_says_no_more_than_was_asked() -> None:
    assert Draw(seed=4).takes_all
    assert Draw().describe() == {}
    four = {"sample": 0.5, "balance": "natural", "temperature": None, "seed": 3}
    assert Draw(sample=0.5, seed=3).describe() == four
    assert Draw(sample=0.5, seed=3, budget="2M lines").describe() == four | {"budget": "2M lines"}
