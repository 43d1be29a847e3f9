"""Induced metrics as a page for people and as data for programs."""

from typing import Any

from evaluators.behaviours.coverage import Meta
from evaluators.behaviours.induce import Induced
from evaluators.behaviours.metrics import Metric, remark
from evaluators.statistics import Interval


def as_json(induced: Induced) -> dict[str, Any]:
    """Everything, for a file."""
    return {
        "size": induced.size,
        "adjusted_rand": induced.rand,
        "metrics": [_metric(metric) for metric in induced.metrics],
        "tried": {str(size): _meta(found) for size, found in sorted(induced.tried.items())},
        "problems": list(induced.problems),
    }


def as_markdown(induced: Induced) -> str:
    """The metrics with their examples, then how many were tried and how good each number was."""
    lines = ["# Metrics from people's feedback", ""]
    for metric in induced.metrics:
        lines += [f"## {metric.name}", "", metric.definition, ""]
        for title, examples in (
            ("Good", metric.positive),
            ("Bad", metric.negative),
            ("Said", metric.unsigned),
        ):
            lines += [f"- {title}: {_line(example)}" for example in examples]
        episodes = len({aspect.episode for aspect in metric.aspects})
        lines += ["", f"{len(metric.aspects)} remarks on {episodes} episodes.", ""]
    lines += ["## How many", "", "| metrics | coverage % | redundancy % | |", "|---|---|---|---|"]
    for size, found in sorted(induced.tried.items()):
        mark = "taken" if size == induced.size else ""
        lines.append(f"| {size} | {_told(found.coverage)} | {_told(found.redundancy)} | {mark} |")
    uncovered = induced.tried[induced.size].uncovered
    lines += ["", f"## Not covered: {len(uncovered)} held-out remarks", ""]
    lines += [f"- {_line(remark(aspect))}" for aspect in uncovered]
    if induced.rand is not None:
        lines += ["", f"Agreement with the given groups (adjusted Rand): {induced.rand:.2f}."]
    lines += [f"- left out: {_line(problem)}" for problem in induced.problems]
    return "\n".join(lines) + "\n"


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "name": metric.name,
        "definition": metric.definition,
        "positive": list(metric.positive),
        "negative": list(metric.negative),
        "unsigned": list(metric.unsigned),
        "aspects": [
            {
                "episode": aspect.episode,
                "step": aspect.step,
                "feedback": aspect.feedback,
                "behaviour": aspect.behaviour,
                "is_positive": aspect.is_positive,
            }
            for aspect in metric.aspects
        ],
    }


def _meta(found: Meta) -> dict[str, Any]:
    return {
        "coverage": found.coverage._asdict() if found.coverage else None,
        "redundancy": found.redundancy._asdict() if found.redundancy else None,
        "uncovered": [remark(aspect) for aspect in found.uncovered],
    }


def _told(found: Interval | None) -> str:
    if found is None:
        return "–"
    return f"{100 * found.value:.0f} [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def _line(text: str) -> str:
    return " ".join(text.split())
