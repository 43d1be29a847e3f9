"""LLaMA-Factory: ShareGPT conversations with `<image>` marks, named in `dataset_info.json`."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa

from apps.export.consumer import Consumer, Form, pictured, said
from apps.export.examples import Example
from apps.export.table import FLAG, PLAIN, TEXT, Row, clean, marked, unmarked

_REPLY = pa.struct([pa.field("role", TEXT), pa.field("content", TEXT)])
_TAGS = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "system_tag": "system",
}


def _sft_row(example: Example, is_pictured: bool) -> Row:
    messages = [*marked(example.messages), said(unmarked(example.reply))]
    return {"messages": messages, "origin": clean(json.dumps(example.origin))}


def _kto_row(example: Example, is_pictured: bool) -> Row:
    return {**_sft_row(example, is_pictured), "label": example.label}


def _pair_row(example: Example, is_pictured: bool) -> Row:
    return {
        "messages": marked(example.messages),
        "chosen": said(unmarked(example.reply)),
        "rejected": said(unmarked(example.rejected)),
        "origin": clean(json.dumps(example.origin)),
    }


def _name(what: str) -> str:
    return f"webagent_{what}"


def _finish(folder: Path, what: str, is_pictured: bool) -> None:
    """`dataset_info.json`, by which `dataset_dir` is read."""
    columns = {"messages": "messages"}
    if what == "preference":
        columns |= {"chosen": "chosen", "rejected": "rejected"}
    if what == "kto":
        columns["kto_tag"] = "label"
    if is_pictured:
        columns["images"] = "images"
    facts: dict[str, Any] = {"file_name": _name(what), "formatting": "sharegpt"}
    if what == "preference":
        facts["ranking"] = True
    info = {_name(what): {**facts, "columns": columns, "tags": _TAGS}}
    (folder / "dataset_info.json").write_text(json.dumps(info, indent=1) + "\n", encoding="utf-8")


LLAMAFACTORY = Consumer(
    "llamafactory",
    {
        "sft": Form(pictured({"messages": PLAIN, "origin": TEXT}), _sft_row),
        "preference": Form(
            pictured({"messages": PLAIN, "chosen": _REPLY, "rejected": _REPLY, "origin": TEXT}),
            _pair_row,
        ),
        "kto": Form(pictured({"messages": PLAIN, "label": FLAG, "origin": TEXT}), _kto_row),
    },
    _finish,
    _name,
)
"""For its stages `sft`, `rm` or `dpo`, and `kto`."""
