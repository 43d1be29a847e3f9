"""WebArena-Infinity: generated applications whose tasks Python verifiers decide.

The applications, tasks and verifiers are read from a checkout of `web-arena-x/webarena-infinity`
that the user names in `WEBAGENT_INFINITY`; nothing of it is part of this repository. Applications
of one's own that its pipeline made are found there as well.
"""

import os
from pathlib import Path

from benchmarks.catalogue import Benchmark

VARIABLE = "WEBAGENT_INFINITY"
"""Names the checkout; a copy that has its folder `apps` is enough."""
VERSION = 1
SUITES = {"real": "real-tasks.json", "function": "function-tasks.json"}
"""Published suite to the file of its tasks in an application's folder."""


def find_applications() -> dict[str, Path]:
    """Return the folder of each application of the checkout by name; empty without a checkout."""
    named = os.environ.get(VARIABLE)
    folders = sorted((Path(named) / "apps").glob("*/")) if named else []
    return {
        folder.name: folder.absolute()
        for folder in folders
        if (folder / "server.py").is_file()
        and any((folder / file).is_file() for file in SUITES.values())
    }


BENCHMARKS = {
    "webarena-infinity": Benchmark(
        "tasks on generated applications, read from a checkout, decided by their verifiers",
        0,
        "benchmarks.webarena_infinity.tasks",
    )
}
SITES = {
    f"{name}@{VERSION}": f"benchmarks.webarena_infinity.tasks:{name}"
    for name in find_applications()
}
