"""Tables for papers and pull requests: Markdown, and LaTeX with booktabs. The best value is bold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pairity.errors import PairityError
from pairity.files.writing import write_file
from pairity.judging.metrics import METRICS
from pairity.judging.scores import Scores
from pairity.reporting.cells import PAPER_METRICS, Cell, Cells, short_title
from pairity.reporting.numbers import MINUS

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    MINUS: "$-$",
    "\N{EN DASH}": "--",
}


def markdown(
    scores: Scores, metrics: Sequence[str] | None = None, *, per_language: str = "", intervals: bool = False
) -> str:
    """A row per tokenizer and a column per metric; with `per_language="cost"`, a row per language.

    | tokenizer | Gini ↓ | ... |
    """
    head, rows = grid(Cells(scores), metrics, per_language)
    lines = [
        "| "
        + " | ".join(escape_markdown(title) + {1: " ↑", -1: " ↓", 0: ""}[way] for title, way in head)
        + " |",
        "|" + "---|" + "---:|" * (len(head) - 1),
    ]
    for name, cells in rows:
        texts = [escape_markdown(name)]
        for cell in cells:
            text = "" if cell is None else cell_text(cell, intervals)
            texts.append(f"**{text}**" if cell is not None and cell.best else text)
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def latex(
    scores: Scores, metrics: Sequence[str] | None = None, *, per_language: str = "", intervals: bool = False
) -> str:
    r"""The same as a tabular; needs \usepackage{booktabs}. Intervals are small, below their values."""
    head, rows = grid(Cells(scores), metrics, per_language)
    arrows = {1: r" $\uparrow$", -1: r" $\downarrow$", 0: ""}
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{l" + "r" * (len(head) - 1) + "}",
        r"\toprule",
        " & ".join(escape_latex(title) + arrows[way] for title, way in head) + r" \\",
        r"\midrule",
    ]
    for name, cells in rows:
        texts = [escape_latex(name)]
        for cell in cells:
            text = "" if cell is None else escape_latex(cell_text(cell, intervals=False))
            texts.append(rf"\textbf{{{text}}}" if cell is not None and cell.best else text)
        lines.append(" & ".join(texts) + r" \\")
        below = ["" if cell is None else escape_latex(cell.interval) for cell in cells]
        if intervals and any(below):
            small = [rf"{{\scriptsize {text}}}" if text else "" for text in below]
            lines.append(" & ".join(["", *small]) + r" \\[2pt]")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def write_tables(scores: Scores, folder: str | Path) -> list[Path]:
    """summary.md/.tex (tokenizers x the paper's metrics), the same with 95% intervals, costs.md/.tex (languages x
    tokenizers).
    """
    folder = Path(folder)
    written = []
    for suffix, make in (("md", markdown), ("tex", latex)):
        written.append(write_file(folder / f"summary.{suffix}", make(scores)))
        with_intervals = make(scores, intervals=True)
        written.append(write_file(folder / f"summary-intervals.{suffix}", with_intervals))
        if "cost" in Cells(scores).language_metrics:
            written.append(write_file(folder / f"costs.{suffix}", make(scores, per_language="cost")))
    return written


def grid(
    cells: Cells, metrics: Sequence[str] | None, per_language: str
) -> tuple[list[tuple[str, int]], list[tuple[str, list[Cell | None]]]]:
    """Titles (with 1 for higher is better, -1 for lower, 0 for neither) and rows of cells."""
    if per_language:
        check_metrics([per_language], cells.language_metrics)
        way = way_of(per_language)
        head = [
            ("language", 0),
            *((with_size(name, cells.sizes.get(name)), way) for name in cells.tokenizers),
        ]
        return head, [(cells.facts[code].name, cells.row(per_language, code)) for code in cells.languages]
    sizes: list[Cell | None] = []
    if metrics is None:
        sizes = [size_cell(cells.sizes.get(name)) for name in cells.tokenizers]
        wanted = [name for name in PAPER_METRICS if name in cells.global_metrics] or cells.global_metrics
    else:
        check_metrics(metrics, cells.global_metrics)
        wanted = list(metrics)
    columns = [*([sizes] if any(sizes) else []), *(cells.row(name) for name in wanted)]
    head = [("tokenizer", 0), *([("vocabulary", 0)] if any(sizes) else [])]
    head += [(short_title(name), way_of(name)) for name in wanted]
    return head, [
        (name, [column[index] for column in columns]) for index, name in enumerate(cells.tokenizers)
    ]


def with_size(name: str, size: int | None) -> str:
    return name if size is None else f"{name} ({size:,})"


def size_cell(size: int | None) -> Cell | None:
    return None if size is None else Cell(float(size), None, None, f"{size:,}", "")


def check_metrics(metrics: Sequence[str], known: Sequence[str]) -> None:
    if not metrics:
        raise PairityError("a table without metrics would be empty: name at least one.")
    for metric in metrics:
        if metric not in known:
            raise PairityError(f"these scores have no {metric!r} to tabulate. They have: {', '.join(known)}.")


def way_of(metric: str) -> int:
    better = METRICS[metric].better if metric in METRICS else "neither"
    return {"higher": 1, "lower": -1, "neither": 0}[better]


def cell_text(cell: Cell, intervals: bool) -> str:
    name = f"{cell.language} " if cell.language and cell.aggregation == "across languages" else ""
    return name + (cell.shown if intervals else cell.text)


def escape_markdown(text: str) -> str:
    escaped = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", one_line(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape_latex(text: str) -> str:
    return "".join(LATEX.get(character, character) for character in one_line(text))


def one_line(text: str) -> str:
    """Line feeds would break the row."""
    return re.sub(r"[ \t\r\n\v\f]+", " ", text).strip(" ")
