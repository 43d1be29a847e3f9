"""`webagent publish`: a run's summary among the published figures, and their page in Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from loop.console.outcome import CommandResult
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
    """Copy a run's summary to the published figures and write their page again."""

    run: Positional[Path | None] = None
    """The run folder; without one only the page is written."""
    name: str = ""
    """Under which name it is published; the run folder's when empty."""
    folder: Path = Path("docs/results")
    """Where the published figures are."""


@dataclass(frozen=True, slots=True)
class Published:
    """What was written."""

    page: str
    """The page of all published figures."""
    published: str = ""
    """The summary's copy; empty where only the page was written."""


def main(argv: Sequence[str]) -> CommandResult:
    """Copy, then write the page."""
    config = resolve(PublishConfig, "publish", argv)
    if not config.folder.is_dir():
        raise StoreError(f"{config.folder} is no folder; name one with --folder")
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
    """The page of all summaries in a folder, in the order of their names."""
    sections = [
        format_markdown(read_summary_file(path), path.stem)
        for path in sorted(folder.glob("*.json"))
    ]
    return "\n".join([_HEAD, *sections])
