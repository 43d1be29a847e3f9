"""The summary as tables on the terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from loop.console.output import results_console
from loop.summary.drift import DriftRow
from loop.summary.shape import ArmRow, Rate, RoundRow, Summary
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
    spent_cells,
)


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """Success by arm and round, by task, and each arm beside what it must beat."""
    console = console or results_console()
    if summary["arms"]:
        console.print(_rounds(summary), _tasks(summary), sep="\n")
    for comparison in summary["comparisons"]:
        sentence = f"{compared(comparison)}; {compared_here(comparison)}"
        console.print(escape(f"• {sentence}"), highlight=False)
    if "drift" in summary:
        console.print(_drift(summary["drift"]))
    _print_context(summary, console)
    console.print(_failures(summary), highlight=False)
    if "spent" in summary:
        _print_spent(summary["spent"], console)
    console.print(f"[bold]{escape(headline(summary))}[/bold]", highlight=False)


def _drift(rows: Sequence[DriftRow]) -> Table:
    """What arms with a learned judge believe, beside what is true."""
    return _table("what was believed, and what is true", DRIFT_HEAD, map(drift_cells, rows))


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(title=title, box=None)
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left")
    for cells in rows:
        table.add_row(*map(escape, cells))
    return table


def _print_context(summary: Summary, console: Console) -> None:
    """Averages over templates, baselines and notes, then what all of it depends on."""
    if rows := summary.get("baselines"):
        console.print(_table("beside the policy", BASELINE_HEAD, map(baseline_cells, rows)))
    said = [*map(macro_told, summary.get("macro", ())), *summary.get("notes", ())]
    for sentence in said:
        console.print(escape(f"• {sentence}"), highlight=False)
    if facts := [f"{name}: {value}" for name, value in summary.get("setup", {}).items()]:
        console.print(escape("; ".join(facts)), highlight=False)


def _print_spent(row: SpentRow, console: Console) -> None:
    """What was spent, and whether a cap ended the run."""
    console.print(_table("spent", SPENT_HEAD, spent_cells(row)))
    for sentence in asked_of(row):
        console.print(escape(f"• {sentence}"), highlight=False)
    if row["stopped"]:
        console.print(escape(f"stopped before its end: {row['stopped']}"), highlight=False)


def _rounds(summary: Summary) -> Table:
    title = f"{escape(summary['benchmark'])}: success on {kind_of_seeds(summary)} seeds"
    table = Table(title=title, box=None)
    table.add_column("arm")
    rule = lenient_rule(summary)
    lenient = (f"{rule} %",) if rule else ()
    for name in ("round", "success %", "95 %", *lenient, "episodes", "real steps", "imagined"):
        table.add_column(name, justify="right")
    for arm in summary["arms"]:
        for place, row in enumerate(arm["rounds"]):
            table.add_row("" if place else escape(arm["name"]), *_round(row, rule))
    return table


def _round(row: RoundRow, rule: str) -> tuple[str, ...]:
    return (
        str(row["round"]),
        f"[bold]{hundredths(row['success'])}[/bold]",
        interval(row),
        *lenient_cells(row, rule),
        *costs(row),
    )


def _tasks(summary: Summary) -> Table:
    """One row a task; with one arm its interval and the lenient rule stand beside the rate."""
    arms = summary["arms"]
    table = Table(title="success by task at the last round, %", box=None)
    table.add_column("task")
    rule = lenient_rule(summary)
    alone = ("success", "95 %", *([rule] * bool(rule)), "n")
    names = alone if len(arms) == 1 else [arm["name"] for arm in arms]
    for name in names:
        table.add_column(escape(name), justify="right")
    for task in summary["tasks"]:
        rates = [arm["by_task"].get(task) for arm in arms]
        if any(rates):
            table.add_row(escape(task), *_cells(rates, rule))
    table.add_section()
    table.add_row("[bold]all[/bold]", *_cells([_last(arm) for arm in arms], rule))
    return table


def _cells(rates: Sequence[Rate | None], rule: str) -> list[str]:
    if len(rates) > 1:
        return [hundredths(rate["success"]) if rate else "–" for rate in rates]
    return [
        cell
        for rate in rates
        if rate is not None
        for cell in (
            hundredths(rate["success"]),
            interval(rate),
            *lenient_cells(rate, rule),
            f"{rate['episodes']:,}",
        )
    ]


def _last(arm: ArmRow) -> Rate:
    return arm["rounds"][-1]


def _failures(summary: Summary) -> str:
    counts = [f"{count} {name}" for name, count in summary["failures"].items() if count]
    return f"set aside, never scored: {', '.join(counts) or 'nothing'}"
