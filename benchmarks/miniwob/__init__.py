"""MiniWoB++: its tasks and the oracles that do them."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
    "miniwob": Benchmark("small pages that make their own tasks", 125, "benchmarks.miniwob.tasks")
}
