"""Training configuration, in one record that is stored with the run."""

from dataclasses import dataclass
from typing import Literal

from webagent.errors import SetupError
from webagent.training.tracking import Tracker


@dataclass(frozen=True, slots=True)
class LoraSettings:
    """Low-rank adapters instead of full weights (arXiv 2106.09685)."""

    rank: int = 16
    """Rank of the adapters."""
    alpha: int = 32
    """Scaling: an adapter's output is multiplied by alpha / rank."""
    dropout: float = 0.0
    """Dropout probability of the adapters' input."""
    targets: tuple[str, ...] = ("all-linear",)
    """Names of the modules that get an adapter; `all-linear` for all linear ones that read text,
    except the output layer. Servers ignore adapters of a vision tower."""


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """Training configuration. The loss does not depend on the size of the micro-batches."""

    learning_rate: float = 1e-5
    """Peak learning rate, reached after the warm-up; it falls to 0 as a cosine."""
    warmup: float = 0.03
    """Share of the training, 0 to 1, during which the learning rate rises."""
    clip: float = 1.0
    """Maximum norm of the gradient; 0 for no clipping."""
    units_per_step: int | None = None
    """Rows, or pairs of rows, per update, over all processes. Default: 32, or a sixteenth of fewer
    than 512, since an update counts alike however many rows it is made of."""
    micro_batch_tokens: int = 8192
    """Maximum tokens per forward pass, including padding; halved if memory runs out."""
    lane_tokens: int = 4096
    """Maximum tokens packed into one tree; its mask grows with the square of this number."""
    tree: bool = True
    """Share the common prefix of rows, where the model supports it."""
    epochs: int = 1
    """Number of passes over the rows."""
    steps: int = 0
    """Maximum number of updates; 0 for no limit besides the epochs."""
    tokens: int = 0
    """Maximum number of training tokens, without padding; 0 for no limit."""
    imagined: float = 0.5
    """Maximum share of imagined rows, by tokens."""
    span: tuple[float, float] = (0.0, 1.0)
    """Part of the learning rate's schedule that this training covers, where it is one of several:
    0 to 1."""
    seed: int = 0
    """Seed of the order of rows and of dropout."""
    bf16: bool = False
    """Compute in bfloat16; trained weights keep their precision."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, more time."""
    lora: LoraSettings | None = None
    """LoRA settings; None trains the full weights."""
    checkpoint_every: int = 100
    """Updates between checkpoints; 0 for a single one at the end."""
    track: tuple[Tracker, ...] = ()
    """Also send the figures to `tensorboard`, `wandb` or `mlflow`."""

    @property
    def held_in(self) -> Literal["bfloat16", "float32"]:
        """Return the precision in which the model's own weights are held: AdamW on bfloat16 loses
        small steps, so that weights that are trained are in float32."""
        return "bfloat16" if self.bf16 and self.lora else "float32"

    def batch(self, units: int) -> int:
        """Return how many of so many rows, or pairs of rows, an update takes."""
        return self.units_per_step or max(1, min(32, units // 16))

    def __post_init__(self) -> None:
        for name in ("learning_rate", "units_per_step", "micro_batch_tokens", "epochs"):
            if (value := getattr(self, name)) is not None and value <= 0:
                raise SetupError(f"{name} is {value}; it must be above 0")
        for name in ("imagined", "warmup"):
            if not 0 <= getattr(self, name) <= 1:
                raise SetupError(f"{name} is {getattr(self, name)}; it is a share, from 0 to 1")


DEFAULTS = TrainConfig()
"""The defaults above."""
