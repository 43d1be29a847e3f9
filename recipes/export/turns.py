"""Stored steps as conversations: what a language model is shown, and what it replies."""

import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from recipes.contestant import MAX_TOKENS
from webagent.action import format_action
from webagent.errors import ActionError, ModelError, StoreError
from webagent.models.constraint import Constraint
from webagent.models.model import Capabilities, Completion, Message, Tokens
from webagent.observation.variants import Variant
from webagent.policy.language import LanguagePolicy
from webagent.policy.reply import read_reply
from webagent.records import Decision, Observation, Step, Trajectory


@dataclass(frozen=True, slots=True)
class Turn:
    """One stored step, put to a language model."""

    position: int
    step: Step
    messages: tuple[Message, ...]
    """The prompt."""
    reply: str
    """The thought and the action, in the form the prompt asks for."""
    is_as_shown: bool
    """Whether a language policy with this very prompt decided the step; what another policy
    decided, or another version of the prompt, is put as this version would put it."""


class Asker:
    """Puts stored steps as the language policy of this version puts them."""

    def __init__(
        self, variant: Variant, images: Callable[[str], bytes] | None, played_as: str = "text"
    ) -> None:
        self._asked = _Listener()
        self._images, self._variant = images, variant
        self._is_own = played_as == variant.name
        self._policy = LanguagePolicy(
            self._asked, self._write, images=self._picture if images else None, variant=variant
        )

    @property
    def prompt_hash(self) -> str:
        """Of the prompt file."""
        return self._policy.prompt.hash

    async def turns(self, trajectory: Trajectory) -> AsyncIterator[Turn]:
        """Every step in order. Raises `StoreError` where the form of page was not recorded."""
        for position in range(len(trajectory.steps)):
            yield await self.turn(trajectory, position)

    async def turn(self, trajectory: Trajectory, position: int) -> Turn:
        """One step. Raises `StoreError` where the form of page was not recorded."""
        step = trajectory.steps[position]
        if self._variant.capture and not step.observation.captured:
            raise StoreError(
                f"episode {trajectory.id} was not recorded as {self._variant.name}; export it with"
                " the --observation that it was played with, or with text"
            )
        before = replace(
            trajectory, steps=trajectory.steps[:position], last=step.observation, ending=None
        )
        return Turn(
            position,
            step,
            self._as_shown(step.decision, await self._ask(before, step.observation)),
            reply_of(step.decision),
            is_as_shown=self._is_own and step.decision.prompt_hash == self.prompt_hash,
        )

    async def _ask(self, before: Trajectory, page: Observation) -> tuple[Message, ...]:
        self._asked.heard = ()
        try:
            await self._policy.act(before, page)
        except ModelError:
            return self._asked.heard
        raise AssertionError("the policy acted without asking its model")

    def _as_shown(self, decision: Decision, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages with the pictures that were stored with the decision, where there are any
        and they fit."""
        count = sum(len(message.images) for message in messages)
        if self._images is None or not count or len(decision.images) != count:
            return messages
        stored = iter([self._images(reference) for reference in decision.images])
        return tuple(
            replace(message, images=tuple(next(stored) for _ in message.images))
            for message in messages
        )

    def _write(self, page: Observation) -> str:
        return self._variant.write(page, MAX_TOKENS)

    def _picture(self, reference: str) -> bytes:
        return self._images(reference) if self._images else b""


def reply_of(decision: Decision) -> str:
    """The reply that says this decision, such that `read_reply` reads it back."""
    action = format_action(decision.action)
    said = f"Action: {action}"
    for thought in (decision.thought, " ".join(decision.thought.split())):
        text = f"Thought: {thought}\n{said}"
        if thought and _says(text, thought, decision):
            return text
    return said


def _says(text: str, thought: str, decision: Decision) -> bool:
    try:
        return read_reply(text) == (thought, decision.action)
    except ActionError:
        return False


def pictures(messages: Iterable[Message]) -> list[dict[str, bytes | str]]:
    """The pictures of a prompt in the order of their places, each named by its content."""
    return [
        {"bytes": image, "path": f"{hashlib.sha256(image).hexdigest()}.png"}
        for message in messages
        for image in message.images
    ]


class _Listener:
    """A model that keeps what it is asked and never replies."""

    name = "listener"
    capabilities = Capabilities(images=True)

    def __init__(self) -> None:
        self.heard: tuple[Message, ...] = ()

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
        """Keeps the prompt; always raises `ModelError`."""
        assert not isinstance(prompt, Tokens)
        self.heard = tuple(prompt)
        raise ModelError("only listens")

    async def close(self) -> None:
        """Nothing is held."""
