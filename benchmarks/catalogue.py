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
    """How many tasks were published; 0 where that is up to the user's file."""
    module: str
    subset: str = ""
    """The part of the module's tasks that this entry is, as `hard`."""

    def load(self, options: Options | None = None) -> Suite:
        """Its tasks. Raises `TasksMissing` where they are not on this machine and cannot be got."""
        make: Callable[[Options, str], Suite] = import_module(self.module).suite
        return make(options or Options(), self.subset)


BENCHMARKS = {
    "miniwob": Benchmark("small pages that make their own tasks", 125, "benchmarks.miniwob.tasks"),
    "webarena": Benchmark(
        "a shop, its back office, a forum, GitLab, a map and Wikipedia, hosted by yourself",
        812,
        "benchmarks.webarena.webarena",
    ),
    "webarena-verified": Benchmark(
        "WebArena's tasks audited anew, scored by response and network traffic",
        812,
        "benchmarks.webarena.webarena_verified",
    ),
    "webarena-verified-hard": Benchmark(
        "the hard tasks of webarena-verified", 258, "benchmarks.webarena.webarena_verified", "hard"
    ),
    "webarena-lite": Benchmark(
        "a selection from WebArena with corrected answers", 165, "benchmarks.webarena.webarena_lite"
    ),
    "visualwebarena": Benchmark(
        "tasks with pictures on classified advertisements, a forum and a shop, hosted by yourself",
        910,
        "benchmarks.webarena.visualwebarena",
    ),
    "webchorearena": Benchmark(
        "tedious tasks on WebArena's sites", 532, "benchmarks.webarena.webchorearena"
    ),
    "webchorearena-small": Benchmark(
        "the published small selection of webchorearena",
        102,
        "benchmarks.webarena.webchorearena",
        "small",
    ),
    "webvoyager": Benchmark("15 live sites", 643, "benchmarks.webvoyager"),
    "webvoyager-2025": Benchmark(
        "those of WebVoyager that could still be done in August 2025",
        595,
        "benchmarks.webvoyager",
        "2025",
    ),
    "mind2web-live": Benchmark(
        "live sites, with key nodes that every way passes", 104, "benchmarks.mind2web_live.tasks"
    ),
    "online-mind2web": Benchmark(
        "136 live sites, scored by a judge", 300, "benchmarks.online_mind2web"
    ),
    "gaia-web": Benchmark("questions of GAIA that need only the web", 90, "benchmarks.gaia_web"),
    "webgames": Benchmark(
        "small games that show a password to whoever wins", 150, "benchmarks.webgames"
    ),
    "fossil": Benchmark(
        "tickets, wiki, forum and code of a small project, started here",
        58,
        "benchmarks.fossil.tasks",
    ),
    "oscar": Benchmark("a shop and its dashboard, started here", 64, "benchmarks.oscar.tasks"),
    "own": Benchmark("tasks of a TOML file of yours, by address", 0, "benchmarks.own"),
    "proposed": Benchmark(
        "what `webagent propose` has found and had solved", 0, "benchmarks.proposed"
    ),
    "proposed-untried": Benchmark(
        "proposals that passed every filter and that nobody has tried",
        0,
        "benchmarks.proposed",
        "untried",
    ),
}


class UnknownBenchmark(LookupError):
    """No benchmark has this name; the message says which there are."""


class TasksMissing(LookupError):
    """A benchmark's tasks are not on this machine; the message says how to get them."""


class AddressError(LookupError):
    """A site has no address, or not a good one; the message says which and how to give it."""


def benchmark_named(name: str) -> Benchmark:
    """The entry of this name. Raises `UnknownBenchmark`."""
    if name not in BENCHMARKS:
        close = get_close_matches(name, BENCHMARKS, n=3, cutoff=0.5) or sorted(BENCHMARKS)
        raise UnknownBenchmark(f"no benchmark is called {name!r}; there is {', '.join(close)}")
    return BENCHMARKS[name]
