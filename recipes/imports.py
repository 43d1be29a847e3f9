"""`webagent record --import`: read episodes recorded by other systems into a run."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from apps.imports import read_episode
from loop.console.output import CommandResult, Status
from loop.console.progress import track
from loop.folder import RunFolder
from webagent.errors import SetupError, StoreError, UsageError, unknown_name

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FORMATS = ("agentrewardbench",)


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
    """Read the episodes at or below the places that follow the name of their format into a run.

    Prints those that cannot be read; failed if any was left out. The run is created with the
    settings and the command if it does not exist. Raises `SetupError` if a place has no episodes.
    """
    form, *sources = words
    if form not in FORMATS:
        raise unknown_name("format of episodes", form, FORMATS)
    if run is None or not sources:
        raise UsageError(f"expected webagent record --import {form} SOURCE... --into RUN")
    paths, failed = list[Path](), list[str]()
    for source in map(Path, sources):
        here = sorted(source.rglob("*.json")) if source.is_dir() else [source]
        if not here or not source.exists():
            raise SetupError(
                f"no episodes of {form} in {source}; expected cleaned trajectories, a JSON file"
                " each"
            )
        paths += here
    if not (run / "run.json").exists():
        RunFolder.create(run, config, command)
    with RunFolder.open(run).store() as store:
        for path in track(paths, "episodes read"):
            try:
                store.add(read_episode(path, store.images.add))
            except StoreError as error:
                failed.append(str(error))
    for line in failed:
        print(f"left out: {line}", file=sys.stderr)
    imported = len(paths) - len(failed)
    print(f"imported: {imported} of {len(paths)} episodes into {run}")
    status = Status.FAILED if failed else Status.DONE
    return CommandResult(Imported(str(run), imported, failed), status)
