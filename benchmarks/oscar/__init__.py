"""The shop oscar@1: its site, its tasks and the oracles that do them."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
    "oscar": Benchmark("a shop and its dashboard, started here", 64, "benchmarks.oscar.tasks"),
    "oscar-paraphrased": Benchmark(
        "oscar's tasks in other words, for measuring alone",
        64,
        "benchmarks.oscar.tasks",
        "paraphrased",
    ),
    "oscar-unquoted": Benchmark(
        "oscar's tasks in other words, half of the values unquoted, for measuring alone",
        64,
        "benchmarks.oscar.tasks",
        "unquoted",
    ),
}
SITES = {"oscar@1": "benchmarks.oscar.site"}
