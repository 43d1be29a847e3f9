"""Which weights are loaded, and how they generate."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16", "float64"]


@dataclass(frozen=True, slots=True)
class Source:
    """Weights to load, and the form in which they are held."""

    name: str
    """A folder, or a name on the model hub."""
    dtype: Dtype = "auto"
    """`auto`: as they were saved on a GPU, float32 on the processor."""
    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1`; `auto` takes a GPU where there is one."""
    attention: str = "sdpa"
    """The attention of transformers: `sdpa`, or `eager` for a model that has no other."""
    chat_template: str = ""
    """A file with a Jinja chat template, in place of the model's own or where it has none."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What is saved while generating; none of it changes what is said.

    Equal up to rounding: sums are taken in another order, so two ids whose logits lie within some
    millionths of each other (in float32) may change places. In float64 they practically never do.
    """

    batching: bool = True
    """Replies to concurrent requests are written in the same forward passes."""
    max_rows: int = 32
    """Replies written at once; further ones wait. Halved while memory runs out."""
    shared_prefill: bool = True
    """The prompt of n replies is read once, not n times."""
    prefix_reuse: bool = True
    """What a prompt has in common with a recent one is not read again."""
    prefix_entries: int = 32
    """Recent prompts whose keys and values are kept."""
    prefix_bytes: int = 1 << 30
    """Their size in memory at most."""
    copying: bool = True
    """Words that repeat the prompt or a recent reply are guessed and checked, several a pass."""
    copying_rows: int = 4
    """Guess only while no more replies than these are written at once."""
    match: int = 3
    """Ids that must agree before the ids behind them are guessed."""
    most_copied: int = 16
    """Ids guessed in one pass at most."""
    least_accepted: float = 0.3
    """Share of guesses that must come true, else a reply goes on without guessing."""

    def __post_init__(self) -> None:
        if min(self.max_rows, self.match, self.most_copied) < 1:
            raise ValueError("max_rows, match and most_copied are 1 or more")
