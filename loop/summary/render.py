"""A summary as tables, on the terminal and in Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.console import Console
from rich.markup import escape

from loop.console.output import build_table, results_console
from loop.summary.format import (
    BASELINE_HEAD,
    BELIEF_HEAD,
    DRIFT_HEAD,
    SPENT_HEAD,
    find_lenient_rule,
    find_step_columns,
    format_baseline,
    format_belief,
    format_comparison,
    format_comparison_here,
    format_costs,
    format_drift,
    format_headline,
    format_hundredths,
    format_interval,
    format_lenient,
    format_macro,
    format_models,
    format_sources,
    format_spending_rows,
    name_seeds,
)
from loop.summary.learning import format_learning
from loop.summary.schema import EpisodeRate, Summary
from loop.summary.students import format_student


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Print success by arm and round, by task, and each arm beside what it must beat."""
    console = console or results_console()
    if summary["arms"]:
        head, rows = _list_rounds(summary)
        before = ["", *(row[0] for row in rows)]
        rows = [
            ("" if row[0] == name else row[0], *row[1:])
            for name, row in zip(before, rows, strict=False)
        ]
        title = f"{summary['benchmark']}: success on {name_seeds(summary)} seeds"
        console.print(build_table(title, head, rows, bold=2))
        head, rows = _list_tasks(summary, "task", "success")
        console.print(build_table("success by task at the last round, %", head, rows, has_sum=True))
    _print_sentences(console, _list_claims(summary))
    believed, beliefs = "what was believed, and what is true", "the judge beside who measures"
    for title, names, lines in (
        (believed, DRIFT_HEAD, map(format_drift, summary.get("drift", ()))),
        (beliefs, BELIEF_HEAD, map(format_belief, summary.get("beliefs", ()))),
        ("beside the policy", BASELINE_HEAD, map(format_baseline, summary.get("baselines", ()))),
    ):
        if listed := list(lines):
            console.print(build_table(title, names, listed))
    _print_sentences(console, _list_notes(summary))
    if facts := [f"{name}: {value}" for name, value in summary.get("setup", {}).items()]:
        console.print(escape("; ".join(facts)), highlight=False)
    counts = [f"{count} {name}" for name, count in summary["failures"].items() if count]
    apart = f"set aside, never scored: {', '.join(counts) or 'nothing'}"
    console.print(apart, highlight=False)
    if spent := summary.get("spent"):
        console.print(build_table("spent", SPENT_HEAD, format_spending_rows(spent)))
        _print_sentences(console, format_models(spent))
        if spent["stopped"]:
            console.print(escape(f"stopped before its end: {spent['stopped']}"), highlight=False)
    console.print(f"[bold]{escape(format_headline(summary))}[/bold]", highlight=False)


def _print_sentences(console: Console, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        console.print(escape(f"• {sentence}"), highlight=False)


def _list_claims(summary: Summary) -> list[str]:
    """Return each comparison in words, of such tasks and of these very tasks."""
    return [
        f"{format_comparison(row)}; {format_comparison_here(row)}" for row in summary["comparisons"]
    ]


def _list_notes(summary: Summary) -> list[str]:
    """Return what rounds were learnt from, what students took over, averages over templates, and
    what else was noted."""
    learning = map(format_learning, summary.get("learning", ()))
    students = map(format_student, summary.get("students", ()))
    return [
        *learning,
        *students,
        *map(format_macro, summary.get("macro", ())),
        *summary.get("notes", ()),
    ]


Lines: TypeAlias = tuple[Sequence[str], list[Sequence[str]]]
"""The head of a table and its rows."""


def _list_rounds(summary: Summary, *repeats: str) -> Lines:
    """Return a row for each arm and round; `repeats` is the head of a column by repeat, if any."""
    rule, columns = find_lenient_rule(summary), find_step_columns(summary)
    lenient = (f"{rule} %",) if rule else ()
    head = ("arm", "round", "success %", "95 %", *repeats, *lenient, "episodes", *columns.values())
    rows: list[Sequence[str]] = []
    for arm in summary["arms"]:
        for row in arm["rounds"]:
            by_repeat = ", ".join(format_hundredths(one["success"]) for one in row["by_repeat"])
            cells = (
                arm["name"],
                str(row["round"]),
                format_hundredths(row["success"]),
                format_interval(row),
                *[by_repeat] * len(repeats),
                *format_lenient(row, rule),
                *format_costs(row, columns),
            )
            rows.append(cells)
    return head, rows


def _list_tasks(summary: Summary, first: str, alone: str) -> Lines:
    """Return a row for each task at the last round, and one of all; a single arm, whose column is
    called `alone`, has its interval and the lenient rule beside its rate."""
    arms, rule = summary["arms"], find_lenient_rule(summary)
    is_alone = len(arms) == 1

    def format_cells(rates: Sequence[EpisodeRate | None]) -> Iterator[str]:
        for rate in rates:
            yield format_hundredths(rate["success"]) if rate else "–"
            if rate and is_alone:
                yield from (format_interval(rate), *format_lenient(rate, rule))
                yield f"{rate['episodes']:,}"

    names = (alone, "95 %", *[rule] * bool(rule), "n") if is_alone else [a["name"] for a in arms]
    by_task = {task: [arm["by_task"].get(task) for arm in arms] for task in summary["tasks"]}
    rows = [(task, *format_cells(rates)) for task, rates in by_task.items() if any(rates)]
    return (first, *names), [*rows, ("all", *format_cells([arm["rounds"][-1] for arm in arms]))]


def format_markdown(summary: Summary, title: str) -> str:
    """Return a section: what was found, how to find it again, arms by round, and tasks by arm."""
    repeats = f"{summary['repeats']} repeat{'s' * (summary['repeats'] != 1)}"
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    origin = (
        f"`{summary['command']}` at commit {', gone on with at '.join(format_sources(summary))}; "
        f"{len(summary['tasks'])} tasks, {len(summary['seeds'])} {name_seeds(summary)} seeds "
        f"each, {repeats}; {versions}."
    )
    parts = [f"## {title}", format_headline(summary), origin]
    parts.append(_table_as_markdown(*_list_rounds(summary, "by repeat %")))
    parts.append(_list_as_markdown(_list_claims(summary)))
    if drift := summary.get("drift"):
        parts.append(_table_as_markdown(DRIFT_HEAD, [format_drift(row) for row in drift]))
    if beliefs := summary.get("beliefs"):
        parts.append(_table_as_markdown(BELIEF_HEAD, [format_belief(row) for row in beliefs]))
    parts.append(_list_as_markdown(_list_notes(summary)))
    if baselines := summary.get("baselines"):
        rows = [format_baseline(row) for row in baselines]
        parts.append(_table_as_markdown(BASELINE_HEAD, rows))
    if spent := summary.get("spent"):
        stopped = [f"stopped before its end: {spent['stopped']}"] if spent["stopped"] else []
        parts.append(_table_as_markdown(SPENT_HEAD, format_spending_rows(spent)))
        parts.append(_list_as_markdown([*format_models(spent), *stopped]))
    if arms := summary["arms"]:
        head, by_task = _list_tasks(summary, "task, success %", arms[0]["name"])
        parts.append(_table_as_markdown(head, by_task[:-1]))
    return "\n\n".join(filter(None, parts)) + "\n"


def _list_as_markdown(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _table_as_markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rules = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rules, *rows))
