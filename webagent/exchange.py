"""Exchanges with models: what one was sent, what it said, and every attempt in between."""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to a server, and what came of it."""

    body: str
    """The response as it came; empty where none did."""
    problem: str = ""
    """Why it was not taken, in the server's words; empty where it was."""
    seconds: float = 0.0
    waited: float = 0.0
    """Seconds of the pause after it."""


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message as it was sent; images by their references into the image store."""

    role: str
    text: str
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenReply:
    """A reply as it came, readable or not."""

    text: str
    finish_reason: str
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of a model, however many requests it took."""

    role: str
    """`policy`, `judge`, or whatever else asked."""
    model: str
    messages: tuple[SentMessage, ...]
    options: Mapping[str, float]
    """`temperature`, `max_tokens` and so on."""
    replies: tuple[GivenReply, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ""
    """Why there is no reply; empty where there is one."""


EXCHANGES: ContextVar[list[Exchange] | None] = ContextVar("EXCHANGES", default=None)
"""Where the exchanges of the episode under way are gathered; None where none is."""


def format_exchange(exchange: Exchange, *, raw: bool = False) -> str:
    """Return an exchange as text for people: all that was sent, all attempts, all replies.

    `raw` adds the responses as they came.
    """
    options = ", ".join(f"{name} {value:g}" for name, value in exchange.options.items())
    parts = [f"== {exchange.role} asked {exchange.model} ({options})"]
    for message in exchange.messages:
        images = f" with {len(message.images)} images" if message.images else ""
        parts.append(f"-- {message.role}{images}\n{message.text}")
    for number, attempt in enumerate(exchange.attempts, 1):
        waited = f", waited {attempt.waited:.1f} s" if attempt.waited else ""
        problem = attempt.problem or "taken"
        parts.append(f"-- request {number}: {problem}; {attempt.seconds:.1f} s{waited}")
        if raw and attempt.body:
            parts.append(attempt.body)
    for reply in exchange.replies:
        if reply.reasoning:
            parts.append(f"-- reasoning\n{reply.reasoning}")
        parts.append(f"-- reply ({reply.finish_reason})\n{reply.text or '(empty)'}")
    if exchange.error:
        parts.append(f"-- no reply: {exchange.error}")
    counted = ", ".join(f"{name} {amount:,}" for name, amount in exchange.usage.items())
    parts.append(f"-- {exchange.seconds:.1f} s{', ' if counted else ''}{counted}")
    return "\n".join(parts)
