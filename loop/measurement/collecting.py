"""Settings of `webagent collect`."""

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from tyro.conf import OmitArgPrefixes

from loop.costs import Caps
from loop.measurement.settings import BenchmarkConfig, check
from loop.policies import ModelChoice
from loop.student import StudentChoice
from loop.worlds import WorldChoice
from webagent.errors import UsageError

PHASE = "collect"
"""The episodes' phase; what trains and exports takes it without being told."""

_PLAYED = (
    *("benchmark", "tasks", "files", "split", "seeds", "samples", "asked", "taught", "ahead"),
    *(
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
    *("concurrency", "resume"),
)
"""Settings that mean what they mean when a policy is measured."""


@dataclass(frozen=True)
class CollectConfig:
    """Play a policy on tasks and keep the episodes as data; how good it is, is not said."""

    benchmark: str = "miniwob"
    """Whose tasks; `webagent collect NAME` says the same. `own` are those of a file of yours."""
    tasks: tuple[str, ...] = ()
    """Names of tasks or of groups of them; `all` for all. Without any, `twenty` where there is such
    a group, else all."""
    files: Path | None = None
    """The benchmark's task file or folder; for `own` a TOML file with a table [tasks.NAME] for each
    task, with `url` and `goal` (docs/collecting.md)."""
    split: str = "train"
    """Which seeds: `train` or `development`; those of `test` are for measuring."""
    seeds: int = 10
    """Seeds of each task; repeats where tasks are the same whatever the seed."""
    samples: int = 1
    """Episodes a task and seed, for trainers that compare them."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=partial(ModelChoice, "oracle"))
    """Who plays. Beside language models, --policy may name `oracle`, `model:FOLDER` for saved
    built-in weights, or `python:FILE.py:NAME` for a policy of your own."""
    taught: OmitArgPrefixes[StudentChoice] = field(default_factory=StudentChoice)
    """Who goes in front of the policy."""
    ahead: OmitArgPrefixes[WorldChoice] = field(default_factory=WorldChoice)
    """Which world model the policy asks before it acts."""
    observation: str = "text"
    """What a language model is shown: `text`, `screenshot`, `set-of-marks`, `pruned`,
    `accessibility`, `html` or `markdown`."""
    images: bool = False
    """Show screenshots to the language model beside whatever text it is shown, and keep them."""
    temperature: float = 1.0
    """At which a model samples."""
    random_share: float = 0.0
    """Share of random actions of built-in weights."""
    judge: str = "rules"
    """Whose verdicts are kept beside the episodes: `rules`, or any evaluator that asks no model;
    others score afterwards, with webagent judge."""
    addresses: Path | None = None
    """TOML file that says where the benchmark's sites are (docs/benchmarks.md)."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe more sites than come with this program (docs/sites.md)."""
    logins: Path | None = None
    """Folder with the logins that tasks begin with; those of `webagent login` need none."""
    guard: Path | None = None
    """File with the limits that every episode is held to (docs/guard.md)."""
    count: int | None = None
    """Episodes, at most."""
    steps: int | None = None
    """Real browser steps, at most, all sessions of the run together."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Where the run is to stop, all its sessions together."""
    concurrency: int = 4
    """Browser contexts a process plays at once."""
    workers: int = 1
    """Processes at once, each with a browser; for policies that nobody is paid for."""
    name: str = ""
    """Name of the run's folder under `runs`; made from the date when empty."""
    runs: Path = Path("runs")
    """Where run folders are made."""
    resume: Path | None = None
    """Folder of a run to go on with; its own settings are used, but for caps that are given."""
    preview: bool = False
    """Say what would be played, and play nothing."""

    @property
    def played(self) -> BenchmarkConfig:
        """The same as a measurement without baselines, for everything that plays one."""
        shared = {name: getattr(self, name) for name in _PLAYED}
        return BenchmarkConfig(**shared, baselines=False, pictures=0)

    def check(self) -> None:
        """Find what is wrong with the settings themselves. Raises `UsageError`, `SetupError`."""
        if self.split == "test":
            raise UsageError("--split test is for measuring; collect on train or development")
        for flag, value in (("--count", self.count), ("--steps", self.steps)):
            if value is not None and value < 1:
                raise UsageError(f"{flag} {value} leaves nothing to play; give 1 or more")
        if self.workers < 1:
            raise UsageError(f"--workers {self.workers}: at least 1 is needed")
        if self.workers > 1 and self.taught.student:
            raise UsageError(
                f"--workers {self.workers}: a student learns in one process; leave --workers out,"
                " with a higher --concurrency if you like"
            )
        if self.workers > 1 and (self.asked.paid or self.ahead.asks_a_model):
            raise UsageError(
                f"--workers {self.workers} is for policies that play in their own processes; for an"
                " endpoint use one with a higher --concurrency, so that caps hold"
            )
        check(self.played)

    def resumed(self, begun: "CollectConfig") -> "CollectConfig":
        """The settings it was begun with, and the caps that were given anew."""
        given = {name: value for name in ("count", "steps") if (value := getattr(self, name))}
        caps, more = begun.caps.raised(self.caps), {"preview": self.preview, **given}
        return replace(begun, resume=self.resume, workers=self.workers, caps=caps, **more)
