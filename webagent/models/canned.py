"""A model that replies from a list, so that what surrounds a model can be tested without one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from webagent.errors import ModelError
from webagent.models.model import Capabilities, Completion, Message, Reply


@dataclass(frozen=True, slots=True)
class Request:
    """One call of `complete`, as it was made."""

    messages: tuple[Message, ...]
    n: int
    temperature: float
    seed: int | None
    max_tokens: int


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
        images: bool = True,
    ) -> None:
        self.name = name
        self.capabilities = Capabilities(images=images)
        self.requests: list[Request] = []
        self._replies = list(replies)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        temperature: float = 0.0,
        seed: int | None = None,
        max_tokens: int = 1024,
    ) -> Completion:
        """The next n replies of the list. Raises `ModelError` when there are not so many."""
        self.requests.append(Request(tuple(messages), n, temperature, seed, max_tokens))
        replies = tuple(self._next() for _ in range(n))
        usage = {
            "input_tokens": sum(len(message.text.split()) for message in messages),
            "output_tokens": sum(len(reply.text.split()) for reply in replies),
            "requests": 1,
        }
        return Completion(replies, self.name, usage)

    async def close(self) -> None:
        """Nothing is held."""

    def _next(self) -> Reply:
        if not self._replies:
            raise ModelError(f"{self.name}: no canned reply left for request {len(self.requests)}")
        reply = self._replies.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(reply)
