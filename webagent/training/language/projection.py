"""Logits where they are wanted and nowhere else, so that a vocabulary costs what is learnt."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

Score: TypeAlias = Callable[[Tensor, int, int], tuple[Tensor, Tensor]]
"""What is made of the logits of places start to stop, (stop - start, vocabulary)."""

_MORE_THAN_HEAD: "weakref.WeakSet[nn.Module]" = weakref.WeakSet()
"""Models known to change their logits after the projection, such as by capping them."""

_AFTER_THE_HEAD = (
    "final_logit_softcapping",
    "logit_scale",
    "logits_scaling",
    "lm_head_multiplier",
    "output_multiplier",
)
"""Settings of transformers' models that change logits after the projection."""


@dataclass(frozen=True, slots=True)
class LogitReader:
    """The logits at some places, at once or piece by piece."""

    places: int
    device: torch.device
    logits: Tensor | None
    """(places, vocabulary); None where they are made piece by piece."""
    hidden: Tensor | None = None
    """(places, width): what the projection turns into logits."""
    head: nn.Module | None = None
    piece: int = 0

    def pieces(self, score: Score) -> list[tuple[Tensor, Tensor]]:
        """What `score` makes of all places, in order."""
        if self.logits is not None:
            return [score(self.logits, 0, self.places)]
        return [
            checkpoint(self._piece, score, start, use_reentrant=False)
            for start in range(0, self.places, self.piece)
        ]

    def _piece(self, score: Score, start: int) -> tuple[Tensor, Tensor]:
        assert self.hidden is not None and self.head is not None
        stop = min(self.places, start + self.piece)
        return score(self.head(self.hidden[start:stop]), start, stop)


def logit_reader(model: nn.Module, places: Tensor, most: int, **inputs: Any) -> LogitReader:
    """Run the model's forward, with logits at these places of its ids laid out flat.

    The projection is made to see the places only, through a hook, which holds for any model of
    transformers, with or without an adapter. Where their logits would be more than `most` numbers,
    they are made piece by piece, unless the model does more to them than to project.
    """
    head = _head(model)
    if head is None:
        logits = _logits(model(**inputs))
        return LogitReader(len(places), places.device, logits.flatten(0, 1)[places])
    piece = max(
        1, most // int(getattr(head, "out_features", 0) or next(head.parameters()).shape[0])
    )
    if len(places) > piece and model not in _MORE_THAN_HEAD:
        with _gathered(head, places, only_first=True) as kept:
            first = _logits(model(**inputs)).flatten(0, -2)
        [hidden] = kept
        if _is_all(model, first.float(), head(hidden[:1]).float()):
            return LogitReader(len(places), places.device, None, hidden, head, piece)
        _MORE_THAN_HEAD.add(model)
    with _gathered(head, places):
        logits = _logits(model(**inputs)).flatten(0, -2)
    return LogitReader(len(places), places.device, logits)


@contextmanager
def _gathered(head: nn.Module, places: Tensor, only_first: bool = False) -> Iterator[list[Tensor]]:
    """The projection sees these places, or the first of them; what they hold is kept."""
    kept: list[Tensor] = []

    def gather(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        hidden = inputs[0].flatten(0, -2)[places]
        kept.append(hidden)
        return ((hidden[:1] if only_first else hidden).unsqueeze(0), *inputs[1:])

    handle = head.register_forward_pre_hook(gather)
    try:
        yield kept
    finally:
        handle.remove()


def text_config(model: nn.Module) -> Any:
    """The configuration of the part that reads text; None for a module that has none."""
    config: Any = getattr(model, "config", None)
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _is_all(model: nn.Module, theirs: Tensor, projected: Tensor) -> bool:
    """Whether the projection is the last thing done to the logits."""
    text = text_config(model)
    if any(getattr(text, name, None) not in (None, 0, 1) for name in _AFTER_THE_HEAD):
        return False
    return torch.allclose(theirs, projected, rtol=1e-2, atol=1e-3)


def _head(model: nn.Module) -> nn.Module | None:
    find = getattr(model, "get_output_embeddings", None)
    head = find() if find is not None else None
    return head if isinstance(head, nn.Module) else None


def _logits(output: Any) -> Tensor:
    logits = output if isinstance(output, Tensor) else output.logits
    assert isinstance(logits, Tensor)
    return logits
