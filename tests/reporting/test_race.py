"""Training runs, from their traces."""

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.errors import PairityError
from pairity.judging.evaluation import evaluate
from pairity.judging.metrics import gini
from pairity.judging.scores import Scores
from pairity.reporting import report
from pairity.reporting.race import find_trace, race
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.trace import Trace
from report_page import Page
from report_scores import TEXTS, Traced, trace_table
from small_tokenizers import small


def test_the_race_comes_from_the_trace() -> None:
    one = race(Trace.from_table(trace_table()))
    assert one.sizes == [256, 257, 258, 260, 262, 263, 264]
    assert one.costs[-1] == [16.0, 20.0]
    assert one.gini[0] == pytest.approx(float(gini([20.0, 60.0])))
    assert one.worst[0] == "tel_Telu"
    assert one.worst_cost[0] == 60.0
    assert one.services == {"eng_Latn": 2, "tel_Telu": 4}
    assert sum(merges for *_, merges, _ in one.served) == 8
    assert sum(merges for _, _, code, merges, _ in one.served if code is None) == 2


def test_a_long_trace_is_thinned_and_keeps_its_ends() -> None:
    steps = 30_001
    table = pa.table(
        {
            "language": pa.array([None] + ["aaa_Latn"] * (steps - 1)),
            "left": pa.array([None] + [b"a"] * (steps - 1)),
            "right": pa.array([None] + [b"b"] * (steps - 1)),
            "count": pa.array([None] + [9] * (steps - 1)),
            "vocab_size": list(range(256, 256 + steps)),
            "cost:aaa_Latn": [100.0 - step / 1000 for step in range(steps)],
        }
    )
    one = race(Trace.from_table(table))
    assert len(one.sizes) <= 170
    assert one.sizes[0] == 256
    assert one.sizes[-1] == 255 + steps
    assert len(one.served) == 60
    assert sum(merges for *_, merges, _ in one.served) == steps - 1
    assert one.gini == [None] * len(one.sizes), "one language has no Gini"


def test_the_page_shows_the_race(tmp_path: Path) -> None:
    saved = Tokenizer.from_model(dataclasses.replace(small(merges=8).model, trace=trace_table()))
    saved.save(tmp_path / "t")
    given_tokenizers = {"bytes": tmp_path / "t", "characters": Traced("characters", 2, by_character=True)}
    judged = evaluate(given_tokenizers, TEXTS, resamples=0)
    page = Page(report(judged, tmp_path / "r.html", tokenizers=given_tokenizers))
    names = [(figure["name"], figure["of"]) for figure in page.data["figures"] if figure["of"]]
    assert names == [
        (figure, of) for of in given_tokenizers for figure in ("race_costs", "race_fairness", "race_served")
    ]


def test_a_run_that_served_nobody_is_no_error(judged: Scores, tmp_path: Path) -> None:
    table = trace_table().set_column(1, "language", pa.nulls(9, pa.string()))
    run = Traced("bytes", 2)
    run.trace = table
    page = Page(report(judged, tmp_path / "r.html", tokenizers={"bytes": run}))
    assert "No language was served: every merge was the most frequent pair" in page.text


def test_traces_that_are_none(tmp_path: Path) -> None:
    assert find_trace(tmp_path) is None
    assert find_trace("tiktoken:o200k_base") is None
    with pytest.raises(PairityError, match="no tokenizer at"):
        find_trace(tmp_path / "misspelt")
    assert find_trace(object()) is None
    (tmp_path / "trace.parquet").write_bytes(b"not parquet")
    with pytest.raises(PairityError, match=r"trace\.parquet is damaged"):
        find_trace(tmp_path)
    with pytest.raises(PairityError, match="no column 'language'"):
        find_trace(SimpleNamespace(trace=pa.table({"a": [1]})))
    with pytest.raises(PairityError, match="it has no rows"):
        Trace.from_table(trace_table().slice(0, 0))


def test_a_trace_that_was_changed_after_the_tokenizer_was_saved_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "tokenizer"
    small(merges=8).save(folder)
    assert find_trace(folder) is None
    traced = dataclasses.replace(small(merges=8).model, trace=trace_table())
    Tokenizer.from_model(traced).save(folder, force=True)
    found = find_trace(folder)
    assert found is not None
    assert found.services() == {"eng_Latn": 2, "tel_Telu": 4}
    pq.write_table(trace_table().slice(0, 5), folder / "trace.parquet")
    with pytest.raises(PairityError, match=r"trace\.parquet is not the file that was saved here"):
        find_trace(folder)
