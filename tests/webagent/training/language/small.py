"""Small models and rows for the trainer's tests."""

import random
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from webagent.training.language.losses import token_log_probs
from webagent.training.language.rows import TokenRow

VOCABULARY = 97
SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def llama(seed: int = 0, **changes: object) -> LlamaForCausalLM:
    """A Llama of 20,000 random weights."""
    torch.manual_seed(seed)
    usual = SIZES | {"initializer_range": 0.2, "max_position_embeddings": 256}
    return LlamaForCausalLM(LlamaConfig(**(usual | changes)))


def row(prompt: Sequence[int], reply: Sequence[int], **fields: object) -> TokenRow:
    """A row that teaches the reply, as one step."""
    start, stop = len(prompt), len(prompt) + len(reply)
    weights = (0.0,) * start + (1.0,) * len(reply)
    places = {"steps": (0,), "spans": ((start, stop),)}
    return TokenRow(ids=(*prompt, *reply), weights=weights, **(places | fields))


def log_probs(model: nn.Module, rows: Sequence[TokenRow], temperature: float = 1.0) -> Tensor:
    """Of the taught ids of the rows in order, one forward pass a row."""
    found = []
    for each in rows:
        logits = model(input_ids=torch.tensor([each.ids]), use_cache=False).logits[0]
        places = torch.tensor([i for i, weight in enumerate(each.weights) if weight])
        taught = torch.tensor(each.ids)[places]
        found.append(token_log_probs(logits[places - 1], taught, temperature))
    return torch.cat(found)


def ids(dice: random.Random, count: int) -> list[int]:
    """So many ids drawn."""
    return [dice.randrange(VOCABULARY) for _ in range(count)]


def rows(count: int, seed: int = 0, prompts: int = 3) -> list[TokenRow]:
    """Sampled rows of different lengths on a few prompts, with advantages."""
    dice = random.Random(seed)
    asked = [ids(dice, dice.randrange(5, 30)) for _ in range(prompts)]
    made = []
    for number in range(count):
        prompt, reply = dice.choice(asked), ids(dice, dice.randrange(1, 12))
        behaviour = (0.0,) * len(prompt) + tuple(dice.uniform(-6, -3) for _ in reply)
        each = row(prompt, reply, log_probs=behaviour, episode=f"e{number}")
        made.append(each.with_advantage(dice.uniform(-1, 1)))
    return made


class Bigram(nn.Module):
    """The smallest thing that gives logits: one table, and a limit on how much it takes."""

    def __init__(self, most: int = 10**9) -> None:
        super().__init__()
        self.most = most
        self.table = nn.Parameter(torch.zeros(VOCABULARY, VOCABULARY))
        self.calls: list[int] = []

    def forward(self, input_ids: Tensor, **_: object) -> Tensor:
        """The rows of the table; out of memory above the limit."""
        self.calls.append(input_ids.numel())
        if input_ids.numel() > self.most:
            raise torch.OutOfMemoryError("tried to allocate 7 GiB")
        return self.table[input_ids]
