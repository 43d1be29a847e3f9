"""What a language and a vision-language model of 7 B cost on one GPU: gpu.py measure STEPS FOLDER.

    python perf/gpu.py write RUN MODEL-FOLDER STEPS      # on a machine with a browser's run
    python perf/gpu.py measure STEPS FOLDER [--shapes tiny] [--seconds 480]

Weights are random, in the true shape of Qwen2.5-7B and Qwen2.5-VL-7B; steps are real, as the ids of
their prompts and replies (`write` makes the file from a run with a model's tokenizer). Vision rows
show one screenshot of noise of 1280 by 720 pixels. `--no-cudnn` computes attention without cuDNN,
which prepares itself anew for each length. Each part runs in a process of its own and adds
a line to FOLDER/gpu.jsonl: training with LoRA in bfloat16 with checkpointing and without, beside
what `--plan` expects; generation of 64 sequences; and one round, in which what was sampled is
trained on with the policy gradient, with how far sampling and trainer are apart.
"""

import argparse
import asyncio
import gzip
import io
import json
import subprocess
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from webagent.models import Tokens
from webagent.models.local import Generation, LocalModel
from webagent.models.local.prompts import ChatWriter, ImageReader, PromptReader
from webagent.models.local.weights import Endings, LoadedWeights
from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.likelihood import ForwardOptions
from webagent.training.language.objectives import Objective, PolicyGradient, Supervised
from webagent.training.language.plan import Lengths, build_module, plan_memory
from webagent.training.language.rows import Encoded, TokenRow, make_encoded_row
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PARTS = (
    "train text checkpointed",
    "round text",
    "train vision checkpointed",
    "round vision",
    "train text whole",
    "train vision whole",
)
ROUND = {"text": 64, "vision": 24}
"""Steps of a round, each of a sequence of its own; the last of them are left out in tiny shapes."""
REPLY = 64
_IMAGE, _FRAME = 9, (10, 11)
"""Ids of a place of an image and of its beginning and end, in every shape here."""
_TEXT = {
    "7b": {
        "vocab_size": 152_064,
        "hidden_size": 3_584,
        "intermediate_size": 18_944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "max_position_embeddings": 32_768,
    },
    "tiny": {
        "vocab_size": 512,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4_096,
    },
}
_VISION: dict[str, dict[str, Any]] = {
    "7b": {
        "depth": 32,
        "hidden_size": 1_280,
        "intermediate_size": 3_420,
        "num_heads": 16,
        "out_hidden_size": 3_584,
        "window_size": 112,
        "fullatt_block_indexes": [7, 15, 23, 31],
    },
    "tiny": {
        "depth": 2,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "out_hidden_size": 64,
        "window_size": 56,
        "fullatt_block_indexes": [1],
    },
}
_DRIFT = ("ratio", "ratio_deviation", "kl_sampling")
_LONGEST = {"7b": 4_096, "tiny": 160}
_SCREEN = {"7b": (1_280, 720), "tiny": (112, 56)}


def save_shape(shapes: str, sees: bool, folder: Path) -> str:
    """Write the configuration of the model, without weights."""
    from transformers import Qwen2_5_VLConfig, Qwen2Config

    text = _TEXT[shapes] | {"tie_word_embeddings": False, "rms_norm_eps": 1e-6}
    config: Any
    if sees:
        half = text["hidden_size"] // text["num_attention_heads"] // 2
        parts = [half // 4, 3 * half // 8, 3 * half // 8]
        text["rope_parameters"] = {
            "rope_type": "default",
            "mrope_section": parts,
            "rope_theta": 1e6,
        }
        # Endings by name: the ones that such configurations take over may lie beyond a tiny one.
        text |= {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
        config = Qwen2_5_VLConfig(
            text_config=text,
            vision_config=_VISION[shapes],
            image_token_id=_IMAGE,
            video_token_id=8,
            vision_start_token_id=_FRAME[0],
            vision_end_token_id=_FRAME[1],
        )
    else:
        config = Qwen2Config(**text, bos_token_id=None, eos_token_id=None, pad_token_id=0)
    config.save_pretrained(folder)
    return str(folder)


class _Words:
    """The least of a tokenizer: prompts here are made of ids."""

    def __init__(self) -> None:
        self.added_tokens_decoder: dict[int, object] = {}

    def decode(self, ids: list[int], **_: object) -> str:
        """Ids as numbers."""
        return " ".join(map(str, ids))

    def convert_ids_to_tokens(self, one: int) -> str:
        """An id as a number."""
        return str(one)


def load(folder: str, sees: bool) -> LoadedWeights:
    """Return random weights in bfloat16 on the device, with what reads prompts of ids."""
    dtype = torch.bfloat16 if DEVICE.type == "cuda" else torch.float32
    with torch.device(DEVICE):
        module = build_module(folder, dtype, "sdpa").eval()
    words = _Words()
    chat = ChatWriter(words, "", typed=sees, marks=())
    images = None
    if sees:
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import (
            Qwen2VLImageProcessorPil,
        )

        images = ImageReader(
            image_processor=Qwen2VLImageProcessorPil(),
            tokenizer=words,
            processor=None,
            image_id=_IMAGE,
            write=chat.write,
        )
    reader = PromptReader(module, chat, images, 32_768)
    never = (8, _IMAGE) if sees else ()
    return LoadedWeights(folder, module, words, reader, Endings(frozenset(), never))


def read_steps(file: Path, shapes: str) -> list[Encoded]:
    """Return the file's steps, in the ids of this shape and no longer than it reads."""
    size, longest = _TEXT[shapes]["vocab_size"], _LONGEST[shapes]
    steps = []
    with gzip.open(file, "rt") as lines:
        for line in lines:
            step = json.loads(line)
            ids = [[12 + one % (size - 12) for one in step[name]] for name in ("prompt", "reply")]
            steps.append(Encoded(tuple(ids[0][: longest - len(ids[1])]), tuple(ids[1])))
    return steps


def show_screens(steps: list[Encoded], weights: LoadedWeights, size: tuple[int, int]) -> Any:
    """Return the steps with a screenshot of noise before each prompt, and the screenshots."""
    dice = np.random.default_rng(0)
    screens: dict[str, bytes] = {}
    shown = []
    for place, step in enumerate(steps):
        file = io.BytesIO()
        noise = dice.integers(0, 255, (size[1] // 8, size[0] // 8, 3), dtype=np.uint8)
        Image.fromarray(noise).resize(size).save(file, "PNG")
        screens[f"screen-{place}"] = file.getvalue()
        grid = weights.reader.pixels([file.getvalue()])["image_grid_thw"][0]
        ids = (_FRAME[0], *(_IMAGE,) * (int(grid.prod()) // 4), _FRAME[1])
        shown.append(replace(step, prompt_ids=ids + step.prompt_ids, images=(f"screen-{place}",)))
    return shown, screens


def measure(part: str, file: Path, folder: Path, shapes: str) -> dict[str, Any]:
    """Return the figures of one part, in this process."""
    kind, what, *how = part.split()
    sees = what == "vision"
    name = save_shape(shapes, sees, folder / f"{shapes}-{what}")
    started = time.perf_counter()
    weights = load(name, sees)
    made = time.perf_counter() - started
    steps = read_steps(file, shapes)[: ROUND[what] if shapes == "7b" else 6]
    screens: dict[str, bytes] = {}
    if sees:
        steps, screens = show_screens(steps, weights, _SCREEN[shapes])
    reading = ForwardOptions(
        pictures=lambda names: weights.reader.pixels([screens[each] for each in names])
    )
    parameters = sum(each.numel() for each in weights.module.parameters())
    found: dict[str, Any] = {"part": part, "parameters": parameters, "seconds to make": made}
    if kind == "train":
        rows = [make_encoded_row(step) for step in steps]
        return found | train(name, weights, rows, reading, checkpointed=how == ["checkpointed"])
    replies = generate(weights, steps, screens)
    rows = replies.pop("rows")
    trained = train(name, weights, rows, reading, checkpointed=True, sampled=True)
    trained["seconds of a round"] = replies["seconds to generate"] + trained["seconds"]
    return found | replies | trained


def train(
    name: str,
    weights: LoadedWeights,
    rows: list[TokenRow],
    reading: ForwardOptions,
    *,
    checkpointed: bool,
    sampled: bool = False,
) -> dict[str, Any]:
    """Return tokens a second, what memory was planned and what was held, and drift."""
    longest = max(len(row.ids) for row in rows)
    tokens = sum(len(row.ids) for row in rows)
    taught = sum(sum(map(bool, row.weights)) for row in rows)
    lengths = Lengths(longest, tokens // len(rows), max(1, taught // len(rows)))
    config = TrainConfig(
        bf16=True,
        lora=LoraSettings(),
        gradient_checkpointing=checkpointed,
        micro_batch_tokens=8_192 if checkpointed else longest,
        units_per_step=max(1, len(rows) // 3),
    )
    plan = plan_memory(name, config, lengths, device=DEVICE)
    objective: Objective = PolicyGradient() if sampled else Supervised()
    reset_peak()
    trainer = Trainer(weights.module, objective, config, reading=reading)
    units = [TrainingUnit((row,)) for row in rows]
    size = config.units_per_step
    parts = [units[start : start + size] for start in range(0, len(units), size)]
    if not sampled:  # the first one warms up
        trainer.update(parts.pop(0))
    started = time.perf_counter()
    updates = [trainer.update(part) for part in parts]
    synchronize()
    seconds = time.perf_counter() - started
    learnt = sum(each.figures["tokens"] for each in updates)
    figures = updates[0].figures
    return {
        "rows": len(rows),
        "longest row": longest,
        "training tokens": learnt,
        "seconds": seconds,
        "training tokens a second": learnt / seconds,
        "micro-batch tokens": trainer.micro_batch_tokens,
        "planned bytes": plan.training,
        "measured bytes": peak(),
        "reserved bytes": reserved(),
        "loss": figures["loss"],
        **{one: figures[one] for one in _DRIFT if one in figures},
    }


def generate(
    weights: LoadedWeights, steps: list[Encoded], screens: dict[str, bytes]
) -> dict[str, Any]:
    """Return the speed of so many replies at once, and rows of what was sampled."""
    model = LocalModel(weights, Generation(max_rows=len(steps)))
    prompts = [
        Tokens(step.prompt_ids, tuple(screens[each] for each in step.images)) for step in steps
    ]

    async def ask(length: int, count: int) -> list[Any]:
        asked = (
            model.complete(prompt, temperature=1.0, seed=place, max_tokens=length)
            for place, prompt in enumerate(prompts[:count])
        )
        return list(await asyncio.gather(*asked))

    async def run() -> tuple[list[Any], float, float]:
        await ask(4, 2)
        reset_peak()
        started = time.perf_counter()
        written = await ask(REPLY, len(prompts))
        whole = time.perf_counter() - started
        started = time.perf_counter()
        await ask(1, len(prompts))
        again = time.perf_counter() - started
        await model.close()
        return written, whole, again

    written, whole, again = asyncio.run(run())
    rows = []
    for place, (step, completion) in enumerate(zip(steps, written, strict=True)):
        [reply] = completion.replies
        row = make_encoded_row(replace(step, reply_ids=reply.token_ids), log_probs=reply.log_probs)
        rows.append(replace(row, episode=str(place)).with_advantage(1.0 if place % 2 else -1.0))
    count = sum(len(completion.replies[0].token_ids) for completion in written)
    return {
        "rows": rows,
        "sequences": len(steps),
        "prompt tokens": sum(len(step.prompt_ids) for step in steps),
        "sampled tokens": count,
        "seconds to generate": whole,
        "sampled tokens a second": count / whole,
        "seconds to read the prompts again": again,
        "generation bytes": peak(),
    }


def synchronize() -> None:
    """Wait for the GPU."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def reset_peak() -> None:
    """Forget the largest size so far."""
    if DEVICE.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def peak() -> int:
    """Return the most bytes allocated on the GPU; 0 without one."""
    return torch.cuda.max_memory_allocated() if DEVICE.type == "cuda" else 0


def reserved() -> int:
    """Return the most bytes that the allocator held; 0 without a GPU."""
    return torch.cuda.max_memory_reserved() if DEVICE.type == "cuda" else 0


def write(run: Path, model: str, file: Path) -> None:
    """Write the prompts and replies of a run's steps in a model's ids."""
    from loop.training.encoding import PromptEncoder, RunImages
    from webagent.agent.asking import Asking
    from webagent.models.local.loading import load_weights
    from webagent.models.local.source import ModelSource
    from webagent.store import Store

    encoder = PromptEncoder(load_weights(ModelSource(model)), Asking(), RunImages([run]))
    with gzip.open(file, "wt") as lines:
        for episode in Store.open(run).trajectories():
            for index in range(len(episode.steps)):
                found = encoder.encode(episode, index)
                print(
                    json.dumps({"prompt": found.prompt_ids, "reply": found.reply_ids}), file=lines
                )


def measure_all(given: argparse.Namespace) -> None:
    """Run the parts in turn while there is time, each in a process of its own."""
    given.folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    name = torch.cuda.get_device_name() if DEVICE.type == "cuda" else "cpu"
    print(f"{name}, torch {torch.__version__}", flush=True)
    for part in PARTS:
        left = given.seconds - (time.monotonic() - started)
        if left < given.seconds / 16:
            print(f"{part}: no time left", flush=True)
            continue
        command = [sys.executable, __file__, "measure", str(given.steps), str(given.folder)]
        command += ["--shapes", given.shapes, "--part", part, *["--no-cudnn"] * given.no_cudnn]
        try:
            done = subprocess.run(command, timeout=left, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            print(f"{part}: longer than {left:.0f} s", flush=True)
            continue
        if done.returncode:
            print(f"{part}: failed\n{done.stdout[-500:]}{done.stderr[-2500:]}", flush=True)
            continue
        line = done.stdout.splitlines()[-1]
        with (given.folder / "gpu.jsonl").open("a") as lines:
            lines.write(line + "\n")
        spent = time.monotonic() - started
        print(f"[{spent:.0f} s] " + format_figures(json.loads(line)), flush=True)


def format_figures(found: dict[str, Any]) -> str:
    """Return the figures of a part in a line."""
    parts = []
    for name, value in found.items():
        if "bytes" in name:
            parts.append(f"{name.replace('bytes', 'GB')} {value / 1e9:.2f}")
        elif isinstance(value, float):
            parts.append(f"{name} {value:.4g}")
        elif name != "part":
            parts.append(f"{name} {value}")
    return f"{found['part']}: " + ", ".join(parts)


def main() -> int:
    """Do what is asked for."""
    if sys.argv[1:2] == ["write"] and len(sys.argv) == 5:
        write(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("measure", choices=["measure"])
    parser.add_argument("steps", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shapes", choices=sorted(_TEXT), default="7b")
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--no-cudnn", action="store_true")
    parser.add_argument("--part", choices=PARTS, help="for its own use")
    given = parser.parse_args()
    torch.backends.cuda.enable_cudnn_sdp(not given.no_cudnn)
    if given.part is None:
        measure_all(given)
        return 0
    try:
        print(json.dumps(measure(given.part, given.steps, given.folder, given.shapes)))
    except torch.OutOfMemoryError:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
