"""Replies of a fixed form: read strictly, asked for once more, or refused."""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from webagent.models.model import Message, Reply

Form = TypeVar("Form", bound=BaseModel)
Found = TypeVar("Found")
_INNER_QUOTE = re.compile(r'([^\s{\[,:\\]\s*)"(?!\s*(?:[,:}\]]|$))')
"""A quotation mark beside which nothing ends or begins in JSON."""
Ask: TypeAlias = Callable[[tuple[Message, ...]], Awaitable[Reply]]
"""Sends a conversation to a model and returns one reply. Raises `ModelError`."""


class UnusableError(ValueError):
    """A reply cannot be read, contradicts itself, or does not fit what was asked about."""


async def ask_and_read(
    ask: Ask,
    messages: Sequence[Message],
    read: Callable[[str], Found],
    again: Callable[[str], str],
    first: Reply | None = None,
) -> Found:
    """Return what `read` finds in the model's reply, asking once more where it raises.

    `again` writes the second request from what was wrong with the first reply; `first` is that
    reply where there is one already. Raises `UnusableError` when the second reply cannot be used
    either, and whatever `ask` raises.
    """
    messages = tuple(messages)
    reply = first or await ask(messages)
    try:
        return read_whole(reply, read)
    except UnusableError as error:
        request = again(str(error))
    return read_whole(await ask((*messages, *follow_up(reply.text, request))), read)


def follow_up(reply: str, request: str) -> tuple[Message, Message]:
    """Return the turns that continue a conversation: the model's reply, and a request about it."""
    return Message("assistant", reply or "(an empty reply)"), Message("user", request)


def read_whole(reply: Reply, read: Callable[[str], Found]) -> Found:
    """Return what `read` finds behind the reply's thinking. Raises `UnusableError` if cut off."""
    if reply.finish_reason == "length":
        raise UnusableError("the reply was cut off before its end; be brief")
    return read(reply.text.rpartition("</think>")[2].strip())


def read_form(text: str, form: type[Form]) -> Form:
    """Return the JSON object of this form in a reply; other objects beside it are ignored.

    Raises `UnusableError` where there is none, or two that differ.
    """
    problem = "the JSON cannot be read" if "{" in text else "there is no JSON object in the reply"
    found: list[Form] = []
    for value in find_objects(text):
        try:
            found.append(form.model_validate(value))
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc'])) or 'the object'}: {first['msg']}"
    if any(each != found[0] for each in found):
        raise UnusableError("the reply contains two different answers; give one")
    if not found:
        raise UnusableError(problem)
    return found[0]


def find_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, none of them inside another. Where its first bracket opens
    none, quotation marks inside strings, which small models do not escape, are read as such."""
    spans = list(find_object_spans(text))
    if not spans or spans[0][1] > text.find("{"):
        spans = list(find_object_spans(_INNER_QUOTE.sub(r'\1\\"', text))) or spans
    return (value for value, _, _ in spans)


def find_object_spans(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the JSON objects in a text with where each begins and ends. Line breaks in strings,
    which JSON forbids, are read."""
    decoder, position = json.JSONDecoder(strict=False), text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value, position, end
        position = text.find("{", end)
