"""`webagent publish`: add a run's summary to the published figures, with a row in their table."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from loop.console.output import CommandResult
from loop.summary import Summary, read_summary
from loop.summary.format import (
    choose_headline_arm,
    format_headline,
    format_interval,
    format_points,
)
from recipes.settings import resolve
from webagent.errors import StoreError

PAGE = "README.md"
TO_COMPLETE = "?"
"""Stands in a new row where only a person knows what to write."""


@dataclass(frozen=True)
class PublishConfig:
    """Copy a run's summary to the published figures and add a row to their table."""

    run: Positional[Path] = Path()
    """The run folder."""
    name: str = ""
    """Name under which it is published. Default: the name of the run folder."""
    folder: Path = Path("docs/results")
    """Folder of the published figures."""


@dataclass(frozen=True, slots=True)
class Published:
    """The written files."""

    page: str
    """The page of all published figures."""
    published: str
    """The copy of the summary."""


def main(argv: Sequence[str]) -> CommandResult:
    """Copy the summary, then add its row to the page unless the page has one."""
    config = resolve(PublishConfig, "publish", argv)
    page = config.folder / PAGE
    if not page.is_file():
        raise StoreError(f"{config.folder} has no {PAGE}; name the published figures with --folder")
    summary = read_summary(config.run)
    target = config.folder / f"{config.name or config.run.name}.json"
    target.write_bytes((config.run / "summary.json").read_bytes())
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
