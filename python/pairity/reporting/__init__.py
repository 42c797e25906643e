"""Reporting: from scores to pages, figures and tables.

In: `Scores`, and optionally the tokenizers (for their training runs, and to cut sentences). Out: one HTML page
(`page`), every figure as SVG, PNG, PDF and CSV (`pictures`), and tables in Markdown and LaTeX (`tables`). What is
shown is computed once (`cells`, `figures`, `race`, `summary`), and every figure is drawn once (`drawing`).
Next: `pairity.demo` and `pairity.cli` show it to the user.
"""

from pairity.reporting.page import report
from pairity.reporting.pictures import export_figures
from pairity.reporting.tables import latex, markdown, write_tables

__all__ = ["export_figures", "latex", "markdown", "report", "write_tables"]
