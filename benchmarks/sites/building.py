"""A site's first state: built once, with every account logged in, and kept for all instances."""

import fcntl
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from benchmarks.sites.site import Site, SiteError
from benchmarks.sites.state import FIRST, LOGINS

FOLDER_VARIABLE = "WEBAGENT_SITES"
_STATE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
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
    """What a site is started from; it lies in a folder of the cache and is never changed."""

    site: Site
    folder: Path
    seconds: float = 0.0
    """How long it took just now; 0 where it was there already."""

    def state(self, name: str = FIRST) -> Path:
        """A saved state's folder. Raises `SiteError` for one that there is not."""
        path = self.path_of(name)
        if not path.is_dir():
            there = ", ".join(self.states()) or "none"
            raise SiteError(f"{self.site.id} has no state called {name!r}; there is {there}")
        return path

    def path_of(self, name: str) -> Path:
        """Where the state of this name lies or would lie. Raises `SiteError` for no name."""
        if not _STATE_NAME.fullmatch(name):
            raise SiteError(f"a state is named by letters, digits, . _ and -; found {name!r}")
        return self.folder / "states" / name

    def states(self) -> tuple[str, ...]:
        """Names of the saved states."""
        folder = self.folder / "states"
        names = (path.name for path in folder.iterdir()) if folder.is_dir() else ()
        return tuple(sorted(name for name in names if not name.startswith(".")))

    def login(self, role: str) -> dict[str, Any]:
        """What a browser knows in which this account is logged in, in Playwright's form. Raises
        `SiteError` for a role that the site does not have."""
        if role not in self.site.accounts:
            known = ", ".join(sorted(self.site.accounts)) or "none"
            raise SiteError(f"{self.site.id} has no account {role!r}; there is {known}")
        path = self.state() / LOGINS / f"{role}.json"
        try:
            kept: dict[str, Any] = json.loads(path.read_bytes())
        except (OSError, ValueError) as error:
            raise SiteError(
                f"the login kept in {path} cannot be read ({error}); delete {self.folder} to have"
                " it built again"
            ) from error
        return kept

    def is_good(self, now: float) -> bool:
        """Whether it is there, and its logins are still good by their dates."""
        try:
            cookies = [each for role in self.site.accounts for each in self.login(role)["cookies"]]
            self.state()
        except SiteError:
            return False
        return all(not 0 < each.get("expires", -1) < now + _GOOD_FOR for each in cookies)


def cache_folder() -> Path:
    """Where builds are kept: `WEBAGENT_SITES`, else a folder in the user's cache."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path.home() / ".cache" / "webagent" / "sites"


def built(site: Site, make_first: Callable[[Site, Path, Path], None]) -> Build:
    """The site's build, made now where there is none for its source as it is.

    `make_first(site, folder, state)` makes the first state in `state`, `folder` being there to work
    in. Of several processes that ask at once one builds and the others wait. Raises `SiteError`.
    """
    build = Build(site, cache_folder() / re.sub(r"[^A-Za-z0-9._@-]", "-", site.id) / digest(site))
    if build.is_good(time.time()):
        return build
    if missing := site.missing():
        raise SiteError(f"{site.id} cannot be built here: {missing}")
    with _locked(build.folder):
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
    for path in _sources(type(site).__module__):
        text.update(path.name.encode() + b"\0" + path.read_bytes())
    return text.hexdigest()[:16]


def _sources(module: str) -> Iterator[Path]:
    """The module's file, or all files of the package that is the site's own."""
    package = module if hasattr(sys.modules[module], "__path__") else module.rpartition(".")[0]
    file = sys.modules[module].__file__
    if re.fullmatch(r"benchmarks\.\w+\.site", package):
        folder = Path(sys.modules[package].__path__[0])
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        yield from (path for path in files if "__pycache__" not in path.parts)
    elif file:
        yield Path(file)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Only one process at a time is in here for this folder."""
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
