"""Results as one self-contained HTML page: what was chosen, whether to trust it, plots and a table."""

from tamis.report.analysis import Analysis, analyse
from tamis.report.page import Entry, finding_rows, write_comparison, write_report

__all__ = ["Analysis", "Entry", "analyse", "finding_rows", "write_comparison", "write_report"]
