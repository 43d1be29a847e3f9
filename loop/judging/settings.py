"""Settings of `webagent judge`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import OmitArgPrefixes, Positional, arg

from evaluators.labels import TRUTH_RULES
from loop.costs import Caps
from loop.flat import Important
from loop.policies import ModelChoice, NamedPolicy
from webagent.errors import UsageError, unknown_name


@dataclass(frozen=True)
class JudgeConfig:
    """Score the episodes of a run with evaluators, and compare them with human labels."""

    run: Important[Positional[Path]] = Path()
    """The run folder. Default: the current folder."""
    evaluators: Important[Annotated[tuple[str, ...], arg(name="with")]] = ()
    """Evaluators: `rules`, `judge:VARIANT`, `reward:FOLDER`, `chance:FOLDER`, `vote(A, B)`,
    `cascade(A, B)`, `cascade[2](A, B, C)`, `unsure[0.2,0.8](A)` (docs/judging/votes.md), and
    `python:FILE.py:NAME` for your own. Episodes already scored by an evaluator are not scored
    again."""
    against: Important[Path | None] = None
    """Labels to compare the evaluators with: a CSV file, AgentRewardBench's annotations, or a
    labelled run folder. Without --with, all stored scores are compared."""
    annotators: str = "majority"
    """Rule for episodes with several annotators: `majority`, `first` or `unanimous`."""
    score: str = "success"
    """Score to compare with the labels: `success`, or another one of AgentRewardBench:
    `side_effect`, `optimality`, `looping`."""
    ignore_unknown: bool = False
    """Ignore labels of episodes that the run does not contain."""
    arms: tuple[str, ...] = ()
    """Only episodes of these arms."""
    phases: Important[tuple[str, ...]] = ()
    """Only episodes of these phases, such as `evaluate`."""
    imagined: bool = False
    """Include imagined episodes."""
    retry: bool = False
    """Judge again where an evaluator abstained. Judgements whose model failed are always
    retried."""
    model: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """The judges' model."""
    images: bool = True
    """Show the judge screenshots, if the run has them."""
    concurrency: int = 4
    """Judgements made in parallel."""
    seconds: float = 600.0
    """Seconds after which an evaluator, or a member of a vote or cascade, abstains."""
    caps: OmitArgPrefixes[Caps] = field(default_factory=Caps)
    """Limits at which judging this run stops. Minutes count for this session only."""
    adversarial: Important[bool] = False
    """Test the evaluators on the built-in adversarial episodes and honest controls instead of the
    run's episodes (docs/judging/adversarial.md)."""
    freeze: Important[bool] = False
    """Fix the evaluators by their content hash in the run's frozen.json before they score."""
    verify: Important[bool] = False
    """First check that the frozen judges are unchanged; without --with, use them."""
    out: Path | None = None
    """Folder for agreement.json and adversarial.json. Default: the run folder."""

    def check(self) -> None:
        """Check that the settings are consistent. Raises `SetupError`."""
        if not (self.evaluators or self.against or self.verify):
            raise UsageError(
                "nothing to do: name evaluators with --with, labels with --against, or give"
                " --verify"
            )
        if self.adversarial and not self.evaluators:
            raise UsageError("--adversarial tests the evaluators of --with; none are given")
        if self.freeze and not self.evaluators:
            raise UsageError("--freeze freezes the evaluators of --with; none are given")
        if self.annotators not in TRUTH_RULES:
            raise unknown_name("rule for several annotators", self.annotators, TRUTH_RULES)
        if self.concurrency < 1 or not self.seconds > 0:
            raise UsageError(
                f"--concurrency {self.concurrency} --seconds {self.seconds:g}: both have to be"
                " above zero"
            )
        self.caps.check()

    @property
    def contestant(self) -> NamedPolicy:
        """Return the judges' model, as a named policy."""
        return self.model.contestant(images=self.images)
