"""Scores once they are there: saved, loaded, asked, priced."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chunk_tokenizers import TEXTS, Chunks, plain_costs, scores_of
from pairity.errors import PairityError
from pairity.files.digests import digest_of
from pairity.judging.evaluation import LeakWarning
from pairity.judging.scores import Overview, Scores
from pairity.judging.tax import tax

COLUMNS = ["tokenizer", "language", "metric", "value", "low", "high", "aggregation", "unit", "n", "note"]


def test_scores_survive_saving(tmp_path: Path) -> None:
    with pytest.warns(LeakWarning):
        scores = scores_of({"a/b=c": Chunks(3, dev=TEXTS["eng_Latn"]), "two": Chunks(2)})
    folder = tmp_path / "deep" / "scores"
    scores.save(folder)
    scores.save(folder)  # a second time over the first
    again = Scores.load(folder)
    assert again.table.equals(scores.table)
    assert again.differences.equals(scores.differences)
    assert again.groups.equals(scores.groups)
    assert again.leaks == scores.leaks
    assert again.meta == scores.meta
    assert again.tokenizers == scores.tokenizers
    for tokenizer in scores.tokenizers:
        for language in scores.languages:
            assert np.array_equal(again.lengths[tokenizer][language], scores.lengths[tokenizer][language])
    names = {path.name for path in folder.iterdir()}
    tables = {f"{name}.{kind}" for name in ("scores", "differences", "groups") for kind in ("csv", "parquet")}
    assert names == tables | {"lengths.npz", "scores.json"}
    header = (folder / "scores.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.replace('"', "").split(",") == COLUMNS


def test_damaged_scores_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match=r"no scores in .*: there is no scores\.json"):
        Scores.load(tmp_path)
    scores_of().save(tmp_path)
    (tmp_path / "lengths.npz").unlink()
    with pytest.raises(PairityError, match=r"lengths\.npz is missing"):
        Scores.load(tmp_path)
    scores_of().save(tmp_path)
    content = json.loads((tmp_path / "scores.json").read_text())
    short = {name: value for name, value in content.items() if name != "lengths"}
    for change, message in (
        (short, "do not match its digest"),
        (resealed(short), r"damaged \(KeyError\('lengths'\)\)"),
        (content | {"format": 1}, "do not match its digest"),
        (content | {"format": 4}, "reads up to 3"),
        (content | {"format": "3"}, "'3' is not a whole number"),
        (resealed(content | {"files": []}), "damaged"),
        (resealed(content | {"files": {}}), r"scores\.parquet is not the file that was saved"),
        (resealed(content | {"leaks": []}), r"the leaks: \[\] is not an object"),
        (resealed(content | {"lengths": 3}), "damaged"),
        (resealed(content | {"lengths": [[3, "eng_Latn"]]}), "the name of a tokenizer: 3 is not a string"),
        (resealed(content | {"lengths": [["three", 7.5]]}), "the name of a language: 7.5 is not a string"),
        (resealed(content | {"meta": None}), "None is not an object"),
        ([1], "holds a list"),
    ):
        (tmp_path / "scores.json").write_text(json.dumps(change))
        with pytest.raises(PairityError, match=message):
            Scores.load(tmp_path)
    (tmp_path / "scores.json").write_text("[" * 100_000)
    with pytest.raises(PairityError, match="not JSON"):
        Scores.load(tmp_path)


def resealed(content: dict[str, Any]) -> dict[str, Any]:
    """A manifest that somebody changed, and its digest with it."""
    return content | {"digest": digest_of(content)}


def without_p_values(folder: Path) -> dict[str, Any]:
    """What an older format had: differences without p-values; the manifest, which still has the old digests."""
    table = pq.read_table(folder / "differences.parquet").drop_columns(["p", "p_holm"])
    pq.write_table(table, folder / "differences.parquet")
    content: dict[str, Any] = json.loads((folder / "scores.json").read_text())
    return content


def test_scores_of_the_second_format_have_no_p_values(tmp_path: Path) -> None:
    scores = scores_of()
    scores.save(tmp_path)
    content = without_p_values(tmp_path)
    data = (tmp_path / "differences.parquet").read_bytes()
    files = content["files"] | {"differences.parquet": hashlib.sha256(data).hexdigest()}
    (tmp_path / "scores.json").write_text(json.dumps(resealed(content | {"files": files})))
    with pytest.raises(PairityError, match=r"differences\.parquet does not have the columns"):
        Scores.load(tmp_path)  # the third has them
    (tmp_path / "scores.json").write_text(json.dumps(resealed(content | {"files": files, "format": 2})))
    again = Scores.load(tmp_path)
    assert again.differences.schema.equals(scores.differences.schema)
    assert again.differences["p_holm"].null_count == again.differences.num_rows > 0
    assert again.difference("three", "two") == scores.difference("three", "two")


def test_scores_of_the_first_format_have_no_digests(tmp_path: Path) -> None:
    scores_of().save(tmp_path)
    content = without_p_values(tmp_path)
    first = {name: value for name, value in content.items() if name not in ("digest", "files")} | {
        "format": 1
    }
    (tmp_path / "scores.json").write_text(json.dumps(first))
    assert Scores.load(tmp_path).table.equals(scores_of().table)
    lengths = (tmp_path / "lengths.npz").read_bytes()
    for damaged in (lengths[:100], b"", b"PK", lengths[:60] + bytes(40) + lengths[100:]):
        (tmp_path / "lengths.npz").write_bytes(damaged)
        with pytest.raises(PairityError, match="are damaged"):
            Scores.load(tmp_path)
    np.savez_compressed(tmp_path / "lengths.npz", **{f"lengths_{i}": np.ones((2, 2)) for i in range(20)})  # type: ignore[arg-type]
    with pytest.raises(PairityError, match="does not hold line lengths"):
        Scores.load(tmp_path)
    pq.write_table(pa.table({"x": [1]}), tmp_path / "groups.parquet")
    with pytest.raises(PairityError, match=r"groups\.parquet does not have the columns"):
        Scores.load(tmp_path)


def test_the_overview_has_one_row_per_tokenizer() -> None:
    scores = scores_of()
    assert scores.overview() == [
        Overview(
            tokenizer=name,
            gini=scores.interval(name, "gini"),
            compression_rate=scores.value(name, "compression_rate_line"),
            worst_best=scores.value(name, "worst_best"),
            worst_language=max(plain_costs(size), key=plain_costs(size).__getitem__),
        )
        for name, size in (("three", 3), ("two", 2))
    ]
    assert scores.overview()[0].gini is not None
    few = scores_of({"three": Chunks(3)}, metrics=["compression_rate_byte"]).overview()
    assert few == [Overview("three", None, None, None, None)]
    alone = scores_of({"three": Chunks(3)}, {"eng_Latn": TEXTS["eng_Latn"]}).overview()
    assert (alone[0].gini, alone[0].worst_best, alone[0].worst_language) == (None, None, "eng_Latn")


def test_asking_for_a_row_that_is_not_there() -> None:
    with pytest.raises(PairityError, match="no 'gini' for 'four' over all languages"):
        scores_of().value("four", "gini")


def test_tax_is_the_price_of_the_same_content() -> None:
    costs = plain_costs(3)
    table = tax(scores_of({"three": Chunks(3)}), price_per_million=2.0).to_pylist()
    assert [r["language"] for r in table] == list(TEXTS)
    for r in table:
        premium = costs[r["language"]] / costs["eng_Latn"]
        assert r["tokens_per_line"] == pytest.approx(costs[r["language"]])
        assert r["price"] == pytest.approx(2 * premium)
        assert r["extra"] == pytest.approx(2 * premium - 2)
        assert r["low"] <= r["premium"] <= r["high"]
    assert table[1]["name"] == "Greek"
    assert tax(Chunks(3), 2.0, data=TEXTS).num_rows == 3
    both = tax(scores_of(), {"three": 1.0, "two": 4.0}).to_pylist()
    assert [r["price"] for r in both if r["language"] == "eng_Latn"] == [1.0, 4.0]


def test_tax_needs_a_reference_parallel_text_and_a_price() -> None:
    with pytest.raises(PairityError, match="needs parallel text: give data="):
        tax(Chunks(3), 2.0)
    with pytest.raises(PairityError, match="no token premium for 'three'"):
        tax(scores_of(reference=None), 2.0)
    for price in (-1.0, float("nan"), "2.50", {"three": -1.0}):
        for judged in (scores_of(), "no tokenizer: the price is looked at first"):
            with pytest.raises(
                PairityError, match=r"the price of a million tokens is .*: give a number of 0"
            ):
                tax(judged, price, data=TEXTS)
    with pytest.raises(PairityError, match="there is no price for 'two'"):
        tax(scores_of(), {"three": 1.0})
    assert tax(scores_of(), 0)["price"].to_pylist() == [0.0] * 6
