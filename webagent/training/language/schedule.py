"""When a training learns what, and how fast."""

import math
from dataclasses import dataclass, replace

import torch

from webagent.training.language.config import TrainConfig


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a training is."""

    step: int = 0
    """Updates tried so far, skipped ones included."""
    epoch: int = 0
    place: int = 0
    """How many units of this epoch have been gone through."""
    tokens: int = 0
    """Tokens gone through, padding not counted."""
    skipped: int = 0
    """Updates skipped because their loss or gradient was no number."""
    skipped_in_row: int = 0

    def after(self, units: int, tokens: int, count: int, skipped: bool) -> "Progress":
        """The next place, after an update on so many units out of `count`."""
        place = self.place + units
        return replace(
            self,
            step=self.step + 1,
            epoch=self.epoch + (place >= count),
            place=0 if place >= count else place,
            tokens=self.tokens + tokens,
            skipped=self.skipped + skipped,
            skipped_in_row=self.skipped_in_row + 1 if skipped else 0,
        )


def fraction(progress: Progress, config: TrainConfig, count: int) -> float:
    """How much of the training over `count` units is done, from 0 to 1: by updates or by tokens,
    whichever is further."""
    total = config.epochs * math.ceil(count / config.units_per_step)
    total = min(total, config.steps) if config.steps else total
    done = progress.step / total
    if config.tokens:
        done = max(done, progress.tokens / config.tokens)
    return 1.0 if progress.epoch >= config.epochs else min(1.0, done)


def learning_rate(done: float, config: TrainConfig, step: int = 0) -> float:
    """The rate of an update when this share of the training is done. The first has half a rate
    rather than none where there is a warm-up."""
    if config.warmup and done < config.warmup:
        return config.learning_rate * max(done / config.warmup, 0.5 / (step + 1) if not step else 0)
    left = (done - config.warmup) / max(1e-9, 1 - config.warmup)
    shape = {
        "constant": 1.0,
        "linear": 1 - left,
        "cosine": 0.5 * (1 + math.cos(math.pi * left)),
    }[config.schedule]
    low = 1.0 if config.schedule == "constant" else config.final
    return config.learning_rate * (low + (1 - low) * shape)


def order(count: int, epoch: int, seed: int) -> list[int]:
    """The order of the units in an epoch, the same for the same seed."""
    dice = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    drawn: list[int] = torch.randperm(count, generator=dice).tolist()
    return drawn
