"""A summary as tables, on the terminal and in Markdown."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loop.console.output import results_console
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
from loop.summary.schema import EpisodeRate, Summary


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Print success by arm and round, by task, and each arm beside what it must beat."""
    console = console or results_console()
    if summary["arms"]:
        console.print(_build_rounds(summary), _build_tasks(summary), sep="\n")
    _print_sentences(console, _list_claims(summary))
    believed, beliefs = "what was believed, and what is true", "the judge beside who measures"
    for title, head, rows in (
        (believed, DRIFT_HEAD, map(format_drift, summary.get("drift", ()))),
        (beliefs, BELIEF_HEAD, map(format_belief, summary.get("beliefs", ()))),
        ("beside the policy", BASELINE_HEAD, map(format_baseline, summary.get("baselines", ()))),
    ):
        if listed := list(rows):
            console.print(_build_table(title, head, listed))
    _print_sentences(console, _list_notes(summary))
    if facts := [f"{name}: {value}" for name, value in summary.get("setup", {}).items()]:
        console.print(escape("; ".join(facts)), highlight=False)
    counts = [f"{count} {name}" for name, count in summary["failures"].items() if count]
    apart = f"set aside, never scored: {', '.join(counts) or 'nothing'}"
    console.print(apart, highlight=False)
    if spent := summary.get("spent"):
        console.print(_build_table("spent", SPENT_HEAD, format_spending_rows(spent)))
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
    """Return averages over templates, then what else was noted."""
    return [*map(format_macro, summary.get("macro", ())), *summary.get("notes", ())]


def _build_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, box=None)
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left")
    for cells in rows:
        table.add_row(*map(escape, cells))
    return table


def _build_rounds(summary: Summary) -> Table:
    title = f"{escape(summary['benchmark'])}: success on {name_seeds(summary)} seeds"
    table = Table(title=title, box=None)
    table.add_column("arm")
    rule = find_lenient_rule(summary)
    lenient = (f"{rule} %",) if rule else ()
    columns = find_step_columns(summary)
    for name in ("round", "success %", "95 %", *lenient, "episodes", *columns.values()):
        table.add_column(name, justify="right")
    for arm in summary["arms"]:
        for place, row in enumerate(arm["rounds"]):
            table.add_row(
                "" if place else escape(arm["name"]),
                str(row["round"]),
                f"[bold]{format_hundredths(row['success'])}[/bold]",
                format_interval(row),
                *format_lenient(row, rule),
                *format_costs(row, columns),
            )
    return table


def _build_tasks(summary: Summary) -> Table:
    """Return one row a task; with one arm its interval and the lenient rule beside the rate."""
    arms = summary["arms"]
    table = Table(title="success by task at the last round, %", box=None)
    table.add_column("task")
    rule = find_lenient_rule(summary)
    alone = ("success", "95 %", *([rule] * bool(rule)), "n")
    names = alone if len(arms) == 1 else [arm["name"] for arm in arms]
    for name in names:
        table.add_column(escape(name), justify="right")
    for task in summary["tasks"]:
        rates = [arm["by_task"].get(task) for arm in arms]
        if any(rates):
            table.add_row(escape(task), *_format_cells(rates, rule))
    table.add_section()
    last = [arm["rounds"][-1] for arm in arms]
    table.add_row("[bold]all[/bold]", *_format_cells(last, rule))
    return table


def _format_cells(rates: Sequence[EpisodeRate | None], rule: str) -> list[str]:
    if len(rates) > 1:
        return [format_hundredths(rate["success"]) if rate else "–" for rate in rates]
    return [
        cell
        for rate in rates
        if rate is not None
        for cell in (
            format_hundredths(rate["success"]),
            format_interval(rate),
            *format_lenient(rate, rule),
            f"{rate['episodes']:,}",
        )
    ]


def format_markdown(summary: Summary, title: str) -> str:
    """Return a section: what was found, how to find it again, arms by round, and tasks by arm."""
    repeats = f"{summary['repeats']} repeat{'s' * (summary['repeats'] != 1)}"
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    origin = (
        f"`{summary['command']}` at commit {', gone on with at '.join(format_sources(summary))}; "
        f"{len(summary['tasks'])} tasks, {len(summary['seeds'])} {name_seeds(summary)} seeds "
        f"each, {repeats}; {versions}."
    )
    parts = [f"## {title}", format_headline(summary), origin, _rounds_as_markdown(summary)]
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
    parts.append(_tasks_as_markdown(summary))
    return "\n\n".join(filter(None, parts)) + "\n"


def _list_as_markdown(sentences: Iterable[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _rounds_as_markdown(summary: Summary) -> str:
    rule, columns = find_lenient_rule(summary), find_step_columns(summary)
    rows = [
        (
            arm["name"],
            str(row["round"]),
            format_hundredths(row["success"]),
            format_interval(row),
            ", ".join(format_hundredths(one["success"]) for one in row["by_repeat"]),
            *format_lenient(row, rule),
            *format_costs(row, columns),
        )
        for arm in summary["arms"]
        for row in arm["rounds"]
    ]
    lenient = (f"{rule} %",) if rule else ()
    head = ("arm", "round", "success %", "95 %", "by repeat %", *lenient, "episodes")
    return _table_as_markdown((*head, *columns.values()), rows)


def _tasks_as_markdown(summary: Summary) -> str:
    """Return success by task at the last round; with one arm the lenient rule beside it."""
    arms = summary["arms"]
    alone = arms[0]["name"] if len(arms) == 1 else ""
    rule = find_lenient_rule(summary)
    names = [alone, "95 %", *[rule] * bool(rule), "n"] if alone else [arm["name"] for arm in arms]
    rows = []
    for task in summary["tasks"]:
        rates = [arm["by_task"].get(task) for arm in arms]
        if any(rates):
            cells = [cell for rate in rates for cell in _cells_as_markdown(rate, rule, bool(alone))]
            rows.append((task, *cells))
    return _table_as_markdown(("task, success %", *names), rows)


def _cells_as_markdown(rate: EpisodeRate | None, rule: str, is_alone: bool) -> list[str]:
    if rate is None:
        return ["–"]
    cells = [format_hundredths(rate["success"])]
    if is_alone:
        cells += [format_interval(rate), *format_lenient(rate, rule), str(rate["episodes"])]
    return cells


def _table_as_markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rules = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rules, *rows))
