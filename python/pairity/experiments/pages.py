"""The page of an experiment: the report of the first text, fairness at home and away, and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pairity.experiments.experiment import Experiment
from pairity.experiments.folder import Folder, key_of
from pairity.experiments.scoring import ScoredRows
from pairity.experiments.table import Row
from pairity.reporting import report
from pairity.reporting.axis import AxisPoint, axis_section
from pairity.reporting.look import Look
from pairity.reporting.pictures import write_figure
from pairity.reporting.sections import Section
from pairity.reporting.texts import OnText, home_and_away


def page_of(folder: Folder) -> Path:
    return folder.path / "report.html"


def key_of_page(experiment: Experiment, scored: Sequence[ScoredRows]) -> str:
    """The key of everything that the page shows."""
    return key_of(
        {
            "title": experiment.title,
            "chart": experiment.chart,
            "scores": [[one.text, one.languages, one.key] for one in scored],
            "series": [[one.row.name, one.row.series] for each in scored for one in each.rows],
        }
    )


def remove_other_page(folder: Folder, experiment: Experiment, scored: Sequence[ScoredRows]) -> None:
    """Remove a page that shows something else, and its chart."""
    page = page_of(folder)
    if not folder.finished(page, key_of_page(experiment, scored)):
        for file in [page, *folder.noted_files(page)]:
            if file.parent in (page.parent, folder.path / "figures"):
                file.unlink(missing_ok=True)


def write_page(
    folder: Folder, experiment: Experiment, scored: Sequence[ScoredRows], rows: Sequence[Row]
) -> None:
    """Write report.html and the chart in figures/, unless they are up to date."""
    page, key = page_of(folder), key_of_page(experiment, scored)
    if folder.finished(page, key):
        return
    sections: list[Section] = []
    drawn: list[Path] = []
    if experiment.chart is not None:
        section = axis_section(experiment.chart, chart_of(experiment.chart, scored[0], rows), scored[0].text)
        sections.append(section)
        for figure in section.figures:
            drawn += write_figure(figure, Look(figure.order, ""), folder.path / "figures" / experiment.chart)
    if len(scored) > 1:
        sections.append(home_and_away([on_text(row) for row in rows]))
    report(scored[0].scores, page, title=experiment.title, sections=sections)
    folder.finish(page, key, drawn)


def on_text(row: Row) -> OnText:
    return OnText(
        row.languages,
        row.name,
        row.text,
        row.gini,
        row.gini_low,
        row.gini_high,
        row.tokens_per_line,
        row.worst_language,
        row.worst_cost,
        row.leak,
    )


def chart_of(setting: str, scored: ScoredRows, rows: Sequence[Row]) -> list[AxisPoint]:
    """The rows of a text against one setting, with a line for rows that are equal in all other settings."""
    found = {row.name: row for row in rows if (row.text, row.languages) == (scored.text, scored.languages)}
    return [
        AxisPoint(
            one.row.series,
            one.row.settings.get(setting),
            (row.gini, row.gini_low, row.gini_high),
            (row.tokens_per_line, row.tokens_per_line_low, row.tokens_per_line_high),
        )
        for one in scored.rows
        if (row := found[one.row.name])
    ]
