"""A tiny model with random weights that was taught to call `click` with any mark, and no more."""

import random
from collections.abc import Sequence
from typing import Any

MARKS = range(1, 7)
_FRAME = ('<tool_call>\n{"name": "click", "arguments": {"mark": ', "}}\n</tool_call>")
"""What stands around the mark of a call; a token each, so that minutes teach the form."""


def make_caller(messages: Sequence[list[dict[str, Any]]], tools: list[Any], steps: int = 80) -> Any:
    """The model and its tokenizer, with the chat template of Qwen2.5 and what TRL reads calls by.

    `messages` are the prompts on which it learns the form of a call; the marks are drawn at random.
    """
    import torch
    from transformers import LlamaForCausalLM
    from trl.chat_template_utils import add_response_schema, qwen2_5_chat_template

    from tests.fakes.tiny_models import _llama, tokenizer

    torch.manual_seed(0)
    drawn = random.Random(0)
    calls = [_call(mark) for mark in MARKS]
    plain = tokenizer()
    plain.chat_template = qwen2_5_chat_template
    lines = [
        plain.apply_chat_template([*prompt, call], tools=tools, tokenize=False)
        for prompt in messages
        for call in calls
    ]
    words = tokenizer(2000, tuple(line for line in lines for line in line.split("<|im_end|>")))
    words.chat_template = qwen2_5_chat_template
    words.add_special_tokens({"eos_token": "<|im_end|>"})
    words.add_tokens(list(_FRAME))
    words.padding_side = "left"
    add_response_schema(words)
    model = LlamaForCausalLM(_llama(len(words), 64, 2, words))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(steps):
        prompt = drawn.choice(messages)
        start = _ids(words, prompt, tools, True)
        rows = [_ids(words, [*prompt, call], tools, False) for call in calls]
        rows = [row[: len(row) - row[::-1].index(words.eos_token_id)] for row in rows]
        width = max(map(len, rows))
        ids = torch.tensor([row + [words.pad_token_id] * (width - len(row)) for row in rows])
        labels = ids.clone()
        labels[:, : len(start)] = -100
        labels[ids == words.pad_token_id] = -100
        loss = model(input_ids=ids, attention_mask=(ids != words.pad_token_id), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.generation_config.eos_token_id = words.eos_token_id
    model.generation_config.pad_token_id = words.pad_token_id
    return model.eval(), words


def _ids(words: Any, messages: list[dict[str, Any]], tools: list[Any], asks: bool) -> list[int]:
    ids: list[int] = words.apply_chat_template(
        messages, tools=tools, add_generation_prompt=asks, return_dict=False
    )
    return ids


def _call(mark: int) -> dict[str, Any]:
    calls = [{"type": "function", "function": {"name": "click", "arguments": {"mark": mark}}}]
    return {"role": "assistant", "content": "", "tool_calls": calls}
