"""What is trained, on what, and how: policies from lessons, judges from episodes."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from tyro.conf import OmitArgPrefixes

from webagent.action import ESSENTIAL
from webagent.errors import SetupError, UsageError
from webagent.models.fresh import ModelShape
from webagent.policy.prompting import Prompting
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.tracking import check_trackers

Role: TypeAlias = Literal["policy", "world", "reward"]
Objective: TypeAlias = Literal["sft", "dpo", "kto", "webrl", "grpo", "gspo"]
REPLAYED = (("policy", "sft"), ("policy", "webrl"))
JUDGED = (("policy", "sft"), ("policy", "grpo"), ("policy", "gspo"))


@dataclass(frozen=True)
class WeightSettings:
    """How the weights of a language model are changed, whoever asks for it."""

    objective: Objective = "sft"
    """`sft` imitates what succeeded. `dpo` takes pairs of a success and a failure at one task and
    seed, `kto` both as they stand. `webrl`, `grpo` and `gspo` follow advantages, and need episodes
    that a model sampled. World and reward models are trained with `sft`."""
    beta: float | None = None
    """How strongly the reference is held to; None for 0.1 with `dpo` and `kto`, 1 with `webrl`, and
    no divergence from a reference with `grpo` and `gspo`."""
    step_groups: float = 0.0
    """With `grpo` and `gspo`: how much steps that were taken from the same page are compared with
    each other, beside their episodes (GiGPO's omega, 1 in the paper)."""
    recomputed: bool = False
    """With `grpo` and `gspo`: ratios are to the policy as it is when it is updated, and truncated
    importance weights make up for how it differs from the one that sampled."""
    importance_cap: float = 2.0
    """Most that a token counts then for having become likelier since it was sampled."""
    entropy: float = 0.0
    """With `grpo` and `gspo`: how much the mean entropy of the tokens counts beside the loss, which
    keeps replies from becoming all alike."""
    lora: int = 0
    """Rank of the LoRA adapter that is trained in place of the weights; 0 for the weights."""

    def adapted(self, course: TrainConfig) -> TrainConfig:
        """Return how it is trained, adapter included."""
        if not self.lora:
            return course
        return replace(course, lora=LoraSettings(rank=self.lora, alpha=2 * self.lora))


@dataclass(frozen=True)
class TrainSettings:
    """Train a language or vision-language model on episodes that runs have stored."""

    runs: tuple[Path, ...] = ()
    """Folders of the runs to learn from."""
    replay: tuple[Path, ...] = ()
    """Folders of earlier runs. Of their steps those are learnt again that the model now finds
    neither certain nor strange, by their perplexity (WebRL)."""
    perplexity: tuple[float, float] = (1 / 0.95, 1 / 0.5)
    """Least and largest perplexity of a reply that is replayed; WebRL's unless told otherwise."""
    model: str = ""
    """Folder or hub name of the model to begin with. Without one a small model is made from
    nothing, with a tokenizer of the runs' texts."""
    adapter: Path | None = None
    """Folder of a LoRA adapter to go on with."""
    out: Path = Path("trained")
    """Folder for checkpoints, metrics and, under `model`, the trained weights. A training that was
    stopped goes on when it is started again with the same folder."""
    role: Role = "policy"
    """What it is to be: a policy, a world model, or a reward model that says whether an episode
    succeeded."""
    how: OmitArgPrefixes[WeightSettings] = field(default_factory=WeightSettings)
    """What is minimised, and which weights change."""
    steps: str = ""
    """Judgements of steps to go by: `rules` for those made now without a model, or the beginning of
    the name of a source whose judgements the runs hold, such as `witness`. With `sft` mistaken and
    redundant steps are left out; with `grpo` and `gspo` steps are rewarded by their progress."""
    score: str = "success"
    """The score that says what succeeded; the frozen judge's headline unless told otherwise."""
    most: int = 0
    """Most episodes of one task and seed that are imitated, the shortest first; 0 for all."""
    prompt: str = "act"
    """The policy's prompt: `act`, or `brief` for a small model."""
    actions: tuple[str, ...] = ESSENTIAL
    """Actions the policy is told of."""
    observation: str = "text"
    """In which form the policy is shown pages, as for `webagent benchmark`."""
    prompting: Prompting = field(default_factory=Prompting)
    """How the policy is asked, a switch for each part; acting asks in the same way."""
    shape: ModelShape = field(default_factory=ModelShape)
    """Of a model that is made from nothing."""
    train: TrainConfig = field(default_factory=TrainConfig)

    @property
    def objective(self) -> Objective:
        """What is minimised."""
        return self.how.objective

    @property
    def course(self) -> TrainConfig:
        """How it is trained, adapter included."""
        return self.how.adapted(self.train)

    def check(self) -> None:
        """Raises `SetupError` for settings that do not go together."""
        check_trackers(self.train.track)
        if not self.runs:
            raise UsageError("train needs the folder of at least one run: webagent train runs/NAME")
        missing = [str(run) for run in (*self.runs, *self.replay) if not run.is_dir()]
        if missing:
            raise SetupError(f"there is no run folder {', '.join(missing)}")
        if self.role != "policy" and self.objective != "sft":
            raise UsageError(
                f"a {self.role} model is trained with --objective sft, not {self.objective}"
            )
        if self.replay and (self.role, self.objective) not in REPLAYED:
            raise UsageError(
                "--replay is for a policy that is trained with --objective sft or webrl: the others"
                " compare episodes of one time with each other"
            )
        if self.steps and (self.role, self.objective) not in JUDGED:
            raise UsageError(
                "--steps is for a policy that is trained with --objective sft, grpo or gspo: the"
                " others weigh whole episodes"
            )
        if self.adapter and not self.model:
            raise UsageError("--adapter goes on with an adapter of a model; name it with --model")


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
