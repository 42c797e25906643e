"""From scores to what people read: one page, figures, and tables for papers. Reads the score table only."""

from pairity.reporting.page import report
from pairity.reporting.pictures import export_figures
from pairity.reporting.tables import latex, markdown, write_tables

__all__ = ["export_figures", "latex", "markdown", "report", "write_tables"]
