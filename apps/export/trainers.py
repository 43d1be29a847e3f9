"""The trainers that read an export: TRL, verl, LLaMA-Factory, axolotl, with columns and files."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from apps.export.examples import Example
from apps.export.table import (
    BLOCKS,
    COUNT,
    FLAG,
    IMAGES,
    PLAIN,
    TEXT,
    Row,
    blocks,
    clean,
    marked,
    plain,
    struct_of,
)
from tasks.suite import split_of
from webagent.models import Message
from webagent.serialize import to_json

Columns: TypeAlias = Mapping[str, pa.DataType]

DATA = "data"
"""The folder of the Parquet files, where a consumer does not want another."""


@dataclass(frozen=True, slots=True)
class ExampleFormat:
    """One kind of example as one consumer reads it."""

    columns: Callable[[bool], Columns]
    """Given whether there are pictures; a column `images` is filled with them."""
    row: Callable[[Example, bool], Row]
    """The other columns of one example."""
    takes_pictures: bool = True


@dataclass(frozen=True, slots=True)
class Consumer:
    """A trainer that reads files."""

    name: str
    forms: Mapping[str, ExampleFormat]
    """By what is exported: `sft`, `preference`, `kto` or `rl`."""
    finish: Callable[[Path, str, bool], None] | None = None
    """Writes what it needs beside the data: given the folder, what, and whether with pictures."""
    data: Callable[[str], str] = lambda what: DATA
    """The folder of the Parquet files within the export's."""


Field: TypeAlias = tuple[pa.DataType | None, Callable[[Example, bool], Any]]
"""Type and value of a column, given whether there are pictures. None: messages, whose content is
typed beside pictures only, as the templates of text models seldom read typed content."""


def build_format(fields: Mapping[str, Field], *, takes_pictures: bool = True) -> ExampleFormat:
    """Return the form of these columns, with the episode and any `images`."""

    def columns(is_pictured: bool) -> Columns:
        messages = BLOCKS if is_pictured else PLAIN
        kinds = {name: messages if kind is None else kind for name, (kind, _) in fields.items()}
        return {**kinds, "origin": TEXT, **({"images": IMAGES} if is_pictured else {})}

    def row(example: Example, is_pictured: bool) -> Row:
        return {name: write(example, is_pictured) for name, (_, write) in fields.items()}

    return ExampleFormat(columns, row, takes_pictures)


def assistant(text: str) -> dict[str, Any]:
    """Return the assistant's message, as plain text."""
    return {"role": "assistant", "content": text}


def write_card(folder: Path, tables: Mapping[str, str], title: str) -> None:
    """Write README.md: each table's name with the pattern of its files."""
    lines = ["---", "tags:", "- webagent", "- web-agents", "configs:"]
    for name, pattern in tables.items():
        lines += [f"- config_name: {name}", "  data_files:", "  - split: train"]
        lines += [f"    path: {pattern}"]
    lines += ["---", "", f"# {title}", ""]
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_messages(messages: Iterable[Message], is_pictured: bool) -> list[Row]:
    """Return the messages with typed content beside pictures, else as text."""
    return (blocks if is_pictured else plain)(messages)


_REPLY = struct_of({"role": TEXT, "content": TEXT})
_PROMPT: Field = (None, lambda example, pics: write_messages(example.messages, pics))
_LABEL: Field = (FLAG, lambda example, _: example.label)
_CONVERSATION: Mapping[str, Field] = {
    "messages": (PLAIN, lambda example, _: [*marked(example.messages), assistant(example.reply)])
}
_BLOCK = {"type": TEXT, "text": TEXT, "base64": TEXT}
"""Pictures stand in their places, as axolotl reads no more than one from a column."""


def _axolotl_sft_row(example: Example, is_pictured: bool) -> Row:
    messages = (*example.messages, Message("assistant", example.reply))
    written = []
    for message in messages:
        content: Any = message.text
        if is_pictured:
            content = [{"type": "text", "text": content, "base64": None}]
            for image in message.images:
                encoded = base64.b64encode(image).decode("ascii")
                content.append({"type": "image", "text": None, "base64": encoded})
        is_reply = message is messages[-1]
        written.append({"role": message.role, "content": content, "training": is_reply})
    return {"messages": written}


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


def _axolotl_finish(folder: Path, what: str, is_pictured: bool) -> None:
    """Write `axolotl.yml`: what a configuration needs of this data."""
    head = _HEADS[what] + (_PICTURED if is_pictured else "")
    text = (
        f"# To be taken into an axolotl configuration; the path is relative to this folder.\n{head}"
        f"datasets:\n  - path: {DATA}\n    split: train\n{_SETTINGS[what]}"
    )
    (folder / "axolotl.yml").write_text(text, encoding="utf-8")


AXOLOTL = Consumer(
    "axolotl",
    {
        "sft": ExampleFormat(
            lambda is_pictured: {
                "messages": pa.list_(
                    struct_of(
                        {
                            "role": TEXT,
                            "content": pa.list_(struct_of(_BLOCK)) if is_pictured else TEXT,
                            "training": FLAG,
                        }
                    )
                ),
                "origin": TEXT,
            },
            _axolotl_sft_row,
        ),
        "preference": build_format(
            {
                "messages": _PROMPT,
                "chosen": (_REPLY, lambda example, _: assistant(example.reply)),
                "rejected": (_REPLY, lambda example, _: assistant(example.rejected)),
            }
        ),
        # Its strategy takes prompt and reply in one list, and writes them as ChatML.
        "kto": build_format(
            {
                "completion": (
                    PLAIN,
                    lambda example, _: [*plain(example.messages), assistant(example.reply)],
                ),
                "label": _LABEL,
            },
            takes_pictures=False,
        ),
    },
    _axolotl_finish,
)
"""For its strategies `chat_template`, `chat_template.default` of DPO and `chatml.argilla_chat`."""


_TAGS = {
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "system_tag": "system",
}


def _llamafactory_name(what: str) -> str:
    return f"webagent_{what}"


def _llamafactory_finish(folder: Path, what: str, is_pictured: bool) -> None:
    """Write `dataset_info.json`, by which `dataset_dir` is read."""
    columns = {"messages": "messages"}
    facts: dict[str, Any] = {"file_name": _llamafactory_name(what), "formatting": "sharegpt"}
    if what == "preference":
        columns |= {"chosen": "chosen", "rejected": "rejected"}
        facts["ranking"] = True
    if what == "kto":
        columns["kto_tag"] = "label"
    if is_pictured:
        columns["images"] = "images"
    info = {_llamafactory_name(what): {**facts, "columns": columns, "tags": _TAGS}}
    (folder / "dataset_info.json").write_text(json.dumps(info, indent=1) + "\n", encoding="utf-8")


LLAMAFACTORY = Consumer(
    "llamafactory",
    {
        "sft": build_format(_CONVERSATION),
        "preference": build_format(
            {
                "messages": (PLAIN, lambda example, _: marked(example.messages)),
                "chosen": (_REPLY, lambda example, _: assistant(example.reply)),
                "rejected": (_REPLY, lambda example, _: assistant(example.rejected)),
            }
        ),
        "kto": build_format({**_CONVERSATION, "label": _LABEL}),
    },
    _llamafactory_finish,
    _llamafactory_name,
)
"""For its stages `sft`, `rm` or `dpo`, and `kto`."""


_KEPT: Field = (
    None,
    lambda example, pics: write_messages([Message("assistant", example.reply)], pics),
)
_REJECTED: Field = (
    None,
    lambda example, pics: write_messages([Message("assistant", example.rejected)], pics),
)

TRL = Consumer(
    "trl",
    {
        "sft": build_format({"prompt": _PROMPT, "completion": _KEPT}),
        "preference": build_format({"prompt": _PROMPT, "chosen": _KEPT, "rejected": _REJECTED}),
        "kto": build_format({"prompt": _PROMPT, "completion": _KEPT, "label": _LABEL}),
        "rl": build_format({"prompt": _PROMPT}),
    },
    lambda folder, what, is_pictured: write_card(
        folder, {"default": "data/*.parquet"}, f"webagent, {what} for TRL"
    ),
)
"""For `SFTTrainer`, `DPOTrainer`, `KTOTrainer` and `GRPOTrainer`."""


_RL = {
    "data_source": TEXT,
    "prompt": PLAIN,
    "ability": TEXT,
    "reward_model": struct_of({"style": TEXT, "ground_truth": TEXT}),
    "extra_info": struct_of(
        {"split": TEXT, "index": COUNT, "task": TEXT, "seed": COUNT, "episode": TEXT}
    ),
}


def _verl_rl_row(example: Example, is_pictured: bool) -> Row:
    task = example.task
    return {
        "data_source": task.id.partition("/")[0],
        "prompt": marked(example.messages),
        "ability": "web",
        "reward_model": {"style": "rule", "ground_truth": clean(json.dumps(to_json(task)))},
        "extra_info": {
            "split": split_of(task.seed),
            "index": example.number,
            "task": task.id,
            "seed": task.seed,
            "episode": example.origin["episode"],
        },
    }


VERL = Consumer(
    "verl",
    {
        "sft": build_format(_CONVERSATION),
        "rl": ExampleFormat(
            lambda is_pictured: _RL | ({"images": IMAGES} if is_pictured else {}), _verl_rl_row
        ),
    },
)
"""For `MultiTurnSFTDataset` and `RLHFDataset`; its files are named on its command line."""
