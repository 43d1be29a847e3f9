"""The report: a run as one page that opens anywhere, loads nothing and runs nothing."""

from apps.report.page import write_report

__all__ = ["write_report"]
