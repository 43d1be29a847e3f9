"""How fast the built-in model trains and acts, on one thread.

    python perf/model_steps.py [--json] [--episodes 20]

Rows are made of demonstrations played in a real browser first. `theirs` is, for training, a plain
GPT-2 of transformers with the same width, depth, heads and words, fed batches of the same lengths.
A ratio above 1 favours us.
"""

import asyncio
import time
from collections.abc import Sequence

import torch
from rows import Row, options, row, show
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.miniwob import tasks as miniwob
from benchmarks.oracles import OraclePolicy
from webagent.browser import Browser
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.network import sample
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.records import Provenance, Trajectory
from webagent.rollout import collect, plan_episodes
from webagent.training.fit import FitConfig, fit
from webagent.training.rows import TrainingRow, grow_vocabulary, make_policy_rows

TASKS = ("click-checkboxes", "login-user", "email-inbox", "search-engine")
TRAINED_TOKENS = 60_000


async def demonstrate(episodes: int) -> list[Trajectory]:
    """Demonstrations of each task."""
    found: list[Trajectory] = []
    async with Browser() as browser:
        for name in TASKS:
            plan = plan_episodes([miniwob.task(name, i) for i in range(episodes)], Provenance())
            found += await collect(plan, OraclePolicy(name), browser.world)
    return found


def train_ours(model: BuiltinModel, rows: Sequence[TrainingRow]) -> float:
    """Tokens per second of the built-in network's training."""
    report = fit(model.network, rows, FitConfig(tokens=TRAINED_TOKENS))
    return report.tokens / report.seconds


def train_gpt2(model: BuiltinModel, rows: Sequence[TrainingRow]) -> float:
    """Tokens per second of a plain GPT-2 of the same size on batches of the same lengths."""
    sizes = model.network.config
    config = GPT2Config(
        vocab_size=sizes.capacity,
        n_embd=sizes.width,
        n_layer=sizes.depth,
        n_head=sizes.heads,
        n_positions=512,
    )
    network = GPT2LMHeadModel(config)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=True)
    lengths = sorted(row.tokens for row in rows)
    used, place, started = 0, 0, time.perf_counter()
    while used < TRAINED_TOKENS:
        length = lengths[place % len(lengths)]
        place += max(1, 1000 // length)
        ids = torch.randint(sizes.capacity, (max(1, 1000 // length), length))
        loss = network(input_ids=ids, labels=ids).loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        used += ids.numel()
    return used / (time.perf_counter() - started)


def act(model: BuiltinModel, rows: Sequence[TrainingRow], at_once: int) -> float:
    """Greedy actions per second, so many in a pass."""
    grammar = ActionGrammar(Codec(model.vocabulary))
    prefixes = [row.prefix for row in rows]
    started = time.perf_counter()
    for first in range(0, len(prefixes), at_once):
        part = prefixes[first : first + at_once]
        sample(model.network, grammar, part, [None] * len(part))
    return len(prefixes) / (time.perf_counter() - started)


def measure(episodes: int) -> list[Row]:
    """All rows."""
    torch.set_num_threads(1)
    demonstrations = asyncio.run(demonstrate(episodes))
    model = BuiltinModel.create(0)
    grow_vocabulary(model.vocabulary, demonstrations)
    grammar = ActionGrammar(Codec(model.vocabulary))
    rows = [row for t in demonstrations for row in make_policy_rows(grammar, t)]
    measured = [
        ("training, tokens per second", train_ours(model, rows), train_gpt2(model, rows)),
        ("acting, steps per second, 1 at once", act(model, rows, 1), None),
        ("acting, steps per second, 8 at once", act(model, rows, 8), None),
    ]
    return [row(name, ours, theirs, more_is_better=True) for name, ours, theirs in measured]


def main() -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--episodes", type=int, default=20, help="demonstrations a task")
    chosen = parser.parse_args()
    show(measure(chosen.episodes), as_json=chosen.json)


if __name__ == "__main__":
    main()
