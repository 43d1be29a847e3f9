"""What a model thinks of the taught ids of rows, whichever way the rows are laid out."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from webagent.errors import ModelError
from webagent.training.language.losses.log_probs import token_entropies, token_log_probs
from webagent.training.language.packing import Packing, Sheet, lay_out, taught
from webagent.training.language.projection import LogitReader, logit_reader, text_config
from webagent.training.language.rows import TokenRow

Replay: TypeAlias = Callable[[str, Sequence[int]], NDArray[np.bool_]]
"""From a stored constraint and the ids sampled under it to which ids could be drawn at each of
their places, (ids, vocabulary)."""

Pictures: TypeAlias = Callable[[Sequence[str]], Mapping[str, Tensor]]
"""From references of images, in the order of their places, to what the model's forward takes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is needed beside the rows to read them."""

    masks: Replay | None = None
    pictures: Pictures | None = None
    never: tuple[int, ...] = ()
    """Ids that were taken out before sampling, constraint or none, such as places of images."""
    logits: int = 2**27
    """Numbers in the logits held at a time; more are computed piece by piece, again in the
    backward pass."""
    bf16: bool = False
    """Whether the forward pass runs in bfloat16 where that is safe."""
    entropy: bool = False
    """Whether entropies are computed as well."""


PLAIN = Reading()
"""For rows without constraints and images, on weights as they are."""


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Of the taught tokens of a sheet, row by row."""

    log_probs: Tensor
    """(taught,), in nats, at the rows' temperatures and under their constraints."""
    entropies: Tensor | None = None


def log_probs(
    model: nn.Module, rows: Sequence[TokenRow], packing: Packing, reading: Reading = PLAIN
) -> list[Tensor]:
    """The log-probabilities of each row's taught ids, in the order given.

    Equal up to rounding whatever the packing. Raises `ModelError` as `likelihood` does.
    """
    found: dict[int, Tensor] = {}
    for sheet in lay_out(rows, packing):
        read = likelihood(model, sheet, rows, reading)
        found |= zip(sheet.rows, read.log_probs.split(sheet.counts), strict=True)
    return [found[index] for index in range(len(rows))]


def likelihood(
    model: nn.Module, sheet: Sheet, rows: Sequence[TokenRow], reading: Reading = PLAIN
) -> Likelihood:
    """One forward pass. Logits are computed at the places that predict taught tokens only.

    Raises `ModelError` for sampled ids outside the masks of their constraints, for a constraint
    without `masks`, and for images without `pictures` or that do not fit their places.
    """
    device = next(model.parameters()).device
    ids = sheet.ids.to(device)
    kwargs = dict(_pictures(model, sheet, ids, reading))
    if sheet.attention.ndim == 4:
        kwargs["position_ids"] = sheet.positions.to(device)
    half = torch.autocast(device.type, torch.bfloat16) if reading.bf16 else nullcontext()
    with half:
        with _images_named(sheet):
            read = logit_reader(
                model,
                sheet.sources.to(device),
                reading.logits,
                input_ids=ids,
                attention_mask=_attention(model, sheet, device),
                use_cache=False,
                **kwargs,
            )
        return _scored(read, sheet, rows, reading)


@contextmanager
def _images_named(sheet: Sheet) -> Iterator[None]:
    """What a forward says of images it cannot place, as an error of ours."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise
    except (ValueError, RuntimeError, IndexError) as error:
        if not sheet.images:
            raise
        raise ModelError(
            f"{len(sheet.images)} images do not fit their places among the ids: {error}; the rows"
            " must hold as many image ids as the processor makes of each image"
        ) from error


def _scored(
    read: LogitReader, sheet: Sheet, rows: Sequence[TokenRow], reading: Reading
) -> Likelihood:
    targets = sheet.targets.to(read.device)
    temperature = _temperatures(sheet, rows, read.device)
    found = []
    start = 0
    for index, count in zip(sheet.rows, sheet.counts, strict=True):
        row, learnt = rows[index], taught(rows[index])
        for first, stop, constraint in row.allowed:
            inside = np.flatnonzero((learnt >= first) & (learnt < stop))
            if not len(inside):
                continue
            if reading.masks is None:
                raise ModelError(
                    f"a row of episode {row.episode or '?'} was sampled under the constraint"
                    f" {constraint[:60]!r}; to make its masks again pass `masks`"
                )
            mask = reading.masks(constraint, row.ids[first:stop])
            found.append((start + inside, mask[learnt[inside] - first]))
        start += count
    allowed = found

    def score(logits: Tensor, start: int, stop: int) -> tuple[Tensor, Tensor]:
        if reading.never:
            never = torch.tensor(reading.never, device=logits.device)
            logits = logits.index_fill(-1, never, -torch.inf)
        mask = _mask(allowed, start, stop, logits)
        warmth = temperature if isinstance(temperature, float) else temperature[start:stop]
        chosen = token_log_probs(logits, targets[start:stop], warmth, mask)
        unsure = token_entropies(logits, warmth, mask) if reading.entropy else chosen.detach()
        return chosen, unsure

    pieces = read.pieces(score)
    chosen, unsure = (torch.cat(parts) for parts in zip(*pieces, strict=True))
    return Likelihood(chosen, unsure if reading.entropy else None)


def _temperatures(sheet: Sheet, rows: Sequence[TokenRow], device: torch.device) -> float | Tensor:
    each = [rows[index].temperature or 1.0 for index in sheet.rows]
    if len(set(each)) == 1:
        return each[0]
    counts = torch.tensor(sheet.counts)
    return torch.tensor(each).repeat_interleave(counts).to(device)


def _mask(
    allowed: Sequence[tuple[NDArray[np.int64], NDArray[np.bool_]]],
    start: int,
    stop: int,
    logits: Tensor,
) -> Tensor | None:
    """(stop - start, vocabulary), or None where nothing is constrained."""
    inside = [(places, mask, (places >= start) & (places < stop)) for places, mask in allowed]
    if not any(here.any() for _, _, here in inside):
        return None
    whole = np.ones(logits.shape, dtype=bool)
    for places, mask, here in inside:
        if here.any():
            lines = np.zeros((int(here.sum()), logits.shape[-1]), dtype=bool)
            width = min(mask.shape[1], logits.shape[-1])
            lines[:, :width] = mask[here, :width]
            whole[places[here] - start] = lines
    return torch.from_numpy(whole).to(logits.device)


def _attention(model: nn.Module, sheet: Sheet, device: torch.device) -> Tensor:
    mask = sheet.attention.to(device)
    if mask.ndim == 2 or attention_kind(model) != "eager":
        return mask
    dtype = next(model.parameters()).dtype
    return torch.zeros(mask.shape, dtype=dtype, device=device).masked_fill(
        ~mask, torch.finfo(dtype).min
    )


def attention_kind(model: nn.Module) -> str:
    """How the model computes attention, such as `sdpa`; empty where it does not say."""
    return str(getattr(text_config(model), "_attn_implementation", "") or "")


def image_ids(model: nn.Module) -> frozenset[int]:
    """The ids that stand for a piece of an image, as the model's configuration names them."""
    config = getattr(model, "config", None)
    names = ("image_token_id", "image_token_index")
    return frozenset(int(i) for i in (getattr(config, name, None) for name in names) if i)


def takes(model: nn.Module, name: str) -> bool:
    """Whether the forward of the model, of the base below an adapter, names this argument."""
    base: Any = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    return name in inspect.signature(base.forward).parameters


def _pictures(
    model: nn.Module, sheet: Sheet, ids: Tensor, reading: Reading
) -> Mapping[str, Tensor]:
    if not sheet.images:
        return {}
    if reading.pictures is None:
        raise ModelError(
            f"rows show {len(sheet.images)} images; pass `pictures`, which looks them up and"
            " prepares them for this model"
        )
    kwargs = {name: value.to(ids.device) for name, value in reading.pictures(sheet.images).items()}
    if takes(model, "mm_token_type_ids"):
        kwargs["mm_token_type_ids"] = torch.isin(
            ids, torch.tensor(sorted(image_ids(model)), device=ids.device)
        ).long()
    return kwargs
