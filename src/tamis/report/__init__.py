"""Results as one self-contained HTML page: what was chosen, whether to trust it, plots and a table."""

from tamis.report.analysis import Analysis, analyse
from tamis.report.page import write_report, write_scores
from tamis.report.verdict import Verdict, judge

__all__ = ["Analysis", "Verdict", "analyse", "judge", "write_report", "write_scores"]
