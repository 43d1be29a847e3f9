"""Settings of `webagent judge`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import OmitArgPrefixes, Positional, arg

from evaluators.agreement.measures import RULES
from loop.costs import Caps
from loop.policies import ModelChoice, NamedPolicy
from webagent.errors import UsageError, unknown_name


@dataclass(frozen=True)
class JudgeConfig:
    """Have evaluators score the episodes of a run, and hold them against people's labels."""

    run: Positional[Path] = Path()
    """The run folder; this one when none is named."""
    evaluators: Annotated[tuple[str, ...], arg(name="with")] = ()
    """Evaluators: `rules`, `judge:VARIANT`, `reward:FOLDER`, `chance:FOLDER`, `vote(A, B)`,
    `cascade(A, B)`, `cascade[2](A, B, C)`, `unsure[0.2,0.8](A)` (docs/judging/votes.md), and
    `python:FILE.py:NAME` for one of your own. What one has scored before it is not asked again."""
    against: Path | None = None
    """Labels to hold the evaluators against: a CSV, AgentRewardBench's annotations, or a run folder
    in which labels were given. Without --with, whatever has been scored."""
    annotators: str = "majority"
    """What counts where several people labelled an episode: `majority`, `first` or `unanimous`."""
    score: str = "success"
    """Which score is held against the labels: `success`, or one of AgentRewardBench's others:
    `side_effect`, `optimality`, `looping`."""
    ignore_unknown: bool = False
    """Leave out labels of episodes that the run has not."""
    arms: tuple[str, ...] = ()
    """Only episodes of these arms."""
    phases: tuple[str, ...] = ()
    """Only episodes of these phases, as `evaluate`."""
    imagined: bool = False
    """Imagined episodes, too."""
    retry: bool = False
    """Ask again where an evaluator abstained; where its model failed it is asked again anyway."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """The judges' model."""
    images: bool = True
    """Show the judge screenshots, where the run has them."""
    concurrency: int = 4
    """Judgements at once."""
    seconds: float = 600.0
    """After which an evaluator, or a member of a vote or cascade, abstains."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Where judging this run is to stop. Minutes are those of this session."""
    adversarial: bool = False
    """Try the evaluators on the lies and honest controls that come with this program, in place of
    the run's episodes (docs/judging/adversarial.md)."""
    freeze: bool = False
    """Fix the evaluators by their content in the run's frozen.json before they score."""
    verify: bool = False
    """Check first that the frozen judges are what they were; without --with, those are asked."""
    induce: Path | None = None
    """A CSV of people's open feedback (episode, feedback) to make metrics of: by --model where one
    is named, else by words (docs/judging/agreement.md)."""
    metrics: tuple[int, ...] = ()
    """How many metrics to try; 2 to 15 by words, 4, 6, 8, 10 and 12 by a model."""
    out: Path | None = None
    """Folder for agreement.json, adversarial.json, behaviours.json; the run folder when none is
    named."""

    def check(self) -> None:
        """Raises `SetupError` for settings that do not go together."""
        if not (self.evaluators or self.against or self.verify or self.induce):
            raise UsageError(
                "nothing to do: name evaluators with --with, labels with --against, feedback with"
                " --induce, or --verify"
            )
        if any(size < 1 for size in self.metrics):
            raise UsageError(f"--metrics {' '.join(map(str, self.metrics))}: at least 1 is needed")
        if self.adversarial and not self.evaluators:
            raise UsageError("--adversarial tries what --with names; there are none")
        if self.freeze and not self.evaluators:
            raise UsageError("--freeze fixes the evaluators that --with names; there are none")
        if self.annotators not in RULES:
            raise unknown_name("rule for several annotators", self.annotators, RULES)
        if self.concurrency < 1 or not self.seconds > 0:
            raise UsageError(
                f"--concurrency {self.concurrency} --seconds {self.seconds:g}: both have to be"
                " above zero"
            )
        self.caps.check()

    @property
    def asks_to_induce(self) -> bool:
        """Whether a model makes the metrics."""
        return self.induce is not None and self.asked.is_named

    @property
    def contestant(self) -> NamedPolicy:
        """The judges' model, as benchmarks name one."""
        return self.asked.contestant(images=self.images)
