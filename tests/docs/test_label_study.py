"""The measurement of labels: what counts as right, wrong and unsure."""

import pytest

import labels
from pairity.labelling.identifying import Label


def test_a_line_is_right_wrong_or_unsure() -> None:
    found = {
        "eng_Latn": [
            Label("eng_Latn", 0.9),
            Label("eng_Latn", 0.5),
            Label("deu_Latn", 0.9),
            Label("und_Latn", 0.9),
        ],
        "xyz_Latn": [Label("eng_Latn", 0.7), Label("und_Latn", 0.0)],
    }
    assert labels.shares(found, 0.0) == pytest.approx((2 / 6, 2 / 6, 2 / 6))
    assert labels.shares(found, 0.6) == pytest.approx((1 / 6, 2 / 6, 3 / 6))
    assert labels.shares(found, 0.8) == pytest.approx((1 / 6, 1 / 6, 4 / 6))


def test_the_worst_come_first_with_what_they_are_called() -> None:
    found = {
        "eng_Latn": [Label("eng_Latn", 0.9)] * 4,
        "bos_Latn": [Label("bos_Latn", 0.9), *[Label("hrv_Latn", 0.9)] * 2, Label("bos_Latn", 0.1)],
    }
    assert labels.worst_of(found) == [
        ["bos_Latn", "Bosnian", 0.25, "hrv_Latn 50%, unsure 25%"],
        ["eng_Latn", "English", 1.0, ""],
    ]


def test_an_identifier_knows_what_it_has_a_name_for() -> None:
    codes = ["eng_Latn", "kat_Geor", "zho_Hans", "xyz_Latn"]
    assert labels.known_to("script", codes) == ["kat_Geor"]
    pytest.importorskip("pycld2")
    assert labels.known_to("cld2", codes) == ["eng_Latn", "kat_Geor", "zho_Hans"]
