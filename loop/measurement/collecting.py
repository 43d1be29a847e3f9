"""Settings of `webagent collect`."""

from dataclasses import dataclass, field

from tyro.conf import OmitArgPrefixes

from loop.flat import Important
from loop.measurement.settings import (
    BenchmarkConfig,
    JudgeSettings,
    PlayerSettings,
    PromptSettings,
    RunSettings,
    TaskSettings,
    check,
)
from webagent.errors import UsageError

PHASE = "collect"
"""Phase of these episodes; training and export select it by default."""


@dataclass(frozen=True)
class CollectConfig:
    """Play a policy on tasks and store the episodes as training data, without an evaluation."""

    selection: OmitArgPrefixes[TaskSettings] = field(default_factory=TaskSettings)
    """Tasks, and the sites that they are played on."""
    split: Important[str] = "train"
    """Seeds to use: `train` or `development`; those of `test` are reserved for evaluation."""
    seeds: Important[int] = 10
    """Seeds per task; repeats if the task is the same for every seed."""
    first_seed: int = 0
    """Number of the first seed in the split; another value plays seeds not seen before."""
    samples: int = 1
    """Episodes per task and seed, for groups or objectives that compare episodes."""
    player: OmitArgPrefixes[PlayerSettings] = field(default_factory=PlayerSettings)
    """Policy that plays, and the models beside it."""
    prompting: OmitArgPrefixes[PromptSettings] = field(default_factory=PromptSettings)
    """What a language model sees and how it is prompted."""
    temperature: Important[float] = 1.0
    """Sampling temperature of the model."""
    random_share: float = 0.0
    """Share of random actions of built-in weights, 0 to 1."""
    judge: str = "rules"
    """Judge whose verdicts are stored with the episodes: `rules`, or any evaluator that queries no
    model; use `webagent judge` afterwards for the others."""
    count: Important[int | None] = None
    """Maximum number of episodes."""
    steps: int | None = None
    """Maximum number of real browser steps, over all sessions of the run."""
    preview: Important[bool] = False
    """Print what would be played, without playing it."""
    run: OmitArgPrefixes[RunSettings] = field(default_factory=RunSettings)
    """Folder of the run, its limits and its browsers."""

    @property
    def played(self) -> BenchmarkConfig:
        """Return the same settings as a benchmark without baselines."""
        return BenchmarkConfig(
            selection=self.selection,
            seeds=self.seeds,
            first_seed=self.first_seed,
            split=self.split,
            samples=self.samples,
            player=self.player,
            prompting=self.prompting,
            temperature=self.temperature,
            judging=JudgeSettings(self.judge),
            baselines=False,
            pictures=0,
            preview=self.preview,
            run=self.run,
        )

    def check(self) -> None:
        """Find what is wrong with the settings themselves. Raises `UsageError`, `SetupError`."""
        if self.split == "test":
            raise UsageError("--split test is for evaluation; collect on train or development")
        for flag, value in (("--count", self.count), ("--steps", self.steps)):
            if value is not None and value < 1:
                raise UsageError(f"{flag} {value} must be 1 or more")
        check(self.played)
