"""A site's state, a folder of files: put in place of another while the site runs, and kept."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks.sites.site import SiteError

FIRST = "first"
"""The name of the state in which every instance begins."""
LOGINS = "logins"
"""The folder in a state that has, for each role, what a browser that is logged in knows."""
_SIDECARS = ("-wal", "-shm", "-journal")
_HEADER = b"SQLite format 3\x00"
_TICK = 20_000_000
"""Nanoseconds in which two writes to a file may get the same time."""


class Stamp(NamedTuple):
    """What tells that a file is as it was put: nobody can write to it without changing this."""

    inode: int
    size: int
    changed: int


class Placed:
    """A folder that holds a copy of a saved state, and what is known of its files since.

    Files are put in place by renaming, so that a reader has the old one or the new one whole. A
    file that has not been written to since it was put is not copied again. Nothing is linked: what
    the site writes cannot reach the saved state.
    """

    def __init__(self, folder: Path, incoming: Path) -> None:
        """`incoming` is a folder on the same disk, for files on their way."""
        self.folder = folder
        self._incoming = incoming
        self._stamps: dict[str, Stamp] = {}
        self._source: tuple[Path, int] | None = None
        self._trusted_until = 0
        folder.mkdir(parents=True, exist_ok=True)
        incoming.mkdir(parents=True, exist_ok=True)

    def put(self, saved: Path) -> None:
        """Make the folder as the saved state is."""
        source = (saved, saved.stat().st_ino)
        is_new, self._source = source != self._source, source
        if is_new:
            self._stamps.clear()
        wanted, present = dict(_files(saved)), dict(_files(self.folder))
        for name in present.keys() - wanted.keys():
            _remove(self.folder / name)
        in_use = {_database_of(name) for name in present}
        for name, entry in wanted.items():
            if name not in present or name in in_use or not self._is_untouched(name, present):
                target = self.folder / name
                if entry.is_dir(follow_symlinks=False):
                    if not target.is_dir() or target.is_symlink():
                        target.unlink(missing_ok=True)
                        target.mkdir(mode=entry.stat().st_mode & 0o777)
                else:
                    if target.is_dir() and not target.is_symlink():
                        shutil.rmtree(target)
                    draft = self._incoming / "file"
                    draft.unlink(missing_ok=True)
                    shutil.copy2(entry.path, draft, follow_symlinks=False)
                    draft.replace(target)
                self._stamps[name] = _stamp(target.stat(follow_symlinks=False))
        if is_new:
            time.sleep(2 * _TICK / 1e9)
        self._trusted_until = time.time_ns() - _TICK

    def _is_untouched(self, name: str, present: dict[str, os.DirEntry[str]]) -> bool:
        stamp = self._stamps.get(name)
        if present[name].is_dir(follow_symlinks=False):
            return stamp is not None and stamp.inode == present[name].inode()
        if stamp is None or stamp.changed >= self._trusted_until:
            return False
        return stamp == _stamp(present[name].stat(follow_symlinks=False))


def keep(folder: Path, saved: Path) -> None:
    """Copy the state of a running site, each SQLite file as of one moment. `saved` is made whole or
    not at all. Raises `SiteError`."""
    draft = saved.with_name(f".{saved.name}.{os.getpid()}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    for name, entry in _files(folder):
        if entry.is_dir(follow_symlinks=False):
            (draft / name).mkdir()
        elif not (folder / _database_of(name)).is_file():
            copy_file(Path(entry.path), draft / name)
    shutil.rmtree(saved, ignore_errors=True)
    draft.rename(saved)


def copy_file(path: Path, target: Path) -> None:
    """Copy a file with its times; a database as of one moment. Raises `SiteError`."""
    if path.is_symlink() or not is_database(path):
        shutil.copy2(path, target, follow_symlinks=False)
        return
    try:
        with (
            closing(sqlite3.connect(path, timeout=10)) as source,
            closing(sqlite3.connect(target)) as copy,
        ):
            source.backup(copy)
    except sqlite3.Error as error:
        raise SiteError(f"{path} cannot be copied: {error}") from error
    shutil.copystat(path, target)


def is_database(path: Path) -> bool:
    """Whether this is an SQLite file, by how it begins."""
    with path.open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def _files(folder: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Everything in the folder by its path in it, folders before what is in them."""
    waiting = [("", str(folder))]
    while waiting:
        prefix, place = waiting.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                name = f"{prefix}{entry.name}"
                yield name, entry
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((f"{name}/", entry.path))


def _database_of(name: str) -> str:
    """The database that a file of this name would belong to, as its journal; empty for others."""
    end = next((end for end in _SIDECARS if name.endswith(end)), "")
    return name.removesuffix(end) if end else ""


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_ino, status.st_size, status.st_ctime_ns)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
