"""LoRA adapters that share one base and take turns."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from webagent.errors import SetupError, unknown_name
from webagent.models.local.folder import adapter_config, header


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
                f"an adapter cannot be called {name!r}; expected a new name without a dot that no"
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
        with self._gradients_kept(), warnings.catch_warnings():
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
                raise SetupError(
                    f"the adapter in {str(folder)!r} does not load: {_first_line(error)}"
                ) from error
            self.names.add(name)
            self._switch(self._active)

    def use(self, name: str | None) -> None:
        """Have forward passes go through this adapter, or through the bare base."""
        self.require(name)
        if name != self._active:
            with self._gradients_kept():
                self._switch(name)

    def require(self, name: str | None) -> None:
        """Raises `SetupError` for a name that was not added."""
        if name is not None and name not in self.names:
            raise unknown_name("adapter", name, self.names)

    def tensors(self, name: str) -> Iterator[tuple[str, Tensor]]:
        """The parameters of one adapter."""
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
    def _gradients_kept(self) -> Iterator[None]:
        """peft sets what is trainable whenever it switches; that is the trainer's to say."""
        before = {id(one): one.requires_grad for one in self._module.parameters()}
        try:
            yield
        finally:
            for one in self._module.parameters():
                one.requires_grad_(before.get(id(one), one.requires_grad))

    def _check_shapes(self, folder: Path, tensors: dict[str, Any]) -> None:
        for key, tensor in tensors.items():
            path, _, rest = key.removeprefix("base_model.model.").partition(".lora_")
            if rest not in ("A.weight", "B.weight"):
                continue
            shape = self._shape(path)
            width = tensor["shape"][1] if rest[0] == "A" else tensor["shape"][0]
            if shape is None or width not in (shape[1] if rest[0] == "A" else shape[0],):
                found = "no such layer" if shape is None else f"a layer of {shape[0]}x{shape[1]}"
                raise SetupError(
                    f"the adapter in {str(folder)!r} is of another base: it has {width} values for"
                    f" {path}, where {self._base} has {found}"
                )

    def _shape(self, path: str) -> tuple[int, int] | None:
        """Outputs and inputs of a layer; None where there is no such layer."""
        try:
            layer: Any = self._module.get_submodule(path)
        except AttributeError:
            return None
        layer = getattr(layer, "base_layer", layer)
        if hasattr(layer, "out_features"):
            return layer.out_features, layer.in_features
        weight = getattr(layer, "weight", None)
        if weight is None or weight.dim() != 2:
            return None
        # Embeddings and the transposed linear layers of GPT-2 hold (inputs, outputs).
        return int(weight.shape[1]), int(weight.shape[0])


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
