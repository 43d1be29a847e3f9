"""The benchmarks that can be run by name, with how they and their parts are found."""

import pkgutil
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Generic, TypeVar

import benchmarks
from tasks.suite import Suite

RUNTIME = frozenset({"catalogue", "oracles", "rules", "sites", "task_files", "templates"})
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
    """Return the dotted names of the modules and folders that are benchmarks, alphabetically."""
    found = pkgutil.iter_modules(benchmarks.__path__)
    return [f"benchmarks.{each.name}" for each in found if each.name not in RUNTIME]


def collect(attribute: str) -> dict[str, Any]:
    """Merge the tables of this name of all benchmarks. Raises `ValueError` for an entry of two."""
    merged: dict[str, Any] = {}
    for name in find_benchmarks():
        declared: Mapping[str, Any] = getattr(import_module(name), attribute, {})
        if twice := merged.keys() & declared.keys():
            raise ValueError(f"{name} declares {', '.join(sorted(twice))} in {attribute} again")
        merged |= declared
    return merged


def import_parts(part: str) -> None:
    """Import the module of this name, or the package's modules, in every benchmark that has one."""
    for name in find_benchmarks():
        folder = getattr(import_module(name), "__path__", [])
        if any(each.name == part for each in pkgutil.iter_modules(folder)):
            found = import_module(f"{name}.{part}")
            for inner in pkgutil.iter_modules(getattr(found, "__path__", [])):
                import_module(f"{name}.{part}.{inner.name}")


@dataclass(frozen=True, slots=True)
class Options:
    """What only the user can say about a benchmark."""

    files: Path | None = None
    """Its task file, or the folder of them; None: an installed package, or what was downloaded."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Name of a site to where the user hosts it, as `shopping` to `http://localhost:7770`."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """An entry of the catalogue; the module of its tasks is imported only when they are loaded."""

    summary: str
    count: int
    """How many tasks were published; 0 where that is up to the user's file."""
    module: str
    """Dotted name of the module whose function `suite(options, subset)` makes its tasks."""
    subset: str = ""
    """The part of the module's tasks that this entry is, as `hard`."""

    def load(self, options: Options | None = None) -> Suite:
        """Load its tasks. Raises `TasksMissing` where they cannot be found or downloaded."""
        make: Callable[[Options, str], Suite] = import_module(self.module).suite
        return make(options or Options(), self.subset)


BENCHMARKS: Registry[Benchmark] = Registry(lambda: collect("BENCHMARKS"))
"""By name, as the folders and modules of this package declare them."""


class UnknownBenchmark(LookupError):
    """No benchmark has this name; the message says which there are."""


class TasksMissing(LookupError):
    """A benchmark's tasks are not on this machine; the message says how to get them."""


class AddressError(LookupError):
    """A site has no address, or not a good one; the message says which and how to give it."""


def find_benchmark(name: str) -> Benchmark:
    """Return the entry of this name. Raises `UnknownBenchmark`."""
    if name not in BENCHMARKS:
        close = get_close_matches(name, BENCHMARKS, n=3, cutoff=0.5) or sorted(BENCHMARKS)
        raise UnknownBenchmark(f"no benchmark is called {name!r}; there is {', '.join(close)}")
    return BENCHMARKS[name]
