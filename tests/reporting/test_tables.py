"""Tables for papers."""

import re
from pathlib import Path

import pytest

from pairity.errors import PairityError
from pairity.files.places import check_folder
from pairity.judging.scores import Scores
from pairity.reporting import latex, markdown, report, write_tables
from pairity.reporting.numbers import write
from report_scores import ODD_NAMES, TEXTS, scores


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
    assert per_language[0] == "| language | bytes (4,000) ↓ | characters (4,000) ↓ |"
    assert len(per_language) == 2 + len(TEXTS)


def test_the_summary_gives_the_size_of_every_vocabulary(judged: Scores) -> None:
    head, _, *rows = markdown(judged).splitlines()
    assert head.startswith("| tokenizer | vocabulary | ")
    assert [row.split(" | ")[1] for row in rows] == ["4,000", "4,000"]
    assert "tokenizer & vocabulary & " in latex(judged)


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


def test_latex_has_intervals_below_the_values(judged: Scores) -> None:
    found = judged.interval("characters", "gini")
    assert found is not None
    plain, text = latex(judged, ["gini"]), latex(judged, ["gini"], intervals=True)
    shown = rf" & {{\scriptsize {write('gini', found.low)} to {write('gini', found.high)}}} \\[2pt]"
    assert shown in text.splitlines()
    assert [line for line in text.splitlines() if "scriptsize" not in line] == plain.splitlines()
    without = latex(judged, ["vocabulary_utilisation"], intervals=True)
    assert without == latex(judged, ["vocabulary_utilisation"]), "no interval, no row"


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


def test_figures_that_were_cut_off_can_be_completed(
    judged: Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("pairity.reporting.page.export_figures", stop)
        with pytest.raises(KeyboardInterrupt):
            report(judged, tmp_path / "r.html", figures_dir=tmp_path / "figures")
    check_folder(tmp_path / "figures", ("summary.md",), what="figures", force=True, alone=True)


def test_the_report_writes_figures_and_tables_beside_the_page(judged: Scores, tmp_path: Path) -> None:
    path = report(judged, tmp_path / "deep" / "r.html", figures_dir=tmp_path / "figures")
    assert path == tmp_path / "deep" / "r.html"
    assert path.exists()
    found = {file.name for file in (tmp_path / "figures").iterdir()}
    assert {"summary.md", "summary.tex", "costs.md", "costs.tex", "tradeoff.svg", "lorenz.png"} <= found
    assert (tmp_path / "figures" / "summary.md").read_text("utf-8") == markdown(judged)
    with_intervals = (tmp_path / "figures" / "summary-intervals.tex").read_text("utf-8")
    assert with_intervals == latex(judged, intervals=True)
    assert len(write_tables(judged, tmp_path / "tables")) == 6
