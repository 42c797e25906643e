"""Records that training did not write: what can be read is read, and nothing fails."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity import Parity, Tokenizer, sample, train
from pairity.cli.printing import print_training
from pairity.cli.program import main
from pairity.training.run import run_of

DEV = {name: sample.read("dev")[name] for name in ("eng_Latn", "tam_Taml")}


def test_a_record_of_training():
    method = Parity(ratios={"code": "auto"})
    corpus = DEV | {"code": ["x = y + z"] * 40}
    tokenizer = train(corpus, dev=DEV, num_merges=60, method=method, min_frequency=1, progress=False)
    run = run_of(json.loads(json.dumps(tokenizer.record)))
    rows = {one.name: one for one in run.languages}
    assert set(rows) == set(corpus)
    assert (run.on, run.unit, run.merges) == ("dev", "line", 60)
    assert (rows["code"].copied_from, rows["code"].estimated_lines) == (None, 0)
    assert rows["tam_Taml"].train_bytes == sum(len(line.encode()) for line in DEV["tam_Taml"])
    assert sum(one.served for one in run.languages) == 60
    assert [one.cost for one in run.languages] == sorted((one.cost for one in run.languages), reverse=True)


ODD = {
    "nothing": {},
    "languages as a list": {"languages": ["eng_Latn"]},
    "languages of text": {"languages": {"eng_Latn": "fine", "deu_Latn": None}},
    "empty languages": {"languages": {"eng_Latn": {}, "deu_Latn": {"train": {}}}},
    "odd numbers": {
        "languages": {
            "a": {"train": {"bytes": "9"}, "served": "many", "cost": "low", "exhausted_at": "late"},
            "b": {"train": [], "served": 2.5, "cost": {}, "exhausted_at": None},
            "c": {"train": {"bytes": True}, "served": None, "cost": 10**400, "line_equivalent": 7},
            "d": {"cost": -1.0, "line_equivalent": {"bytes": "x", "copied_from": 3}},
            "e": {"cost": 3, "line_equivalent": {"bytes": 12}},
            "f": {"cost": 4.5},
        }
    },
    "zero costs": {"languages": {"a": {"cost": 0}, "b": {"cost": 0.0}}},
    "odd method": {"method": "parity", "merges": "lots", "languages": {"a": {"cost": 1.0}}},
    "odd unit": {"method": {"on": ["train"], "unit": 7}, "languages": {"a": {"cost": 1.0}}},
    "odd states": {"stuck": ["a"], "starved": 3, "languages": {"a": {"cost": 1.0}}},
    "odd notes": {"notes": "one note", "warnings": {"a": 1}},
    "odd warnings": {"notes": [1, None, "a note"], "warnings": [["x"], "a warning"]},
    "settings of other shapes": {
        "method": [1],
        "vocab_size": {"a": 1},
        "min_frequency": None,
        "num_merges": [],
    },
    "another program's": {"trainer": "other", "version": [1, 2], "date": "today"},
}


def inspected(record, folder):
    """What `pairity inspect` prints of a tokenizer with this record."""
    tokenizer = Tokenizer.from_merges([(64, 65), (256, 66)], pattern=None, record=record)
    tokenizer.save(folder, force=True)
    done = CliRunner().invoke(main, ["inspect", str(folder)])
    assert done.exception is None, done.exception
    assert "258" in done.output
    return done.output


@pytest.mark.parametrize("case", ODD)
def test_inspect_shows_what_it_can(tmp_path, case):
    shown = inspected(ODD[case], tmp_path / "t")
    for name in ODD[case].get("languages", {}) if "as a list" not in case else []:
        assert f" {name} " in shown
    for word in ("a note", "a warning"):
        assert (f": {word}" in shown) == (case == "odd warnings")


def test_what_is_of_the_right_kind_is_shown(tmp_path):
    shown = inspected(ODD["odd numbers"], tmp_path / "t")
    rows = [line.split() for line in shown.splitlines() if line[:1] == " "]
    assert ["f", "\N{EN DASH}", "\N{EN DASH}", "4.50"] in rows
    assert [
        "e",
        "\N{EN DASH}",
        "\N{EN DASH}",
        "3.00",
        "a",
        "line-equivalent",
        "is",
        "12.0",
        "train",
        "bytes",
    ] in rows
    assert "Gini" not in shown, "one language is left to compare"


TOP = ["languages", "method", "merges", "notes", "warnings", "stuck", "vocab_size", "extension"]
INNER = [
    "train",
    "bytes",
    "served",
    "cost",
    "line_equivalent",
    "copied_from",
    "estimated_from",
    "lines",
    "exhausted_at",
    "unit",
    "on",
    "eng_Latn",
    "costs",
    "before",
    "after",
    "ids_unchanged",
    "embedding_rows",
]
KEYS = st.sampled_from([*TOP, *INNER])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)
LANGUAGE = st.dictionaries(KEYS, VALUES, max_size=6)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(KEYS, VALUES), st.dictionaries(st.text(min_size=1, max_size=4), LANGUAGE | VALUES))
def test_no_record_fails(record, languages):
    for given_record in (record, record | {"languages": languages}):
        tokenizer = Tokenizer.from_merges([(64, 65)], pattern=None, record=given_record)
        with np.errstate(over="ignore"):
            print_training(tokenizer)
