"""The report as one self-contained page: no network, no fonts, no libraries."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.files.writing import write_file
from pairity.judging.metrics import METRICS
from pairity.judging.opening import open_tokenizer
from pairity.judging.protocol import TokenizerLike
from pairity.judging.scores import Scores
from pairity.judging.sizes import cut_to
from pairity.languages import language as facts
from pairity.reporting.cells import LANGUAGE_METRICS, MAIN_METRICS, OF_BASELINE, Cell, Cells, short_title
from pairity.reporting.figures import LEVELS, Figure, figures
from pairity.reporting.glance import glance
from pairity.reporting.look import Look
from pairity.reporting.models import models_section
from pairity.reporting.numbers import short_size, write, write_interval
from pairity.reporting.pictures import export_figures, for_page
from pairity.reporting.race import Race, races_of
from pairity.reporting.scoreboard import about_sizes, rivals, scoreboard, size_for_all
from pairity.reporting.sections import Section, rendered
from pairity.reporting.sentences import read_sentences, viewer
from pairity.reporting.sizes import size_figures
from pairity.reporting.summary import difference_rows, summary, warnings_besides
from pairity.reporting.tables import write_tables
from pairity.reporting.vega import far_apart

SCRIPTS = ("figures.js", "page.js")
GROUP_METRICS = {"cost": "tokens per line", "gini": "Gini coefficient within the group"}


def report(
    scores: Scores | str | Path,
    path: str | Path = "report.html",
    *,
    tokenizers: Mapping[str, Any] | None = None,
    sentences: Any = None,
    model_scores: str | Path | None = None,
    figures_dir: str | Path | None = None,
    title: str = "Tokenizers, language by language",
    date: str = "",
    sections: Sequence[Section] = (),
) -> Path:
    """Write the report of `scores` (or of the folder they were saved in) as one HTML page; returns its path.

    tokenizers    {name: Tokenizer, folder or any spec}, names as in the scores: adds their training runs, if
                  they have a trace, and splits the sentences
    sentences     {language: sentence or sentences}, or text as `evaluate` reads it: shown split into tokens
    model_scores  a table of how well language models know each language (.csv, .tsv or .parquet), from `pairity lm
                  measure` or elsewhere: shown next to the costs
    figures_dir   also writes every figure as SVG, PNG, PDF and CSV, and the tables as Markdown and LaTeX, to it
    date          shown as given; the page does not read the clock, so the same scores give the same page
    sections      more parts of the page, as `pairity.experiments` has them
    """
    if not isinstance(scores, Scores):
        scores = Scores.load(scores)
    tokenizers = dict(tokenizers or {})
    names = list(scores.curves()) or scores.tokenizers
    strangers = [name for name in tokenizers if name not in names]
    if strangers:
        raise PairityError(
            f"these scores have no tokenizer {strangers[0]!r}: they have {', '.join(names)}. "
            "Use the same names."
        )
    if sentences is not None and not tokenizers:
        raise PairityError(
            "sentences need tokenizers to split them: give tokenizers={name: Tokenizer or folder} (--tokenizer "
            "NAME=TOKENIZER)."
        )
    opened = {name: open_tokenizer(one, name=name) for name, one in tokenizers.items()}
    for name, one in opened.items():
        check_evaluated(scores, name, one)
    own = []
    if model_scores is not None:
        own = [models_section(Cells(scores.at_largest_size()), model_scores)]
    page = render(
        scores,
        tokenizers=tokenizers,
        opened=opened,
        sentences=sentences,
        title=title,
        date=date,
        sections=[*own, *sections],
    )
    if figures_dir is not None:
        drawn = [figure for section in own for figure in section.figures]
        write_tables(
            scores, figures_dir
        )  # first: by these files a folder of figures is known, also if this is cut off
        export_figures(scores, figures_dir, tokenizers=tokenizers, added=drawn)
    return write_file(Path(path), page)


def check_evaluated(scores: Scores, name: str, tokenizer: TokenizerLike) -> None:
    """Refuse another tokenizer than the one that was evaluated, as far as its size tells."""
    about = scores.at_largest_size().about(name)
    size, cut = about.get("vocab_size"), "cut_from" in about
    if size is None or tokenizer.vocab_size == size or (cut and tokenizer.vocab_size > size):
        return
    raise PairityError(
        f"the tokenizer given for {name!r} has {tokenizer.vocab_size:,} tokens, but the one with these scores "
        f"has {size:,}: give the one that was evaluated (--tokenizer {name}=...), or evaluate this one."
    )


def render(
    scores: Scores,
    *,
    tokenizers: Mapping[str, Any],
    opened: Mapping[str, TokenizerLike],
    sentences: Any,
    title: str,
    date: str,
    sections: Sequence[Section] = (),
) -> str:
    """The page as text."""
    cells = Cells(scores.at_largest_size())
    look = Look(cells.tokenizers, cells.baseline, cells.sizes)
    races = races_of(tokenizers)
    added = [figure for section in sections for figure in section.figures]
    board = scoreboard(scores)
    drawn = [glance(scores), *figures(cells, races), *size_figures(scores), *added]
    cut = None
    if sentences is not None:
        shown = {
            name: cut_to(one, cells.scores.about(name).get("vocab_size")) for name, one in opened.items()
        }
        cut = viewer(read_sentences(sentences, len(shown), cells.languages), shown, striking(cells))
    reference = scores.meta.get("reference")
    files = resources.files("pairity.reporting")
    scripts = [files.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS]
    safe = load_extra("markupsafe", "a report").Markup
    return rendered(
        "page.html.j2",
        title=title,
        date=date,
        cells=cells,
        board=board,
        about_sizes=about_sizes(board),
        size_for_all=size_for_all(board),
        best=rivals(board, cells.baseline)[-1],
        verdicts=summary(cells),
        warnings=warnings_besides(cells),
        reference=facts(reference).name if reference else "the reference language",
        main_rows=global_rows(cells, [name for name in MAIN_METRICS if name in cells.global_metrics]),
        all_rows=global_rows(cells, cells.global_metrics),
        differences=difference_rows(cells),
        language_metric=next((name for name in LANGUAGE_METRICS if name in cells.language_metrics), None),
        language_metrics=[name for name in LANGUAGE_METRICS if name in cells.language_metrics],
        groups=group_tables(cells.scores, cells),
        look=look,
        figures={figure.name: figure for figure in drawn if not figure.of},
        draw=lambda figure: safe("\n".join(for_page(figure, look))),
        races={name: [figure for figure in drawn if figure.of == name] for name in races},
        first_race=next((name for name, one in races.items() if any(one.services.values())), None),
        of_baseline=OF_BASELINE,
        sections=[(section, safe(section.html), safe(section.below)) for section in sections],
        raced={
            name: sorted(((code, facts(code).name) for code in one.languages), key=lambda two: two[1])
            for name, one in races.items()
        },
        race_notes={name: race_note(one) for name, one in races.items()},
        viewer=cut,
        metrics=METRICS,
        short_title=short_title,
        short_size=short_size,
        digests=scores.meta.get("languages", {}),
        versions=scores.meta.get("versions", {}),
        made_with=own_version(),
        style=safe(files.joinpath("page.css").read_text(encoding="utf-8")),
        scripts=[safe(script) for script in scripts],
        policy=policy(scripts),
        data=safe(embedded(script_data(cells, look, drawn, cut))),
    )


def global_rows(cells: Cells, metrics: Sequence[str]) -> list[tuple[str, list[Cell | None]]]:
    return [(name, cells.row(name)) for name in metrics]


def group_tables(scores: Scores, cells: Cells) -> list[dict[str, Any]]:
    """Costs and Gini within script families and resource levels: a table for each grouping and metric."""
    found: dict[tuple[str, str], dict[str, dict[str, Cell]]] = {}
    for row in scores.groups.to_pylist():
        if row["metric"] not in GROUP_METRICS:
            continue
        metric, low, high = row["metric"], row["low"], row["high"]
        cell = Cell(
            row["value"],
            low,
            high,
            write(metric, row["value"]),
            write_interval(metric, low, high),
            note=row["note"] or "",
        )
        groups = found.setdefault((row["grouping"], metric), {})
        groups.setdefault(row["group"], {})[row["tokenizer"]] = cell
    titles = {"script_family": "Script family", "resource_level": "Resource level"}
    return [
        {
            "title": titles.get(grouping, grouping),
            "metric": GROUP_METRICS[metric],
            "rows": sorted(
                ((name, members(cells, grouping, name), found) for name, found in groups.items()),
                key=lambda row: (LEVELS.index(row[0]) if row[0] in LEVELS else 0, -row[1], row[0]),
            ),
        }
        for (grouping, metric), groups in found.items()
    ]


def members(cells: Cells, grouping: str, group: str) -> int:
    return sum(getattr(one, grouping, None) == group for one in cells.facts.values())


def striking(cells: Cells) -> list[str]:
    """Languages to show first: the reference, those that gain and pay the most, and one written right to left."""
    reference = cells.scores.meta.get("reference")
    others = [name for name in cells.tokenizers if name != cells.baseline]
    changes = {code: cells.value(others[0], "change", code) for code in cells.languages if others}
    known = {code: value for code, value in changes.items() if value is not None and code != reference}
    extremes = [min(known, key=known.__getitem__), max(known, key=known.__getitem__)] if known else []
    from_the_right = [code for code in cells.languages if cells.facts[code].right_to_left]
    return list(dict.fromkeys([str(reference), *extremes, *from_the_right[:1]]))


def race_note(one: Race) -> str:
    never = [code for code in one.languages if one.services.get(code, 0) == 0]
    if not any(one.services.values()) or not never:
        return ""
    return f"Never served: {', '.join(facts(code).name for code in never)}."


def script_data(
    cells: Cells, look: Look, drawn: Sequence[Figure], cut: dict[str, Any] | None
) -> dict[str, Any]:
    """The data for the scripts of the page."""
    languages = {
        code: {"name": one.name, "script": one.script, "level": one.resource_level}
        for code, one in cells.facts.items()
    }
    for figure in drawn:
        for code in figure.order:
            languages.setdefault(code, {"name": facts(code).name})
    return {
        "tokenizers": cells.tokenizers,
        "baseline": cells.baseline,
        "colours": [look.colour(name) for name in cells.tokenizers],
        "shapes": [look.shape(name) for name in cells.tokenizers],
        "languages": languages,
        "figures": [
            {
                "name": one.name,
                "of": one.of,
                "columns": {name: light(values) for name, values in one.columns.items()},
                "labels": one.labels,
                "label": one.label,
            }
            for one in drawn
            if not one.missing and one.name != "costs"
        ],
        "measures": {
            metric: {
                "unit": METRICS[metric].unit if metric in METRICS else "",
                "better": METRICS[metric].better if metric in METRICS else "neither",
                "title": METRICS[metric].title if metric in METRICS else metric,
                "scale": scale_of(metric, cells),
                "cells": {
                    code: [compact(cell) for cell in cells.row(metric, code)] for code in cells.languages
                },
            }
            for metric in LANGUAGE_METRICS
            if metric in cells.language_metrics
        },
        "viewer": cut,
    }


def scale_of(metric: str, cells: Cells) -> str:
    """The scale of the small charts in the table: ratios for changes, logarithmic for values of a wide range."""
    if metric in OF_BASELINE:
        return "ratio"
    found = [cells.value(name, metric, code) for name in cells.tokenizers for code in cells.languages]
    values = [value for value in found if value is not None]
    return "log" if values and far_apart(values) else "linear"


def light(values: list[Any]) -> Any:
    """A column in few bytes: numbers with seven digits (the CSV files have all of them), repeated texts only once.

    ["kor_Hang", "kor_Hang", "ell_Grek"]  ->  {"of": ["kor_Hang", "ell_Grek"], "at": [0, 0, 1]}
    """
    if any(isinstance(value, str) for value in values):
        places = {value: place for place, value in enumerate(dict.fromkeys(values))}
        return {"of": list(places), "at": [places[value] for value in values]}
    return [float(f"{value:.7g}") if isinstance(value, float) else value for value in values]


def compact(cell: Cell | None) -> list[Any] | None:
    if cell is None or cell.value is None:
        return None
    return [cell.value, cell.low, cell.high, cell.text, cell.interval, int(cell.best), int(cell.leak)]


def embedded(content: Any) -> str:
    """JSON that cannot close the script element around it, whatever names and sentences contain."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def policy(scripts: Sequence[str]) -> str:
    """A policy that forbids the browser to load anything, and to run any script except those of the page."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    own = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {own}"


def own_version() -> str:
    try:
        return version("pairity")
    except PackageNotFoundError:
        return "unknown"
