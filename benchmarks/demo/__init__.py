"""The tasks of scripts/demo: a notebook's, and some of MiniWoB++."""

from benchmarks.catalogue import Benchmark

SITE = "notebook@1"
BENCHMARKS = {
    "demo": Benchmark("a notebook, and six pages of MiniWoB++", 10, "benchmarks.demo.tasks")
}
SITES = {SITE: "benchmarks.demo.tasks"}
