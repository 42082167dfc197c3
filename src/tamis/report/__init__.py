"""Results as one self-contained HTML page: what was chosen, whether to trust it, plots and a table."""

from tamis.report.analysis import Analysis, analyse
from tamis.report.page import write_report, write_scores

__all__ = ["Analysis", "analyse", "write_report", "write_scores"]
