"""Tasks on the shop in the files of every published benchmark, all of them as one suite."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.catalogue import Options, find_benchmark
from tasks.suite import Suite
from tasks.task import Task

FOLDER = Path(__file__).parent / "task_files"
"""A folder for each benchmark, of its name."""


def suite(options: Options, subset: str = "") -> Suite:
    """For the catalogue: what each benchmark's own loader makes of its files."""
    made: dict[str, Task] = {}
    for folder in sorted(FOLDER.iterdir()):
        has_sites = folder.name.startswith(("webarena", "visual", "webchore"))
        own = replace(options, files=folder, addresses=options.addresses if has_sites else {})
        loaded = find_benchmark(folder.name).load(own)
        made |= {name: loaded.task(name, 0, "test") for name in loaded.names}

    def make(name: str, seed: int, settings: Mapping[str, Any]) -> Task:
        return replace(made[name], seed=seed)

    return Suite("samples@1", tuple(made), make, is_seeded=False)
