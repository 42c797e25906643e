"""The report without a browser: its structure, its numbers, and what it says when something is missing."""

import importlib
import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pairity.errors import PairityError
from pairity.judging.scores import Scores
from pairity.reporting import report
from pairity.reporting.cells import Cells
from pairity.reporting.numbers import write
from pairity.reporting.page import LANGUAGE_METRICS
from report_page import Page, number
from report_scores import ODD_NAMES, TEXTS, scores, tokenizers
from small_tokenizers import small


def test_the_page_needs_nothing_else(page: Page) -> None:
    references = [
        value
        for _, found in page.tags
        for name, value in found.items()
        if name in ("src", "href", "action", "data")
    ]
    assert references
    assert all(value and value.startswith(("#", "data:")) for value in references)
    assert "@import" not in page.source
    assert "url(" not in page.source
    policy = next(found["content"] for tag, found in page.tags if tag == "meta" and "http-equiv" in found)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert len(page.source) < 300_000


def test_ids_are_unique_and_every_link_has_a_target(page: Page) -> None:
    ids = [found["id"] for _, found in page.tags if "id" in found]
    assert len(ids) == len(set(ids))
    targets = [found["href"] for tag, found in page.tags if tag == "a"]
    assert {str(target)[1:] for target in targets} <= set(ids)


def test_it_can_be_read_aloud(page: Page) -> None:
    tags = [tag for tag, _ in page.tags]
    assert tags.count("h1") == 1
    assert tags.count("main") == 1
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-4]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), levels
    assert tags.count("caption") == tags.count("table") > 5
    assert all(found.get("scope") for tag, found in page.tags if tag == "th")
    assert [found.get("aria-sort") for _, found in page.tags if "data-sort" in found] == ["none"] * 5
    assert next(found for tag, found in page.tags if tag == "html") == {"lang": "en"}


def test_the_global_table_holds_the_numbers_of_the_scores_and_no_others(page: Page, judged: Scores) -> None:
    checked = 0
    for name in (name for name in page.tables if name.startswith("scores") and "differences" not in name):
        head, *rows = page.tables[name]
        shown = [cell.text.split("baseline")[0].strip() for cell in head[1:]]
        assert shown == [f"{name}4,000 tokens" for name in judged.tokenizers], "each with its size"
        for row in rows:
            for tokenizer, cell in zip(judged.tokenizers, row[1:], strict=True):
                found = judged.select(tokenizer, cell.metric).to_pylist()
                if cell.metric not in ("worst_language", "best_language"):
                    found = [one for one in found if one["language"] is None]
                if cell.value is None:
                    assert found[0]["value"] is None or (
                        cell.metric.startswith("change") and tokenizer == "bytes"
                    )
                    assert cell.numbers == []
                    continue
                assert float(cell.value) == found[0]["value"]
                shown, room = number("".join(cell.numbers))
                assert shown == pytest.approx(found[0]["value"], abs=room, rel=0)
                if found[0]["low"] is not None:
                    assert write(cell.metric, found[0]["low"]) in cell.text
                    assert write(cell.metric, found[0]["high"]) in cell.text
                checked += 1
    assert checked > 60


def test_the_language_table_holds_the_costs_and_no_other_numbers(page: Page, judged: Scores) -> None:
    _head, *rows = page.tables["language-table"]
    assert len(rows) == len(TEXTS)
    for row, code in zip(rows, judged.languages, strict=True):
        assert code in row[0].text
        for tokenizer, cell in zip(judged.tokenizers, row[3:5], strict=True):
            assert float(cell.value) == judged.value(tokenizer, "cost", code)
            shown, room = number("".join(cell.numbers))
            assert shown == pytest.approx(float(cell.value), abs=room, rel=0)


def test_the_data_for_the_scripts_is_the_table(page: Page, judged: Scores) -> None:
    measures = page.data["measures"]
    assert list(measures) == [name for name in LANGUAGE_METRICS if name in Cells(judged).language_metrics]
    for metric, measure in measures.items():
        for code, cells in measure["cells"].items():
            for tokenizer, cell in zip(judged.tokenizers, cells, strict=True):
                rows = judged.select(tokenizer, metric, per_language=True).to_pylist()
                found = [one for one in rows if one["language"] == code]
                expected = found[0]["value"] if found else None
                assert (None if cell is None else cell[0]) == expected
                if cell is not None:
                    assert cell[1:3] == [found[0]["low"], found[0]["high"]]


def test_the_best_is_bold_starred_and_said(page: Page, judged: Scores) -> None:
    rows = page.tables[next(name for name in page.tables if name.startswith("scores"))]
    by_metric = {row[1].metric: row[1:] for row in rows[1:]}
    worse, better = judged.value("bytes", "gini"), judged.value("characters", "gini")
    assert worse is not None
    assert better is not None
    assert better < worse
    assert [cell.best for cell in by_metric["gini"]] == [False, True]
    assert "★" in by_metric["gini"][1].text
    assert "best" in by_metric["gini"][1].text
    assert [cell.best for cell in by_metric["round_trip"]] == [False, False], "all are alike: nobody is best"


def test_the_same_scores_give_the_same_page_from_memory_and_from_a_folder(
    judged: Scores, tmp_path: Path
) -> None:
    judged.save(tmp_path / "scores")
    from_memory = report(judged, tmp_path / "a.html").read_bytes()
    assert report(tmp_path / "scores", tmp_path / "b.html").read_bytes() == from_memory
    assert report(str(tmp_path / "scores"), tmp_path / "b.html").read_bytes() == from_memory


def test_date_versions_and_digests_are_shown(page: Page, judged: Scores) -> None:
    assert "1 May 2030" in page.text
    for about in judged.meta["languages"].values():
        assert about["sha256"] in page.text
    assert f"numpy {judged.meta['versions']['numpy']}" in page.text


def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    judged = scores(ODD_NAMES)
    cutters = tokenizers(ODD_NAMES)
    page = Page(
        report(judged, tmp_path / "r.html", tokenizers=cutters, sentences={"eng_Latn": "</script><b>x"})
    )
    assert "<script>alert" not in page.source
    assert sum(tag == "script" for tag, _ in page.tags) == 3
    assert page.data["tokenizers"] == list(ODD_NAMES)
    for name in ODD_NAMES:
        assert " ".join(name.split()) in " ".join(page.text.split())
    assert page.data["viewer"]["cuts"]["eng_Latn"][0][ODD_NAMES[0]][0][1] == "</"


def test_one_language_has_no_gini_and_the_page_says_so(tmp_path: Path) -> None:
    page = Page(report(scores(languages=["eng_Latn"]), tmp_path / "r.html"))
    rows = page.tables[next(name for name in page.tables if name.startswith("scores"))]
    cell = next(row[1] for row in rows if row[1].metric == "gini")
    assert cell.value is None
    assert cell.numbers == []
    assert "needs at least 2 languages" in cell.text
    assert "There is no Gini coefficient: needs at least 2 languages." in page.text
    assert "Lorenz curve is not drawn. Gini: needs at least 2 languages." in " ".join(page.text.split())


def test_the_cheapest_language_is_no_virtue(page: Page) -> None:
    rows = page.tables[next(name for name in page.tables if name.startswith("scores"))]
    row = next(row for row in rows if row[1].metric == "best_language")
    assert not any(cell.best for cell in row)
    assert "↓" not in row[0].text


def test_groups_are_in_order_and_one_measure_is_one_table(page: Page) -> None:
    tables = [rows for name, rows in page.tables.items() if name.startswith("groups")]
    assert [rows[0][0].text for rows in tables] == ["Script family"] * 2 + ["Resource level"] * 2
    for rows in tables[2:]:
        levels = [row[0].text for row in rows[1:]]
        assert levels == [level for level in ("high", "medium", "low", "unknown") if level in levels]
        assert len(levels) > 1
    assert all(len(row) == 2 + 2 for rows in tables for row in rows)


def test_sentences_are_offered_in_the_languages_that_were_scored(tmp_path: Path) -> None:
    judged = scores(languages=["eng_Latn", "tel_Telu"])
    page = Page(report(judged, tmp_path / "r.html", tokenizers=tokenizers(), sentences=TEXTS))
    assert [one["code"] for one in page.data["viewer"]["languages"]] == ["eng_Latn", "tel_Telu"]
    other = {"heb_Hebr": "החתול"}
    page = Page(report(judged, tmp_path / "r.html", tokenizers=tokenizers(), sentences=other))
    assert [one["code"] for one in page.data["viewer"]["languages"]] == ["heb_Hebr"], "better than none"


@pytest.mark.parametrize(
    "metrics", [["cost"], ["gini"], ["round_trip"], ["failures"], ["vocabulary", "fertility"]]
)
def test_missing_metrics_are_said_not_invented(metrics: list[str], tmp_path: Path) -> None:
    page = Page(report(scores(metrics=metrics), tmp_path / "r.html"))
    assert "is not drawn." in page.text
    assert set(page.data["measures"]) <= set(scores(metrics=metrics).table["metric"].to_pylist())


def test_without_a_baseline_the_first_tokenizer_serves_and_the_page_says_so(tmp_path: Path) -> None:
    page = Page(report(scores(baseline=None), tmp_path / "r.html"))
    assert "No baseline was named in the evaluation" in page.text
    assert "against bytes" in " ".join(page.text.split())
    assert all(figure["name"] != "change" for figure in page.data["figures"])


def test_one_tokenizer_has_no_best_and_no_rival(tmp_path: Path) -> None:
    page = Page(report(scores(["bytes"]), tmp_path / "r.html"))
    assert not any(cell.best for table in page.tables.values() for row in table for cell in row)
    assert "only one tokenizer" in page.text


def test_a_leak_is_flagged_and_never_best(judged: Scores, tmp_path: Path) -> None:
    leaky = replace(judged, leaks={"characters": ["eng_Latn", "tel_Telu"]})
    page = Page(report(leaky, tmp_path / "r.html"))
    alert = next(found for _, found in page.tags if found.get("id") == "leaks")
    assert alert["role"] == "alert"
    assert "danger" in str(alert["class"])
    assert "saw the test text of 2 of 5 languages" in " ".join(page.text.split())
    rows = page.tables[next(name for name in page.tables if name.startswith("scores"))]
    assert not any(row[2].best for row in rows[1:])
    languages = {row[0].text.split()[0]: row[4] for row in page.tables["language-table"][1:]}
    assert "leak" in languages["English"].text
    assert "leak" not in languages["Hebrew"].text


def test_a_tokenizer_that_loses_text_is_flagged_and_never_best(judged: Scores, tmp_path: Path) -> None:
    losing = replace(judged, meta=judged.meta | {"losses": {"characters": {"eng_Latn": 3}}})
    page = Page(report(losing, tmp_path / "r.html"))
    marked = [row for row in page.tables["scoreboard"] if "loses text" in row[0].text]
    assert [row[0].text for row in marked] == ["charactersloses text"]
    assert not any(cell.best for cell in marked[0])
    cells = Cells(losing)
    best = {
        name for name, cell in zip(cells.tokenizers, cells.row("cost", "heb_Hebr"), strict=True) if cell.best
    }
    assert best == {"characters"}, "where it loses nothing, it is compared"


def test_warnings_and_failures_are_shown(judged: Scores, tmp_path: Path) -> None:
    meta = {
        **judged.meta,
        "warnings": ["mind the <gap>", "bytes on tel_Telu: failed on 1 of 4 lines"],
        "failures": {"bytes": {"tel_Telu": "failed on 1 of 4 lines"}},
    }
    page = Page(report(replace(judged, meta=meta), tmp_path / "r.html"))
    assert "mind the <gap>" in page.text
    assert "bytes, tel_Telu: failed on 1 of 4 lines" in page.text
    assert page.text.count("failed on 1 of 4 lines") == 1, "said once"


def test_bad_input_is_told_plainly(judged: Scores, tmp_path: Path) -> None:
    empty = Scores(judged.table.slice(0, 0), judged.differences, judged.groups, {})
    with pytest.raises(PairityError, match="these scores are empty"):
        report(empty, tmp_path / "r.html")
    with pytest.raises(PairityError, match="have no tokenizer 'other': they have bytes, characters"):
        report(judged, tmp_path / "r.html", tokenizers={"other": "x"})
    with pytest.raises(
        PairityError, match=r"given for 'bytes' has 267 tokens, but .* has 4,000.*--tokenizer bytes="
    ):
        report(judged, tmp_path / "r.html", tokenizers={"bytes": small(merges=8)})
    with pytest.raises(PairityError, match=r"sentences need tokenizers.*--tokenizer NAME=TOKENIZER"):
        report(judged, tmp_path / "r.html", sentences=TEXTS)
    for nothing in ({}, {"eng_Latn": ""}, {"eng_Latn": []}):
        with pytest.raises(PairityError, match=r"no sentence to show|no text for 'eng_Latn'"):
            report(judged, tmp_path / "r.html", tokenizers=tokenizers(), sentences=nothing)
    with pytest.raises(PairityError, match="no scores in"):
        report(tmp_path / "nowhere", tmp_path / "r.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(PairityError, match="cannot write"):
        report(judged, tmp_path / "file" / "r.html")
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize("module", ["jinja2", "vl_convert"])
def test_a_missing_extra_names_the_line_that_installs_it(
    module: str, judged: Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> object:
        if name == module:
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(PairityError, match=re.escape("pip install 'pairity[report]'")):
        report(judged, tmp_path / "r.html", figures_dir=tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_page(
    judged: Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(PairityError, match=r"cannot write .*r\.html: No space left on device"):
        report(judged, path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]
