"""Model scores beside token costs: the section of the page, its figure and its table."""

import csv
from pathlib import Path

import pytest

import pairity
from pairity.judging.scores import Scores
from pairity.reporting import report
from program import pairity as run
from report_page import Page, number

ROWS = """\
tokenizer,language,measure,value,low,high,random,text
bytes,eng_Latn,bits_per_byte,1.25,1.2,1.3,,parallel
characters,eng_Latn,bits_per_byte,1.5,1.4,1.6,,parallel
bytes,tel_Telu,bits_per_byte,0.75,0.7,0.8,,parallel
characters,tel_Telu,bits_per_byte,0.5,0.45,0.55,,parallel
bytes,,bits_per_byte,1,0.9,1.1,,parallel
characters,eng_Latn,accuracy,0.5,,,0.25,
characters,kor_Hang,accuracy,0.375,,,0.25,
bytes,tel_Telu,chrF,41.25,,,,
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "models.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path / "models.csv"


def test_the_table_has_costs_and_scores_side_by_side(judged: Scores, table: Path, tmp_path: Path) -> None:
    page = Page(report(judged, tmp_path / "r.html", model_scores=table))
    [(_, rows)] = [(name, rows) for name, rows in page.tables.items() if name.startswith("models")]
    heads = [cell.text.partition("\N{NO-BREAK SPACE}")[0] for cell in rows[0]]
    assert heads == ["Language", "tokens per line", "bits per byte, parallel", "accuracy", "chrF"]
    assert [cell.text for cell in rows[1]] == ["bytes", "characters"] * 3 + [
        "by chance",
        "bytes",
        "characters",
    ]
    by_name = {row[0].text: row[1:] for row in rows[2:]}
    assert list(by_name) == ["All languages", "Telugu", "English", "Korean"], "the expensive ones first"
    assert [cell.text for cell in by_name["Telugu"][2:]] == ["0.750", "0.500", "–", "–", "–", "41.25", "–"]
    assert [cell.text for cell in by_name["English"][2:]] == [
        "1.250",
        "1.500",
        "–",
        "50.0%",
        "25.0%",
        "–",
        "–",
    ]
    assert [cell.text for cell in by_name["Korean"]] == ["–"] * 5 + ["37.5%", "25.0%", "–", "–"]
    for place, name in enumerate(("bytes", "characters")):
        value, room = number(by_name["Telugu"][place].text)
        assert value == pytest.approx(judged.costs(name)["tel_Telu"], abs=room)
        assert by_name["Telugu"][place].value == str(judged.costs(name)["tel_Telu"])


def test_the_figure_is_on_the_page_and_in_files(judged: Scores, table: Path, tmp_path: Path) -> None:
    page = Page(report(judged, tmp_path / "r.html", model_scores=table, figures_dir=tmp_path / "figures"))
    [figure] = [figure for figure in page.data["figures"] if figure["name"] == "models"]
    with (tmp_path / "figures" / "models.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(figure["labels"]) == len(rows) == 4 + 4 + 2 + 1, "no mean of all languages among them"
    assert {row["measure"] for row in rows} == {"tokens_per_line", "bits_per_byte", "accuracy", "chrF"}
    assert "English, characters\nBits per byte, parallel 1.500 (1.400 to 1.600)" in figure["labels"]
    for kind in ("svg", "png", "pdf"):
        assert (tmp_path / "figures" / f"models.{kind}").stat().st_size > 1000
    drawn = (tmp_path / "figures" / "models.svg").read_text("utf-8")
    for text in ("tokens per line", "bits per byte", "parallel", "→ better", "chrF", "Telugu", "Korean"):
        assert text in drawn


def test_without_model_scores_there_is_no_section(page: Page) -> None:
    assert "Language models" not in page.text
    assert not [name for name in page.tables if name.startswith("models")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("bytes,", "byte,"),
            "has the tokenizer 'byte', but these scores do not: they have bytes, characters",
        ),
        (("value", "values"), "has no column 'value'"),
        (
            ("chrF", "tokens_per_line"),
            "has the measure tokens_per_line, which the page takes from the scores",
        ),
    ],
)
def test_scores_of_other_tokenizers_are_refused(judged, table, tmp_path, change, message):
    table.write_text(ROWS.replace(*change))
    with pytest.raises(pairity.PairityError, match=message):
        report(judged, tmp_path / "r.html", model_scores=table)
    assert not (tmp_path / "r.html").exists()


def test_scores_of_other_languages_are_refused(judged, table, tmp_path):
    table.write_text("tokenizer,language,measure,value\nbytes,en,accuracy,0.5\n")
    with pytest.raises(pairity.PairityError, match="no language in common: 'en' there"):
        report(judged, tmp_path / "r.html", model_scores=table)


def test_odd_names_and_values_are_drawn(judged, tmp_path):
    """Names are escaped, values far apart get a logarithmic axis, and zeros and negative values are drawn."""
    rows = ["tokenizer,language,measure,value"]
    for place, code in enumerate(judged.languages):
        rows += [f"bytes,{code},<b>&,{10**place}", f"bytes,{code},zero,0", f"bytes,{code},below,{-place}"]
    (tmp_path / "m.csv").write_text("\n".join(rows))
    page = Page(
        report(judged, tmp_path / "r.html", model_scores=tmp_path / "m.csv", figures_dir=tmp_path / "f")
    )
    assert "<b>&" in page.text
    assert (tmp_path / "f" / "models.png").exists()


def test_a_logarithmic_axis_needs_ends_above_0(judged, tmp_path):
    rows = ["tokenizer,language,measure,value,low,high"]
    rows += [f"bytes,{code},x,{10**place},-0.5,1e9" for place, code in enumerate(judged.languages)]
    (tmp_path / "m.csv").write_text("\n".join(rows))
    report(judged, tmp_path / "r.html", model_scores=tmp_path / "m.csv", figures_dir=tmp_path / "f")
    assert "Telugu" in (tmp_path / "f" / "models.svg").read_text("utf-8")


def test_a_language_that_no_figure_can_show_is_refused(judged, table, tmp_path):
    table.write_text(ROWS.replace("kor_Hang", "constructor"))
    with pytest.raises(pairity.PairityError, match="cannot show a language that is called 'constructor'"):
        report(judged, tmp_path / "r.html", model_scores=table)
    assert not (tmp_path / "r.html").exists()


def test_the_command_takes_the_table(judged: Scores, table: Path, tmp_path: Path) -> None:
    judged.save(tmp_path / "scores")
    done = run("report", tmp_path / "scores", "--model-scores", table, "-o", tmp_path / "r.html")
    assert done.returncode == 0, done.stderr
    assert 'id="models"' in (tmp_path / "r.html").read_text("utf-8")
    done = run(
        "report", tmp_path / "scores", "--model-scores", tmp_path / "no.csv", "-o", tmp_path / "s.html"
    )
    assert done.returncode == 1
    assert "there is no" in done.stderr
    assert "Traceback" not in done.stderr
