"""What a training was planned to hold in memory, beside what it held: plan.py MODEL-FOLDER...

Each model is made with random weights in its own shape and trained for two updates on rows of
random ids, in a fresh process for each setting. On a processor the measured peak is the growth of
the process from before the weights are made, on a GPU the bytes allocated.
"""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import torch

from webagent.training.language.config import LoraSettings, TrainConfig
from webagent.training.language.objectives import Supervised
from webagent.training.language.plan import Lengths, build_module, plan_memory
from webagent.training.language.rows import TokenRow
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit

TOKENS, TAUGHT = 1024, 64
SETTINGS = {
    "weights": TrainConfig(micro_batch_tokens=TOKENS),
    "LoRA": TrainConfig(micro_batch_tokens=TOKENS, lora=LoraSettings()),
    "LoRA, checkpointing": TrainConfig(
        micro_batch_tokens=TOKENS, lora=LoraSettings(), gradient_checkpointing=True
    ),
}
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def measure(folder: str, setting: str) -> dict[str, float]:
    """Return planned and measured bytes of one training in this process."""
    config, lengths = SETTINGS[setting], Lengths(TOKENS, TOKENS, TAUGHT)
    plan = plan_memory(folder, config, lengths, device=DEVICE)
    torch.set_num_threads(1)
    before = _reset_peak()
    with torch.device(DEVICE):
        module = build_module(folder, torch.float32, "sdpa")
    trainer = Trainer(module, Supervised(), config)
    ids = torch.randint(10, 1000, (4, TOKENS)).tolist()
    weights = (0.0,) * (TOKENS - TAUGHT) + (1.0,) * TAUGHT
    units = [TrainingUnit((TokenRow(ids=tuple(each), weights=weights),)) for each in ids]
    for _ in range(2):
        trainer.update(units)
    return {"planned": plan.training, "measured": _peak() - before}


def _reset_peak() -> int:
    if DEVICE.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
        return torch.cuda.memory_allocated()
    Path("/proc/self/clear_refs").write_text("5")
    return resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[1])


def _peak() -> int:
    if DEVICE.type == "cuda":
        return torch.cuda.max_memory_allocated()
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def main() -> None:
    """Print a table of all models and settings."""
    if len(sys.argv) == 4 and sys.argv[1] == "--one":
        print(json.dumps(measure(*sys.argv[2:])))
        return
    print("| model | trained | planned | measured | off |\n| --- | --- | --- | --- | --- |")
    # The allocator gives back what is freed, so that the peak is of what was held.
    given = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    for folder in sys.argv[1:]:
        for setting in SETTINGS:
            command = [sys.executable, __file__, "--one", folder, setting]
            done = subprocess.run(command, env=given, check=True, capture_output=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            planned, measured = found["planned"], found["measured"]
            sizes = f"{planned / 1e9:.2f} GB | {measured / 1e9:.2f} GB"
            name = Path(folder).name
            print(f"| {name} | {setting} | {sizes} | {planned / measured - 1:+.0%} |", flush=True)


if __name__ == "__main__":
    main()
