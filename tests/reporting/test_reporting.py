"""The report without a browser: its structure, its numbers, its words, and the files for papers."""

import csv
import importlib
import itertools
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairity.errors import PairityError
from pairity.files.writing import write_file
from pairity.judging.evaluation import Scores
from pairity.judging.metrics import gini
from pairity.reporting import export_figures, latex, markdown, report, write_tables
from pairity.reporting.cells import Cells
from pairity.reporting.numbers import Form, form_of, write
from pairity.reporting.page import LANGUAGE_METRICS
from pairity.reporting.race import race, trace_of
from pairity.reporting.sentences import cut, read_sentences, show_tokens
from pairity.reporting.summary import difference_rows, summary
from report_scores import ODD_NAMES, TEXTS, folder_with_trace, scores, tokenizers, trace_table


class Page(HTMLParser):
    """Reads a page: its tables (rows of cells with text and attributes), headings, ids and references."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text("utf-8")
        self.tables: dict[str, list[list[SimpleNamespace]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.table = ""
        self.cell: SimpleNamespace | None = None
        self.script: list[str] = []
        self.text = ""
        self.feed(self.source)
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.tags.append((tag, found))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "table":
            self.table = str(found.get("id") or f"{found.get('class')} {len(self.tables)}")
            self.tables[self.table] = []
        if tag == "tr":
            self.tables[self.table].append([])
            self.metric = found.get("data-metric")
        if tag in ("td", "th"):
            self.cell = SimpleNamespace(
                tag=tag, text="", numbers=[], value=found.get("data-value"), metric=self.metric, best=False
            )
            self.tables[self.table][-1].append(self.cell)
        if self.cell is not None and "best" in str(found.get("class")).split():
            self.cell.best = True
        self.in_number = "num" in str(found.get("class")).split()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()
        self.in_number = False
        if tag in ("td", "th"):
            self.cell = None

    def handle_data(self, text: str) -> None:
        if self.open and self.open[-1] == "script":
            self.script.append(text)
        elif self.open and self.open[-1] != "style":
            self.text += text
        if self.cell is not None:
            self.cell.text += text
            if self.in_number:
                self.cell.numbers.append(text)

    @property
    def data(self) -> dict:
        return json.loads(next(text for text in self.script if text.startswith("{")))


def number(text: str) -> tuple[float, float]:
    """A printed number and half a unit of its last digit: "52.1%" -> (0.521, 0.0005)."""
    plain = text.replace("\N{MINUS SIGN}", "-").replace(",", "").replace("+", "").replace("%", "").strip()
    scale = 100 if "%" in text else 1
    decimals = len(plain.partition(".")[2])
    return float(plain) / scale, 0.5000001 * 10**-decimals / scale


@pytest.fixture(scope="module")
def judged() -> Scores:
    return scores()


@pytest.fixture(scope="module")
def page(judged: Scores, tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("report")
    path = report(judged, folder / "report.html", tokenizers=tokenizers(), sentences=TEXTS, date="1 May 2030")
    assert [file.name for file in folder.iterdir()] == ["report.html"], "temporary files were left"
    return Page(path)


# ------------------------------------------------------------ the page


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
        assert [cell.text.split("baseline")[0].strip() for cell in head[1:]] == judged.tokenizers
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
        for tokenizer, cell in zip(judged.tokenizers, row[4:6], strict=True):
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
    assert sum(tag == "script" for tag, _ in page.tags) == 4
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
    assert "one tokenizer only" in page.text


def test_a_leak_is_flagged_and_never_best(judged: Scores, tmp_path: Path) -> None:
    leaky = replace(judged, leaks={"characters": ["eng_Latn", "tel_Telu"]})
    page = Page(report(leaky, tmp_path / "r.html"))
    alert = next(found for _, found in page.tags if found.get("id") == "leaks")
    assert alert["role"] == "alert"
    assert "danger" in str(alert["class"])
    assert "saw the test text of 2 of 5 languages" in " ".join(page.text.split())
    rows = page.tables[next(name for name in page.tables if name.startswith("scores"))]
    assert not any(row[2].best for row in rows[1:])
    languages = {row[0].text.split()[0]: row[5] for row in page.tables["language-table"][1:]}
    assert "leak" in languages["English"].text
    assert "leak" not in languages["Hebrew"].text


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
    with pytest.raises(PairityError, match="sentences need tokenizers"):
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


@pytest.mark.parametrize("module", ["jinja2", "altair", "vl_convert"])
def test_a_missing_extra_names_the_line_that_installs_it(
    module: str, judged: Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> object:
        if name == module:
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(PairityError, match=re.escape('pip install "pairity[report]"')):
        report(judged, tmp_path / "r.html", figures_dir=tmp_path / "figures")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path / "a.txt", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(PairityError, match=r"cannot write .*a\.txt: No space left on device"):
        write_file(path, "new")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


# ------------------------------------------------------------ words


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
    assert verdict.lead == "cuts inequality by 97% against bpe: Telugu gains 52%, English pays 8%"
    assert verdict.details[0] == "Gini 0.1000 → 0.0030."
    assert verdict.details[1] == "1 of 2 languages get cheaper, 1 dearer."
    assert verdict.details[2] == "Tokens per line: Telugu 100.00 → 48.00, English 25.00 → 27.00."


def test_the_summary_where_things_get_worse_or_stay() -> None:
    costs = {"bpe": {"eng_Latn": 25.0}, "worse": {"eng_Latn": 50.0}, "same": {"eng_Latn": 25.0}}
    worse, same = summary(Cells(known(costs, {"bpe": 0.1, "worse": 0.2, "same": 0.1})))
    assert worse.lead == "raises inequality by 100% against bpe: English pays 100%"
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


def test_differences_are_the_table_s_turned_to_the_baseline(judged: Scores) -> None:
    rows = dict(difference_rows(Cells(judged)))
    interval = judged.difference("characters", "bytes", "gini")
    cell = rows["gini"]["characters"].cell
    assert (cell.value, cell.low, cell.high) == (interval.value, interval.low, interval.high)
    assert interval.value < 0
    assert rows["gini"]["characters"].verdict == "clear"


# ------------------------------------------------------------ numbers


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
    assert write(metric, value) == text


@given(st.floats(-1e6, 1e6), st.integers(0, 5), st.booleans(), st.booleans())
def test_a_written_number_is_the_number(value: float, decimals: int, percent: bool, signed: bool) -> None:
    text = Form(decimals, percent, signed).write(value)
    shown, room = number(text)
    assert shown == pytest.approx(value, abs=room + abs(value) * 1e-12, rel=0)
    if abs(value) > 1e-8:
        assert shown != 0
    assert form_of("no such metric") == Form(4)


# ------------------------------------------------------------ training runs


def test_the_race_comes_from_the_trace() -> None:
    one = race(trace_table())
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
            "vocab_size": list(range(256, 256 + steps)),
            "cost:aaa_Latn": [100.0 - step / 1000 for step in range(steps)],
        }
    )
    one = race(table)
    assert len(one.sizes) <= 170
    assert one.sizes[0] == 256
    assert one.sizes[-1] == 255 + steps
    assert len(one.served) == 60
    assert sum(merges for *_, merges, _ in one.served) == steps - 1
    assert one.gini == [None] * len(one.sizes), "one language has no Gini"


def test_the_page_shows_the_race(judged: Scores, tmp_path: Path) -> None:
    given_tokenizers = {
        "bytes": folder_with_trace(tmp_path / "t"),
        "characters": SimpleNamespace(trace=trace_table()),
    }
    page = Page(report(judged, tmp_path / "r.html", tokenizers=given_tokenizers))
    names = [(figure["name"], figure["of"]) for figure in page.data["figures"] if figure["of"]]
    assert names == [
        (figure, of) for of in given_tokenizers for figure in ("race_costs", "race_fairness", "race_served")
    ]


def test_a_run_that_served_nobody_is_no_error(judged: Scores, tmp_path: Path) -> None:
    table = trace_table().set_column(1, "language", pa.nulls(9, pa.string()))
    page = Page(report(judged, tmp_path / "r.html", tokenizers={"bytes": SimpleNamespace(trace=table)}))
    assert "Nobody was served: every merge was the pair most frequent" in page.text


def test_traces_that_are_none(tmp_path: Path) -> None:
    assert trace_of(tmp_path) is None
    assert trace_of("tiktoken:o200k_base") is None
    with pytest.raises(PairityError, match="no tokenizer at"):
        trace_of(tmp_path / "misspelt")
    assert trace_of(object()) is None
    (tmp_path / "trace.parquet").write_bytes(b"not parquet")
    with pytest.raises(PairityError, match=r"trace\.parquet cannot be read as Parquet"):
        trace_of(tmp_path)
    with pytest.raises(PairityError, match="no column 'language'"):
        race(pa.table({"a": [1]}))
    with pytest.raises(PairityError, match="it has no rows"):
        race(trace_table().slice(0, 0))


# ------------------------------------------------------------ sentences


def test_tokens_are_text_and_parts_of_characters_are_bytes() -> None:
    assert show_tokens([5, 6], [b"Hel", b"lo"]) == [(5, "Hel"), (6, "lo")]
    assert show_tokens([1, 2], [b"a" + b"\xc3", b"\xa4b"]) == [
        (1, ["a", ("C3", "ä")]),
        (2, [("A4", "ä"), "b"]),
    ]
    assert show_tokens([9, 8, 7], [b"\xf0\x9f", b"\x98", b"\x80"]) == [
        (9, [("F0 9F", "😀")]),
        (8, [("98", "😀")]),
        (7, [("80", "😀")]),
    ]
    assert show_tokens([3], [b"\xff\x80"]) == [(3, [("FF", ""), ("80", "")])]
    assert show_tokens([1, 2], [None, b"x"]) == [(1, [("no text", "")]), (2, "x")]


@given(st.text(max_size=40), st.integers(1, 7))
def test_nothing_of_a_sentence_is_lost(text: str, size: int) -> None:
    raw = text.encode()
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    back = b""
    for _, parts in show_tokens(list(range(len(pieces))), pieces):
        for part in [parts] if isinstance(parts, str) else parts:
            back += part.encode() if isinstance(part, str) else bytes.fromhex(part[0])
    assert back == raw


def test_the_viewer_counts_what_the_scores_count(page: Page, judged: Scores) -> None:
    viewer = page.data["viewer"]
    assert {one["code"]: one["rtl"] for one in viewer["languages"]} == {
        code: code == "heb_Hebr" for code in TEXTS
    }
    assert viewer["first"][0] == "eng_Latn"
    assert "heb_Hebr" in viewer["first"]
    for code, lines in viewer["cuts"].items():
        for index, cuts in enumerate(lines):
            for name, tokens in cuts.items():
                assert len(tokens) == judged.lengths[name][code][index]


def test_a_tokenizer_that_fails_on_a_sentence_says_so() -> None:
    class Failing:
        def encode_lines(self, lines: list[str]) -> None:
            raise RuntimeError("no such byte")

    assert cut(Failing(), "x") == "RuntimeError: no such byte"  # type: ignore[arg-type]


def test_sentences_may_be_one_each_and_are_limited() -> None:
    assert read_sentences({"eng_Latn": "one"}) == {"eng_Latn": ["one"]}
    assert len(read_sentences({"eng_Latn": ["x"] * 50})["eng_Latn"]) == 6
    many = read_sentences({f"l{index}_Latn": ["x"] * 6 for index in range(200)}, tokenizers=8)
    assert {len(lines) for lines in many.values()} == {1}


# ------------------------------------------------------------ files for papers


def test_every_figure_is_written_as_svg_png_and_csv(judged: Scores, tmp_path: Path) -> None:
    written = export_figures(
        judged, tmp_path, tokenizers={"characters": SimpleNamespace(trace=trace_table())}
    )
    names = {path.stem for path in written}
    assert names == {
        *("tradeoff", "costs", "change", "compression", "utilisation", "lorenz"),
        *(f"race_{what}-1-characters" for what in ("costs", "fairness", "served")),
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{name}.{suffix}" for name in names for suffix in ("csv", "svg", "png")
    )
    for path in written:
        raw = path.read_bytes()
        start = {".svg": b"<svg", ".png": b"\x89PNG\r\n\x1a\n"}.get(path.suffix, b'"')
        assert raw.startswith(start), path
    with (tmp_path / "costs.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert float(row["cost"]) == judged.value(row["tokenizer"], "cost", row["language"])
    with (tmp_path / "tradeoff.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert float(row["gini"]) == judged.value(row["tokenizer"], "gini")


def test_figures_of_odd_names_and_of_one_language(tmp_path: Path) -> None:
    odd = scores(ODD_NAMES[:3])
    assert len(
        export_figures(odd, tmp_path / "odd", tokenizers={ODD_NAMES[0]: SimpleNamespace(trace=trace_table())})
    )
    assert (tmp_path / "odd" / "race_costs-1-script-alert-1-script.svg").exists()
    names = {path.stem for path in export_figures(scores(languages=["eng_Latn"]), tmp_path / "one")}
    assert "costs" in names
    assert not names & {"lorenz", "tradeoff"}
    with pytest.raises(PairityError, match="nothing to draw"):
        export_figures(scores(metrics=["round_trip"]), tmp_path / "none")


def test_markdown(judged: Scores) -> None:
    text = markdown(judged, ["gini", "cost"])
    head, rule, *rows = text.splitlines()
    assert head == "| tokenizer | Gini ↓ | Tokens per line ↓ |"
    assert rule == "|---|---:|---:|"
    assert len(rows) == 2
    gini_text = write("gini", judged.value("characters", "gini"))
    assert rows[1].startswith(f"| characters | **{gini_text}** |")
    assert "**" not in rows[0].split("|")[2]
    per_language = markdown(judged, per_language="cost", intervals=True).splitlines()
    assert per_language[0] == "| language | bytes ↓ | characters ↓ |"
    assert len(per_language) == 2 + len(TEXTS)


def test_latex(judged: Scores) -> None:
    text = latex(judged)
    for needed in (
        r"\begin{tabular}{l",
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
        r"\end{tabular}",
        r"$\downarrow$",
    ):
        assert needed in text
    gini_text = write("gini", judged.value("characters", "gini"))
    assert rf"\textbf{{{gini_text}}}" in text
    assert re.search(r"\d\\%", text)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len({line.count("&") for line in rows}) == 1


def test_names_in_tables_are_escaped() -> None:
    judged = scores(ODD_NAMES)
    tex = latex(judged, ["gini"])
    assert r"50 \% \_under\_ \$cash\$ \{brace\} \textbackslash{}slash" in tex
    assert all(line.count("&") - line.count(r"\&") == 1 for line in tex.splitlines() if line.endswith(r"\\"))
    rows = markdown(judged, ["gini"]).splitlines()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in rows[2]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)


def test_tables_of_unknown_metrics_are_refused(judged: Scores) -> None:
    with pytest.raises(PairityError, match="have no 'nope' to tabulate"):
        markdown(judged, ["nope"])
    with pytest.raises(PairityError, match="name at least one"):
        latex(judged, [])
    with pytest.raises(PairityError, match="have no 'gini' to tabulate"):
        latex(judged, per_language="gini")


def test_the_report_writes_figures_and_tables_beside_the_page(judged: Scores, tmp_path: Path) -> None:
    path = report(judged, tmp_path / "deep" / "r.html", figures_dir=tmp_path / "figures")
    assert path == tmp_path / "deep" / "r.html"
    assert path.exists()
    found = {file.name for file in (tmp_path / "figures").iterdir()}
    assert {"summary.md", "summary.tex", "costs.md", "costs.tex", "tradeoff.svg", "lorenz.png"} <= found
    assert (tmp_path / "figures" / "summary.md").read_text("utf-8") == markdown(judged)
    assert len(write_tables(judged, tmp_path / "tables")) == 4
