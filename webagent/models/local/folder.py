"""What is wrong with a model's folder, found before anything is loaded from it."""

import json
from pathlib import Path
from typing import Any

from webagent.errors import SetupError

_LENGTH = 8
"""Bytes at the start of a safetensors file that give the length of its header."""


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
    if not (folder / "config.json").is_file():
        raise SetupError(_without_config(folder))
    check_weights(folder)


def check_weights(folder: Path) -> None:
    """Refuse safetensors files that are cut short or missing. Raises `SetupError`."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = set(_json(index).get("weight_map", {}).values())
        if missing := sorted(name for name in shards if not (folder / name).is_file()):
            raise SetupError(
                f"{folder} lacks {len(missing)} of {len(shards)} weight files that its index names,"
                f" such as {missing[0]}; copy the folder again"
            )
    for path in sorted(folder.glob("*.safetensors")):
        header(path)


def header(path: Path) -> dict[str, Any]:
    """Names, shapes and types of the tensors of a whole safetensors file. Raises `SetupError`."""
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
    """The adapter's own description. Raises `SetupError` where there is none."""
    path = folder / "adapter_config.json"
    if not path.is_file():
        raise SetupError(
            f"no adapter in {str(folder)!r}; expected adapter_config.json and"
            " adapter_model.safetensors, as peft saves them"
        )
    return _json(path)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SetupError(f"{path} is not JSON ({error}); copy the folder again") from None
    if not isinstance(value, dict):
        raise SetupError(f"{path} holds no JSON object; copy the folder again")
    return value


def _without_config(folder: Path) -> str:
    if not (folder / "adapter_config.json").is_file():
        return f"{str(folder)!r} has no config.json; expected the folder that save_pretrained wrote"
    base = _json(folder / "adapter_config.json").get("base_model_name_or_path") or "its base"
    return (
        f"{str(folder)!r} holds an adapter, not a model; load {base} and give it this folder with"
        " add_adapter"
    )
