"""The published task files of WebArena and its kin, read."""

from pathlib import Path

from benchmarks.webarena import visualwebarena, webarena, webchorearena
from benchmarks.webarena.schema import SITES, Setup
from tasks.task import Task

ADDRESSES = {site: f"http://{site.replace('_', '-')}.test" for site in SITES}
BENCHMARKS = ("webarena", "visualwebarena", "webchorearena")


def read(benchmark: str, folder: Path, setup: Setup | None = None) -> tuple[Task, ...]:
    """Return all tasks of a benchmark."""
    setup = setup or Setup(ADDRESSES)
    if benchmark == "webarena":
        return webarena.read(folder / "webarena" / "test.raw.json", setup)
    if benchmark == "visualwebarena":
        return visualwebarena.read(folder / "visualwebarena", setup)
    return webchorearena.read(folder / "webchorearena" / "test_webchore.raw.json", setup)
