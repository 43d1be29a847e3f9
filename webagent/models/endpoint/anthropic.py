"""Anthropic's Messages protocol: requests written for it, responses read as chat completions.

https://platform.claude.com/docs/en/api/messages. Its OpenAI-compatible address is meant for trying
out: it leaves out reasoning, and the tokens that were read from the cache.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from webagent.models.endpoint.protocol import (
    ResponseBody,
    ResponseChoice,
    ResponseMessage,
    ResponseUsage,
    clean_text,
    image_type,
)
from webagent.models.model import Message

PATH = "/messages"
HEADERS: Mapping[str, str] = {"anthropic-version": "2023-06-01"}
_REASONS = {"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length"}


def write_messages_body(
    model: str, messages: Sequence[Message], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the request: system texts stand apart, images travel as base64 blocks."""
    system = [clean_text(each.text) for each in messages if each.role == "system"]
    turns = []
    for message in messages:
        if message.role == "system":
            continue
        blocks: list[dict[str, Any]] = []
        for image in message.images:
            data = base64.b64encode(image).decode("ascii")
            source = {"type": "base64", "media_type": f"image/{image_type(image)}", "data": data}
            blocks.append({"type": "image", "source": source})
        blocks.append({"type": "text", "text": clean_text(message.text) or " "})
        turns.append({"role": message.role, "content": blocks})
    body = {"model": model, **options, "messages": turns}
    # It takes temperatures up to 1.
    body["temperature"] = min(options["temperature"], 1.0)
    return body | ({"system": "\n\n".join(system)} if system else {})


class _ContentBlock(BaseModel):
    type: str
    text: str = ""
    thinking: str = ""
    name: str = ""
    input: Any = None


class _Usage(BaseModel):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0


class _Response(BaseModel):
    content: list[_ContentBlock]
    model: str = ""
    stop_reason: str | None = None
    usage: _Usage = Field(default_factory=_Usage)


def parse_messages_body(text: str) -> ResponseBody:
    """Return the response as a chat completion. Raises `ValueError` saying what is wrong."""
    try:
        found = _Response.model_validate_json(text)
    except ValidationError as error:
        raise ValueError(f"({error.errors()[0]['msg']}): {text[:120]!r}") from None
    calls = [block.model_dump() for block in found.content if block.type == "tool_use"]
    message = ResponseMessage(
        content="".join(block.text for block in found.content),
        reasoning_content="\n".join(block.thinking for block in found.content if block.thinking),
        tool_calls=calls or None,
    )
    usage, cached = found.usage, found.usage.cache_read_input_tokens or 0
    read = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
    reason = found.stop_reason or "stop"
    return ResponseBody(
        choices=[ResponseChoice(message=message, finish_reason=_REASONS.get(reason, reason))],
        model=found.model,
        usage=ResponseUsage(
            prompt_tokens=read,
            completion_tokens=usage.output_tokens,
            prompt_tokens_details={"cached_tokens": cached},
        ),
    )
