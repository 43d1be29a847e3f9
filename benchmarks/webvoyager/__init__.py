"""WebVoyager, and the tasks of GAIA that its authors chose: live sites and reference answers."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
    "webvoyager": Benchmark("15 live sites", 643, "benchmarks.webvoyager.tasks"),
    "webvoyager-2025": Benchmark(
        "those of WebVoyager that could still be done in August 2025",
        595,
        "benchmarks.webvoyager.tasks",
        "2025",
    ),
    "gaia-web": Benchmark(
        "questions of GAIA that need only the web", 90, "benchmarks.webvoyager.gaia_web"
    ),
}
