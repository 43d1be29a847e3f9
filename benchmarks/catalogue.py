"""The benchmarks that can be run by name, each with how its tasks are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from benchmarks.discovery import Registry, collect
from tasks.suite import Suite


@dataclass(frozen=True, slots=True)
class Options:
    """What only the user can say about a benchmark."""

    files: Path | None = None
    """Its task file, or the folder of them; None: an installed package, or what was downloaded."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Name of a site to where the user hosts it, as `shopping` to `http://localhost:7770`."""
    corrected: bool = False
    """Corrected rules in place of the published ones, where there are such."""


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
