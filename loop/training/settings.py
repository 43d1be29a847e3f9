"""What is trained, on what, and how."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from tyro.conf import OmitArgPrefixes

from loop.flat import Important
from webagent.action import ESSENTIAL
from webagent.errors import SetupError, UsageError
from webagent.models.fresh import ModelShape
from webagent.policy.prompting import Switch
from webagent.training.language.config import DEFAULTS, LoraSettings, TrainConfig
from webagent.training.tracking import Tracker, check_trackers

MODEL = "model"
"""Folder of the trained weights, in the output folder."""
Role: TypeAlias = Literal["policy", "world", "reward"]
Automatic: TypeAlias = Literal["auto", "on", "off"]
Objective: TypeAlias = Literal["sft", "dpo", "grpo"]


@dataclass(frozen=True)
class WeightSettings:
    """How the weights of a language model are trained."""

    objective: Important[Objective] = "sft"
    """Training objective. `sft` imitates successes. `dpo` uses pairs of a success and a failure
    with the same task and seed. `grpo` follows advantages and needs episodes sampled by a model.
    World and reward models use `sft`."""
    beta: float | None = None
    """Strength of the penalty for diverging from the reference model. Default: 0.1 with `dpo`,
    no penalty with `grpo`."""
    world_modelling: bool = False
    """With `sft`: also learn what the actions of all episodes changed, failures included (implicit
    world modelling, arXiv 2510.08558)."""
    lora: int = 0
    """Rank of a LoRA adapter to train instead of the weights; 0 trains the weights."""

    def check(self) -> None:
        """Raises `UsageError` for settings that do not go together."""
        if self.world_modelling and self.objective != "sft":
            raise UsageError(
                f"--world-modelling goes with --objective sft, not {self.objective}: the others"
                " compare what was done, and what a page did is not among it"
            )


@dataclass(frozen=True)
class FitSettings:
    """How fast a language model learns, and how its rows are laid out."""

    learning_rate: float | None = None
    """Peak learning rate, reached after the warm-up; it falls to 0 as a cosine, over all
    rounds together. Default: 1e-5, with an adapter 1e-4; in `webagent improve` with the built-in
    policy 2e-3, and half of it in the rounds."""
    batch: int | None = None
    """Rows, or pairs of rows, per update, over all processes. Default: 32, or a sixteenth of fewer
    than 512."""
    micro_batch_tokens: int = 8192
    """Maximum tokens per forward pass, including padding; halved if memory runs out."""
    bf16: Automatic = "auto"
    """Compute in bfloat16, and hold the weights below an adapter in it: `on`, `off`, or `auto` for
    on where there is a GPU."""
    gradient_checkpointing: Automatic = "auto"
    """Recompute activations in the backward pass: less memory, more time;
    `auto` as above."""
    checkpoint_every: int = 100
    """Updates between checkpoints; 0 for a single one at the end."""
    track: tuple[Tracker, ...] = ()
    """Also send the figures to `tensorboard`, `wandb` or `mlflow`."""

    def course(
        self,
        lora: int,
        *,
        epochs: int = 1,
        updates: int = 0,
        tokens: int = 0,
        imagined: float = 0.5,
        seed: int = 0,
    ) -> TrainConfig:
        """Return the training configuration of this length, with an adapter of this rank."""
        # An adapter learns best at some ten times the rate of weights (Schulman et al. 2025).
        usual = DEFAULTS.learning_rate * (10 if lora else 1)
        return TrainConfig(
            learning_rate=usual if self.learning_rate is None else self.learning_rate,
            units_per_step=self.batch,
            micro_batch_tokens=self.micro_batch_tokens,
            epochs=epochs,
            steps=updates,
            tokens=tokens,
            imagined=imagined,
            seed=seed,
            bf16=_is_on(self.bf16),
            gradient_checkpointing=_is_on(self.gradient_checkpointing),
            lora=LoraSettings(rank=lora, alpha=2 * lora) if lora else None,
            checkpoint_every=self.checkpoint_every,
            track=self.track,
        )


def _is_on(setting: Automatic) -> bool:
    return has_gpu() if setting == "auto" else setting == "on"


def has_gpu() -> bool:
    """Return whether torch finds a GPU."""
    import torch

    return torch.cuda.is_available()


@dataclass(frozen=True)
class TrainSettings:
    """Train a language or vision-language model on stored episodes."""

    runs: Important[tuple[Path, ...]] = ()
    """Folders of the runs to learn from."""
    model: Important[str] = ""
    """Folder or hub name of the initial model. Default: a small model created from scratch, with a
    tokenizer trained on the runs' prompts and actions."""
    adapter: Important[Path | None] = None
    """Folder of a LoRA adapter to continue training."""
    out: Important[Path] = Path("trained")
    """Folder for checkpoints, metrics and, under `model`, the trained weights. An interrupted
    training resumes when it is started again with the same folder."""
    role: Important[Role] = "policy"
    """What the model becomes: a policy, a world model, or a reward model that predicts whether an
    episode succeeded."""
    weights: OmitArgPrefixes[WeightSettings] = field(default_factory=WeightSettings)
    """Training objective and which weights are trained."""
    fit: OmitArgPrefixes[FitSettings] = field(default_factory=FitSettings)
    """Learning rate, batches and precision."""
    site_memory: Path | None = None
    """Folder of what is known of sites, shown in the prompts of steps that were not sampled by a
    model, such as demonstrations."""
    score: str = "success"
    """Name of the score that defines success; the default is the frozen judge's headline."""
    most: int = 0
    """Maximum number of imitated episodes per task and seed, shortest first; 0 for all."""
    prompt: tuple[Switch, ...] = ()
    """How the policy is prompted, in training and afterwards, by any of the words `brief` (for a
    small model), `conversation`, `thoughts`, `pages`, `screenshots`, `loops`, `constrained`,
    `direct` and `examples` (docs/training.md)."""
    actions: tuple[str, ...] = ESSENTIAL
    """Actions listed in the policy's prompt."""
    observation: str = "text"
    """Form in which the policy sees pages, as in `webagent benchmark`."""
    shape: ModelShape = field(default_factory=ModelShape)
    """Shape of a model created from scratch."""
    epochs: Important[int] = 1
    """Number of passes over the rows."""
    updates: int = 0
    """Maximum number of updates; 0 for no limit besides the epochs."""
    tokens: int = 0
    """Maximum number of training tokens, without padding; 0 for no limit."""
    imagined_share: float = 0.5
    """Maximum share of imagined rows, by tokens, 0 to 1."""
    seed: int = 0
    """Seed of the order of rows and of dropout."""
    plan: Important[bool] = False
    """Print what the training takes in memory and time, without training."""

    @property
    def objective(self) -> Objective:
        """Return the training objective."""
        return self.weights.objective

    @property
    def course(self) -> TrainConfig:
        """Return the training configuration, including the adapter."""
        return self.fit.course(
            self.weights.lora,
            epochs=self.epochs,
            updates=self.updates,
            tokens=self.tokens,
            imagined=self.imagined_share,
            seed=self.seed,
        )

    def check(self) -> None:
        """Check that the settings are consistent. Raises `SetupError`."""
        self.weights.check()
        check_trackers(self.fit.track)
        if not self.runs:
            raise UsageError("train needs the folder of at least one run: webagent train runs/NAME")
        missing = [str(run) for run in self.runs if not run.is_dir()]
        if missing:
            raise SetupError(f"there is no run folder {', '.join(missing)}")
        if self.role != "policy" and self.objective != "sft":
            raise UsageError(
                f"a {self.role} model is trained with --objective sft, not {self.objective}"
            )
        if self.adapter and not self.model:
            raise UsageError("--adapter goes on with an adapter of a model; name it with --model")
