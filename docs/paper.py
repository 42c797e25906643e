"""The tables of the parity-aware BPE paper as data: docs/results/paper.json, read from the paper's LaTeX source.

    python docs/paper.py PAPER.tex

    PA-BPE (W=50) & 0.0277 & ... & \\textbf{0.008} & 0.542 & 0.673 \\\\
    ->  {"name": "PA-BPE (W=50)", "compression_rate_line": 0.0277, ..., "gini": 0.008, ...}

Only the tables of tokenizers are taken; what a row prints is kept as printed, rounded as it is.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

SOURCE = "Foroutan et al.: Parity-Aware Byte-Pair Encoding: Improving Cross-lingual Fairness in Tokenization"

TABLES = {
    "tab:full_unbalanced_30langs_128k": "30 languages, unbalanced, 128k, FineWeb2",
    "tab:window_ablation": "window size, 30 languages, unbalanced, 128k, FineWeb2",
    "tab:devset_ablation": "dev set size, 30 languages, unbalanced, 128k, FineWeb2",
    "tab:full_unbalanced_30langs_128k_mc4": "30 languages, unbalanced, 128k, mC4",
    "tab:full_unbalanced_60langs_128k": "60 languages, unbalanced, 128k, mC4",
    "tab:full_balanced_30langs_128k": "30 languages, balanced, 128k, mC4",
    "tab:full_unbalanced_30langs_256k": "30 languages, unbalanced, 256k, mC4",
}
"""Label of a table -> what it is of."""

COLUMNS = (
    "compression_rate_line",
    "type_token_ratio",
    "vocabulary_utilisation",
    "fertility_paper",
    "renyi_efficiency_paper_2.5",
    "gini",
    "morph_precision_paper",
    "morph_recall_paper",
)
"""The columns of all of them, in the order printed."""


def number(cell: str) -> float:
    """r"\\textbf{0.434 {\\small $\\pm$ 0.045}}" -> 0.434, "67.0\\%" -> 0.67"""
    found = re.search(r"\d+\.\d+", cell)
    if found is None:
        raise ValueError(f"no number in {cell!r}")
    return round(float(found[0]) / 100, 6) if r"\%" in cell else float(found[0])


def rows_of(table: str) -> list[dict[str, Any]]:
    """The rows between \\midrule and \\bottomrule."""
    body = table.split(r"\midrule")[1].split(r"\bottomrule")[0]
    found: list[dict[str, Any]] = []
    for line in body.split(r"\\"):
        cells = [cell.strip() for cell in line.split("&")]
        if len(cells) == 1 + len(COLUMNS):
            found.append({"name": cells[0], **dict(zip(COLUMNS, map(number, cells[1:]), strict=True))})
    return found


def read_paper(latex: str) -> dict[str, Any]:
    """{"source": ..., "tables": {label: {"of": ..., "rows": [...]}}}"""
    found = {}
    for table in re.findall(r"\\begin\{table\*\}.*?\\end\{table\*\}", latex, re.DOTALL):
        label = re.search(r"\\label\{(tab:[^}]*)\}", table)
        if label is not None and label[1] in TABLES:
            found[label[1]] = {"of": TABLES[label[1]], "rows": rows_of(table)}
    if missing := TABLES.keys() - found:
        raise ValueError(f"the paper has no table {', '.join(sorted(missing))}")
    return {"source": SOURCE, "made_by": "python docs/paper.py PAPER.tex", "tables": found}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paper", type=Path, help="the LaTeX source")
    latex = parser.parse_args().paper.read_text(encoding="utf-8")
    target = Path(__file__).parent / "results" / "paper.json"
    target.write_text(json.dumps(read_paper(latex), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
