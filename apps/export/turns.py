"""Stored steps as conversations: what a language model is shown, and what it replies."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from webagent.action import format_action
from webagent.agent.asking import Asking
from webagent.errors import ActionError, StoreError
from webagent.models import CannedModel, Message
from webagent.policy.reply import read_reply
from webagent.records import Decision, Step, Trajectory
from webagent.store import ImageFolder


@dataclass(frozen=True, slots=True)
class Turn:
    """One stored step, put to a language model."""

    position: int
    step: Step
    messages: tuple[Message, ...]
    """The prompt; empty for a step that no model was asked for."""
    reply: str
    """The thought and the action, in the form the prompt asks for."""
    is_as_shown: bool
    """Whether a language policy with this very prompt decided the step; what another policy
    decided, or another version of the prompt, is put as this version would put it."""


class Asker:
    """Puts stored steps to a model as the run's policy did."""

    def __init__(self, asking: Asking, images: ImageFolder | None, played_as: str = "text") -> None:
        """`asking` is the run's own, in the form of page that is written."""
        self._images, self._variant = images, asking.variant
        self._is_own = played_as == asking.observation
        self._policy = asking.policy(CannedModel([]), images)

    def turns(self, trajectory: Trajectory) -> Iterator[Turn]:
        """Every step in order. Raises `StoreError` where the form of page was not recorded."""
        for position in range(len(trajectory.steps)):
            yield self.turn(trajectory, position)

    def turn(self, trajectory: Trajectory, position: int) -> Turn:
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
        brief = self._policy.brief(before, step.observation)
        messages = () if step.decision.source == "loop" else brief.messages
        is_own = self._is_own and self._policy.prompt_hash == step.decision.prompt_hash
        shown, reply = self._as_shown(step.decision, messages), reply_of(step.decision)
        return Turn(position, step, shown, reply, is_own)

    def _as_shown(self, decision: Decision, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages with the pictures that were stored with the decision, where there are any
        and they fit."""
        count = sum(len(message.images) for message in messages)
        if self._images is None or not count or len(decision.images) != count:
            return messages
        stored = iter([self._images.get(reference) for reference in decision.images])
        return tuple(
            replace(message, images=tuple(next(stored) for _ in message.images))
            for message in messages
        )


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
