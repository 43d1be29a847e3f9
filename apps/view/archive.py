"""The runs under a folder: found by what lies in them, opened for reading alone."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from webagent.errors import SetupError, StoreError, unknown_name
from webagent.store import Store

_FILES = ("run.sqlite", "run.json")
"""A folder that holds one of these is a run, whole or not."""
_DEPTH = 3
"""Levels of folders that are searched."""
_CLOSING_SECONDS = 5.0
"""Within which a store is closed after the summary was written."""
_SEPARATOR = "~"
"""Stands in an address for what separates folders."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run folder."""

    name: str
    """As it stands in addresses: the path below the folder that is shown, `/` written as `~`."""
    path: Path

    @property
    def title(self) -> str:
        """The name for people."""
        return self.name.replace(_SEPARATOR, "/")

    @property
    def address(self) -> str:
        """Where its pages begin."""
        return f"/run/{self.name}"

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Its store for reading alone, for as long as one request. Raises `StoreError`."""
        with Store.look(self.path) as opened:
            yield opened

    def changed(self) -> float:
        """When something was stored last, in seconds since 1970; 0 where nothing ever was."""
        times = [0.0]
        for name in (*_FILES, "run.sqlite-wal"):
            try:
                times.append((self.path / name).stat().st_mtime)
            except OSError:  # not there, or just being replaced
                continue
        return max(times)

    def is_finished(self) -> bool:
        """Whether it has summed itself up, and stored nothing since."""
        try:
            return (self.path / "summary.json").stat().st_mtime + _CLOSING_SECONDS > self.changed()
        except OSError:  # no summary
            return False

    def version(self) -> str:
        """Changes whenever something was stored; empty where there is no store."""
        try:
            stats = [_stat(self.path / f"run.sqlite{end}") for end in ("", "-wal")]
        except OSError as error:
            raise StoreError(f"{self.path} cannot be read: {error}") from error
        return "-".join(filter(None, stats))


@dataclass(frozen=True, slots=True)
class Archive:
    """What `webagent view` was pointed at: one run, or a folder of runs."""

    folder: Path

    def runs(self) -> list[Run]:
        """All runs there are now, the one that was changed last first."""
        found = sorted(self._found(), key=lambda run: (-run.changed(), run.name))
        return found

    def run(self, name: str) -> Run:
        """The run of this name. Raises `SetupError` where there is none."""
        for run in self._found():
            if run.name == name:
                return run
        raise unknown_name("run", name, [run.name for run in self._found()])

    def check(self) -> None:
        """Raises `SetupError` where there is nothing to show."""
        if not self.folder.is_dir():
            raise SetupError(f"{self.folder} is no folder; name a run folder or one that has some")
        if not self.runs():
            raise SetupError(
                f"{self.folder} holds no run, {_DEPTH} levels down; a run folder has a run.sqlite:"
                " make one with `webagent benchmark` or `webagent improve`"
            )

    def _found(self) -> Iterator[Run]:
        root = self.folder.resolve()
        if _is_run(root):
            yield Run(root.name or "run", root)
            return
        for path in _folders(root, _DEPTH):
            if _is_run(path):
                yield Run(_SEPARATOR.join(path.relative_to(root).parts), path)


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    """Folders below, those of runs not entered."""
    try:
        inside = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError:  # a folder that may not be read has nothing to show
        return
    for name in inside:
        path = Path(name)
        if path.name.startswith("."):
            continue
        yield path
        if depth > 1 and not _is_run(path):
            yield from _folders(path, depth - 1)


def _is_run(path: Path) -> bool:
    return any((path / name).is_file() for name in _FILES)


def _stat(path: Path) -> str:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ""
    return f"{found.st_mtime_ns:x}.{found.st_size:x}"
