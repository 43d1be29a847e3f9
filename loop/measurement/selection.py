"""What is played: a benchmark's tasks, chosen by name and found where they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from benchmarks.catalogue import AddressError, Options, TasksMissing, find_benchmark
from benchmarks.miniwob import tasks as miniwob
from loop.measurement.settings import BenchmarkConfig
from tasks.suite import Suite, UnknownTask
from tasks.task import Task
from webagent.errors import SetupError, UsageError
from webagent.files import read_toml
from webagent.records import Provenance
from webagent.rollout import PlannedEpisode, plan_episodes

SEEDS = 10
"""Of a benchmark whose tasks differ by seed, where nothing else is given."""
DEFAULT_GROUP = "twenty"


@dataclass(frozen=True, slots=True)
class TaskSelection:
    """The tasks of a run."""

    suite: Suite
    names: tuple[str, ...]
    seeds: int
    """Of each task; repeats where the suite is not seeded."""
    samples: int
    split: str
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Requested tasks that cannot be made, as the addresses of their sites are not given."""
    phase: str = "evaluate"
    """What the episodes are played for."""
    first_seed: int = 0
    """Number of the first seed in its split."""

    @classmethod
    def of(cls, config: BenchmarkConfig) -> "TaskSelection":
        """As the settings say. Raises `SetupError` for tasks that are not there."""
        addresses = read_addresses(config.selection.addresses) if config.selection.addresses else {}
        options = Options(config.selection.files, addresses)
        try:
            suite = find_benchmark(config.selection.benchmark).load(options)
        except TasksMissing as error:
            raise SetupError(str(error)) from error
        except (LookupError, ValueError, OSError) as error:
            raise SetupError(f"{config.selection.benchmark} cannot be read: {error}") from error
        if not suite.names:
            raise SetupError(f"{suite.id} has no tasks")
        usual = (DEFAULT_GROUP,) if DEFAULT_GROUP in suite.groups else ("all",)
        try:
            names = suite.select(config.selection.tasks or usual)
        except UnknownTask as error:
            raise UsageError(str(error)) from error
        seeds = config.seeds or (SEEDS if suite.is_seeded else 1)
        lacking = {}
        for name in names:
            try:
                suite.task(name, 0, config.split)
            except AddressError as error:
                lacking[name] = str(error)
        there = tuple(name for name in names if name not in lacking)
        chosen = (suite, there, seeds, config.samples, config.split)
        return cls(*chosen, lacking, first_seed=config.first_seed)

    def check(self) -> None:
        """Whether all that was requested can be played. Raises `SetupError`."""
        if self.lacking:
            name, reason = next(iter(self.lacking.items()))
            raise SetupError(
                f"{len(self.lacking)} of {len(self.lacking) + len(self.names)} tasks cannot be"
                f" played, the first is {name}: {reason}; give --addresses FILE.toml, or choose"
                " others with --tasks"
            )

    def tasks(self, seeds: int | None = None) -> list[Task]:
        """Every task on its first seed, then every task on its second, so that any part is fair."""
        count = self.seeds if seeds is None else min(seeds, self.seeds)
        return [
            self.suite.task(name, self.first_seed + index, self.split)
            for index in range(count)
            for name in self.names
        ]

    def plan(self, arm: str) -> list[PlannedEpisode]:
        """The policy's episodes."""
        tasks = [task for task in self.tasks() for _ in range(self.samples)]
        return plan_episodes(tasks, Provenance(arm=arm, phase=self.phase))

    def describe_seeds(self) -> str:
        """The seeds, or the repeats, in words."""
        if not self.names:
            return "none"
        ends = (self.first_seed, self.first_seed + self.seeds - 1)
        first, last = (self.suite.task(self.names[0], i, self.split) for i in ends)
        if self.suite.is_seeded:
            return f"{self.split} {first.seed} to {last.seed}"
        times = f"{self.seeds} repeat{'s' * (self.seeds != 1)}"
        return f"{times} of each task: its tasks are the same whatever the seed"


def list_page_folders(tasks: list[Task]) -> list[Path]:
    """The folders that a guard has to open for tasks on pages that are files."""
    paths = [
        Path(unquote(urlsplit(url).path))
        for task in tasks
        if (url := task.start_url)
        if url.startswith("file:")
    ]
    if not paths:
        return []
    pages = miniwob.pages()
    return sorted({pages.parent if path.is_relative_to(pages) else path.parent for path in paths})


def read_addresses(file: Path) -> Mapping[str, str]:
    """Names of sites to where they are: a TOML file's own lines, or those under [addresses].

    Raises `SetupError` naming file and line.
    """
    table = read_toml(file)
    found = table.get("addresses", table)
    if not isinstance(found, dict) or not found:
        raise SetupError(f'{file} names no sites; expected lines as shopping = "http://…"')
    for name, address in found.items():
        if not isinstance(address, str) or urlsplit(address).scheme not in ("http", "https"):
            raise SetupError(f"{file}: {name} is {address!r}; expected an http address")
    return {name: address.rstrip("/") for name, address in found.items()}
