"""TRL: prompt and completion, pairs, labelled completions, or prompts alone, as conversations."""

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from apps.export.card import write_card
from apps.export.consumer import Consumer, Form, pictured
from apps.export.examples import Example
from apps.export.table import BLOCKS, FLAG, PLAIN, TEXT, Row, blocks, clean, plain
from webagent.models.model import Message


def _form(*answers: str, is_labelled: bool = False) -> Form:
    """`prompt`, the answers and what is known of them; typed content only beside pictures, as the
    templates of text models seldom read it."""

    def columns(is_pictured: bool) -> Mapping[str, pa.DataType]:
        kind = BLOCKS if is_pictured else PLAIN
        texts = {name: kind for name in ("prompt", *answers)}
        rest = {**({"label": FLAG} if is_labelled else {}), "origin": TEXT}
        return pictured({**texts, **rest})(is_pictured)

    def row(example: Example, is_pictured: bool) -> Row:
        write = blocks if is_pictured else plain
        texts = {"completion": example.reply, "chosen": example.reply, "rejected": example.rejected}
        return {
            "prompt": write(example.messages),
            **{name: write([Message("assistant", texts[name])]) for name in answers},
            **({"label": example.label} if is_labelled else {}),
            "origin": clean(json.dumps(example.origin)),
        }

    return Form(columns, row)


def _finish(folder: Path, what: str, is_pictured: bool) -> None:
    write_card(folder, {"default": "data/*.parquet"}, f"webagent, {what} for TRL")


TRL = Consumer(
    "trl",
    {
        "sft": _form("completion"),
        "preference": _form("chosen", "rejected"),
        "kto": _form("completion", is_labelled=True),
        "rl": _form(),
    },
    _finish,
)
"""For `SFTTrainer`, `DPOTrainer`, `KTOTrainer` and `GRPOTrainer`."""
