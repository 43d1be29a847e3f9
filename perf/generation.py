"""How fast weights in this process generate, beside `generate` of transformers, on one thread.

    python perf/generation.py [--json] [--pairs 5] [--only candidates,episodes]

A Llama of 5 million random parameters, float32. Both sides run in this process, in alternating
pairs; a figure is the median over the pairs, in milliseconds, by the wall clock and by processor
time. A ratio above 1 favours us.

- candidates: 8 replies of 32 ids to one prompt of 1,500, against `num_return_sequences=8`.
- episodes: 8 episodes of 3 steps at once, prompts of 350 to 700 ids that share 150, 64 ids a reply,
  against the plain loop that asks `generate` for one reply after another.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median

import torch
from rows import Row, options, row, show
from transformers import LlamaConfig, LlamaForCausalLM

from webagent.models import Tokens
from webagent.models.local import Generation, LocalModel
from webagent.models.local.prompts import ChatWriter, PromptReader
from webagent.models.local.weights import Endings, LoadedWeights

VOCABULARY, CONTEXT, REPLY, STEP_REPLY = 2_000, 4_096, 32, 64
Timed = tuple[float, float]
Run = Callable[[], Awaitable[None]]


class Letters:
    """The least of a tokenizer: prompts here are made of ids."""

    def __init__(self) -> None:
        self.added_tokens_decoder: dict[int, object] = {}

    def decode(self, ids: list[int], **options: object) -> str:
        """Ids as numbers."""
        return " ".join(map(str, ids))


def network() -> LlamaForCausalLM:
    """4 layers, 320 wide, 8 heads that share 2 of keys and values: 4.9 million parameters."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=320,
        intermediate_size=800,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        eos_token_id=None,
        bos_token_id=None,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config).eval()


def local(module: torch.nn.Module, generation: Generation) -> LocalModel:
    """Our loop around the network; no id ends a reply, so that all have the same length."""
    words = Letters()
    conversation = ChatWriter(words, "", typed=False, marks=())
    reader = PromptReader(module, conversation, None, CONTEXT)
    return LocalModel(
        LoadedWeights("perf", module, words, reader, Endings(frozenset())), generation
    )


def ids(count: int, seed: int) -> tuple[int, ...]:
    """So many random ids."""
    source = torch.Generator().manual_seed(seed)
    return tuple(torch.randint(5, VOCABULARY, (count,), generator=source).tolist())


async def timed(run: Run) -> Timed:
    """Milliseconds by the wall clock and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    await run()
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - processor)


async def compared(name: str, pairs: int, ours: Run, theirs: Run) -> list[Row]:
    """Both sides once to warm up, then in alternating pairs."""
    await ours()
    await theirs()
    found: tuple[list[Timed], list[Timed]] = ([], [])
    for pair in range(pairs):
        for side in (0, 1) if pair % 2 else (1, 0):
            found[side].append(await timed((ours, theirs)[side]))
    rows = []
    for which, clock in enumerate(("wall", "processor")):
        ms = [median(one[which] for one in side) for side in found]
        rows.append(row(f"{name}, ms {clock}", ms[0], ms[1], more_is_better=False))
    return rows


def plain(module: LlamaForCausalLM, prompt: tuple[int, ...], **settings: object) -> None:
    """What `generate` writes."""
    mask = torch.ones(1, len(prompt), dtype=torch.long)
    module.generate(torch.tensor([prompt]), attention_mask=mask, **settings)


async def candidates(module: LlamaForCausalLM, pairs: int) -> list[Row]:
    """8 replies to one prompt, the prompt new each time."""
    seeds = iter(range(1, 1_000_000))
    model = local(module, Generation())

    async def ours() -> None:
        prompt = Tokens(ids(1_500, next(seeds)))
        await model.complete(prompt, n=8, temperature=1.0, seed=1, max_tokens=REPLY)

    async def theirs() -> None:
        prompt = ids(1_500, next(seeds))
        plain(module, prompt, do_sample=True, num_return_sequences=8, max_new_tokens=REPLY)

    found = await compared("8 replies to a prompt of 1,500", pairs, ours, theirs)
    await model.close()
    return found


def step_prompt(number: int, step: int, start: int) -> tuple[int, ...]:
    """The instructions that all share, and the page of one step of one episode."""
    return ids(150, 0) + ids(200 + 50 * number, start + 10 * number + step)


async def episode(model: LocalModel, number: int, start: int) -> None:
    """3 steps, one after the other."""
    for step in range(3):
        await model.complete(Tokens(step_prompt(number, step, start)), max_tokens=STEP_REPLY)


async def episodes(module: LlamaForCausalLM, pairs: int) -> list[Row]:
    """8 at once against one reply after another; and tokens a second of either side."""
    starts = iter(range(1_000, 100_000_000, 1_000))
    model = local(module, Generation())

    async def ours() -> None:
        start = next(starts)
        await asyncio.gather(*(episode(model, number, start) for number in range(8)))

    async def theirs() -> None:
        start = next(starts)
        for number in range(8):
            for step in range(3):
                prompt = step_prompt(number, step, start)
                plain(module, prompt, do_sample=False, max_new_tokens=STEP_REPLY)

    found = await compared("8 episodes of 3 steps", pairs, ours, theirs)
    await model.close()
    rates = [8 * 3 * STEP_REPLY / (ms / 1e3) for ms in (found[0].ours, found[0].theirs or 1.0)]
    return [*found, row("8 episodes, tokens per second", *rates, more_is_better=True)]


async def measure(only: list[str], pairs: int) -> list[Row]:
    """All rows."""
    torch.set_num_threads(1)
    module = network()
    parts = {"candidates": candidates, "episodes": episodes}
    return [one for name in only for one in await parts[name](module, pairs)]


def main() -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--pairs", type=int, default=5, help="pairs of runs a figure")
    parser.add_argument("--only", default="candidates,episodes", help="parts, by comma")
    chosen = parser.parse_args()
    show(asyncio.run(measure(chosen.only.split(","), chosen.pairs)), as_json=chosen.json)


if __name__ == "__main__":
    main()
