"""What a judge is taught from, and how."""

from dataclasses import dataclass
from pathlib import Path

from webagent.errors import SetupError, UsageError


@dataclass(frozen=True)
class TrainJudgeSettings:
    """Teach a reward model of built-in size on episodes whose outcome is known."""

    runs: tuple[Path, ...] = ()
    """Folders of the runs to learn from."""
    labels: Path | None = None
    """JSON file of episode ids with 1 for a success and 0 for a failure, in place of scores."""
    score: str = "success"
    """The stored score that is the label."""
    out: Path = Path("judge")
    """Folder for the weights, calibration.json and report.json. A training that was stopped goes
    on with the next member when it is started again with the same folder."""
    hold_out: float = 0.2
    """Share of the tasks, whole families of variants at a time, that no member ever sees."""
    negatives: int = 2
    """Failures that are made of each success."""
    acting_tokens: int = 600_000
    """Tokens of what successes did that a member is taught first; it then knows what is right."""
    tokens: int = 1_200_000
    """Tokens of judged episodes that a member is taught then, in every round."""
    rounds: int = 1
    """Rounds of judging, each with other failures made of the successes."""
    members: int = 1
    """Networks whose probabilities are averaged."""
    target: float = 0.05
    """False-positive rate on calibration episodes that the threshold is chosen for."""
    learning_rate: float = 2e-3
    """Peak rate of every member's training."""
    seed: int = 0
    """For weights, made failures and the order of episodes; each member has its own from it."""

    def check(self) -> None:
        """Raises `SetupError` for settings that cannot be used."""
        if not self.runs:
            raise UsageError("train-judge needs the folder of at least one run: runs/NAME")
        missing = [str(run) for run in self.runs if not run.is_dir()]
        if missing:
            raise SetupError(f"no run folder {', '.join(missing)}; give folders that hold a run")
        if not 0 <= self.hold_out < 1 or not 0 < self.target < 1:
            raise UsageError(
                f"--hold-out {self.hold_out} and --target {self.target} are shares below 1"
            )
        if (
            min(self.tokens, self.members, self.rounds) < 1
            or min(self.negatives, self.acting_tokens) < 0
        ):
            raise UsageError(
                "--tokens, --rounds and --members must be at least 1, the others not negative"
            )
