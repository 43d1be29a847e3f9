"""Jinja as the report and the viewer use it: everything that is put in is escaped."""

import re
import time
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from apps.report.charts import colour_class, draw_chart, has_curve
from loop.failures import COLUMNS, format_counts, format_rows, format_task_counts
from loop.summary import format_comparison
from loop.summary.format import (
    BASELINE_HEAD,
    BELIEF_HEAD,
    find_lenient_rule,
    find_step_columns,
    format_baseline,
    format_belief,
    format_points,
    name_seeds,
)
from webagent.action import format_action

TEMPLATES = Path(__file__).with_name("templates")


@cache
def make_environment(*folders: Path) -> Environment:
    """Return an environment with the report's templates, and those of these folders before them.

    Text is escaped, and rid of what cannot be written as UTF-8 or stands in no HTML.
    """
    made = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_make_writable,
    )
    made.filters |= {
        "count": lambda number: f"{number:,.0f}",
        "percent": lambda rate: f"{100 * rate:.1f}",
        "moment": format_moment,
        # On a drawing 200 units wide.
        "place_on": lambda value, span: round(8 + 184 * (value - span[0]) / (span[1] - span[0]), 2),
        "format_baseline": format_baseline,
        "format_counts": format_counts,
        "format_belief": format_belief,
        "format_task_counts": format_task_counts,
    }
    made.globals |= {
        "BASELINE_HEAD": BASELINE_HEAD,
        "COLUMNS": COLUMNS,
        "BELIEF_HEAD": BELIEF_HEAD,
        "colour_class": colour_class,
        "draw_chart": draw_chart,
        "find_lenient_rule": find_lenient_rule,
        # The least and the greatest end of all intervals, with zero between them.
        "find_span": lambda rows: (
            min([-0.01, *(row["low"] for row in rows)]),
            max([0.01, *(row["high"] for row in rows)]),
        ),
        "find_step_columns": find_step_columns,
        "format_action": format_action,
        "format_comparison": format_comparison,
        "format_points": format_points,
        "format_rows": format_rows,
        "has_curve": has_curve,
        "list_rates": lambda summary, task: [arm["by_task"].get(task) for arm in summary["arms"]],
        "name_seeds": name_seeds,
    }
    return made


def _make_writable(value: object) -> object:
    """Return text that UTF-8 has, without the control characters that HTML forbids, and with those
    that turn the direction of a line as escapes; anything else as it is. Pages hold whatever sites
    have sent, lone surrogates included."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    text = value.encode("utf-8", "backslashreplace").decode()
    text = re.sub("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", lambda c: ascii(c[0])[1:-1], text)
    return "".join(c if c in "\n\t" or ord(c) >= 32 else "\N{REPLACEMENT CHARACTER}" for c in text)


def format_moment(seconds: float) -> str:
    """Return a time since 1970 as day and minute, where this machine is."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
