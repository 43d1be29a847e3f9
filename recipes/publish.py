"""`webagent report --publish`: add a summary and its row to the published figures."""

from dataclasses import dataclass
from pathlib import Path

from loop.console.output import CommandResult
from loop.summary import Summary, read_summary
from loop.summary.format import (
    choose_headline_arm,
    format_headline,
    format_interval,
    format_points,
)
from webagent.errors import StoreError

PAGE = "README.md"
TO_COMPLETE = "?"
"""Stands in a new row where only a person knows what to write."""


@dataclass(frozen=True, slots=True)
class Published:
    """The written files."""

    page: str
    """The page of all published figures."""
    published: str
    """The copy of the summary."""


def publish_run(run: Path, name: str, folder: Path) -> CommandResult:
    """Copy the run's summary, then add its row to the page unless the page has one."""
    page = folder / PAGE
    if not page.is_file():
        raise StoreError(f"{folder} has no {PAGE}; name the published figures with --results")
    summary = read_summary(run)
    target = folder / f"{name}.json"
    target.write_bytes((run / "summary.json").read_bytes())
    print(f"published: {target}")
    row, text = format_row(summary, target.name), page.read_text(encoding="utf-8")
    if f"]({target.name})" in text:
        print(f"{page} has a row for it; bring its figures up to date:\n{row}")
    else:
        page.write_text(f"{text.rstrip()}\n{row}\n", encoding="utf-8")
        print(f"added to {page}; replace each {TO_COMPLETE}:\n{row}")
    return CommandResult(Published(str(page), str(target)))


def format_row(summary: Summary, file: str) -> str:
    """Return the table's row of a summary that is published as `file`."""
    arm = choose_headline_arm(summary)
    last = arm["rounds"][-1]
    intervals = [format_interval(last)]
    intervals += [
        f"{row['a']} − {row['b']} {format_points(row['difference'], signed=True)}"
        f" ({format_points(row['low'])} to {format_points(row['high'])})"
        for row in summary["comparisons"]
        if (row["a"], row["b"]) == ("self", "control")
    ]
    tokens = sum(one["costs"].get("train_tokens", 0.0) for one in arm["rounds"])
    cells = (
        format_headline(summary),
        f"`{summary['command']}`",
        f"{last['episodes']:,}",
        "; ".join(intervals),
        f"{last['real_steps']:,.0f} steps, {tokens:,.0f} tokens",
        TO_COMPLETE,
        TO_COMPLETE,
        summary["commit"][:8],
        f"[json]({file})",
    )
    return f"| {' | '.join(cells)} |"
