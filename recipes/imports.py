"""`webagent record --import`: read episodes recorded by other systems into a run."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from apps.imports import agentrewardbench, webvoyager
from loop.console.output import CommandResult, Status
from loop.console.progress import track
from loop.folder import RunFolder
from webagent.errors import SetupError, StoreError, UsageError, unknown_name
from webagent.records import Trajectory
from webagent.store import Store

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Keep = Callable[[bytes, str], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """How one system stores its episodes."""

    find: Callable[[Path], list[Path]]
    """Returns the episodes at or below a path."""
    read: Callable[[Path, Keep], Trajectory]
    expected: str


LAYOUTS = {
    "webvoyager": Layout(
        lambda path: (
            [path]
            if (path / webvoyager.MESSAGES).exists() or path.name.startswith("task")
            else sorted(found for found in path.glob("task*") if found.is_dir())
        ),
        webvoyager.read_episode,
        f"folders task… with {webvoyager.MESSAGES} and screenshots",
    ),
    "agentrewardbench": Layout(
        lambda path: sorted(path.rglob("*.json")) if path.is_dir() else [path],
        agentrewardbench.read_episode,
        "cleaned trajectories, a JSON file each",
    ),
}


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of the import."""

    run: str
    """The run that now contains the episodes."""
    imported: int
    """Number of imported episodes."""
    left_out: list[str]
    """The reason for each episode that was left out."""


def import_episodes(
    words: Sequence[str], run: Path | None, config: "DataclassInstance", command: Sequence[str]
) -> CommandResult:
    """Read the episodes at the places that follow the name of their format into a run.

    Prints those that cannot be read; failed if any was left out. The run is created with the
    settings and the command if it does not exist.
    """
    layout, *sources = words
    if layout not in LAYOUTS:
        raise unknown_name("format of episodes", layout, LAYOUTS)
    if run is None or not sources:
        raise UsageError(f"expected webagent record --import {layout} SOURCE... --into RUN")
    paths = found(layout, map(Path, sources))
    if not (run / "run.json").exists():
        RunFolder.create(run, config, command)
    with RunFolder.open(run).store() as store:
        failed = import_into(store, LAYOUTS[layout], paths)
    for line in failed:
        print(f"left out: {line}", file=sys.stderr)
    imported = len(paths) - len(failed)
    print(f"imported: {imported} of {len(paths)} episodes into {run}")
    status = Status.FAILED if failed else Status.DONE
    return CommandResult(Imported(str(run), imported, failed), status)


def found(layout: str, sources: Iterable[Path]) -> list[Path]:
    """Return the episodes at the given places. Raises `SetupError` if a place has none."""
    paths: list[Path] = []
    for source in sources:
        here = LAYOUTS[layout].find(source) if source.exists() else []
        if not here:
            raise SetupError(
                f"no episodes of {layout} in {source}; expected {LAYOUTS[layout].expected}"
            )
        paths.extend(here)
    return paths


def import_into(store: Store, layout: Layout, paths: Sequence[Path]) -> list[str]:
    """Put the episodes into the store; what could not be read, with the reason, comes back."""
    reasons = []
    for path in track(paths, "episodes read"):
        try:
            store.add(layout.read(path, store.images.add))
        except StoreError as error:
            reasons.append(str(error))
    return reasons
