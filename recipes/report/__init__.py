"""The report: a run as one page that opens anywhere, loads nothing and runs nothing."""

from recipes.report.command import ReportConfig, main
from recipes.report.page import write_report

__all__ = ["ReportConfig", "main", "write_report"]
