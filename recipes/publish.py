"""`webagent publish`: add a run's summary to the published figures and rebuild their page."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from loop.console.output import CommandResult
from loop.summary import format_markdown, read_summary, read_summary_file
from recipes.settings import resolve
from webagent.errors import StoreError

PAGE = "README.md"
_HEAD = (
    "# Published figures\n\n"
    "Written by `webagent publish` from the summaries in this folder; each names its command and "
    "commit. Success is *raw reward = 1*; *raw > 0* stands beside it. Intervals are Wilson's over "
    "episodes; those of differences resample repeats and tasks. Steps are means over repeats.\n"
)


@dataclass(frozen=True)
class PublishConfig:
    """Copy a run's summary to the published figures and rebuild their page."""

    run: Positional[Path | None] = None
    """The run folder; without one, only the page is rebuilt."""
    name: str = ""
    """Name under which it is published. Default: the name of the run folder."""
    folder: Path = Path("docs/results")
    """Folder of the published figures."""


@dataclass(frozen=True, slots=True)
class Published:
    """The written files."""

    page: str
    """The page of all published figures."""
    published: str = ""
    """The copy of the summary; empty if only the page was written."""


def main(argv: Sequence[str]) -> CommandResult:
    """Copy the summary, then write the page."""
    config = resolve(PublishConfig, "publish", argv)
    if not config.folder.is_dir():
        raise StoreError(f"{config.folder} is not a folder; name one with --folder")
    target: Path | None = None
    if config.run is not None:
        read_summary(config.run)
        target = config.folder / f"{config.name or config.run.name}.json"
        target.write_bytes((config.run / "summary.json").read_bytes())
        print(f"published: {target}")
    page = config.folder / PAGE
    page.write_text(page_of(config.folder), encoding="utf-8")
    print(f"page: {page}")
    return CommandResult(Published(str(page), str(target or "")))


def page_of(folder: Path) -> str:
    """Return the page of all summaries in a folder, sorted by name."""
    sections = []
    for path in sorted(folder.glob("*.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        if "table" in told:
            sections.append(_format_table(path.stem, **told["table"]))
        elif "rows" in told:
            sections.append(_format_rows(path.stem, told))
        else:
            sections.append(format_markdown(read_summary_file(path), path.stem))
    return "\n".join([_HEAD, *sections])


def _format_table(name: str, about: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that was put together by hand from entries of the log."""
    lines = [f"| {' | '.join(each)} |" for each in (head, ["---"] * len(head), *rows)]
    return "\n".join([f"## {name}\n", f"{about}\n", *lines, ""])


def _format_rows(name: str, told: dict[str, Any]) -> str:
    """A table for each benchmark of figures that `webagent dream --measure` or a script of perf
    wrote."""
    lines = [f"## {name}\n"]
    for run in told["runs"]:
        rows = [row for row in told["rows"] if row["benchmark"] == run["benchmark"]]
        models = list(dict.fromkeys(row["model"] for row in rows))
        about = run.get("told") or (
            f"{run['benchmark']}: {run['transitions']:,} steps of {run['episodes']} episodes on"
            f" {run.get('split', 'test')} seeds ({run['failed']} failed), after"
            f" {run['learnt_from']:,} on others"
        )
        lines += [
            f"{about}; `{run['command']}` at commit {run['commit'][:12]}.\n",
            f"| figure | {' | '.join(models)} |",
            f"| --- | {' | '.join(['---:'] * len(models))} |",
        ]
        for figure in dict.fromkeys(row["figure"] for row in rows):
            found = {row["model"]: _format_cell(row) for row in rows if row["figure"] == figure}
            cells = [found.get(model, "–") for model in models]
            lines.append(f"| {figure.replace('_', ' ')} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _format_cell(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "–"
    if isinstance(row["value"], int):
        return f"{row['value']:,}"
    bounds = "" if row["low"] is None else f" ({row['low']:.3f}–{row['high']:.3f})"
    return f"{row['value']:.3f}{bounds}"
