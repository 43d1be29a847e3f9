"""WebArena and the benchmarks made after it: their task files and the checks of their scorers."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
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
        "a selection from WebArena with corrected answers",
        165,
        "benchmarks.webarena.webarena",
        "lite",
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
}
