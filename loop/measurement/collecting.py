"""Settings of `webagent collect`."""

from dataclasses import dataclass, replace
from pathlib import Path

from loop.flat import Important
from loop.measurement.settings import BenchmarkConfig, PlaySettings, check, shared
from webagent.errors import UsageError

PHASE = "collect"
"""Phase of these episodes; training and export select it by default."""


@dataclass(frozen=True)
class CollectConfig(PlaySettings):
    """Play a policy on tasks and store the episodes as training data, without an evaluation."""

    split: Important[str] = "train"
    """Seeds to use: `train` or `development`; those of `test` are reserved for evaluation."""
    seeds: Important[int] = 10
    """Seeds per task; repeats if the task is the same for every seed."""
    first_seed: int = 0
    """Number of the first seed in the split; another value plays seeds not seen before."""
    temperature: Important[float] = 1.0
    """Sampling temperature of the model."""
    site_memory: Path | None = None
    """Folder with a file SITE.md for each site of what is known there, shown to the language model
    (docs/site-memory.md)."""
    random_share: float = 0.0
    """Share of random actions of built-in weights, 0 to 1."""
    judge: str = "rules"
    """Judge whose verdicts are stored with the episodes: `rules`, or any evaluator that queries no
    model; use `webagent judge` afterwards for the others."""
    count: Important[int | None] = None
    """Maximum number of episodes."""
    steps: int | None = None
    """Maximum number of real browser steps, over all sessions of the run."""

    @property
    def played(self) -> BenchmarkConfig:
        """Return the same settings as a benchmark without baselines."""
        own = {
            name: getattr(self, name)
            for name in ("split", "seeds", "first_seed", "temperature", "site_memory", "judge")
        }
        return BenchmarkConfig(**shared(self, PlaySettings), **own, baselines=False, pictures=0)

    def check(self) -> None:
        """Find what is wrong with the settings themselves. Raises `UsageError`, `SetupError`."""
        if self.split == "test":
            raise UsageError("--split test is for evaluation; collect on train or development")
        for flag, value in (("--count", self.count), ("--steps", self.steps)):
            if value is not None and value < 1:
                raise UsageError(f"{flag} {value} must be 1 or more")
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
            server=self.server or begun.server,
            caps=caps,
            **more,
        )
