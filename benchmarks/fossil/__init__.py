"""The project site fossil@1: its tasks and the oracles that do them."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
    "fossil": Benchmark(
        "tickets, wiki, forum and code of a small project, started here",
        58,
        "benchmarks.fossil.tasks",
    ),
    "fossil-paraphrased": Benchmark(
        "fossil's tasks in other words, for measuring alone",
        58,
        "benchmarks.fossil.tasks",
        "paraphrased",
    ),
    "fossil-unquoted": Benchmark(
        "fossil's tasks in other words, half of the values unquoted, for measuring alone",
        58,
        "benchmarks.fossil.tasks",
        "unquoted",
    ),
}
SITES = {"fossil@1": "benchmarks.fossil.site"}
