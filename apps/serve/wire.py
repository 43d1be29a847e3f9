"""OpenEnv's messages: what clients may send, what they are answered, and which code an error has.

As openenv 0.10 and openenv-core 0.3 define them; a message is one JSON object over a WebSocket.
"""

import json
from base64 import b64encode
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from apps.argument_schema import describe_arguments
from tasks.suite import SEEDS_PER_SPLIT, SPLITS
from webagent.action import ACTIONS, ESSENTIAL, Action, describe, make_action, parse_action
from webagent.errors import ActionError, CallError
from webagent.files import describe_invalid


class ErrorCode(StrEnum):
    """What went wrong, in OpenEnv's words. None of them says anything of the agent."""

    INVALID_JSON = "INVALID_JSON"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    """The message asks for what is not there; the episode goes on."""
    EXECUTION_ERROR = "EXECUTION_ERROR"
    """The browser, the site or the judge failed; the episode is lost, a reset begins another."""
    CAPACITY_REACHED = "CAPACITY_REACHED"
    SESSION_ERROR = "SESSION_ERROR"
    """The session is over: its lease expired, or the server ends."""


class MessageError(CallError):
    """A message cannot be done as it stands."""

    def __init__(self, code: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ResetData(_Data):
    """What an episode is begun with."""

    task: str = Field(default="", description="Name of a task; without it the seed chooses one.")
    seed: int | None = Field(
        default=None,
        ge=0,
        lt=SEEDS_PER_SPLIT,
        description="Which page of the split; without it the next.",
    )
    split: Literal["", "train", "development", "test"] = Field(
        default="", description=f"{', '.join(SPLITS)}; without it as the server is set."
    )
    images: bool = Field(default=False, description="Add a screenshot to every observation.")
    episode_id: str | None = Field(
        default=None, max_length=255, description="A name of the client's own."
    )


class StepData(_Data):
    """One action: as text, or as a call of a tool."""

    action: str | None = Field(default=None, description="As text, such as click(12).")
    tool_name: str | None = Field(default=None, description="As a call: the name of the action.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="Of the call.")
    type: Literal["action", "call_tool", "list_tools"] = "action"
    metadata: dict[str, Any] = Field(default_factory=dict, description="Not looked at.")


class _Reset(_Data):
    type: Literal["reset"]
    data: ResetData = Field(default_factory=ResetData)


class _Step(_Data):
    type: Literal["step"]
    data: StepData


class _Bare(_Data):
    type: Literal["state", "close"]
    data: dict[str, Any] = Field(default_factory=dict)


Asked: TypeAlias = _Reset | _Step | _Bare
_TYPES = ("reset", "step", "state", "close")
_MESSAGE: TypeAdapter[Asked] = TypeAdapter(Annotated[Asked, Field(discriminator="type")])


def read_message(text: str) -> Asked:
    """Return what a client asks for. Raises `MessageError`."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise MessageError(ErrorCode.INVALID_JSON, f"this is not JSON: {error}") from error
    kind = found.get("type") if isinstance(found, dict) else None
    if kind not in _TYPES:
        raise MessageError(
            ErrorCode.UNKNOWN_TYPE,
            f"a message of type {kind!r:.40} is not known; expected one of {', '.join(_TYPES)}, as"
            " openenv-core 0.3 sends them",
        )
    try:
        return _MESSAGE.validate_python(found)
    except ValidationError as error:
        reason = f"{kind}: {describe_invalid(error)}"
        raise MessageError(ErrorCode.VALIDATION_ERROR, reason) from error


def read_action(data: StepData) -> Action:
    """Return the action, as text or as a call. Raises `ActionError` for what is not one, and
    `MessageError` where there is neither."""
    if (data.action is None) == (data.tool_name is None):
        raise MessageError(
            ErrorCode.VALIDATION_ERROR,
            'step: expected either {"action": "click(12)"} or {"tool_name": "click", "arguments":'
            ' {"mark": 12}}',
        )
    if data.action is not None:
        return parse_action(data.action)
    name = data.tool_name or ""
    if name not in ACTIONS:
        raise ActionError(f"there is no tool {name!r:.40}; there are {', '.join(ESSENTIAL)}")
    return make_action(name, data.arguments)


@dataclass(frozen=True, slots=True)
class ServedTurn:
    """What a client is told after a reset or a step."""

    goal: str
    page: str
    """The page in the form that the server is set to, with numbered elements."""
    url: str
    outcome: str
    """What came of the last action: empty when it took effect."""
    task: str
    seed: int
    step: int
    """How many actions were done."""
    max_steps: int
    ending: str = ""
    """How the episode has ended; empty while it goes on."""
    reason: str = ""
    """Why the reward is what it is."""
    image: bytes | None = None
    """The screenshot as PNG, where one was asked for."""
    reward: float | None = None
    """0 before the end; None after a reset, as OpenEnv has it."""
    done: bool = False


_APART = ("reward", "done", "image")


def write_turn(turn: ServedTurn) -> dict[str, Any]:
    """Return the answer to a reset or a step; a screenshot is base64 of the PNG's very bytes."""
    seen: dict[str, Any] = {
        field.name: getattr(turn, field.name) for field in fields(turn) if field.name not in _APART
    }
    if turn.image is not None:
        seen["image"] = b64encode(turn.image).decode("ascii")
    data = {"observation": seen, "reward": turn.reward, "done": turn.done}
    return {"type": "observation", "data": data}


def write_error(code: ErrorCode, reason: str, **facts: int) -> dict[str, Any]:
    """Return the answer to what could not be done."""
    return {"type": "error", "data": {"message": reason, "code": str(code), **facts}}


def list_tools() -> list[dict[str, Any]]:
    """Return the actions as tools, each with `name`, `description` and `input_schema`."""
    return [
        {
            "name": name,
            "description": ACTIONS[name].__doc__ or "",
            "input_schema": {**describe_arguments(ACTIONS[name]), "additionalProperties": False},
        }
        for name in ESSENTIAL
    ]


def schemas() -> dict[str, Any]:
    """Return the JSON schemas of an action, an observation and the state."""
    action = StepData.model_json_schema()
    action["required"] = ["action"]  # what a client that has only text is to fill
    action["description"] = f"One action, as text or as a call of a tool.\n{describe(ESSENTIAL)}"
    text, number = {"type": "string"}, {"type": "integer"}
    seen = {
        field.name: number if field.name in ("seed", "step", "max_steps") else text
        for field in fields(ServedTurn)
    }
    for name in ("reward", "done"):
        del seen[name]
    seen["image"] = {"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"}
    state = {"episode_id": text, "step_count": number, "task": text, "seed": number}
    return {
        "action": action,
        "observation": {"type": "object", "properties": seen},
        "state": {"type": "object", "properties": state},
    }
