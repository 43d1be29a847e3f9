"""A loaded model with all that belongs to it, for whoever generates with it or trains it."""

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import torch
from torch import Tensor

from webagent.errors import ModelError, SetupError, unknown_name
from webagent.models.local.prompts import PromptReader
from webagent.models.local.source import adapter_config, header
from webagent.models.model import Tokens

MAKING_MODULES = RLock()
"""Held while a model is loaded or an adapter is put on one: transformers and peft change torch's
defaults meanwhile, and with them those of every other thread."""
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_STRIDE = -7046029254386353131
"""2^64 divided by the golden ratio, as a signed number: places far apart get unlike factors."""
_CHUNK = 1 << 22


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


class Adapters:
    """The adapters injected into one base, by name; at most one of them is in use at a time."""

    def __init__(self, module: torch.nn.Module, base: str) -> None:
        self._module = module
        self._base = base
        self._peft: Any = None
        self._active: str | None = None
        self.names: set[str] = set()

    def add(self, name: str, folder: Path, *, any_base: bool) -> None:
        """Inject an adapter, without using it yet. Raises `SetupError` for one of another base."""
        from peft import PeftModel

        taken = {part for path in self._module.state_dict() for part in path.split(".")}
        if name in taken | self.names or not name or "." in name:
            raise SetupError(
                f"an adapter cannot be named {name!r}; expected a new name without a dot that no"
                f" layer has (adapters: {', '.join(sorted(self.names)) or 'none yet'})"
            )
        config = adapter_config(folder)
        if config.get("peft_type") != "LORA":
            raise SetupError(
                f"the adapter in {str(folder)!r} is of the kind {config.get('peft_type')!r};"
                " expected LORA"
            )
        path = folder / "adapter_model.safetensors"
        if not path.is_file():
            raise SetupError(f"no adapter_model.safetensors in {str(folder)!r}; save it again")
        self._check_shapes(folder, header(path))
        base = str(config.get("base_model_name_or_path") or "")
        if base and not any_base and Path(base).name != Path(self._base).name:
            raise SetupError(
                f"the adapter in {str(folder)!r} was trained on {base}, not on {self._base}; load"
                " that base, or pass any_base=True where the two are the same weights"
            )
        with MAKING_MODULES, self._keep_gradients(), warnings.catch_warnings():
            # peft asks transformers for a property by its old name.
            warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
            try:
                if self._peft is None:
                    self._peft = PeftModel.from_pretrained(
                        self._module, str(folder), adapter_name=name
                    )
                else:
                    self._peft.load_adapter(str(folder), adapter_name=name)
            except (ValueError, RuntimeError, OSError) as error:
                first_line = next(iter(str(error).strip().splitlines()), type(error).__name__)
                raise SetupError(
                    f"the adapter in {str(folder)!r} does not load: {first_line}"
                ) from error
            self.names.add(name)
            self._switch(self._active)

    def use(self, name: str | None) -> None:
        """Have forward passes go through this adapter, or through the bare base."""
        self.require(name)
        if name != self._active:
            with self._keep_gradients():
                self._switch(name)

    def require(self, name: str | None) -> None:
        """Raise `SetupError` for a name that was not added."""
        if name is not None and name not in self.names:
            raise unknown_name("adapter", name, self.names)

    def tensors(self, name: str) -> Iterator[tuple[str, Tensor]]:
        """Yield the parameters of one adapter."""
        for path, tensor in self._module.named_parameters():
            if name in path.split("."):
                yield path.replace(f".{name}.", "."), tensor

    def _switch(self, name: str | None) -> None:
        if self._peft is None:
            return
        if name is None:
            self._peft.base_model.disable_adapter_layers()
        else:
            self._peft.base_model.enable_adapter_layers()
            self._peft.set_adapter(name)
        self._active = name

    @contextmanager
    def _keep_gradients(self) -> Iterator[None]:
        """peft sets what is trainable whenever it switches; that is the trainer's to say."""
        before = {id(one): one.requires_grad for one in self._module.parameters()}
        try:
            yield
        finally:
            for one in self._module.parameters():
                one.requires_grad_(before.get(id(one), one.requires_grad))

    def _check_shapes(self, folder: Path, tensors: dict[str, Any]) -> None:
        layers: dict[str, Any] = dict(self._module.named_modules(remove_duplicate=False))
        for key, tensor in tensors.items():
            path, _, rest = key.removeprefix("base_model.model.").partition(".lora_")
            if rest not in ("A.weight", "B.weight"):
                continue
            layer: Any = layers.get(path)
            layer = getattr(layer, "base_layer", layer)
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
                    f" {path}, where {self._base} has {found}"
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
    """One base model and its adapters.

    Generation holds `lock` during each round; `alone` holds it off for whoever changes something.
    """

    def __init__(
        self,
        name: str,
        module: torch.nn.Module,
        tokenizer: Any,
        reader: PromptReader,
        endings: Endings,
    ) -> None:
        self.name = name
        self.module = module
        """The base as transformers made it; adapters are injected into it in place."""
        self.tokenizer = tokenizer
        self.endings = endings
        self.reader = reader
        self.sees_images = reader.sees_images
        self.lock = RLock()
        self.adapters = Adapters(module, name)
        self.revision = 0
        """Counts the changes of the weights that were noticed."""
        self._versions: dict[str | None, str] = {}
        self._state = 0
        self.is_touched = True
        """Whether someone has held generation off since the weights were last looked at."""
        self._wanted = 0
        self._counting = Lock()

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

    def inputs_of(self, tokens: Tokens) -> dict[str, Tensor]:
        """Return what a plain forward pass takes for stored ids and images: a batch of one, on the
        device.

        Besides `input_ids` (1, L) and `attention_mask` (1, L) there are, where the model takes
        them, `position_ids` (1, L) or (3, 1, L), `pixel_values` and what the image processor gives
        with them, and the type of each id. Ids of a prompt and of its reply go in together.
        Raises `ModelError` when ids and images do not belong together.
        """
        encoded = self.reader.read(tokens)
        inputs = self.reader.inputs(encoded)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        return {name: value.to(self.device) for name, value in inputs.items()}

    def log_probs(
        self, tokens: Tokens, prompt: int, draw: Callable[[Tensor], Tensor] | None = None
    ) -> Tensor:
        """Return log-probabilities (L - prompt,) of the ids behind the first `prompt` ones.

        One plain forward pass, with gradients where they are on. `draw` turns logits
        (L - prompt, vocabulary) into the log-probabilities that were sampled from; without it they
        are those of temperature 1 and no constraint.
        """
        if not 0 < prompt < len(tokens.ids):
            raise ModelError(
                f"no reply behind the first {prompt} of {len(tokens.ids)} ids; expected at least"
                " one id of a prompt and one of a reply"
            )
        inputs = self.inputs_of(tokens)
        logits = self.module(**inputs, use_cache=False).logits[0, prompt - 1 : -1]
        found = draw(logits) if draw else torch.log_softmax(self.without_never(logits), -1)
        reply_ids = inputs["input_ids"][0, prompt:, None]
        return found.gather(-1, reply_ids).squeeze(-1)

    def without_never(self, logits: Tensor) -> Tensor:
        """Return logits of at least float32, minus infinity for ids that no reply may hold."""
        whole = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return whole.index_fill(-1, self.never, -torch.inf) if self.endings.never else whole

    @property
    def never(self) -> Tensor:
        """`endings.never` on the device."""
        return torch.tensor(self.endings.never, dtype=torch.long, device=self.device)

    def version(self, adapter: str | None = None) -> str:
        """Return name and digest of the weights as they are; computed when they have changed."""
        self.refresh()
        if adapter not in self._versions:
            if adapter is None:
                # Without adapters, and by the names that parameters have without one.
                named = self.module.state_dict(keep_vars=True).items()
                base = (
                    (name.replace(".base_layer.", "."), tensor)
                    for name, tensor in named
                    if self.adapters.names.isdisjoint(name.split("."))
                )
                found = f"{Path(self.name).name}@{digest_tensors(base)}"
            else:
                found = f"{self.version()}+{adapter}"
                found += f"@{digest_tensors(self.adapters.tensors(adapter))}"
            self._versions[adapter] = found
        return self._versions[adapter]

    def refresh(self) -> None:
        """Forget the digests where the weights have changed since the last look."""
        now = hash(
            tuple(
                (tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version)
                for _, tensor in self.module.named_parameters()
            )
        )
        if now != self._state:
            self._versions.clear()
            self.revision += 1
        self._state = now
        self.is_touched = False

    def weights_changed(self) -> None:
        """Forget every digest. Changes of parameters in place are noticed without it."""
        self._versions.clear()
        self.revision += 1

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold off generation between two forward passes, to change or replace weights."""
        with self._counting:
            self._wanted += 1
        try:
            with self.lock:
                self.is_touched = True
                yield
        finally:
            with self._counting:
                self._wanted -= 1

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One forward pass of generation; it lets whoever wants to be alone go first."""
        while self._wanted:
            time.sleep(0.001)
        with self.lock:
            yield
