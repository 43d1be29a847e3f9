"""The shop oscar@1: its site, its tasks and the oracles that do them."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
    "oscar": Benchmark("a shop and its dashboard, started here", 64, "benchmarks.oscar.tasks"),
}
SITES = {"oscar@1": "benchmarks.oscar.site"}
