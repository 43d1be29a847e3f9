"""A summary as Markdown, for figures that are published."""

from collections.abc import Sequence

from loop.summary.shape import Rate, RoundRow, Summary
from loop.summary.spent import SpentRow
from loop.summary.words import (
    BASELINE_HEAD,
    DRIFT_HEAD,
    SPENT_HEAD,
    asked_of,
    baseline_cells,
    compared,
    compared_here,
    costs,
    drift_cells,
    headline,
    hundredths,
    interval,
    kind_of_seeds,
    lenient_cells,
    lenient_rule,
    macro_told,
    sources,
    spent_cells,
)


def as_markdown(summary: Summary, title: str) -> str:
    """A section: what was found, how to find it again, arms by round, and tasks by arm."""
    repeats = f"{summary['repeats']} repeat{'s' * (summary['repeats'] != 1)}"
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    origin = (
        f"`{summary['command']}` at commit {', gone on with at '.join(sources(summary))}; "
        f"{len(summary['tasks'])} tasks, {len(summary['seeds'])} {kind_of_seeds(summary)} seeds "
        f"each, {repeats}; {versions}."
    )
    claims = [f"- {compared(row)}; {compared_here(row)}" for row in summary["comparisons"]]
    parts = [f"## {title}", headline(summary), origin, _rounds(summary)]
    parts += ["\n".join(claims)] * bool(claims)
    if "drift" in summary:
        parts.append(_table(DRIFT_HEAD, [drift_cells(row) for row in summary["drift"]]))
    parts += _context(summary)
    if "spent" in summary:
        parts += _spent(summary["spent"])
    return "\n\n".join([*parts, _tasks(summary)]) + "\n"


def _context(summary: Summary) -> list[str]:
    """Averages over templates, notes and baselines."""
    said = [*map(macro_told, summary.get("macro", ())), *summary.get("notes", ())]
    rows = [baseline_cells(row) for row in summary.get("baselines", ())]
    told = ["\n".join(f"- {sentence}" for sentence in said)] * bool(said)
    return [*told, *([_table(BASELINE_HEAD, rows)] * bool(rows))]


def _spent(row: SpentRow) -> list[str]:
    """What was spent, by whom, and whether a cap ended the run."""
    said = [f"- {sentence}" for sentence in asked_of(row)]
    said += [f"- stopped before its end: {row['stopped']}"] * bool(row["stopped"])
    return [_table(SPENT_HEAD, spent_cells(row)), *(["\n".join(said)] * bool(said))]


def _rounds(summary: Summary) -> str:
    rule = lenient_rule(summary)
    rows = [(arm["name"], *_round(row, rule)) for arm in summary["arms"] for row in arm["rounds"]]
    lenient = (f"{rule} %",) if rule else ()
    head = ("arm", "round", "success %", "95 %", "by repeat %", *lenient)
    return _table((*head, "episodes", "real steps", "imagined steps"), rows)


def _round(row: RoundRow, rule: str) -> tuple[str, ...]:
    return (
        str(row["round"]),
        hundredths(row["success"]),
        interval(row),
        ", ".join(hundredths(one["success"]) for one in row["by_repeat"]),
        *lenient_cells(row, rule),
        *costs(row),
    )


def _tasks(summary: Summary) -> str:
    """Success by task at the last round; the lenient rule beside it where there is one arm."""
    arms = summary["arms"]
    alone = arms[0]["name"] if len(arms) == 1 else ""
    rule = lenient_rule(summary)
    lenient = [rule] * bool(rule)
    names = [alone, "95 %", *lenient, "n"] if alone else [arm["name"] for arm in arms]
    rows = [
        (task, *(cell for rate in rates for cell in _cells(rate, rule, is_alone=bool(alone))))
        for task in summary["tasks"]
        if any(rates := [arm["by_task"].get(task) for arm in arms])
    ]
    return _table(("task, success %", *names), rows)


def _cells(rate: Rate | None, rule: str, *, is_alone: bool) -> list[str]:
    if rate is None:
        return ["–"]
    if not is_alone:
        return [hundredths(rate["success"])]
    lenient = lenient_cells(rate, rule)
    return [hundredths(rate["success"]), interval(rate), *lenient, str(rate["episodes"])]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rules = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rules, *rows))
