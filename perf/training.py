"""How fast language models are trained, as a tree and padded, beside TRL on the same rows.

    python perf/training.py [--json] [--prompt 768] [--reply 32] [--width 128] [--memory]

Groups of `--members` replies to one prompt (8); one update is the rows laid out, forward, backward,
clipping and AdamW. Model, rows, weights of the reference, dtype and micro-batch are the same for
all; gradients are compared before anything is timed. On a processor the time is this process's own
on one thread, on a GPU the wall's. Peak memory is a GPU's allocated bytes; on a processor it is a
fresh process's growth over its second update (`--memory`, on Linux). Where TRL is not installed,
ours stands alone. A ratio above 1 favours us.
"""

import ctypes
import gc
import json
import random
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from statistics import median

import torch
from rows import Row, options, row, show
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from webagent.training.language.config import TrainConfig
from webagent.training.language.objectives import Objective, PolicyGradient, Preference, Supervised
from webagent.training.language.rows import TokenRow
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit, pair_rows

KINDS = ("sft", "dpo", "grpo")
SIZES = (
    ("prompt", 768),
    ("reply", 32),
    ("groups", 1),
    ("members", 8),
    ("rounds", 5),
    ("width", 128),
    ("layers", 2),
    ("heads", 4),
    ("vocabulary", 512),
)
RATE = 1e-6
GPU = torch.cuda.is_available()
Update = Callable[[], object]


def parsed() -> Namespace:
    """The sizes from the command line."""
    parser = options(__doc__)
    for name, size in SIZES:
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--alone", nargs=2, metavar=("KIND", "WHO"), help="for its own use")
    return parser.parse_args()


def model(sizes: Namespace, seed: int) -> LlamaForCausalLM:
    """A Llama with random weights."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.width,
        intermediate_size=2 * sizes.width,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.heads,
        max_position_embeddings=2 * (sizes.prompt + sizes.reply),
        initializer_range=0.05,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    made = LlamaForCausalLM(config).to(getattr(torch, sizes.dtype))
    return made.to("cuda") if GPU else made


def made_rows(sizes: Namespace) -> list[TokenRow]:
    """Groups of replies of about the same length to prompts of their own."""
    dice = random.Random(0)

    def ids(count: int) -> tuple[int, ...]:
        return tuple(dice.randrange(10, sizes.vocabulary) for _ in range(count))

    rows = []
    for group in range(sizes.groups):
        prompt = ids(sizes.prompt)
        for member in range(sizes.members):
            reply = ids(sizes.reply - member % 4)
            stop = len(prompt) + len(reply)
            made = TokenRow(
                ids=prompt + reply,
                weights=(0.0,) * len(prompt) + (1.0,) * len(reply),
                log_probs=(0.0,) * len(prompt) + tuple(-dice.uniform(20, 30) for _ in reply),
                spans=((len(prompt), stop),),
                steps=(0,),
                episode=f"{group}-{member}",
            )
            rows.append(made.with_advantage(1.0 if len(rows) % 2 else -1.0))
    return rows


def objective(kind: str, rows: list[TokenRow]) -> tuple[Objective, list[TrainingUnit]]:
    """What is minimised, over the rows as it takes them."""
    if kind == "dpo":
        return Preference(), [pair_rows(a, b) for a, b in zip(rows[1::2], rows[::2], strict=True)]
    units = [TrainingUnit((each,), better=i % 2) for i, each in enumerate(rows)]
    # Samples far less likely than the model now makes them, and a cap of 1: every importance
    # weight is 1, as in TRL's loss without vLLM.
    return Supervised() if kind == "sft" else PolicyGradient(cap=1.0), units


def ours(kind: str, who: str, sizes: Namespace) -> tuple[nn.Module, Update]:
    """The model and its update by our trainer, as a tree or padded."""
    minimised, units = objective(kind, made_rows(sizes))
    config = TrainConfig(
        tree=who == "tree",
        micro_batch_tokens=10**9,
        lane_tokens=sizes.prompt + sizes.members * sizes.reply,
        units_per_step=len(units),
    )
    reference = model(sizes, 2) if "reference" in minimised.needs else None
    trainer = Trainer(model(sizes, 1), minimised, config, reference=reference)
    return trainer.model, lambda: trainer.update(units, RATE)


def made(kind: str, who: str, sizes: Namespace) -> tuple[nn.Module, Update]:
    """The model and its update by one of us. Raises `ImportError` where TRL is missing."""
    if who != "trl":
        return ours(kind, who, sizes)
    from trl_updates import theirs

    _, units = objective(kind, made_rows(sizes))
    models = model(sizes, 1), model(sizes, 2)
    return theirs(kind, *models, [r for unit in units for r in unit.rows], units, RATE)


def gradient(found: tuple[nn.Module, Update]) -> dict[str, Tensor]:
    """What one update's backward pass leaves, before it is clipped."""
    whole, update = found
    kept: dict[str, Tensor] = {}
    handles = [
        parameter.register_post_accumulate_grad_hook(
            lambda p, name=name: kept.__setitem__(name, p.grad.detach().clone())
        )
        for name, parameter in whole.named_parameters()
    ]
    update()
    for handle in handles:
        handle.remove()
    return kept


def apart(one: dict[str, Tensor], other: dict[str, Tensor]) -> float:
    """The largest difference, as a share of the largest gradient."""
    assert one.keys() == other.keys(), one.keys() ^ other.keys()
    largest = max(float(each.abs().max()) for each in other.values())
    return max(float((one[name] - other[name]).abs().max()) for name in one) / largest


def seconds(update: Update) -> float:
    """What one update takes."""
    if GPU:
        torch.cuda.synchronize()
    clock = time.perf_counter if GPU else time.process_time
    started = clock()
    update()
    if GPU:
        torch.cuda.synchronize()
    return clock() - started


def timed(kind: str, sizes: Namespace) -> list[Row]:
    """Tokens per second of the three, in turns, their gradients compared first."""
    makers = {}
    for who in ("tree", "padded", "trl"):
        try:
            makers[who] = made(kind, who, sizes)
        except ImportError as error:
            print(f"{kind}: ours alone: {error}", file=sys.stderr)
    gradients = {who: gradient(found) for who, found in makers.items()}
    off = {who: apart(found, gradients["padded"]) for who, found in gradients.items()}
    if sizes.dtype == "float32":
        assert max(off.values()) < 1e-5, off
    spent: dict[str, list[float]] = {who: [] for who in makers}
    for _ in range(sizes.rounds):
        for who, (_, update) in makers.items():
            spent[who].append(seconds(update))
    tokens = sum(len(each.ids) for each in made_rows(sizes))
    speed = {who: tokens / median(found) for who, found in spent.items()}
    rows = [
        row(f"{kind}: tokens a second, {who}", speed[who], speed.get("trl"), more_is_better=True)
        for who in ("padded", "tree")
    ]
    name = f"{kind}: seconds an update, tree beside padded"
    rows.append(row(name, median(spent["tree"]), median(spent["padded"]), more_is_better=False))
    differences = ", ".join(f"{who} {value:.1e}" for who, value in off.items() if who != "padded")
    print(f"{kind}: gradients differ from padded by {differences}", file=sys.stderr)
    return rows


def held(kind: str, who: str, sizes: Namespace) -> float:
    """Megabytes that one update needs on top of models and rows."""
    _, update = made(kind, who, sizes)
    if GPU:
        update()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        update()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    update()
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    update()
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    """Kilobytes of memory, by the name that Linux has for them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def memory(kind: str) -> list[Row]:
    """Peak memory of the three, each in a process of its own."""
    found: dict[str, float] = {}
    for who in ("tree", "padded", "trl"):
        command = [sys.executable, *sys.argv, "--alone", kind, who]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found[who] = json.loads(done.stdout.splitlines()[-1])
        elif who != "trl":
            raise RuntimeError(done.stderr)
    return [
        row(f"{kind}: peak MB, {who}", found[who], found.get("trl"), more_is_better=False)
        for who in ("padded", "tree")
    ]


def main() -> None:
    """Measure what was asked for."""
    torch.set_num_threads(1)
    sizes = parsed()
    if sizes.alone:
        print(json.dumps(held(*sizes.alone, sizes)))
        return
    rows = [each for kind in sizes.kinds for each in timed(kind, sizes)]
    if sizes.memory or GPU:
        rows += [each for kind in sizes.kinds for each in memory(kind)]
    show(rows, as_json=sizes.json)


if __name__ == "__main__":
    main()
