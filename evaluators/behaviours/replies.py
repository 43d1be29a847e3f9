"""A model's reply of a fixed form: read strictly, asked for once more, or not used."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from webagent.models.model import Message, Model
from webagent.models.prompt import Prompt, load_prompt

PROMPTS = Path(__file__).parent / "prompts"
Form = TypeVar("Form", bound=BaseModel)
Read = TypeVar("Read")


class UnusableError(ValueError):
    """A reply that cannot be read, or says what cannot be."""


def prompt(name: str) -> Prompt:
    """The prompt of this name."""
    return load_prompt(PROMPTS / f"{name}.md")


async def replied(
    model: Model,
    asking: Prompt,
    slots: Mapping[str, Mapping[str, str]],
    read: Callable[[str], Read],
    max_tokens: int = 4096,
) -> Read:
    """What `read` makes of the reply, or of the second one.

    `slots` fill the sections `system` and `user`. Raises `UnusableError` when neither reply can be
    used, `ModelError` when the model failed.
    """
    messages = tuple(
        Message(role, asking.fill(role, **slots.get(role, {}))) for role in ("system", "user")
    )
    completion = await model.complete(messages, max_tokens=max_tokens)
    text = completion.replies[0].text
    try:
        return read(text)
    except UnusableError as error:
        again = asking.fill("again", problem=str(error))
    said = Message("assistant", text or "(an empty reply)")
    completion = await model.complete(
        (*messages, said, Message("user", again)), max_tokens=max_tokens
    )
    return read(completion.replies[0].text)


def parsed(text: str, form: type[Form]) -> Form:
    """The first JSON object of a reply, of this form. Raises `UnusableError`."""
    body = text.rpartition("</think>")[2]
    start = body.find("{")
    if start < 0:
        raise UnusableError("there is no JSON object in the reply")
    try:
        value, _ = json.JSONDecoder().raw_decode(body, start)
        return form.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise UnusableError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise UnusableError(f"the JSON cannot be read: {error}") from error
