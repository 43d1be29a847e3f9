"""Weights sharded over processes (FSDP2): each holds a share, and a layer is whole while it runs.

Asked for by `accelerate launch --use_fsdp`, through the variable that it sets; on processors, where
accelerate knows no FSDP, that variable is set by hand.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

_T = TypeVar("_T")
_ASKED = "ACCELERATE_USE_FSDP"


def is_sharding_asked() -> bool:
    """Return whether the processes were launched to part the weights."""
    return os.environ.get(_ASKED, "").lower() in ("true", "1")


def shard_model(model: nn.Module, device: torch.device) -> None:
    """Part the model's weights over all processes in place, layer by layer, and move the shares to
    the device. Every process has to hold the same weights before (arXiv 2304.11277)."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (torch.distributed.get_world_size(),))
    layers = set(getattr(model, "_no_split_modules", None) or ())
    for module in model.modules():
        if type(module).__name__ in layers:
            fully_shard(module, mesh=mesh)
    fully_shard(model, mesh=mesh)


def gather(values: Any) -> Any:
    """Return the values with whole tensors in place of shares, in dictionaries and lists as well.

    Every process has to call it.
    """
    if isinstance(values, Mapping):
        return {name: gather(value) for name, value in values.items()}
    if isinstance(values, list):
        return [gather(value) for value in values]
    return values.full_tensor() if hasattr(values, "full_tensor") else values


def part(whole: Tensor, like: Tensor) -> Tensor:
    """Return this process's share of a whole tensor, as the other one is sharded; the whole where
    that is none."""
    from torch.distributed.tensor import DTensor, distribute_tensor

    if not isinstance(like, DTensor) or whole.shape != like.shape:
        return whole
    return distribute_tensor(whole.to(like.device), like.device_mesh, like.placements)


def part_states(states: dict[str, Any], optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """Return an optimiser's gathered states as its weights are sharded."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    sharded = {
        number: {
            name: part(value, weights[number]) if isinstance(value, Tensor) else value
            for name, value in of_weight.items()
        }
        for number, of_weight in states["state"].items()
    }
    return states | {"state": sharded}


def walk_in_step(
    whole: Sequence[_T], index: int, count: int
) -> Iterator[tuple[_T, bool, list[_T]]]:
    """Yield this process's share, one a round, so that all processes do equally much: the item,
    whether it counts, and all items of the round.

    A process without an item of its own in the last round gets one that does not count: sharded
    weights are gathered by all processes or none.
    """
    for start in range(0, len(whole), count):
        round_ = whole[start : start + count]
        counts = index < len(round_)
        yield round_[index if counts else 0], counts, list(round_)
