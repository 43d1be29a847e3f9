"""A request with a prompt of this package, its reply read strictly and asked for once more."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import Prompt, load_prompt
from webagent.models.replies import ask_and_read

PROMPTS = Path(__file__).parent / "prompts"
Read = TypeVar("Read")


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

    async def ask(conversation: tuple[Message, ...]) -> Reply:
        return (await model.complete(conversation, max_tokens=max_tokens)).replies[0]

    return await ask_and_read(
        ask, messages, read, lambda problem: asking.fill("again", problem=problem)
    )
