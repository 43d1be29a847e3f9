"""Published task files, read so that what is not of their form is named with file and place."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


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
