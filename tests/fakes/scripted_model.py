"""A model behind an OpenAI server that plays recorded actions, which its first page chooses."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tests.fakes.chat_server import Behaviour, ChatHandler
from webagent.action import parse_action
from webagent.action.grammar import ACTION_NAMES

Script = Mapping[str, Sequence[str]]
"""The actions of an episode, by the first message that the model is sent."""


def mask_instance(text: str) -> str:
    """The text without what differs between two instances of a site: its port, the time, how old
    something is, and what Fossil draws anew: passwords that it suggests, names of what was made."""
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)
    text = re.sub(r"uggestion: \w+", "uggestion: RANDOM", text)
    text = re.sub(r"\b[0-9a-f]{10,64}\b", "HASH", text)
    text = re.sub(
        r"\b(current|[\d.]+ (seconds?|minutes?|hours?|days?|weeks?|months?|years?))\b", "AGE", text
    )
    return re.sub(r"\d\d:\d\d(:\d\d)?", "TIME", text)


def play(script: Script) -> Behaviour:
    """Answer with the next action: as a call where tools are offered, else as text."""
    masked = {mask_instance(first): actions for first, actions in script.items()}

    def behave(handler: ChatHandler, body: dict[str, Any]) -> None:
        said = [each for each in body["messages"] if each["role"] == "assistant"]
        first = next(each for each in body["messages"] if each["role"] == "user")
        actions = masked[mask_instance(read_text(first["content"]))]
        action = actions[len(said)] if len(said) < len(actions) else "give_up('no more')"
        message: dict[str, Any] = {"role": "assistant", "content": f"I act.\nAction: {action}"}
        if body.get("tools"):
            message |= {"content": "", "tool_calls": [_call(action, len(said))]}
        send_message(handler, body, message)

    return behave


def fail_after(requests: int, fail: Callable[[], None], then: Behaviour) -> Behaviour:
    """Behave like this, and let the world fail before the answer after so many."""
    seen = [0]

    def behave(handler: ChatHandler, body: dict[str, Any]) -> None:
        seen[0] += 1
        if seen[0] == requests + 1:
            fail()
        then(handler, body)

    return behave


def send_message(handler: ChatHandler, body: dict[str, Any], message: dict[str, Any]) -> None:
    """Send it whole or, as verifiers wants it, as a stream."""
    is_stream = bool(body.get("stream"))
    choice = {
        "index": 0,
        "delta" if is_stream else "message": message,
        "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
    }
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    kind = "chat.completion.chunk" if is_stream else "chat.completion"
    whole = {"id": "1", "object": kind, "created": 0, "model": body["model"]}
    text = json.dumps(whole | {"choices": [choice], "usage": usage})
    if is_stream:
        stream = {"Content-Type": "text/event-stream"}
        handler.send(f"data: {text}\n\ndata: [DONE]\n\n".encode(), headers=stream)
    else:
        handler.send(text.encode())


def _call(action: str, number: int) -> dict[str, Any]:
    parsed = parse_action(action)
    function = {"name": ACTION_NAMES[type(parsed)], "arguments": json.dumps(asdict(parsed))}
    return {"index": 0, "id": f"call_{number}", "type": "function", "function": function}


def read_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
