"""axolotl: conversations with a flag on each message that is trained, and the settings to match."""

import base64
import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from apps.export.consumer import DATA, Columns, Consumer, Form, pictured, said
from apps.export.examples import Example
from apps.export.table import BLOCKS, FLAG, PLAIN, TEXT, Row, blocks, clean, plain
from webagent.models.model import Message

_BLOCK = {"type": TEXT, "text": TEXT, "base64": TEXT}
"""Pictures stand in their places, as axolotl reads no more than one from a column."""


def _struct(fields: Columns) -> pa.DataType:
    return pa.struct([pa.field(name, kind) for name, kind in fields.items()])


def _sft_columns(is_pictured: bool) -> Columns:
    content = pa.list_(_struct(_BLOCK)) if is_pictured else TEXT
    message = _struct({"role": TEXT, "content": content, "training": FLAG})
    return {"messages": pa.list_(message), "origin": TEXT}


def _sft_row(example: Example, is_pictured: bool) -> Row:
    messages = (*example.messages, Message("assistant", example.reply))
    written = [
        {
            "role": message.role,
            "content": _content(message) if is_pictured else clean(message.text),
            "training": message.role == "assistant" and message is messages[-1],
        }
        for message in messages
    ]
    return {"messages": written, "origin": clean(json.dumps(example.origin))}


def _content(message: Message) -> list[dict[str, Any]]:
    texts = [{"type": "text", "text": clean(message.text), "base64": None}]
    return texts + [
        {"type": "image", "text": None, "base64": base64.b64encode(image).decode("ascii")}
        for image in message.images
    ]


def _pair_columns(is_pictured: bool) -> Columns:
    reply = _struct({"role": TEXT, "content": TEXT})
    prompt = BLOCKS if is_pictured else PLAIN
    return pictured({"messages": prompt, "chosen": reply, "rejected": reply, "origin": TEXT})(
        is_pictured
    )


def _pair_row(example: Example, is_pictured: bool) -> Row:
    return {
        "messages": (blocks if is_pictured else plain)(example.messages),
        "chosen": said(clean(example.reply)),
        "rejected": said(clean(example.rejected)),
        "origin": clean(json.dumps(example.origin)),
    }


def _kto_row(example: Example, is_pictured: bool) -> Row:
    """Its strategy takes the prompt and the reply in one list, and writes them as ChatML."""
    return {
        "completion": [*plain(example.messages), said(clean(example.reply))],
        "label": example.label,
        "origin": clean(json.dumps(example.origin)),
    }


_SETTINGS = {
    "sft": """\
    type: chat_template
    field_messages: messages
    message_field_training: training
    roles_to_train: []
    train_on_eos: turn
""",
    "preference": "    type: chat_template.default\n",
    "kto": "    type: chatml.argilla_chat\n",
}
_HEADS = {"sft": "", "preference": "rl: dpo\n", "kto": "rl: kto\n"}
_PICTURED = "skip_prepare_dataset: true\nremove_unused_columns: false\nsample_packing: false\n"


def _finish(folder: Path, what: str, is_pictured: bool) -> None:
    """`axolotl.yml`: what a configuration needs of this data."""
    head = _HEADS[what] + (_PICTURED if is_pictured else "")
    text = (
        f"# To be taken into an axolotl configuration; the path is relative to this folder.\n{head}"
        f"datasets:\n  - path: {DATA}\n    split: train\n{_SETTINGS[what]}"
    )
    (folder / "axolotl.yml").write_text(text, encoding="utf-8")


AXOLOTL = Consumer(
    "axolotl",
    {
        "sft": Form(_sft_columns, _sft_row),
        "preference": Form(_pair_columns, _pair_row),
        "kto": Form(
            pictured({"completion": PLAIN, "label": FLAG, "origin": TEXT}),
            _kto_row,
            takes_pictures=False,
        ),
    },
    _finish,
)
"""For its strategies `chat_template`, `chat_template.default` of DPO and `chatml.argilla_chat`."""
