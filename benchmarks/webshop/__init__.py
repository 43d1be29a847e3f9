"""WebShop's tasks: buy what an instruction asks for, with the published goals and reward."""

from benchmarks.catalogue import Benchmark

BENCHMARKS = {
    "webshop": Benchmark(
        "buy what somebody describes, in a shop started here, scored by WebShop's reward",
        0,
        "benchmarks.webshop.tasks",
    )
}
SITES = {"webshop@1": "benchmarks.webshop.site"}
