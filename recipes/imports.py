"""`webagent import`: episodes that other systems recorded, into a run."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from apps.imports import agentrewardbench, webvoyager
from loop.console.output import CommandResult, Status
from loop.console.progress import track
from loop.folder import RunFolder
from recipes.settings import resolve
from webagent.errors import SetupError, StoreError, UsageError, unknown_name
from webagent.records import Trajectory
from webagent.store import Store

Keep = Callable[[bytes, str], str]


@dataclass(frozen=True, slots=True)
class Layout:
    """How one system lays its episodes down."""

    find: Callable[[Path], list[Path]]
    """The episodes at a path that was named, or in it."""
    read: Callable[[Path, Keep], Trajectory]
    expected: str


def _voyager_folders(path: Path) -> list[Path]:
    if (path / webvoyager.MESSAGES).exists() or path.name.startswith("task"):
        return [path]
    return sorted(found for found in path.glob("task*") if found.is_dir())


def _reward_files(path: Path) -> list[Path]:
    return sorted(path.rglob("*.json")) if path.is_dir() else [path]


LAYOUTS = {
    "webvoyager": Layout(
        _voyager_folders,
        webvoyager.read_episode,
        f"folders task… with {webvoyager.MESSAGES} and screenshots",
    ),
    "agentrewardbench": Layout(
        _reward_files, agentrewardbench.read_episode, "cleaned trajectories, a JSON file each"
    ),
}


@dataclass(frozen=True)
class ImportConfig:
    """Read recorded episodes into a run, as trajectories of the phase `imported`."""

    layout: Positional[str] = ""
    """`webvoyager` or `agentrewardbench`."""
    sources: Positional[tuple[Path, ...]] = ()
    """Folders or files of episodes, or folders that hold them."""
    run: Path | None = None
    """The run to put them in; made when it is not there."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What was read."""

    run: str
    """The run the episodes are in now."""
    imported: int
    """Episodes that were read."""
    left_out: list[str]
    """Why each of the others was not."""


def main(argv: Sequence[str]) -> CommandResult:
    """Import what can be read, name what cannot; failed when anything was left out."""
    config = resolve(ImportConfig, "import", argv)
    if config.layout not in LAYOUTS:
        raise unknown_name("layout", config.layout, LAYOUTS)
    if config.run is None or not config.sources:
        raise UsageError(f"expected webagent import {config.layout} SOURCE... --run RUN")
    paths = found(config.layout, config.sources)
    if not (config.run / "run.json").exists():
        RunFolder.create(config.run, config, ["webagent", "import", *argv])
    with RunFolder.open(config.run).store() as store:
        failed = import_into(store, LAYOUTS[config.layout], paths)
    for line in failed:
        print(f"left out: {line}", file=sys.stderr)
    imported = len(paths) - len(failed)
    print(f"imported: {imported} of {len(paths)} episodes into {config.run}")
    status = Status.FAILED if failed else Status.DONE
    return CommandResult(Imported(str(config.run), imported, failed), status)


def found(layout: str, sources: Iterable[Path]) -> list[Path]:
    """The episodes at the places named. Raises `SetupError` where there is none."""
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
    read = track(paths, "episodes read")
    return [reason for path in read for reason in _import_one(store, layout, path)]


def _import_one(store: Store, layout: Layout, path: Path) -> Iterator[str]:
    try:
        store.add(layout.read(path, store.images.add))
    except StoreError as error:
        yield str(error)
