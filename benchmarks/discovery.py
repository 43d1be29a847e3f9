"""What the folders and modules of this package bring, found where they lie, so that adding a
benchmark touches its own folder and nothing else.

A benchmark is a module or a folder beside this file. What it brings it declares by name:

- `BENCHMARKS` in the module or in the folder's `__init__.py`: name to `catalogue.Benchmark`;
- `SITES` there as well: id of a site to the module whose function `site` makes it;
- `oracles` and `rules`, modules or packages of the folder, which register theirs when imported.

A folder's `__init__.py` is imported whenever the catalogue is listed, so it imports nothing heavy.
"""

import pkgutil
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, Generic, TypeVar

import benchmarks

RUNTIME = frozenset(
    {"catalogue", "discovery", "download", "oracles", "rules", "sites", "task_files", "templates"}
)
"""Names in this package that are no benchmarks but what all of them use."""

Value = TypeVar("Value")


class Registry(MutableMapping[str, Value], Generic[Value]):
    """A table by name, filled when it is first looked at; entries can be added and replaced."""

    def __init__(self, fill: Callable[[], Mapping[str, Value]]) -> None:
        self._fill: Callable[[], Mapping[str, Value]] | None = fill
        self._entries: dict[str, Value] = {}

    def _filled(self) -> dict[str, Value]:
        if self._fill is not None:
            fill, self._fill = self._fill, None
            self._entries = {**fill(), **self._entries}
        return self._entries

    def __getitem__(self, name: str) -> Value:
        return self._filled()[name]

    def __setitem__(self, name: str, value: Value) -> None:
        self._entries[name] = value

    def __delitem__(self, name: str) -> None:
        del self._filled()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._filled())

    def __len__(self) -> int:
        return len(self._filled())


def find_benchmarks() -> list[str]:
    """Return the dotted names of the modules and folders that are benchmarks, in alphabetical
    order."""
    found = pkgutil.iter_modules(benchmarks.__path__)
    return [f"benchmarks.{each.name}" for each in found if each.name not in RUNTIME]


def collect(attribute: str) -> dict[str, Any]:
    """Merge the tables of this name that benchmarks declare. Raises `ValueError` where two have an
    entry of the same name."""
    merged: dict[str, Any] = {}
    for name in find_benchmarks():
        declared: Mapping[str, Any] = getattr(import_module(name), attribute, {})
        if twice := merged.keys() & declared.keys():
            raise ValueError(f"{name} declares {', '.join(sorted(twice))} in {attribute} again")
        merged |= declared
    return merged


def import_parts(part: str) -> None:
    """Import the module of this name, or the package with all of its modules, in every benchmark
    folder that has one."""
    for name in find_benchmarks():
        folder = getattr(import_module(name), "__path__", [])
        if any(each.name == part for each in pkgutil.iter_modules(folder)):
            found = import_module(f"{name}.{part}")
            for inner in pkgutil.iter_modules(getattr(found, "__path__", [])):
                import_module(f"{name}.{part}.{inner.name}")
