"""The form of the task files: entries with their places, their sites, and how scorers differ."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.catalogue import AddressError
from benchmarks.task_files import FileEntry, read_list
from tasks.task import Json


def read_entries(path: Path) -> list[FileEntry]:
    """Return the tasks of a file, each named by its `task_id`. Raises `UnreadableTasks`."""
    return [
        FileEntry(each.values, f"{path}: task {each.integer('task_id')}")
        for each in read_list(path)
    ]


@dataclass(frozen=True, slots=True)
class Setup:
    """What a task file leaves open."""

    sites: Mapping[str, str]
    """Site to base address, as `{"shopping": "http://localhost:7770"}`."""
    only: Collection[str] = ()
    """Sites that are there: tasks that need another are left out. Empty: all tasks."""
    shop_admin: tuple[str, str] = ("admin", "admin1234")
    """Account that the scorer asks the shop for orders and reviews with; as published."""


@dataclass(frozen=True, slots=True)
class ScorerRules:
    """One benchmark's scorer, as the names of its rules."""

    benchmark: str
    version: int
    answer_rules: Mapping[str, str]
    """Key of `reference_answers` to rule."""
    page_rules: Mapping[str, str]
    """Key of `required_contents` to rule, in the scorer's order; it makes the first."""
    url_rules: Mapping[str, str]
    """`url_note` to rule."""
    url_note: str
    """Where a task has none."""
    unachievable_rule: str
    takes_single_texts: bool = False
    """Whether a fuzzy match may have one text in place of a list."""
    reads_text_as_list: tuple[str, ...] = ()
    """Keys of `reference_answers` under which one text is read as a list of it."""
    joins_page_texts: bool = False
    """Whether a fuzzy match of a page has a list of texts, which are compared as one."""
    id_key: str = "task_id"
    """Key of the number that a task goes by."""
    kinds: tuple[str, ...] = ()
    """Keys of the words that a task is sorted by, as its difficulty."""


SITES = (
    "shopping",
    "shopping_admin",
    "reddit",
    "gitlab",
    "map",
    "wikipedia",
    "classifieds",
    "homepage",
)
_PLACEHOLDER = re.compile(r"__([A-Z]+(?:_[A-Z]+)*)__")


def fill_addresses(entry: FileEntry, sites: Mapping[str, str]) -> FileEntry:
    """Return the entry with the address of each site in place of its placeholder.

    Raises `AddressError` for a site without an address.
    """

    def fill(value: Json) -> Json:
        if isinstance(value, str):
            return _PLACEHOLDER.sub(address, value)
        if isinstance(value, list):
            return [fill(item) for item in value]
        if isinstance(value, dict):
            return {key: fill(item) for key, item in value.items()}
        return value

    def address(match: re.Match[str]) -> str:
        site = match[1].lower()
        if site not in sites:
            given = ", ".join(sites) or "none"
            raise AddressError(
                f"{entry.place}: no address for {match[0]}; expected one for {site!r} among the"
                f" sites, given {given}"
            )
        return sites[site].rstrip("/")

    return FileEntry({key: fill(value) for key, value in entry.values.items()}, entry.place)


def list_sites(entry: FileEntry) -> tuple[str, ...]:
    """Return the sites the task is played or checked on: those it lists, then others it names."""
    named = (match.lower() for match in _PLACEHOLDER.findall(repr(entry.values)))
    return tuple(dict.fromkeys([*entry.texts("sites"), *(one for one in named if one in SITES)]))
