"""Published task files: read so that what is wrong is named with its place, made into suites."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.catalogue import AddressError
from tasks.suite import Suite, UnknownTask
from tasks.task import Task


class UnreadableTasks(ValueError):
    """A task file that is not of the published form; the message names file, task and field."""


def json_of(file: Path) -> Any:
    """The content of a JSON file. Raises `UnreadableTasks`."""
    text = text_of(file)
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnreadableTasks(f"{file} is not JSON: {error}") from error


def list_of(file: Path) -> list[Any]:
    """The content of a JSON file that holds a list of tasks. Raises `UnreadableTasks`."""
    found = json_of(file)
    if not isinstance(found, list):
        raise UnreadableTasks(
            f"{file} holds no list of tasks: found {type(found).__name__}, expected a list of tasks"
        )
    return found


def lines_of(file: Path) -> list[tuple[Mapping[str, Any], str]]:
    """The objects of a JSON Lines file, each with where it stands. Raises `UnreadableTasks`."""
    found: list[tuple[Mapping[str, Any], str]] = []
    for at, line in enumerate(text_of(file).splitlines(), 1):
        where = f"{file}: line {at}"
        try:
            raw = json.loads(line) if line.strip() else None
        except ValueError as error:
            raise UnreadableTasks(f"{where} is not JSON: {error}") from error
        if isinstance(raw, dict):
            found.append((raw, where))
        elif line.strip():
            raise UnreadableTasks(f"{where} is no object")
    return found


def text_of(file: Path) -> str:
    """The text of a file. Raises `UnreadableTasks`."""
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UnreadableTasks(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableTasks(f"{file} is not text in UTF-8: {error}") from error


def field_of(raw: Any, name: str, where: str) -> str:
    """A field that is text and not empty. Raises `UnreadableTasks`."""
    found = raw.get(name) if isinstance(raw, dict) else None
    if not isinstance(found, str) or not found:
        raise UnreadableTasks(f"{where}: {name} is {found!r}, expected text")
    return found


def typed_of(raw: Any, name: str, kind: type, where: str) -> Any:
    """A field of this type. Raises `UnreadableTasks`."""
    found = raw.get(name) if isinstance(raw, dict) else None
    if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
        raise UnreadableTasks(f"{where}: {name} is {found!r}, expected {kind.__name__}")
    return found


def texts_of(raw: Any, name: str, where: str) -> tuple[str, ...]:
    """A field that is a list of texts. Raises `UnreadableTasks`."""
    found = typed_of(raw, name, list, where)
    if not all(isinstance(one, str) for one in found):
        raise UnreadableTasks(f"{where}: {name} is {found!r}, expected a list of texts")
    return tuple(found)


def suite_of(
    identity: str, tasks: Iterable[Task], missing: Mapping[str, Sequence[str]] | None = None
) -> Suite:
    """The suite of these tasks; its groups are their skills.

    `missing` has, by task name, the sites whose addresses a task lacks: it is listed, and making it
    raises `AddressError`. Raises `UnreadableTasks` for two tasks of one name.
    """
    known: dict[str, Task] = {}
    for task in tasks:
        if known.setdefault(task.name, task) is not task:
            raise UnreadableTasks(f"{identity}: two tasks are called {task.name!r}; expected one")
    lacking = missing or {}

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        if name not in known:
            raise UnknownTask(name, list(known))
        if settings:
            raise ValueError(f"{known[name].id} has no settings; found {', '.join(settings)}")
        if lacking.get(name):
            raise AddressError(_needs(known[name].id, lacking[name]))
        return replace(known[name], seed=seed)

    return Suite(identity, tuple(known), make, groups=_groups(known), is_seeded=False)


def checked(addresses: Mapping[str, str], sites: Sequence[str], benchmark: str) -> dict[str, str]:
    """The addresses, without a slash at the end. Raises `AddressError` for one that is none."""
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


def _needs(identity: str, sites: Sequence[str]) -> str:
    return (
        f"{identity} needs the address of {', '.join(sites)}, which you host yourself; give it "
        f"among the addresses, as {sites[0]}=http://HOST:PORT (docs/benchmarks.md)"
    )


def _groups(tasks: Mapping[str, Task]) -> dict[str, tuple[str, ...]]:
    words = dict.fromkeys(skill for task in tasks.values() for skill in task.skills)
    return {
        word: tuple(name for name, task in tasks.items() if word in task.skills) for word in words
    }
