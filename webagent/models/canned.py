"""A model that replies from a list, so that what surrounds a model can be tested without one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webagent.errors import ModelError
from webagent.models.model import (
    Capabilities,
    Completion,
    Constraint,
    Message,
    Reply,
    Tokens,
    require_messages,
)


@dataclass(frozen=True, slots=True)
class CannedRequest:
    """One call of `complete`, as it was made."""

    messages: tuple[Message, ...]
    n: int
    temperature: float
    seed: int | None
    max_tokens: int
    constraint: Constraint | None = None


class CannedModel:
    """Gives its replies in order, n at a time, and keeps every request.

    A `ModelError` in the list is raised when its turn comes. When the list is used up the model
    fails, as a server that went away would.
    """

    def __init__(
        self,
        replies: Iterable[str | Reply | ModelError],
        *,
        name: str = "canned",
        capabilities: Capabilities | None = None,
    ) -> None:
        """Looks at images and holds to constraints unless `capabilities` say otherwise."""
        self.name = name
        self.capabilities = capabilities or Capabilities(images=True, constraints=True)
        self.requests: list[CannedRequest] = []
        self._replies = list(replies)

    async def complete(
        self,
        prompt: Sequence[Message] | Tokens,
        *,
        n: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        max_tokens: int = 1024,
        constraint: Constraint | None = None,
    ) -> Completion:
        """Return the next n replies of the list, as they are, whatever the constraint.

        Raises `ModelError` when there are not so many, `SetupError` for a prompt of ids.
        """
        messages = require_messages(prompt, self.name)
        request = CannedRequest(messages, n, temperature, seed, max_tokens, constraint)
        self.requests.append(request)
        replies = []
        for _ in range(n):
            if not self._replies:
                made = len(self.requests)
                raise ModelError(f"{self.name}: no canned reply left for request {made}")
            reply = self._replies.pop(0)
            if isinstance(reply, ModelError):
                raise reply
            replies.append(reply if isinstance(reply, Reply) else Reply(reply))
        usage = {
            "input_tokens": sum(len(message.text.split()) for message in messages),
            "output_tokens": sum(len(reply.text.split()) for reply in replies),
            "requests": 1,
        }
        return Completion(tuple(replies), self.name, usage, temperature=temperature or 1.0)

    async def close(self) -> None:
        """Nothing is held."""
