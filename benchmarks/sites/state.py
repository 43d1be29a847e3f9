"""A site's state, a folder of files: built once, kept, and put in place while the site runs."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from benchmarks.sites.site import Site, SiteError

FIRST = "first"
"""The folder of the state in which every instance begins."""
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
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
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


def keep_state(folder: Path, saved: Path) -> None:
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
    """Return whether this is an SQLite file, by how it begins."""
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
    """Return the database that a file of this name would be the journal of; empty for others."""
    end = next((end for end in _SIDECARS if name.endswith(end)), "")
    return name.removesuffix(end) if end else ""


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(status.st_ino, status.st_size, status.st_ctime_ns)


FOLDER_VARIABLE = "WEBAGENT_SITES"
_GOOD_FOR = 86_400
"""Seconds that a kept login must still be good for; one that is not is made again."""
_FORMAT = "2"


@runtime_checkable
class Fingerprinted(Protocol):
    """A site whose build depends on more than its own source files."""

    def fingerprint(self) -> str:
        """Another text where something else would be built."""
        ...


@dataclass(frozen=True, slots=True)
class Build:
    """What a site is started from, in a folder of the cache; only its logins are made anew."""

    site: Site
    folder: Path
    seconds: float = 0.0
    """How long it took just now; 0 where it was there already."""

    @property
    def state(self) -> Path:
        """The folder of the state in which every instance begins."""
        return self.folder / "states" / FIRST

    def login(self, role: str) -> dict[str, Any]:
        """Return what a browser knows in which this account is logged in, in Playwright's form.
        Raises `SiteError` for a role that the site does not have."""
        if role not in self.site.accounts:
            known = ", ".join(sorted(self.site.accounts)) or "none"
            raise SiteError(f"{self.site.id} has no account {role!r}; there is {known}")
        path = self.state / LOGINS / f"{role}.json"
        try:
            kept: dict[str, Any] = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise SiteError(
                f"the login kept in {path} cannot be read ({error}); delete {self.folder} to have"
                " it built again"
            ) from error
        return kept

    def is_good(self, now: float) -> bool:
        """Return whether it is there, and its logins are still good by their dates."""
        try:
            cookies = [each for role in self.site.accounts for each in self.login(role)["cookies"]]
        except SiteError:
            return False
        if not self.state.is_dir():
            return False
        return all(not 0 < each.get("expires", -1) < now + _GOOD_FOR for each in cookies)


def cache_folder() -> Path:
    """Return where builds are kept: `WEBAGENT_SITES`, else a folder in the user's cache."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path.home() / ".cache" / "webagent" / "sites"


def ensure_built(site: Site, make_first: Callable[[Site, Path, Path], None]) -> Build:
    """Return the site's build, made now where there is none for its source as it is.

    `make_first(site, folder, state)` makes the first state in `state`, `folder` being there to work
    in. Of several processes that ask at once one builds and the others wait. Raises `SiteError`.
    """
    build = Build(site, cache_folder() / re.sub(r"[^A-Za-z0-9._@-]", "-", site.id) / digest(site))
    if build.is_good(time.time()):
        return build
    if missing := site.missing():
        raise SiteError(f"{site.id} cannot be built here: {missing}")
    with lock_build(build.folder):
        if build.is_good(time.time()):
            return build
        began = time.monotonic()
        draft = build.folder.with_name(f".{build.folder.name}.{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            work = draft / "work"
            work.mkdir(parents=True)
            make_first(build.site, work, draft / "states" / FIRST)
            shutil.rmtree(work)
            shutil.rmtree(build.folder, ignore_errors=True)
            draft.rename(build.folder)
        except OSError as error:
            raise SiteError(f"{build.site.id} cannot be kept in {build.folder}: {error}") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return Build(site, build.folder, time.monotonic() - began)


def digest(site: Site) -> str:
    """Changes with what is built: the site's source files and what it says of itself."""
    text = hashlib.sha256(f"{_FORMAT}\0{site.id}\0{sorted(site.accounts.items())}".encode())
    if isinstance(site, Fingerprinted):
        text.update(site.fingerprint().encode())
    module = type(site).__module__
    package = module if hasattr(sys.modules[module], "__path__") else module.rpartition(".")[0]
    file = sys.modules[module].__file__
    paths = [Path(file)] if file else []
    if re.fullmatch(r"benchmarks\.\w+\.site", package):  # all files of a package of its own
        within = sorted(Path(sys.modules[package].__path__[0]).rglob("*"))
        paths = [path for path in within if path.is_file() and "__pycache__" not in path.parts]
    for path in paths:
        text.update(path.name.encode() + b"\0" + path.read_bytes())
    return text.hexdigest()[:16]


@contextmanager
def lock_build(folder: Path) -> Iterator[None]:
    """Let one process at a time change the build in this folder. Raises `SiteError`."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = folder.with_name(f"{folder.name}.lock").open("w")
    except OSError as error:
        raise SiteError(
            f"{folder.parent} cannot be written ({error.strerror}); name another folder in"
            f" {FOLDER_VARIABLE}"
        ) from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
