"""The plain form: a table with everything stored of each step, and one of episodes."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from apps.export.selection import Chosen
from apps.export.table import BLOCKS, COUNT, FLAG, IMAGES, REAL, TEXT, Row, blocks, clean
from apps.export.turns import Turn, pictures
from loop.costs import RunPrices
from tasks.task import Json
from webagent.action import format_action
from webagent.models.model import Message
from webagent.records import Decision, Trajectory
from webagent.serialize import to_json
from webagent.training.rows import observation_after

_IDS = pa.list_(pa.int32())
_SCORES = pa.list_(
    pa.struct(
        [
            pa.field("name", TEXT),
            pa.field("evaluator", TEXT),
            pa.field("value", REAL),
            pa.field("reason", TEXT),
        ]
    )
)

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


def step_row(chosen: Chosen, trajectory: Trajectory, turn: Turn, till: RunPrices) -> Row:
    """The row of one step; `images` are those of its prompt."""
    decision, position = turn.step.decision, turn.position
    messages = (*turn.messages, Message("assistant", turn.reply))
    money, currency = till.step(decision)
    return {
        "episode": trajectory.id,
        "position": position,
        "task": trajectory.task.id,
        "seed": trajectory.task.seed,
        "phase": trajectory.provenance.phase,
        "imagined": trajectory.provenance.imagined,
        "messages": blocks(messages),
        "prompt": "as shown" if turn.is_as_shown else "rebuilt",
        "images": pictures(turn.messages),
        "outcome": clean(_outcome(trajectory, position)),
        "success": chosen.success,
        "money": money,
        "currency": currency,
        "world_seconds": turn.step.seconds,
        "observation": _json(to_json(turn.step.observation)),
        **_decided(decision),
    }


def _decided(decision: Decision) -> dict[str, Any]:
    candidates: list[Json] = [to_json(candidate) for candidate in decision.candidates]
    return {
        "thought": clean(decision.thought),
        "action": clean(format_action(decision.action)),
        "source": decision.source,
        "prompt_ids": decision.prompt_ids,
        "sampled_ids": decision.sampled_ids,
        "log_probs": decision.log_probs,
        "mask": [0] * len(decision.prompt_ids) + [1] * len(decision.sampled_ids),
        "allowed": clean(decision.allowed),
        "weights": decision.weights,
        "prompt_hash": decision.prompt_hash,
        "candidates": _json(candidates),
        "input_tokens": decision.usage.get("input_tokens"),
        "output_tokens": decision.usage.get("output_tokens"),
        "usage": _json(dict(decision.usage)),
        "decision_seconds": decision.seconds,
    }


def episode_row(chosen: Chosen, trajectory: Trajectory, tools: str, till: RunPrices) -> Row:
    """The row of one episode."""
    place, entry = trajectory.provenance, chosen.entry
    money, currency = till.episode(trajectory)
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
        **{name: getattr(place, name) for name in ("arm", "repeat", "round", "phase", "index")},
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
    """The sum over the steps; None where no step counted any."""
    counted = [
        step.decision.usage[name] for step in trajectory.steps if name in step.decision.usage
    ]
    return sum(counted) if counted else None


def _outcome(trajectory: Trajectory, position: int) -> str:
    """What came of the step's action, as the page after it says."""
    after = observation_after(trajectory, position)
    return after.outcome if after else ""


def _json(value: Json | Mapping[str, Json]) -> str:
    """ASCII, so that lone surrogates come through."""
    return json.dumps(value)
