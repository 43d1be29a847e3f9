"""Parquet tables written row by row in bounded memory: steps, episodes and examples."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from apps.export.examples import ExportedEpisode, StoredTurn, name_phase, pictures
from loop.costs import RunPrices
from tasks.task import Json
from webagent.action import format_action
from webagent.models import Message
from webagent.records import Trajectory
from webagent.serialize import to_json

Row: TypeAlias = Mapping[str, Any]

_GROUP_ROWS = 512
_GROUP_BYTES = 16 << 20
"""Of text and images, that are gathered before they are written."""
_FILE_BYTES = 1 << 30
"""Of text and images in one file, about; then the next is begun."""

TEXT, REAL, COUNT, FLAG = pa.string(), pa.float64(), pa.int64(), pa.bool_()


def struct_of(fields: Mapping[str, pa.DataType]) -> pa.DataType:
    """Return a struct of these fields."""
    return pa.struct([pa.field(name, kind) for name, kind in fields.items()])


IMAGES = pa.list_(struct_of({"bytes": pa.binary(), "path": TEXT}))
"""A list of pictures, as `datasets` keeps them."""
BLOCKS = pa.list_(
    struct_of({"role": TEXT, "content": pa.list_(struct_of({"type": TEXT, "text": TEXT}))})
)
"""Messages whose content is a list of typed blocks."""
PLAIN = pa.list_(struct_of({"role": TEXT, "content": TEXT}))
"""Messages whose content is text."""


def schema_of(columns: Mapping[str, pa.DataType]) -> pa.Schema:
    """Return the schema; its metadata lets `datasets` open an `images` column as pictures."""
    schema = pa.schema([pa.field(name, kind) for name, kind in columns.items()])
    if "images" not in columns:
        return schema
    pictures = '{"_type": "List", "feature": {"_type": "Image"}}'
    return schema.with_metadata(
        {"huggingface": f'{{"info": {{"features": {{"images": {pictures}}}}}}}'}
    )


class Table:
    """Files `train-00000.parquet` and on in a folder, of one schema."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.rows = 0
        self._folder, self._schema = folder, schema
        self._writer: pq.ParquetWriter | None = None
        self._files = 0
        self._waiting: list[Row] = []
        self._waiting_bytes = self._file_bytes = 0

    def __enter__(self) -> "Table":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def add(self, row: Row) -> None:
        """Take one row; it is on the disk when its group is full or the table is closed."""
        self.rows += 1
        self._waiting.append(row)
        self._waiting_bytes += _size(row)
        if len(self._waiting) >= _GROUP_ROWS or self._waiting_bytes >= _GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._writer is None:
            path = self._folder / f"train-{self._files:05}.parquet"
            self._writer = pq.ParquetWriter(path, self._schema, compression="zstd")
            self._files += 1
        if self._waiting:
            self._writer.write_table(pa.Table.from_pylist(self._waiting, schema=self._schema))
        self._file_bytes += self._waiting_bytes
        self._waiting, self._waiting_bytes = [], 0
        if self._file_bytes >= _FILE_BYTES:
            self._writer.close()
            self._writer, self._file_bytes = None, 0


def clean(text: str) -> str:
    """Return text that UTF-8 can carry: lone surrogates of a page become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def blocks(messages: Iterable[Message]) -> list[Row]:
    """Return the messages with typed content: the text, then a place for each image."""
    return [
        {
            "role": message.role,
            "content": [
                {"type": "text", "text": message.text},
                *({"type": "image", "text": None} for _ in message.images),
            ],
        }
        for message in messages
    ]


def plain(messages: Iterable[Message]) -> list[Row]:
    """Return the messages as text alone."""
    return [{"role": message.role, "content": message.text} for message in messages]


def marked(messages: Iterable[Message]) -> list[Row]:
    """Return the messages as text with `<image>` where a picture goes."""
    return [
        {"role": message.role, "content": message.text + "<image>" * len(message.images)}
        for message in messages
    ]


def _size(value: Any) -> int:
    """Return the bytes of the text and images in a row, about."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_size, value)) if value and not isinstance(value[0], int) else 8 * len(value)
    return 8


_IDS = pa.list_(pa.int32())
_SCORES = pa.list_(struct_of({"name": TEXT, "evaluator": TEXT, "value": REAL, "reason": TEXT}))

STEP = {
    "episode": TEXT,
    "position": COUNT,
    "task": TEXT,
    "seed": COUNT,
    "phase": TEXT,
    "imagined": FLAG,
    "messages": BLOCKS,
    "prompt": TEXT,
    "images": IMAGES,
    "thought": TEXT,
    "action": TEXT,
    "source": TEXT,
    "outcome": TEXT,
    "prompt_ids": _IDS,
    "sampled_ids": _IDS,
    "log_probs": pa.list_(REAL),
    "mask": pa.list_(pa.int8()),
    "allowed": TEXT,
    "weights": TEXT,
    "prompt_hash": TEXT,
    "candidates": TEXT,
    "success": REAL,
    "input_tokens": COUNT,
    "output_tokens": COUNT,
    "usage": TEXT,
    "money": REAL,
    "currency": TEXT,
    "decision_seconds": REAL,
    "world_seconds": REAL,
    "observation": TEXT,
}
"""Columns of a step. `messages` ends with the reply; `prompt` says whether the rest is `as shown`
or `rebuilt`. `mask` is 0 for each prompt id and 1 for each sampled one. `candidates`, `usage` and
`observation` are JSON."""

EPISODE = {
    "episode": TEXT,
    "task": TEXT,
    "seed": COUNT,
    "goal": TEXT,
    "ending": TEXT,
    "success": REAL,
    "scores": _SCORES,
    "steps": COUNT,
    "world": TEXT,
    "imagined": FLAG,
    "seeded_from": TEXT,
    "run": TEXT,
    "arm": TEXT,
    "repeat": COUNT,
    "round": COUNT,
    "phase": TEXT,
    "index": COUNT,
    "attempt": COUNT,
    "error": TEXT,
    "seconds": REAL,
    "input_tokens": COUNT,
    "output_tokens": COUNT,
    "money": REAL,
    "currency": TEXT,
    "last": TEXT,
    "evidence": TEXT,
    "task_record": TEXT,
    "tools": TEXT,
}
"""Columns of an episode. `last` (the page after the last action), `evidence`, `task_record` and
`tools` (the actions as tool schemas) are JSON."""


def step_row(
    chosen: ExportedEpisode, trajectory: Trajectory, turn: StoredTurn, prices: RunPrices
) -> Row:
    """Return the row of one step; `images` are those of its prompt."""
    decision, position = turn.step.decision, turn.position
    messages = (*turn.messages, Message("assistant", turn.reply))
    after = trajectory.page_after(position)
    money, currency = prices.step(decision)
    return {
        "episode": trajectory.id,
        "position": position,
        "task": trajectory.task.id,
        "seed": trajectory.task.seed,
        "phase": name_phase(trajectory.provenance.phase, trajectory.task.seed),
        "imagined": trajectory.provenance.imagined,
        "messages": blocks(messages),
        "prompt": "as shown" if turn.is_as_shown else "rebuilt",
        "images": pictures(turn.messages),
        "thought": clean(decision.thought),
        "action": clean(format_action(decision.action)),
        "source": decision.source,
        "outcome": clean(after.outcome) if after else "",
        "prompt_ids": decision.prompt_ids,
        "sampled_ids": decision.sampled_ids,
        "log_probs": decision.log_probs,
        "mask": [0] * len(decision.prompt_ids) + [1] * len(decision.sampled_ids),
        "allowed": clean(decision.allowed),
        "weights": decision.weights,
        "prompt_hash": decision.prompt_hash,
        "candidates": _json([to_json(candidate) for candidate in decision.candidates]),
        "success": chosen.success,
        "input_tokens": decision.usage.get("input_tokens"),
        "output_tokens": decision.usage.get("output_tokens"),
        "usage": _json(dict(decision.usage)),
        "money": money,
        "currency": currency,
        "decision_seconds": decision.seconds,
        "world_seconds": turn.step.seconds,
        "observation": _json(to_json(turn.step.observation)),
    }


def episode_row(
    chosen: ExportedEpisode, trajectory: Trajectory, tools: str, prices: RunPrices
) -> Row:
    """Return the row of one episode."""
    place, entry = trajectory.provenance, chosen.entry
    money, currency = prices.episode(trajectory)
    return {
        "episode": trajectory.id,
        "task": trajectory.task.id,
        "seed": trajectory.task.seed,
        "goal": clean(trajectory.goal),
        "ending": str(trajectory.ending),
        "success": chosen.success,
        "scores": [
            {"name": s.name, "evaluator": s.evaluator, "value": s.value, "reason": clean(s.reason)}
            for s in chosen.scores
        ],
        "steps": len(trajectory.steps),
        **{name: getattr(place, name) for name in ("world", "imagined", "seeded_from", "run")},
        **{name: getattr(place, name) for name in ("arm", "repeat", "round", "index")},
        "phase": name_phase(place.phase, trajectory.task.seed),
        "attempt": entry.attempt,
        "error": clean(trajectory.error),
        "seconds": trajectory.seconds,
        "input_tokens": _total(trajectory, "input_tokens"),
        "output_tokens": _total(trajectory, "output_tokens"),
        "money": money,
        "currency": currency,
        "last": _json(to_json(trajectory.last)) if trajectory.last else None,
        "evidence": _json(dict(trajectory.evidence)),
        "task_record": _json(to_json(trajectory.task)),
        "tools": tools,
    }


def _total(trajectory: Trajectory, name: str) -> int | None:
    """Return the sum over the steps; None where no step counted any."""
    counted = [
        step.decision.usage[name] for step in trajectory.steps if name in step.decision.usage
    ]
    return sum(counted) if counted else None


def _json(value: Json | Mapping[str, Json] | list[Json]) -> str:
    """Return JSON in ASCII, so that lone surrogates come through."""
    return json.dumps(value)
