"""Values of a task file, each read with the place it stands at, so that a wrong one is named."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from benchmarks.task_file import UnreadableTasks, list_of
from tasks.task import Json


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of a task file, with the place it stands at."""

    values: Mapping[str, Json]
    place: str

    def text(self, key: str, default: str | None = None) -> str:
        """The text under the key; without a default it has to be there."""
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "text")
        return value

    def texts(self, key: str) -> list[str]:
        """The texts under the key."""
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of texts")
        return [item for item in value if isinstance(item, str)]

    def number(self, key: str, default: float | None = None) -> float:
        """The number under the key; without a default it has to be there."""
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(key, "a number")
        return value

    def inner(self, key: str) -> "Entry":
        """The object under the key."""
        return entry_of(self.values.get(key), f"{self.place}, {key}")

    def inners(self, key: str) -> list["Entry"]:
        """The objects under the key; none where the key is missing or null."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(key, "a list of objects")
        return [entry_of(item, f"{self.place}, {key} {n}") for n, item in enumerate(value)]

    def allow(self, keys: Set[str]) -> None:
        """Refuse a key that nobody here knows, as it may decide the score."""
        unknown = sorted(self.values.keys() - keys)
        if unknown:
            known = ", ".join(sorted(keys))
            raise UnreadableTasks(f"{self.place}: unknown key {unknown[0]!r}; expected {known}")

    def wrong(self, key: str, expected: str) -> UnreadableTasks:
        """The error for the value under the key."""
        found = repr(self.values[key])[:80] if key in self.values else "nothing"
        return UnreadableTasks(f"{self.place}, {key}: found {found}, expected {expected}")


def entry_of(value: Json, place: str) -> Entry:
    """The value, which must be an object."""
    if not isinstance(value, dict):
        raise UnreadableTasks(f"{place}: found {repr(value)[:80]}, expected an object")
    return Entry(value, place)


def read_entries(path: Path) -> list[Entry]:
    """The tasks of a file, each named by its `task_id`. Raises `UnreadableTasks`."""
    entries = [entry_of(task, f"{path}, entry {n}") for n, task in enumerate(list_of(path))]
    return [Entry(each.values, f"{path}, task {_id_of(each)}") for each in entries]


def _id_of(entry: Entry) -> int:
    found = entry.number("task_id")
    if not isinstance(found, int):
        raise entry.wrong("task_id", "a whole number")
    return found
