"""Fairness and compression against vocabulary size, as a figure on the page and in files."""

from pathlib import Path

import pytest

from pairity.errors import PairityError
from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.reporting import export_figures, report
from pairity.reporting.cells import Cells
from pairity.reporting.figures import figures
from pairity.reporting.sizes import size_figures, ticks
from report_page import Page
from report_scores import TEXTS, scores, tokenizers
from small_tokenizers import small


def sized(**options: object) -> Scores:
    texts = {code: lines for code, lines in TEXTS.items() if code != "xyz_Latn"}
    given = {"ours": small(merges=300), "bytes": tokenizers()["bytes"]}
    return evaluate(given, texts, **{"sizes": [300, 400, 500], "resamples": 20, **options})  # type: ignore[arg-type]


def test_the_figure_of_sizes_has_a_point_for_every_size_and_metric(tmp_path: Path) -> None:
    scores = sized(baseline="bytes")
    [figure] = size_figures(scores)
    rows = figure.rows()
    assert len(figure.labels) == len(rows) == 3 * (3 + 1)
    for row in rows:
        name = f"ours@{row['vocab_size']}" if row["tokenizer"] == "ours" else "bytes"
        if row["metric"] == "worst_language":
            assert row["value"] == max(scores.costs(name).values())
            assert scores.costs(name)[row["language"]] == row["value"]
        else:
            assert row["value"] == scores.value(name, row["metric"])
    written = export_figures(scores, tmp_path)
    assert (tmp_path / "sizes.png") in written
    drawn = (tmp_path / "sizes.svg").read_text("utf-8")
    for text in (
        "Gini ↓ better",
        "lines per token ↑ better",
        "vocabulary size",
        "ours",
        "bytes",
    ):
        assert text in drawn


def test_the_page_of_sizes_shows_the_largest_elsewhere(tmp_path: Path) -> None:
    scores = sized(baseline="bytes")
    page = Page(report(scores, tmp_path / "r.html", tokenizers={"ours": small(merges=300)}, sentences=TEXTS))
    assert page.data["tokenizers"] == ["ours", "bytes"]
    assert "sizes" in [figure["name"] for figure in page.data["figures"]]
    assert "each at its largest vocabulary size" in page.text
    assert "everything else on this page shows each of them at its largest" in page.text
    [costs] = [figure for figure in figures(Cells(scores.at_largest_size())) if figure.name == "costs"]
    shown = {row["language"]: row["cost"] for row in costs.rows() if row["tokenizer"] == "ours"}
    assert shown == scores.costs("ours@500")
    cuts = page.data["viewer"]["cuts"]["tel_Telu"][0]["ours"]
    assert len(cuts) == len(small(merges=300).truncate(500).encode(TEXTS["tel_Telu"][0]))


def test_a_figure_of_sizes_with_one_size_or_without_a_gini(tmp_path: Path) -> None:
    assert size_figures(scores()) == []
    [one] = size_figures(sized(sizes=[300], languages=["eng_Latn"]))
    assert {row["metric"] for row in one.rows()} == {"compression_rate_line"}
    export_figures(sized(sizes=[300], languages=["eng_Latn"]), tmp_path)
    assert (tmp_path / "sizes.csv").exists()
    [nothing] = size_figures(sized(metrics=["round_trip"]))
    assert nothing.missing


def test_ticks_are_the_sizes_unless_they_would_touch() -> None:
    def at(*found: int) -> list[float]:
        return ticks([{"vocab_size": size} for size in found], 900, 40_000, 600)

    assert at(1000, 8000, 32_000) == [1000, 8000, 32_000]
    assert at(1000, 1010, 32_000) == [1000, 2000, 5000, 10_000, 20_000]


def test_a_tokenizer_smaller_than_its_largest_size_is_another(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match=r"given for 'ours' has 459 tokens, but .* has 500: give the one"):
        report(sized(), tmp_path / "r.html", tokenizers={"ours": small(merges=200)})
