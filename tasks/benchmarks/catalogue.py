"""The benchmarks that can be run by name, each with how its tasks are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

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
    """An entry of the catalogue; its module is imported only when it is asked for."""

    summary: str
    count: int
    """How many tasks were published."""
    module: str
    subset: str = ""
    """The part of the module's tasks that this entry is, as `hard`."""

    def load(self, options: Options | None = None) -> Suite:
        """Its tasks. Raises `TasksMissing` where they are not on this machine and cannot be got."""
        make: Callable[[Options, str], Suite] = import_module(self.module).suite
        return make(options or Options(), self.subset)


BENCHMARKS = {
    "miniwob": Benchmark("small pages that make their own tasks", 125, "tasks.benchmarks.miniwob"),
}


class UnknownBenchmark(LookupError):
    """No benchmark has this name; the message says which there are."""


class TasksMissing(LookupError):
    """A benchmark's tasks are not on this machine; the message says how to get them."""


def benchmark_named(name: str) -> Benchmark:
    """The entry of this name. Raises `UnknownBenchmark`."""
    if name not in BENCHMARKS:
        close = get_close_matches(name, BENCHMARKS, n=3, cutoff=0.5) or sorted(BENCHMARKS)
        raise UnknownBenchmark(f"no benchmark is called {name!r}; there is {', '.join(close)}")
    return BENCHMARKS[name]
