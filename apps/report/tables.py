"""The tables of the report: rounds, tasks, comparisons."""

from collections.abc import Sequence

from apps.report.colours import colour_class
from apps.report.markup import Markup, tag
from evaluators.attribution import FailureSummary
from loop.failures import COLUMNS, format_rows
from loop.summary import ArmComparison, EpisodeRate, RoundSummary, Summary, format_comparison
from loop.summary.format import (
    BASELINE_HEAD,
    DRIFT_HEAD,
    STEP_COLUMNS,
    StepColumn,
    find_lenient_rule,
    find_step_columns,
    format_baseline,
    format_drift,
    format_points,
)
from loop.summary.schema import BaselineRow, DriftRow

_FIRST_PROSE = 2
"""From this column on, behind the cause, the table of failures holds words."""


def rounds(summary: Summary) -> Markup:
    """A row for every round of every arm."""
    rule, columns = find_lenient_rule(summary), find_step_columns(summary)
    rows = [
        tag(
            "tr",
            tag("th", "" if place else _named(summary, arm["name"]), scope="row"),
            _round_cells(row, rule, columns),
            class_="" if place else "first",
        )
        for arm in summary["arms"]
        for place, row in enumerate(arm["rounds"])
    ]
    head = ("arm", "round", *(("raw = 1", "95 %", rule) if rule else ("success %", "95 %")))
    steps = [STEP_COLUMNS[name] for name in columns]
    return _table((*head, "episodes", *steps, "seconds"), rows)


def tasks(summary: Summary) -> Markup:
    """A row for every task with the arms side by side, at the last round of each.

    A single arm has its intervals beside it.
    """
    arms = summary["arms"]
    shown = [task for task in summary["tasks"] if any(task in arm["by_task"] for arm in arms)]
    rows = [
        tag(
            "tr",
            tag("th", task, scope="row"),
            _cells(summary, [arm["by_task"].get(task) for arm in arms]),
        )
        for task in shown
    ]
    total = _cells(summary, [arm["rounds"][-1] for arm in arms])
    rows.append(tag("tr", tag("th", "all", scope="row"), total, class_="all"))
    details = ("95 %", "episodes") if len(arms) == 1 else ()
    return _table(["task", *(_named(summary, arm["name"]) for arm in arms), *details], rows)


def comparisons(summary: Summary) -> Markup:
    """A row for every comparison: the sentence, the interval drawn, and both intervals."""
    found = summary["comparisons"]
    ends = [row[end] for row in found for end in ("low", "high", "these_low", "these_high")]
    span = min([-0.01, *ends]), max([0.01, *ends])
    rows = [
        tag(
            "tr",
            tag("td", _sentence(row), class_="words"),
            tag("td", _forest(row, span), class_="forest-cell"),
            tag("td", tag("b", format_points(row["difference"], signed=True))),
            tag("td", _range(row["low"], row["high"])),
            tag("td", _range(row["these_low"], row["these_high"]), class_="soft"),
        )
        for row in found
    ]
    return _table(("", "", "points", "95 %, tasks like these", "95 %, these tasks"), rows)


def drift(found: Sequence[DriftRow]) -> Markup:
    """A row for every round of every arm with a learned judge."""
    rows = []
    for row in found:
        arm, *cells = format_drift(row)
        rows.append(tag("tr", tag("th", arm, scope="row"), [tag("td", cell) for cell in cells]))
    return _table(DRIFT_HEAD, rows)


def baselines(found: Sequence[BaselineRow]) -> Markup:
    """A row for everything that takes no skill."""
    rows = []
    for row in found:
        name, *cells = format_baseline(row)
        rows.append(tag("tr", tag("th", name, scope="row"), [tag("td", cell) for cell in cells]))
    return _table(BASELINE_HEAD, rows)


def failures(summary: FailureSummary) -> Markup:
    """A row for every cause that failed episodes were put down to."""
    rows = []
    for cause, *rest in format_rows(summary):
        classes = [("words prose" if place >= _FIRST_PROSE else "") for place in range(len(rest))]
        told = [tag("td", cell, class_=kind) for cell, kind in zip(rest, classes, strict=True)]
        rows.append(tag("tr", tag("th", cause, scope="row"), told))
    return _table(COLUMNS, rows, first_words=_FIRST_PROSE + 1)


def _table(names: Sequence[str], rows: Sequence[Markup], first_words: int = 99) -> Markup:
    heads = [
        tag("th", name, scope="col", class_="words" if not place or place >= first_words else "")
        for place, name in enumerate(names)
    ]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows))
    return tag("div", table, class_="scroll", tabindex="0", role="region")


def _named(summary: Summary, arm: str) -> Markup:
    return tag("span", arm, class_=f"key {colour_class(summary, arm)}")


def _round_cells(row: RoundSummary, rule: str, columns: Sequence[StepColumn]) -> list[Markup]:
    return [
        tag("td", str(row["round"])),
        tag("td", tag("b", _number(row["success"]))),
        tag("td", f"{_number(row['low'])}–{_number(row['high'])}"),
        *[tag("td", _number(row["raw_positive"]))] * bool(rule),
        tag("td", f"{row['episodes']:,}", class_="soft"),
        *[tag("td", f"{row[name]:,.0f}") for name in columns],
        tag("td", f"{row['seconds']:,.0f}", class_="soft"),
    ]


def _cells(summary: Summary, rates: Sequence[EpisodeRate | None]) -> list[Markup]:
    rule = find_lenient_rule(summary)
    cells = [
        _rate_cell(rate, colour_class(summary, arm["name"]), rule) if rate else tag("td", "–")
        for arm, rate in zip(summary["arms"], rates, strict=True)
    ]
    if len(rates) == 1 and rates[0] is not None:
        low, high = _number(rates[0]["low"]), _number(rates[0]["high"])
        cells.append(tag("td", f"{low}–{high}"))
        cells.append(tag("td", f"{rates[0]['episodes']:,}", class_="soft"))
    return cells


def _rate_cell(rate: EpisodeRate, colour: str, rule: str) -> Markup:
    """Success with the lenient rule beside it, where there is one; the bar shows both."""
    words = f"{rate['episodes']:,} episodes, 95 % {_number(rate['low'])} to {_number(rate['high'])}"
    bar = tag(
        "span",
        *[tag("i", class_="lenient", style=f"width:{_number(rate['raw_positive'])}%")] * bool(rule),
        tag("i", style=f"width:{_number(rate['success'])}%"),
        class_="bar",
    )
    beside = [tag("small", _number(rate["raw_positive"]))] * bool(rule)
    return tag("td", _number(rate["success"]), beside, bar, class_=f"cell {colour}", title=words)


def _sentence(row: ArmComparison) -> str:
    """Without the interval, which has columns of its own."""
    text = format_comparison(row).rsplit(" (", 1)[0]
    return text[0].upper() + text[1:] if text.startswith("no ") else text


def _range(low: float, high: float) -> str:
    return f"{format_points(low)} to {format_points(high)}"


def _forest(row: ArmComparison, span: tuple[float, float]) -> Markup:
    def x(value: float) -> float:
        return 8 + 184 * (value - span[0]) / (span[1] - span[0])

    return tag(
        "svg",
        tag("line", x1=x(0), x2=x(0), y1=0, y2=18, class_="zero"),
        tag("line", x1=x(row["these_low"]), x2=x(row["these_high"]), y1=9, y2=9, class_="these"),
        tag("line", x1=x(row["low"]), x2=x(row["high"]), y1=9, y2=9, class_="whisker"),
        tag("circle", cx=x(row["difference"]), cy=9, r=3.5),
        viewBox="0 0 200 18",
        class_="forest",
        aria_hidden="true",
    )


def _number(rate: float) -> str:
    return f"{100 * rate:.1f}"
