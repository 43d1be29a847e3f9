"""How a model is trained, in one record that is stored with the run."""

from dataclasses import dataclass
from typing import Literal

from webagent.errors import SetupError
from webagent.training.tracking import Tracker


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """Low-rank adapters in place of full weights, after arXiv 2106.09685."""

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    targets: tuple[str, ...] = ("all-linear",)
    """Names of the modules that get an adapter, or all linear ones but the output's."""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """How to train. The loss is the same whatever the sizes of the micro-batches."""

    learning_rate: float = 1e-5
    """Peak, after the warm-up."""
    schedule: Literal["constant", "linear", "cosine"] = "cosine"
    """What comes after the warm-up; the last two end at `final` times the peak."""
    warmup: float = 0.03
    """Share of the training over which the learning rate rises."""
    final: float = 0.0
    """Share of the peak rate at which a schedule ends."""
    weight_decay: float = 0.0
    """Of matrices; vectors never decay."""
    betas: tuple[float, float] = (0.9, 0.999)
    """Decay of Adam's two moving averages."""
    clip: float = 1.0
    """Largest norm of the gradient; 0 for none."""
    units_per_step: int = 32
    """Rows, or pairs of rows, that one update learns from, over all processes."""
    micro_batch_tokens: int = 8192
    """Most tokens in one forward pass, padding counted; halved when memory runs out."""
    lane_tokens: int = 4096
    """Most tokens that are woven into one tree: its mask grows with the square."""
    tree: bool = True
    """Whether rows that begin alike share the beginning, where the model allows it."""
    epochs: int = 1
    """Passes over the rows."""
    steps: int = 0
    """Most updates; 0 for as many as the epochs have."""
    tokens: int = 0
    """Most tokens to go through, padding not counted; 0 for any number."""
    row_tokens: int = 0
    """Longest row, longer ones are left out and counted; 0 for the model's context."""
    imagined: float = 0.5
    """Largest share of imagined rows, by tokens."""
    staleness: int = 0
    """How many versions old the weights that sampled a row may be; 0 for any age."""
    seed: int = 0
    """Of the order of rows and of dropout."""
    bf16: bool = False
    """Compute in bfloat16, with the weights kept as they are."""
    gradient_checkpointing: bool = False
    """Compute activations again in the backward pass: less memory, more time."""
    lora: LoraSettings | None = None
    """None for full weights."""
    checkpoint_every: int = 100
    """Updates between checkpoints; 0 for one at the end only."""
    keep: int = 2
    """How many checkpoints are kept."""
    track: tuple[Tracker, ...] = ()
    """Send the figures to `tensorboard`, `wandb` or `mlflow`, too."""
    most_skipped: int = 5
    """Updates in a row that may be skipped because their loss or gradient is no number."""

    def __post_init__(self) -> None:
        for name in ("learning_rate", "units_per_step", "micro_batch_tokens", "epochs", "keep"):
            if getattr(self, name) <= 0:
                raise SetupError(f"{name} is {getattr(self, name)}; it must be above 0")
        for name in ("imagined", "warmup", "final"):
            if not 0 <= getattr(self, name) <= 1:
                raise SetupError(f"{name} is {getattr(self, name)}; it is a share, from 0 to 1")
        if self.schedule not in ("constant", "linear", "cosine"):
            raise SetupError(f"schedule {self.schedule!r}; known: constant, linear, cosine")


DEFAULTS = TrainConfig()
"""As they stand above."""
