"""Which weights are loaded, how they generate, and what is wrong with a folder before it is."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from webagent.errors import SetupError

Dtype: TypeAlias = Literal["auto", "float32", "bfloat16", "float16", "float64"]
_LENGTH = 8
"""Bytes at the start of a safetensors file that give the length of its header."""


@dataclass(frozen=True, slots=True)
class ModelSource:
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
    """How much is written and kept at once; none of it changes what is replied.

    Equal up to rounding: sums are taken in another order, so two ids whose logits lie within some
    millionths of each other (in float32) may change places. In float64 they practically never do.
    """

    max_rows: int = 32
    """Replies written at once; further ones wait. Halved while memory runs out."""
    prefix_entries: int = 32
    """Recent prompts whose keys and values are kept: what a prompt shares is not read again."""
    prefix_bytes: int = 1 << 30
    """Their size in memory at most."""

    def __post_init__(self) -> None:
        if self.max_rows < 1:
            raise ValueError("max_rows is 1 or more")


def check_model(name: str) -> None:
    """Refuse a folder that holds no whole model; a hub name passes. Raises `SetupError`."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        if folder.is_file() or (
            name.startswith((".", "/", "~")) or "\\" in name or name.count("/") != 1
        ):
            raise SetupError(
                f"no folder {name!r}; expected the folder that save_pretrained wrote (with"
                " config.json in it), or a hub name such as Qwen/Qwen2.5-0.5B-Instruct"
            )
        return
    adapter = folder / "adapter_config.json"
    if not (folder / "config.json").is_file() and adapter.is_file():
        base = _read_json(adapter).get("base_model_name_or_path") or "its base"
        raise SetupError(
            f"{str(folder)!r} holds an adapter, not a model; load {base} with this folder as its"
            " adapter"
        )
    if not (folder / "config.json").is_file():
        raise SetupError(
            f"{str(folder)!r} has no config.json; expected the folder that save_pretrained wrote"
        )
    check_weights(folder)


def check_weights(folder: Path) -> None:
    """Refuse safetensors files that are cut short or missing. Raises `SetupError`."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = set(_read_json(index).get("weight_map", {}).values())
        if missing := sorted(name for name in shards if not (folder / name).is_file()):
            raise SetupError(
                f"{folder} lacks {len(missing)} of {len(shards)} weight files that its index names,"
                f" such as {missing[0]}; copy the folder again"
            )
    for path in sorted(folder.glob("*.safetensors")):
        header(path)


def header(path: Path) -> dict[str, Any]:
    """Return the header of a safetensors file, by tensor. Raises `SetupError` if cut short."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH), "little")
        text = file.read(length) if length <= size else b""
    try:
        tensors = {key: value for key, value in json.loads(text).items() if key != "__metadata__"}
        ends = [tensor["data_offsets"][1] for tensor in tensors.values()]
    except (ValueError, TypeError, KeyError, AttributeError, IndexError):
        raise SetupError(
            f"{path} has {size:,} bytes and no whole safetensors header; it was cut short or is"
            " another kind of file: copy or download it again"
        ) from None
    whole = _LENGTH + length + max(ends, default=0)
    if size < whole:
        raise SetupError(
            f"{path} has {size:,} bytes where its header names {whole:,}; it was cut short: copy or"
            " download it again"
        )
    return tensors


def adapter_config(folder: Path) -> dict[str, Any]:
    """Return the adapter's own description. Raises `SetupError` where there is none."""
    path = folder / "adapter_config.json"
    if not path.is_file():
        raise SetupError(
            f"no adapter in {str(folder)!r}; expected adapter_config.json and"
            " adapter_model.safetensors, as peft saves them"
        )
    return _read_json(path)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SetupError(f"{path} is not JSON ({error}); copy the folder again") from None
    if not isinstance(value, dict):
        raise SetupError(f"{path} holds no JSON object; copy the folder again")
    return value
