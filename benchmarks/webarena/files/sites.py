"""The sites of a benchmark, which its task files name by placeholders such as `__SHOPPING__`."""

import re
from collections.abc import Mapping

from benchmarks.catalogue import AddressError
from benchmarks.webarena.files.schema import Entry
from tasks.task import Json

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


def resolved(entry: Entry, sites: Mapping[str, str]) -> Entry:
    """The entry with the address of each site in place of its placeholder.

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

    return Entry({key: fill(value) for key, value in entry.values.items()}, entry.place)


def sites_of(entry: Entry) -> tuple[str, ...]:
    """The sites that the task is played on or checked on: those it lists, then others it names."""
    named = (match.lower() for match in _PLACEHOLDER.findall(repr(entry.values)))
    return tuple(dict.fromkeys([*entry.texts("sites"), *(one for one in named if one in SITES)]))
