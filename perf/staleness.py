"""How learning from samples of older weights fares, with and without truncated importance weights.

    tasks="--tasks click-dialog-2 click-test-2"
    webagent benchmark --policy oracle $tasks --split train --seeds 40 --name pool
    webagent benchmark --policy oracle $tasks --split development --seeds 20 --name held-out
    python perf/staleness.py runs/pool runs/held-out [--staleness 0 1 4 8] [--seeds 3]

A Llama of some 0.1 million random weights learns by policy gradient which element of a stored page
to click, through this project's own trainer. Pages are the first ones of solved episodes of a
single click; a click on the element that solved it has the reward 1, any other 0; no browser runs.
Each update samples from the weights of so many updates ago. `weighted` corrects for that by
min(now / then, cap) of each token, `clipped` takes the ratio to the sampling within PPO's bounds,
`plain` does nothing. Printed is the share of held-out pages on which the likeliest element is the
right one, every ten updates, means over seeds; JSON with --out.
"""

import argparse
import json
import random
import statistics
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # perf is installed nowhere
    sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from tests.fakes.tiny_models import _llama, tokenizer
from webagent.action.actions import Click
from webagent.observation import render
from webagent.store import Store
from webagent.training.language.config import TrainConfig
from webagent.training.language.losses import Clipping
from webagent.training.language.objectives import (
    LossPart,
    PolicyGradient,
    ScoredUnits,
    Supervised,
    UpdateTotals,
)
from webagent.training.language.rows import Encoded, TokenRow, make_encoded_row
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit

MARKS = 12
"""Pages with more elements are left out."""
PAGES, SAMPLES = 8, 8
"""Of an update: groups, and clicks in each."""
EVERY = 10
FORM, HINTED = 60, 0.5
"""Updates of imitation before, and the share of right clicks among those imitated: from nothing a
model so small collapses to one number before it has read a page."""
HELD = 100
"""Pages that are measured on, at most."""


@dataclass(frozen=True, slots=True)
class ClickPage:
    """A page as the model reads it, with the element that solves it."""

    ids: tuple[int, ...]
    right: int
    marks: int
    """Elements on it, numbered from 1."""


class UncorrectedGradient(PolicyGradient):
    """As if the samples were of the weights as they are now."""

    def __call__(self, scored: ScoredUnits, whole: UpdateTotals) -> LossPart:
        """Return the loss with a ratio of one everywhere."""
        taught = replace(scored.taught, behaviour=scored.log_probs.detach())
        return super().__call__(replace(scored, taught=taught), whole)


BOUNDS = Clipping(high=0.28)
WAYS = {
    "weighted": PolicyGradient(BOUNDS, recomputed=True),
    "clipped": PolicyGradient(BOUNDS),
    "plain": UncorrectedGradient(BOUNDS),
}


def read_pages(run: Path, tasks: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return text, right mark and number of marks of each page of these tasks that one click
    solved."""
    found = []
    with Store.open(run) as store:
        for episode in store.trajectories():
            action = episode.steps[0].decision.action if len(episode.steps) == 1 else None
            if episode.task.name not in tasks:
                continue
            if isinstance(action, Click) and episode.evidence.get("raw_reward") == 1:
                page = episode.steps[0].observation
                most = max(node.mark or 0 for node in page.nodes)
                if most <= MARKS:
                    found.append((f"{episode.goal}\n{render(page)}\nclick ", action.mark, most))
    return found


class Clicker:
    """A small model that answers a page with the number of an element."""

    def __init__(self, words: PreTrainedTokenizerFast, marks: Sequence[int], seed: int) -> None:
        torch.manual_seed(seed)
        self.model: nn.Module = LlamaForCausalLM(_llama(len(words), 48, 2, words))
        self.marks = torch.tensor(marks)
        self.pad = int(words.pad_token_id)  # type: ignore[arg-type]

    def score(self, pages: Sequence[ClickPage]) -> Tensor:
        """(pages, vocabulary) log-probabilities of what follows each page."""
        width = max(len(page.ids) for page in pages)
        rows = [page.ids + (self.pad,) * (width - len(page.ids)) for page in pages]
        mask = [[1] * len(page.ids) + [0] * (width - len(page.ids)) for page in pages]
        with torch.no_grad():
            logits = self.model(input_ids=torch.tensor(rows), attention_mask=torch.tensor(mask))
        ends = torch.tensor([len(page.ids) - 1 for page in pages])
        found: Tensor = logits.logits[torch.arange(len(pages)), ends].log_softmax(-1)
        return found

    def measure(self, pages: Sequence[ClickPage]) -> float:
        """Share of pages whose likeliest element is the right one."""
        scores = self.score(pages)[:, self.marks]
        chosen = [
            int(row[: page.marks].argmax()) + 1 for row, page in zip(scores, pages, strict=True)
        ]
        return statistics.fmean(a == page.right for a, page in zip(chosen, pages, strict=True))

    def sample(self, pages: Sequence[ClickPage], dice: torch.Generator) -> list[TrainingUnit]:
        """Clicks on these pages with their advantages in the group; groups all alike are left
        out."""
        units = []
        for page, scores in zip(pages, self.score(pages), strict=True):
            drawn = torch.multinomial(scores.exp(), SAMPLES, replacement=True, generator=dice)
            right = int(self.marks[page.right - 1])
            rewards = [float(int(each) == right) for each in drawn]
            mean, spread = statistics.fmean(rewards), statistics.pstdev(rewards)
            if spread:
                units += [
                    TrainingUnit((make_click(page, int(each), float(scores[each]), gain),))
                    for each, reward in zip(drawn, rewards, strict=True)
                    for gain in [(reward - mean) / spread]
                ]
        return units


def make_click(page: ClickPage, reply: int, log_prob: float, gain: float) -> TokenRow:
    """Return the row of a click."""
    encoded = Encoded(page.ids, (reply,))
    return make_encoded_row(encoded, log_probs=(log_prob,)).with_advantage(gain)


def learn(way: str, staleness: int, seed: int, data: Any, updates: int, rate: float) -> list[float]:
    """Learn once; the measure before, and after every ten updates."""
    words, marks, pool, held = data
    clicker = Clicker(words, marks, seed)
    drawn, dice = random.Random(seed), torch.Generator().manual_seed(seed)
    config = TrainConfig(learning_rate=rate, units_per_step=PAGES * SAMPLES, seed=seed)
    form = Trainer(clicker.model, Supervised(), replace(config, learning_rate=3e-3))
    for _ in range(FORM):  # numbers of elements that are there, every other time the right one
        pages = drawn.sample(pool, 16)
        replies = [
            marks[(page.right - 1) if drawn.random() < HINTED else drawn.randrange(page.marks)]
            for page in pages
        ]
        rows = [make_click(*each, 0.0, 0.0) for each in zip(pages, replies, strict=True)]
        form.update([TrainingUnit((row,)) for row in rows])
    trainer = Trainer(clicker.model, WAYS[way], config)
    sampler = Clicker(words, marks, seed)
    versions: deque[dict[str, Tensor]] = deque(maxlen=staleness + 1)
    curve = [clicker.measure(held)]
    for update in range(1, updates + 1):
        state = clicker.model.state_dict()
        versions.append({name: value.clone() for name, value in state.items()})
        sampler.model.load_state_dict(versions[0])
        units = sampler.sample(drawn.sample(pool, PAGES), dice)
        if units:
            trainer.update(units)
        if update % EVERY == 0:
            curve.append(clicker.measure(held))
    return curve


def main() -> None:
    """Learn in all ways; print a row for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("runs", type=Path, nargs=2, help="pages to learn on; pages held out")
    parser.add_argument("--tasks", nargs="+", default=["click-dialog-2", "click-test-2"])
    parser.add_argument("--staleness", type=int, nargs="+", default=[0, 1, 4, 8])
    parser.add_argument("--ways", choices=tuple(WAYS), nargs="+", default=list(WAYS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate (0.002)")
    parser.add_argument("--out", type=Path, help="a file of JSON, a line for each learning")
    asked = parser.parse_args()
    texts = [read_pages(run, asked.tasks) for run in asked.runs]
    lines = tuple(text for text, _, _ in texts[0])
    words = tokenizer(600, lines)
    words.add_tokens([f"<{mark}>" for mark in range(1, MARKS + 1)])
    marks = words.convert_tokens_to_ids([f"<{mark}>" for mark in range(1, MARKS + 1)])
    pool, held = ([ClickPage(tuple(words.encode(t)), r, m) for t, r, m in part] for part in texts)
    held = random.Random(0).sample(held, min(len(held), HELD))
    print(f"{len(pool)} pages to learn on, {len(held)} held out; chance", end=" ")
    print(f"{statistics.fmean(1 / page.marks for page in held):.2f}", flush=True)
    print("| way | staleness | before |", *range(EVERY, asked.updates + 1, EVERY), sep=" ")
    for staleness in asked.staleness:
        for way in asked.ways:
            data = (words, marks, pool, held)
            curves = []
            for seed in range(asked.seeds):
                curves.append(learn(way, staleness, seed, data, asked.updates, asked.rate))
                if asked.out:
                    row = {"way": way, "staleness": staleness, "seed": seed, "curve": curves[-1]}
                    with asked.out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(row) + "\n")
            means = [statistics.fmean(each) for each in zip(*curves, strict=True)]
            print(f"| {way} | {staleness} |", *(f"{mean:.2f}" for mean in means), flush=True)


if __name__ == "__main__":
    main()
