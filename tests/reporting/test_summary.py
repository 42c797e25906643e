"""What the scores say, in words and in written numbers."""

import re
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity.judging.scores import Scores
from pairity.reporting.cells import Cells
from pairity.reporting.numbers import Form, form_of, write
from pairity.reporting.summary import difference_rows, effect, summary, written_p
from report_page import number
from report_scores import scores


def known(values: dict[str, dict[str, float]], ginis: dict[str, float]) -> Scores:
    """Scores with these costs and Gini coefficients, and a `change` against the first tokenizer."""
    base = next(iter(values))
    rows = []
    for name, costs in values.items():
        rows.append({"tokenizer": name, "metric": "gini", "value": ginis[name]})
        for code, cost in costs.items():
            place = {"tokenizer": name, "language": code}
            rows.append({**place, "metric": "cost", "value": cost})
            rows.append({**place, "metric": "change", "value": cost / values[base][code] - 1})
    template = scores(resamples=0)
    full = [{key: row.get(key) for key in template.table.column_names} for row in rows]
    lengths = {name: dict.fromkeys(costs, None) for name, costs in values.items()}
    meta = {"baseline": base, "reference": "eng_Latn"}
    table = pa.Table.from_pylist(full, schema=template.table.schema)
    return Scores(table, template.differences.slice(0, 0), template.groups.slice(0, 0), lengths, {}, meta)  # type: ignore[arg-type]


def test_the_summary_in_words() -> None:
    costs = {"bpe": {"eng_Latn": 25.0, "tel_Telu": 100.0}, "parity": {"eng_Latn": 27.0, "tel_Telu": 48.0}}
    (verdict,) = summary(Cells(known(costs, {"bpe": 0.1, "parity": 0.003})))
    assert verdict.tokenizer == "parity"
    said = verdict.lead.replace("\u202f", "")
    assert said == "cuts inequality by 97% compared with bpe: Telugu pays 52% less, English pays 8% more"
    assert verdict.details[0] == "Gini 0.1000 → 0.0030."
    assert verdict.details[1] == "1 of 2 languages get cheaper, 1 more expensive."
    assert verdict.details[2] == "Tokens per line: Telugu 100.00 → 48.00, English 25.00 → 27.00."


def test_the_summary_where_things_get_worse_or_stay() -> None:
    costs = {"bpe": {"eng_Latn": 25.0}, "worse": {"eng_Latn": 50.0}, "same": {"eng_Latn": 25.0}}
    worse, same = summary(Cells(known(costs, {"bpe": 0.1, "worse": 0.2, "same": 0.1})))
    said = worse.lead.replace("\u202f", "")
    assert said == "raises inequality by 100% compared with bpe: English pays 100% more"
    assert same.lead == "is exactly as unequal as bpe"
    (zero,) = summary(Cells(known({"a": {"eng_Latn": 1.0}, "b": {"eng_Latn": 1.0}}, {"a": 0.0, "b": 0.1})))
    assert zero.lead == "is less equal than a"


def test_a_difference_whose_interval_holds_zero_is_no_verdict(judged: Scores) -> None:
    rows = judged.differences.to_pylist()
    for row in rows:
        row["low"], row["high"] = -1.0, 1.0
    unsure = replace(judged, differences=pa.Table.from_pylist(rows, schema=judged.differences.schema))
    (verdict,) = summary(Cells(unsure))
    assert verdict.lead.startswith("is about as unequal as bytes")
    assert {one.verdict for _, found in difference_rows(Cells(unsure)) for one in found.values()} == {
        "not clear"
    }


@pytest.mark.parametrize(
    ("new", "old", "low", "high", "said"),
    [
        (0.01, 0.2, -0.2, -0.18, "0.1900 lower (95% interval 0.1800 to 0.2000), a reduction of 95%"),
        (0.2, 0.1, 0.08, 0.11, "0.1000 higher (95% interval 0.0800 to 0.1100), an increase of 100%"),
        (0.2, 0.0, 0.18, 0.21, "0.2000 higher (95% interval 0.1800 to 0.2100)"),
        (
            0.09,
            0.1,
            -0.03,
            0.01,
            "0.0100 lower (95% interval −0.0300 to +0.0100, which includes 0), a reduction of 10%",
        ),
        (0.1, 0.1, -0.03, 0.01, "no difference (95% interval −0.0300 to +0.0100, which includes 0)"),
    ],
)
def test_the_size_of_an_effect_in_words(new: float, old: float, low: float, high: float, said: str) -> None:
    assert effect(new, old, low, high) == said


def test_the_summary_says_how_large_the_effect_is(judged: Scores) -> None:
    (verdict,) = summary(Cells(judged))
    assert re.fullmatch(
        r"Gini 0\.\d+ → 0\.\d+: 0\.\d+ lower \(95% interval 0\.\d+ to 0\.\d+\), a reduction of \d+%\.",
        verdict.details[0],
    )


def test_differences_carry_a_corrected_p_value(judged: Scores) -> None:
    rows = dict(difference_rows(Cells(judged)))
    p = judged.p_value("characters", "bytes", "gini")
    assert p is not None
    assert rows["gini"]["characters"].p == written_p(p)
    assert (written_p(0.0004), written_p(0.04)) == ("p < 0.001", "p = 0.040")
    assert {one.p for _, found in difference_rows(Cells(scores(resamples=0))) for one in found.values()} == {
        ""
    }


def test_differences_are_the_table_s_turned_to_the_baseline(judged: Scores) -> None:
    rows = dict(difference_rows(Cells(judged)))
    interval = judged.difference("characters", "bytes", "gini")
    cell = rows["gini"]["characters"].cell
    assert (cell.value, cell.low, cell.high) == (interval.value, interval.low, interval.high)
    assert interval.value < 0
    assert rows["gini"]["characters"].verdict == "clear"


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("gini", 0.06412, "0.0641"),
        ("cost", 1234.567, "1,234.57"),
        ("compression_rate_line", 0.027512, "0.02751"),
        ("vocabulary_utilisation", 0.6702, "67.0%"),
        ("change", -0.521, "−52.1%"),
        ("change", 0.08, "+8.0%"),
        ("change", 0.0, "0.0%"),
        ("round_trip", 1.0, "100.0%"),
        ("round_trip", 0.99996, "99.996%"),
        ("gini", 0.000004, "0.000004"),
        ("gini", None, "–"),
    ],
)
def test_how_numbers_are_written(metric: str, value: float | None, text: str) -> None:
    assert write(metric, value).replace("\u202f", "") == text


@given(st.floats(-1e6, 1e6), st.integers(0, 5), st.booleans(), st.booleans())
def test_a_written_number_is_the_number(value: float, decimals: int, percent: bool, signed: bool) -> None:
    text = Form(decimals, percent, signed).write(value)
    shown, room = number(text)
    assert shown == pytest.approx(value, abs=room + abs(value) * 1e-12, rel=0)
    if abs(value) > 1e-8:
        assert shown != 0
    assert form_of("no such metric") == Form(4)
