"""Temporary folders of browsers, which are taken away even when their owner was killed."""

import fcntl
import shutil
import tempfile
import time
from pathlib import Path
from typing import IO

_PREFIX = "webagent-browser-"
_TRIES = 20
_BETWEEN_SECONDS = 0.05
_PROFILE_PREFIX = "playwright_chromiumdev_profile-"


class OwnedFolder:
    """A folder that belongs to this process for as long as it lives, and then to nobody.

    Ownership is a lock on a file in it, which the system lets go of when the process ends, however
    it ends. A profile that lies elsewhere can be named in it and shares its fate.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = (self.path / "owner").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def add_profile(self, profile: Path) -> None:
        """Name a profile that has to go together with the folder."""
        (self.path / "profile").write_text(str(profile), encoding="utf-8")

    def remove(self) -> None:
        """Delete the folder and its profile; what cannot be deleted stays."""
        _delete(self.path)
        self._lock.close()


def sweep() -> list[Path]:
    """Delete the folders whose owners are gone, and name them."""
    orphans = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            lock = (folder / "owner").open("r+")
        except OSError:
            continue
        with lock:
            if _is_free(lock):
                _delete(folder)
                orphans.append(folder)
    return orphans


def _is_free(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _delete(folder: Path) -> None:
    named = folder / "profile"
    if named.is_file():
        profile = Path(named.read_text(encoding="utf-8"))
        is_ours = profile.parent == folder.parent and profile.name.startswith(_PROFILE_PREFIX)
        if is_ours and not _is_deleted(profile):
            return  # its name is kept for the next sweep
    shutil.rmtree(folder, ignore_errors=True)


def _is_deleted(profile: Path) -> bool:
    """Delete a profile in which the last processes of a killed browser may still be writing."""
    for _ in range(_TRIES):
        shutil.rmtree(profile, ignore_errors=True)
        if not profile.exists():
            return True
        time.sleep(_BETWEEN_SECONDS)
    return False
