"""Reporting: scores become something to read.

In: `Scores`, and where wanted the tokenizers (their training runs, the cuts of sentences). Out: one HTML page
(`page`), every figure as SVG, PNG, PDF and CSV (`pictures`), and tables in Markdown and LaTeX (`tables`). What is
shown is computed once (`cells`, `figures`, `race`, `summary`), and every figure is drawn once (`drawing`).
Next: `pairity.demo` and `pairity.cli` put it before the user.
"""

from pairity.reporting.page import report
from pairity.reporting.pictures import export_figures
from pairity.reporting.tables import latex, markdown, write_tables

__all__ = ["export_figures", "latex", "markdown", "report", "write_tables"]
