"""Mind2Web-Live: its tasks, and the rules for the key nodes that every solution passes."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
    "mind2web-live": Benchmark(
        "live sites, with key nodes that every way passes", 104, "benchmarks.mind2web_live.tasks"
    )
}
