"""The interface between callers and the model that replies."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from webagent.errors import ModelError, SetupError
from webagent.exchange import Attempt

if TYPE_CHECKING:  # a live task starts without numpy, which takes a tenth of a second to load
    import numpy as np
    from numpy.typing import NDArray

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A closed list of texts, or a grammar; exactly one of the two.

    It names no tokens, so every backend can hold to it. Its text is stored as `Decision.allowed`,
    from which training makes the same masks again.
    """

    choices: tuple[str, ...] = ()
    """The reply is one of these."""
    grammar: str = ""
    """The reply is what this grammar derives: Lark, as llguidance reads it."""

    def __post_init__(self) -> None:
        if bool(self.choices) == bool(self.grammar):
            raise ValueError("a constraint is a list of choices or a grammar, one of the two")

    def dumps(self) -> str:
        """Return one line of JSON; the same constraint gives the same text."""
        value = {"choices": self.choices} if self.choices else {"grammar": self.grammar}
        return json.dumps(value, ensure_ascii=False)

    @classmethod
    def loads(cls, text: str) -> "Constraint":
        """Return what `dumps` wrote. Raises `ModelError` for anything else."""
        try:
            value = json.loads(text)
            return cls(tuple(value.get("choices", ())), value.get("grammar", ""))
        except (ValueError, AttributeError, TypeError) as error:
            raise ModelError(f"not a stored constraint: {text[:80]!r}") from error


class Matcher(Protocol):
    """Follows one reply under a constraint, id by id."""

    def mask(self) -> "NDArray[np.bool_]":
        """Return the ids that may come next, (vocabulary,), including those that end the reply."""
        ...

    def accept(self, token: int) -> None:
        """Advance by an id. Raises `ModelError` for one that is not allowed."""
        ...

    @property
    def is_complete(self) -> bool:
        """Return whether the reply has ended."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    text: str
    images: tuple[bytes, ...] = ()
    """Encoded image files (PNG, JPEG or WebP), shown after the text in this order."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A prompt in the model's own ids, such as a stored one; it is sent as it is."""

    ids: tuple[int, ...]
    images: tuple[bytes, ...] = ()
    """Encoded image files, in the order of their places among the ids."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One sampled continuation."""

    text: str
    finish_reason: str = "stop"
    """`stop`, or `length` when `max_tokens` cut it short, or what the server says."""
    token_ids: tuple[int, ...] = ()
    """The sampled ids, the one that ended the reply too; empty if the backend has none."""
    log_probs: tuple[float, ...] = ()
    """One for each sampled id, natural logarithm, at the temperature and under the constraint of
    the sampling; at temperature 0 as at 1. Empty where there are no ids."""
    reasoning: str = ""
    """The model's reasoning in addition to the reply, if the server returns it."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The result of one request: n replies to the same messages, with their usage."""

    replies: tuple[Reply, ...]
    model: str
    """The weights that replied: a backend's name for them, or a version that changes with them."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """`input_tokens` and `output_tokens` of all replies; `cached_input_tokens`, the part of the
    input that came from a cache; `requests` sent, retries included."""
    seconds: float = 0.0
    prompt_ids: tuple[int, ...] = ()
    """The ids of the messages; empty where the backend cannot return them."""
    temperature: float = 1.0
    """Temperature of the log-probabilities: the sampling temperature, or 1 for greedy sampling."""
    attempts: tuple[Attempt, ...] = ()
    """Every request to a server, failed ones included; empty for in-process weights."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can do beyond text in, text out; declared, so that misuse fails early."""

    token_ids: bool = False
    """Returns prompt ids, sampled ids and their log-probabilities: what training needs."""
    images: bool = False
    """Looks at the images of a message."""
    constraints: bool = False
    """Samples only what a constraint allows."""


class Model(Protocol):
    """Anything that continues a conversation: a server, weights in this process, a canned list."""

    @property
    def name(self) -> str:
        """Which weights, as stored with everything they produce."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the backend can do."""
        ...

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
        """Return exactly n replies, each within `max_tokens` and the constraint.

        Raises `ModelError` when the backend failed for good, `SetupError` when it is asked for
        what its capabilities do not name.
        """
        ...

    async def close(self) -> None:
        """Give back everything held. Safe to call twice."""
        ...


def require_messages(prompt: Sequence[Message] | Tokens, name: str) -> tuple[Message, ...]:
    """Return the prompt of a backend of messages. Raises `SetupError` for one of ids."""
    if isinstance(prompt, Tokens):
        raise SetupError(
            f"{name} reads messages, not token ids; a prompt of ids needs a model whose"
            " capabilities name token_ids"
        )
    return tuple(prompt)
