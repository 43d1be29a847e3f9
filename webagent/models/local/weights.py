"""A loaded model with all that belongs to it, for whoever generates with it or trains it."""

import hashlib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any

import torch
from torch import Tensor

from webagent.errors import SetupError
from webagent.models.local.prompts import PromptReader
from webagent.models.local.source import adapter_config, header

MAKING_MODULES = RLock()
"""Held while a model is loaded or an adapter is put on one: transformers and peft change torch's
defaults meanwhile, and with them those of every other thread."""
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_STRIDE = -7046029254386353131
"""2^64 divided by the golden ratio, as a signed number: places far apart get unlike factors."""
_CHUNK = 1 << 22
ADAPTER = "trained"
"""Name of the adapter, in versions too."""


def digest_tensors(tensors: Iterable[tuple[str, Tensor]]) -> str:
    """Return 16 hexadecimal digits over names, shapes, types and every bit of the tensors.

    Each tensor is summed up where it lies, as whole numbers times a factor for their place, so
    that seven billion of them cost one read. It tells versions apart; it is no seal.
    """
    found = hashlib.sha256()
    for name, tensor in sorted(tensors, key=lambda pair: pair[0]):
        whole = tensor.detach().contiguous().view(-1)
        if whole.dtype == torch.bool:
            whole = whole.to(torch.int8)
        numbers, total = whole.view(_INTEGERS[whole.element_size()]), 0
        for first in range(0, len(numbers), _CHUNK):
            part = numbers[first : first + _CHUNK].to(torch.int64)
            places = torch.arange(first + 1, first + 1 + len(part), device=part.device)
            total += int((part * (places * _STRIDE).bitwise_or_(1)).sum())
        line = f"{name} {tuple(tensor.shape)} {tensor.dtype} {total & (2**64 - 1)}\n"
        found.update(line.encode())
    return found.hexdigest()[:16]


def put_adapter(module: torch.nn.Module, base: str, folder: Path) -> None:
    """Put a LoRA adapter on a base, in place. Raises `SetupError` for one of another base."""
    from peft import PeftModel

    kind = adapter_config(folder).get("peft_type")
    if kind != "LORA":
        raise SetupError(f"the adapter in {str(folder)!r} is of the kind {kind!r}; expected LORA")
    path = folder / "adapter_model.safetensors"
    if not path.is_file():
        raise SetupError(f"no adapter_model.safetensors in {str(folder)!r}; save it again")
    _check_shapes(module, base, folder, header(path))
    with MAKING_MODULES, warnings.catch_warnings():
        # peft asks transformers for a property by its old name.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        try:
            PeftModel.from_pretrained(module, str(folder), adapter_name=ADAPTER)
        except (ValueError, RuntimeError, OSError) as error:
            first_line = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise SetupError(
                f"the adapter in {str(folder)!r} does not load: {first_line}"
            ) from error


def _check_shapes(
    module: torch.nn.Module, base: str, folder: Path, tensors: dict[str, Any]
) -> None:
    layers: dict[str, Any] = dict(module.named_modules(remove_duplicate=False))
    for key, tensor in tensors.items():
        path, _, rest = key.removeprefix("base_model.model.").partition(".lora_")
        if rest not in ("A.weight", "B.weight"):
            continue
        layer: Any = layers.get(path)
        weight, shape = getattr(layer, "weight", None), None
        if hasattr(layer, "out_features"):
            shape = layer.out_features, layer.in_features
        elif weight is not None and weight.dim() == 2:
            # Embeddings and the transposed linear layers of GPT-2 hold (inputs, outputs).
            shape = int(weight.shape[1]), int(weight.shape[0])
        width = tensor["shape"][1] if rest[0] == "A" else tensor["shape"][0]
        if shape is None or width not in (shape[1] if rest[0] == "A" else shape[0],):
            found = "no such layer" if shape is None else f"a layer of {shape[0]}x{shape[1]}"
            raise SetupError(
                f"the adapter in {str(folder)!r} is of another base: it has {width} values for"
                f" {path}, where {base} has {found}"
            )


@dataclass(frozen=True, slots=True)
class Endings:
    """Ids with a meaning of their own in a reply."""

    stop: frozenset[int]
    """Each ends a reply."""
    never: tuple[int, ...] = ()
    """Places of images, which no reply may hold. They are taken out of the logits before the
    softmax, so whoever recomputes log-probabilities takes them out, too."""


class LoadedWeights:
    """One base model, perhaps with an adapter on it."""

    def __init__(
        self,
        name: str,
        module: torch.nn.Module,
        tokenizer: Any,
        reader: PromptReader,
        endings: Endings,
    ) -> None:
        self.name = self.base = name
        self.module = module
        """The base as transformers made it; an adapter is put on it in place."""
        self.tokenizer = tokenizer
        self.endings = endings
        self.reader = reader
        self.sees_images = reader.sees_images
        self.has_adapter = False
        self.revision = 0
        """Counts the changes of the weights that were noticed."""
        self._version = ""
        self._state = 0

    def put_adapter(self, folder: Path) -> None:
        """Put a LoRA adapter on the base. Raises `SetupError` for one of another base."""
        put_adapter(self.module, self.name, folder)
        self.name, self.has_adapter = f"{self.name}+{ADAPTER}", True

    @property
    def device(self) -> torch.device:
        """Where the first parameter lies."""
        return next(self.module.parameters()).device

    @property
    def width(self) -> int:
        """How many logits there are: at least as many as the tokenizer has ids."""
        found = self.module.get_output_embeddings()  # type: ignore[operator]
        return int(found.weight.shape[0])

    def save_reading(self, folder: Path) -> None:
        """Write what belongs beside the weights: the tokenizer, and the processor of images."""
        self.tokenizer.save_pretrained(folder)
        self.reader.save(folder)

    @property
    def never(self) -> Tensor:
        """`endings.never` on the device."""
        return torch.tensor(self.endings.never, dtype=torch.long, device=self.device)

    def version(self) -> str:
        """Return name and digest of the weights as they are; computed when they have changed."""
        self.refresh()
        if not self._version:
            base, own = list[tuple[str, Tensor]](), list[tuple[str, Tensor]]()
            for name, tensor in self.module.state_dict(keep_vars=True).items():
                if self.has_adapter and ADAPTER in name.split("."):
                    own.append((name.replace(f".{ADAPTER}.", "."), tensor))
                else:  # by the name that it has without an adapter
                    base.append((name.replace(".base_layer.", "."), tensor))
            self._version = f"{Path(self.base).name}@{digest_tensors(base)}"
            if self.has_adapter:
                self._version += f"+{ADAPTER}@{digest_tensors(own)}"
        return self._version

    def refresh(self) -> None:
        """Forget the digest where the weights have changed since the last look."""
        now = hash(
            tuple(
                (tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version)
                for _, tensor in self.module.named_parameters()
            )
        )
        if now != self._state:
            self._version = ""
            self.revision += 1
        self._state = now
