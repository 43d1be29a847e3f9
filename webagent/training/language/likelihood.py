"""What a model thinks of the taught ids of rows, whichever way the rows are laid out."""

import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from webagent.errors import ModelError
from webagent.training.language.losses import token_log_probs
from webagent.training.language.packing import Packing, Sheet, lay_out, taught_indices
from webagent.training.language.rows import TokenRow

Score: TypeAlias = Callable[[Tensor, int, int], Tensor]
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


Replay: TypeAlias = Callable[[str, Sequence[int]], NDArray[np.bool_]]
"""From a stored constraint and the ids sampled under it to which ids could be sampled at each of
their places, (ids, vocabulary)."""
Pictures: TypeAlias = Callable[[Sequence[str]], Mapping[str, Tensor]]
"""From references of images, in the order of their places, to what the model's forward takes."""
_CLOSE = {torch.float32: 1e-3, torch.float64: 1e-6}
_CLOSE_IN_HALF = 0.25
"""How far log-probabilities read as a tree may be off, by precision."""


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

    def pieces(self, score: Score) -> list[Tensor]:
        """Return what `score` makes of all places, in order."""
        if self.logits is not None:
            return [score(self.logits, 0, self.places)]

        def score_piece(start: int) -> Tensor:
            assert self.hidden is not None and self.head is not None
            stop = min(self.places, start + self.piece)
            return score(self.head(self.hidden[start:stop]), start, stop)

        starts = range(0, self.places, self.piece)
        return [checkpoint(score_piece, start, use_reentrant=False) for start in starts]


def read_logits(model: nn.Module, places: Tensor, most: int, **inputs: Any) -> LogitReader:
    """Run the model's forward, with logits at these places of its ids laid out flat.

    The projection is made to see the places only, through a hook, which holds for any model of
    transformers, with or without an adapter. Where their logits would be more than `most` numbers,
    they are made piece by piece, unless the model does more to them than to project.
    """
    find = getattr(model, "get_output_embeddings", None)
    head = find() if find is not None else None
    if not isinstance(head, nn.Module):
        logits = _logits(model(**inputs))
        return LogitReader(len(places), places.device, logits.flatten(0, 1)[places])
    piece = max(
        1, most // int(getattr(head, "out_features", 0) or next(head.parameters()).shape[0])
    )
    if len(places) > piece and model not in _MORE_THAN_HEAD:
        with _restrict_head(head, places, only_first=True) as kept:
            first = _logits(model(**inputs)).flatten(0, -2)
        [hidden] = kept
        # Some settings change logits after the projection, which then is not all there is to them.
        text, projected = text_config(model), head(hidden[:1]).float()
        is_bare = all(getattr(text, name, None) in (None, 0, 1) for name in _AFTER_THE_HEAD)
        if is_bare and torch.allclose(first.float(), projected, rtol=1e-2, atol=1e-3):
            return LogitReader(len(places), places.device, None, hidden, head, piece)
        _MORE_THAN_HEAD.add(model)
    with _restrict_head(head, places):
        logits = _logits(model(**inputs)).flatten(0, -2)
    return LogitReader(len(places), places.device, logits)


@contextmanager
def _restrict_head(
    head: nn.Module, places: Tensor, only_first: bool = False
) -> Iterator[list[Tensor]]:
    """Have the projection see these places, or the first of them; keep what they hold."""
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
    """Return the configuration of the part that reads text; None for a module that has none."""
    config: Any = getattr(model, "config", None)
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _logits(output: Any) -> Tensor:
    logits = output if isinstance(output, Tensor) else output.logits
    assert isinstance(logits, Tensor)
    return logits


@dataclass(frozen=True, slots=True)
class ForwardOptions:
    """What is needed beside the rows to read them."""

    masks: Replay | None = None
    pictures: Pictures | None = None
    never: tuple[int, ...] = ()
    """Ids that were taken out before sampling, constraint or none, such as places of images."""
    logits: int = 2**27
    """Logits held at a time; more are computed piece by piece, again in the backward pass."""
    bf16: bool = False
    """Whether the forward pass runs in bfloat16 where that is safe."""


PLAIN = ForwardOptions()
"""For rows without constraints and images, on weights as they are."""


def compute_log_probs(
    model: nn.Module, rows: Sequence[TokenRow], packing: Packing, reading: ForwardOptions = PLAIN
) -> list[Tensor]:
    """Return the log-probabilities of each row's taught ids, in the order given.

    Equal up to rounding whatever the packing. Raises `ModelError` as `compute_likelihood` does.
    """
    found: dict[int, Tensor] = {}
    for sheet in lay_out(rows, packing):
        read = compute_likelihood(model, sheet, rows, reading)
        found |= zip(sheet.rows, read.split(sheet.counts), strict=True)
    return [found[index] for index in range(len(rows))]


def compute_likelihood(
    model: nn.Module, sheet: Sheet, rows: Sequence[TokenRow], reading: ForwardOptions = PLAIN
) -> Tensor:
    """Return the log-probabilities in nats of a sheet's taught tokens, (taught,), row by row, at
    the rows' temperatures and under their constraints, from one forward pass.

    Logits are computed at the places that predict taught tokens only.

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
        try:
            mask = sheet.attention.to(device)
            if mask.ndim == 2 or attention_kind(model) != "eager":
                attention_mask = mask
            else:
                dtype = next(model.parameters()).dtype
                attention_mask = torch.zeros(mask.shape, dtype=dtype, device=device).masked_fill(
                    ~mask, torch.finfo(dtype).min
                )
            read = read_logits(
                model,
                sheet.sources.to(device),
                reading.logits,
                input_ids=ids,
                attention_mask=attention_mask,
                use_cache=False,
                **kwargs,
            )
        except torch.OutOfMemoryError:
            raise
        except (ValueError, RuntimeError, IndexError) as error:
            if not sheet.images:
                raise
            raise ModelError(
                f"{len(sheet.images)} images do not fit their places among the ids: {error}; the"
                " rows must hold as many image ids as the processor makes of each image"
            ) from error
        return _score(read, sheet, rows, reading)


def _score(
    read: LogitReader, sheet: Sheet, rows: Sequence[TokenRow], reading: ForwardOptions
) -> Tensor:
    targets = sheet.targets.to(read.device)
    each = [rows[index].temperature or 1.0 for index in sheet.rows]
    temperature: float | Tensor = each[0]
    if len(set(each)) > 1:
        counts = torch.tensor(sheet.counts)
        temperature = torch.tensor(each).repeat_interleave(counts).to(read.device)
    allowed = []
    start = 0
    for index, count in zip(sheet.rows, sheet.counts, strict=True):
        row, learnt = rows[index], taught_indices(rows[index])
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
            allowed.append((start + inside, mask[learnt[inside] - first]))
        start += count

    def score(logits: Tensor, start: int, stop: int) -> Tensor:
        if reading.never:
            never = torch.tensor(reading.never, device=logits.device)
            logits = logits.index_fill(-1, never, -torch.inf)
        mask = _mask(allowed, start, stop, logits)
        scale = temperature if isinstance(temperature, float) else temperature[start:stop]
        return token_log_probs(logits, targets[start:stop], scale, mask)

    return torch.cat(read.pieces(score))


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


def attention_kind(model: nn.Module) -> str:
    """Return how the model computes attention, such as `sdpa`; empty where it does not say."""
    return str(getattr(text_config(model), "_attn_implementation", "") or "")


def image_ids(model: nn.Module) -> frozenset[int]:
    """Return the ids that stand for a piece of an image, as the model's configuration says."""
    config = getattr(model, "config", None)
    names = ("image_token_id", "image_token_index")
    return frozenset(int(i) for i in (getattr(config, name, None) for name in names) if i)


def takes(model: nn.Module, name: str) -> bool:
    """Return whether the forward of the model, or of the base below an adapter, names this."""
    base: Any = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    return name in inspect.signature(base.forward).parameters


def _pictures(
    model: nn.Module, sheet: Sheet, ids: Tensor, reading: ForwardOptions
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


def find_tree_obstacle(model: nn.Module) -> str:
    """Return why the rows of this model cannot be packed into a tree; empty where they can.

    What its configuration says is asked first; then the model itself, with rows of three tokens
    read both ways.
    """
    kind = attention_kind(model)
    if kind not in ("sdpa", "eager"):
        found = f"{kind} attention" if kind else "a module that names no attention"
        return f"{found}; a mask of our own needs sdpa or eager attention"
    text = text_config(model)
    layers = set(getattr(text, "layer_types", None) or ()) - {"full_attention"}
    if layers:
        return f"layers of the kind {', '.join(sorted(layers))} take no mask of our own"
    if getattr(text, "sliding_window", None) and getattr(text, "use_sliding_window", True):
        return f"attention through a sliding window of {text.sliding_window}"
    vocabulary = int(getattr(text, "vocab_size", 0))
    if vocabulary < 8:
        return "a vocabulary too small to try it on"
    ids = [vocabulary // 2 + i for i in range(4)]
    rows = [
        TokenRow(ids=(ids[0], ids[1], *tail), weights=(0.0, 1.0, 1.0, 1.0))
        for tail in ((ids[2], ids[3]), (ids[3], ids[2]), (ids[0], ids[2]))
    ]
    tree, plain = Packing(attention=10**9), Packing(tokens=1, tree=False)
    was_training = model.training
    model.train(False)
    try:
        with torch.no_grad():
            there = compute_log_probs(model, rows, tree, PLAIN)
            here = compute_log_probs(model, rows, plain, PLAIN)
    except (ValueError, RuntimeError, TypeError, ModelError) as error:
        return f"its forward refuses a tree: {error}"
    finally:
        model.train(was_training)
    off = max(float((a - b).abs().max()) for a, b in zip(there, here, strict=True))
    allowed = _CLOSE.get(next(model.parameters()).dtype, _CLOSE_IN_HALF)
    return "" if off <= allowed else f"log-probabilities in a tree are off by {off:.2g}"


def find_image_tree_obstacle(model: nn.Module) -> str:
    """Return why rows with images cannot, where rows of text can; empty where they can as well."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model  # type: ignore[operator]
    inner = getattr(base, "model", base)
    if hasattr(inner, "get_rope_index"):
        return "positions in two dimensions, which the model counts along whole rows"
    if takes(model, "token_type_ids"):
        return "images that look at themselves both ways"
    return ""


def attention_span(model: nn.Module) -> int:
    """Return the length at which attention costs as much as all else: six times the width."""
    return 6 * int(getattr(text_config(model), "hidden_size", 0) or 1024)
