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
from loop.summary.schema import ArmRow, DriftRow, EpisodeRate, SpentRow, Summary


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Success by arm and round, by task, and each arm beside what it must beat."""
    console = console or results_console()
    if summary["arms"]:
        console.print(_build_rounds(summary), _build_tasks(summary), sep="\n")
    for comparison in summary["comparisons"]:
        sentence = f"{format_comparison(comparison)}; {format_comparison_here(comparison)}"
        console.print(escape(f"• {sentence}"), highlight=False)
    if "drift" in summary:
        console.print(_build_drift(summary["drift"]))
    if rows := summary.get("beliefs"):
        table = _build_table("the judge beside who measures", BELIEF_HEAD, map(format_belief, rows))
        console.print(table)
    _print_context(summary, console)
    console.print(_format_failures(summary), highlight=False)
    if "spent" in summary:
        _print_spent(summary["spent"], console)
    console.print(f"[bold]{escape(format_headline(summary))}[/bold]", highlight=False)


def _build_drift(rows: Sequence[DriftRow]) -> Table:
    """What arms with a learned judge believe, beside what is true."""
    return _build_table("what was believed, and what is true", DRIFT_HEAD, map(format_drift, rows))


def _build_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, box=None)
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left")
    for cells in rows:
        table.add_row(*map(escape, cells))
    return table


def _print_context(summary: Summary, console: Console) -> None:
    """Averages over templates, baselines and notes, then what all of it depends on."""
    if rows := summary.get("baselines"):
        console.print(_build_table("beside the policy", BASELINE_HEAD, map(format_baseline, rows)))
    said = [*map(format_macro, summary.get("macro", ())), *summary.get("notes", ())]
    for sentence in said:
        console.print(escape(f"• {sentence}"), highlight=False)
    if facts := [f"{name}: {value}" for name, value in summary.get("setup", {}).items()]:
        console.print(escape("; ".join(facts)), highlight=False)


def _print_spent(row: SpentRow, console: Console) -> None:
    """What was spent, and whether a cap ended the run."""
    console.print(_build_table("spent", SPENT_HEAD, format_spending_rows(row)))
    for sentence in format_models(row):
        console.print(escape(f"• {sentence}"), highlight=False)
    if row["stopped"]:
        console.print(escape(f"stopped before its end: {row['stopped']}"), highlight=False)


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
    """One row a task; with one arm its interval and the lenient rule stand beside the rate."""
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
    table.add_row("[bold]all[/bold]", *_format_cells([_last(arm) for arm in arms], rule))
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


def _last(arm: ArmRow) -> EpisodeRate:
    return arm["rounds"][-1]


def _format_failures(summary: Summary) -> str:
    counts = [f"{count} {name}" for name, count in summary["failures"].items() if count]
    return f"set aside, never scored: {', '.join(counts) or 'nothing'}"


def format_markdown(summary: Summary, title: str) -> str:
    """A section: what was found, how to find it again, arms by round, and tasks by arm."""
    repeats = f"{summary['repeats']} repeat{'s' * (summary['repeats'] != 1)}"
    versions = ", ".join(f"{name} {version}" for name, version in summary["versions"].items())
    origin = (
        f"`{summary['command']}` at commit {', gone on with at '.join(format_sources(summary))}; "
        f"{len(summary['tasks'])} tasks, {len(summary['seeds'])} {name_seeds(summary)} seeds "
        f"each, {repeats}; {versions}."
    )
    claims = [
        f"- {format_comparison(row)}; {format_comparison_here(row)}"
        for row in summary["comparisons"]
    ]
    parts = [f"## {title}", format_headline(summary), origin, _rounds_as_markdown(summary)]
    parts += ["\n".join(claims)] * bool(claims)
    if "drift" in summary:
        parts.append(
            _table_as_markdown(DRIFT_HEAD, [format_drift(row) for row in summary["drift"]])
        )
    if rows := summary.get("beliefs"):
        parts.append(_table_as_markdown(BELIEF_HEAD, [format_belief(row) for row in rows]))
    parts += _context_as_markdown(summary)
    if "spent" in summary:
        parts += _spending_as_markdown(summary["spent"])
    return "\n\n".join([*parts, _tasks_as_markdown(summary)]) + "\n"


def _context_as_markdown(summary: Summary) -> list[str]:
    """Averages over templates, notes and baselines."""
    said = [*map(format_macro, summary.get("macro", ())), *summary.get("notes", ())]
    rows = [format_baseline(row) for row in summary.get("baselines", ())]
    told = ["\n".join(f"- {sentence}" for sentence in said)] * bool(said)
    return [*told, *([_table_as_markdown(BASELINE_HEAD, rows)] * bool(rows))]


def _spending_as_markdown(row: SpentRow) -> list[str]:
    """What was spent, by whom, and whether a cap ended the run."""
    said = [f"- {sentence}" for sentence in format_models(row)]
    said += [f"- stopped before its end: {row['stopped']}"] * bool(row["stopped"])
    return [
        _table_as_markdown(SPENT_HEAD, format_spending_rows(row)),
        *(["\n".join(said)] * bool(said)),
    ]


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
    """Success by task at the last round; the lenient rule beside it where there is one arm."""
    arms = summary["arms"]
    alone = arms[0]["name"] if len(arms) == 1 else ""
    rule = find_lenient_rule(summary)
    lenient = [rule] * bool(rule)
    names = [alone, "95 %", *lenient, "n"] if alone else [arm["name"] for arm in arms]
    rows = [
        (
            task,
            *(
                cell
                for rate in rates
                for cell in _cells_as_markdown(rate, rule, is_alone=bool(alone))
            ),
        )
        for task in summary["tasks"]
        if any(rates := [arm["by_task"].get(task) for arm in arms])
    ]
    return _table_as_markdown(("task, success %", *names), rows)


def _cells_as_markdown(rate: EpisodeRate | None, rule: str, *, is_alone: bool) -> list[str]:
    if rate is None:
        return ["–"]
    if not is_alone:
        return [format_hundredths(rate["success"])]
    lenient = format_lenient(rate, rule)
    return [
        format_hundredths(rate["success"]),
        format_interval(rate),
        *lenient,
        str(rate["episodes"]),
    ]


def _table_as_markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rules = ["---", *(["---:"] * (len(head) - 1))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rules, *rows))
