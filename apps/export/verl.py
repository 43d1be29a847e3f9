"""verl: `messages` for its multi-turn SFT dataset, `prompt` with a reward's facts for its RL."""

import json
from pathlib import Path

import pyarrow as pa

from apps.export.consumer import Consumer, Form, pictured, said
from apps.export.examples import Example
from apps.export.table import COUNT, PLAIN, TEXT, Row, clean, marked, unmarked
from tasks.suite import split_of
from webagent.serialize import to_json

_RL = {
    "data_source": TEXT,
    "prompt": PLAIN,
    "ability": TEXT,
    "reward_model": pa.struct([pa.field("style", TEXT), pa.field("ground_truth", TEXT)]),
    "extra_info": pa.struct(
        [
            pa.field("split", TEXT),
            pa.field("index", COUNT),
            pa.field("task", TEXT),
            pa.field("seed", COUNT),
            pa.field("episode", TEXT),
        ]
    ),
}


def _sft_row(example: Example, is_pictured: bool) -> Row:
    messages = [*marked(example.messages), said(unmarked(example.reply))]
    return {"messages": messages, "origin": clean(json.dumps(example.origin))}


def _rl_row(example: Example, is_pictured: bool) -> Row:
    task = example.task
    return {
        "data_source": task.id.partition("/")[0],
        "prompt": marked(example.messages),
        "ability": "web",
        "reward_model": {"style": "rule", "ground_truth": clean(json.dumps(to_json(task)))},
        "extra_info": {
            "split": _split(task.seed),
            "index": example.number,
            "task": task.id,
            "seed": task.seed,
            "episode": example.origin["episode"],
        },
    }


def _split(seed: int) -> str:
    try:
        return split_of(seed)
    except ValueError:
        return ""


def _finish(folder: Path, what: str, is_pictured: bool) -> None:
    """Its files are named on its command line; nothing else is needed."""


VERL = Consumer(
    "verl",
    {
        "sft": Form(pictured({"messages": PLAIN, "origin": TEXT}), _sft_row),
        "rl": Form(pictured(_RL), _rl_row),
    },
    _finish,
)
"""For `MultiTurnSFTDataset` and `RLHFDataset`."""
