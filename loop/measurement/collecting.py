"""Settings of `webagent collect`."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tyro.conf import OmitArgPrefixes

from loop.costs import Caps
from loop.executors import ExecutorName
from loop.measurement.settings import BenchmarkConfig, check
from loop.policies import ModelChoice
from loop.searching import SearchChoice
from loop.student import StudentChoice
from loop.worlds import WorldChoice
from webagent.errors import UsageError

PHASE = "collect"
"""Phase of these episodes; training and export select it by default."""

_PLAYED = (
    *("benchmark", "tasks", "files", "split", "seeds", "samples", "asked", "taught", "ahead"),
    *(
        "searched",
        "observation",
        "images",
        "temperature",
        "judge",
        "addresses",
        "sites",
        "logins",
        "guard",
        "caps",
    ),
    *("concurrency", "executor", "workers", "resume"),
)
"""Settings with the same meaning as in `webagent benchmark`."""


@dataclass(frozen=True)
class CollectConfig:
    """Play a policy on tasks and store the episodes as training data, without an evaluation."""

    benchmark: str = "miniwob"
    """Benchmark that provides the tasks; `webagent collect NAME` is the same. `own` for tasks from
    your own file."""
    tasks: tuple[str, ...] = ()
    """Names of tasks or task groups; `all` for every task. Default: `twenty` if the benchmark has
    that group, else all."""
    files: Path | None = None
    """The benchmark's task file or folder; for `own`, a TOML file with a table [tasks.NAME] per
    task, with `url` and `goal` (docs/collecting.md)."""
    split: str = "train"
    """Seeds to use: `train` or `development`; those of `test` are reserved for evaluation."""
    seeds: int = 10
    """Seeds per task; repeats if the task is the same for every seed."""
    samples: int = 1
    """Episodes per task and seed, for objectives that compare episodes."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=partial(ModelChoice, "oracle"))
    """The policy to play. Besides language models, --policy accepts `oracle`, `model:FOLDER` for
    saved built-in weights, and `python:FILE.py:NAME` for your own policy."""
    taught: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """A student in front of the policy."""
    ahead: OmitArgPrefixes[WorldChoice] = field(default_factory=WorldChoice)
    """World model that the policy consults before acting."""
    searched: OmitArgPrefixes[SearchChoice] = field(default_factory=SearchChoice)
    """Search before acting."""
    observation: str = "text"
    """Form in which the language model sees pages: `text`, `screenshot`, `set-of-marks`, `pruned`,
    `accessibility`, `html` or `markdown`."""
    images: bool = False
    """Show the language model screenshots in addition to the text, and store them."""
    temperature: float = 1.0
    """Sampling temperature of the model."""
    random_share: float = 0.0
    """Share of random actions of built-in weights, 0 to 1."""
    judge: str = "rules"
    """Judge whose verdicts are stored with the episodes: `rules`, or any evaluator that queries no
    model; use `webagent judge` afterwards for the others."""
    addresses: Path | None = None
    """TOML file with the addresses of the benchmark's sites (docs/benchmarks.md)."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe additional sites (docs/sites.md)."""
    logins: Path | None = None
    """Folder with the logins that tasks start with; logins saved by `webagent login` are found
    without it."""
    guard: Path | None = None
    """File with the limits enforced in every episode (docs/guard.md)."""
    count: int | None = None
    """Maximum number of episodes."""
    steps: int | None = None
    """Maximum number of real browser steps, over all sessions of the run."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Limits at which the run stops, over all its sessions."""
    concurrency: int = 4
    """Browser contexts per worker."""
    executor: ExecutorName = "process"
    """Where browsers run: `process` on this machine, `ray` on a cluster (docs/howto/cluster.md)."""
    workers: int = 1
    """Parallel browsers, each in its own process, or on the cluster."""
    name: str = ""
    """Name of the run's folder under `runs`; derived from the date if empty."""
    runs: Path = Path("runs")
    """Folder in which run folders are created."""
    resume: Path | None = None
    """Folder of a run to resume; its own settings are used, except for caps given again."""
    preview: bool = False
    """Print what would be played, without playing it."""

    @property
    def played(self) -> BenchmarkConfig:
        """Return the same settings as a benchmark without baselines."""
        shared = {name: getattr(self, name) for name in _PLAYED}
        return BenchmarkConfig(**shared, baselines=False, pictures=0)

    def check(self) -> None:
        """Find what is wrong with the settings themselves. Raises `UsageError`, `SetupError`."""
        if self.split == "test":
            raise UsageError("--split test is for evaluation; collect on train or development")
        for flag, value in (("--count", self.count), ("--steps", self.steps)):
            if value is not None and value < 1:
                raise UsageError(f"{flag} {value} must be 1 or more")
        self.searched.check(self.ahead, measures=False)
        check(self.played)

    def resumed(self, begun: "CollectConfig") -> "CollectConfig":
        """Return the settings the run was started with, with the caps given now."""
        given = {name: value for name in ("count", "steps") if (value := getattr(self, name))}
        caps, more = begun.caps.raised(self.caps), {"preview": self.preview, **given}
        return replace(
            begun,
            resume=self.resume,
            executor=self.executor,
            workers=self.workers,
            caps=caps,
            **more,
        )
