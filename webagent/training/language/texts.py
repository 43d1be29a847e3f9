"""Rows from text: what a language model learns as a world model or as a reward model."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from webagent.action import format_action
from webagent.errors import SetupError
from webagent.models.model import Message
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.observation import render
from webagent.records import Decision, Observation, Trajectory
from webagent.training.language.changes import line_changes
from webagent.training.language.rows import Encode, Encoded, TokenRow, encoded_row
from webagent.training.rows import observation_after

PROMPTS = Path(__file__).parent / "prompts"
YES, NO = "yes", "no"

Write: TypeAlias = Callable[[Sequence[Message], str], Encoded]
"""Messages and a reply in a model's ids."""
Ask: TypeAlias = Callable[[Trajectory, Observation], Sequence[Message]]
"""The messages by which a policy is asked, from the episode so far and the page now."""
Target: TypeAlias = Callable[[Observation, Observation], str]
"""What to predict, from the page before and the page after."""


def chat_writer(tokenizer: Any) -> Write:
    """Writes with the chat template of a transformers tokenizer; the reply ends with its end id.

    Raises `SetupError` for a tokenizer without a template or without an end id.
    """
    if not getattr(tokenizer, "chat_template", None):
        raise SetupError(
            "the tokenizer has no chat template; set tokenizer.chat_template to the one the model"
            " was trained with, or load an instruction-tuned model"
        )
    if tokenizer.eos_token_id is None:
        raise SetupError("the tokenizer names no end token; set tokenizer.eos_token")

    def write(messages: Sequence[Message], reply: str) -> Encoded:
        turns = [{"role": message.role, "content": message.text} for message in messages]
        prompt = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        encoded = [
            tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
            for text in (prompt, reply)
        ]
        return Encoded(encoded[0], (*encoded[1], tokenizer.eos_token_id))

    return write


def policy_encoder(write: Write, ask: Ask) -> Encode:
    """Writes out steps that no model sampled, for `step_rows`: what the policy would have been
    asked, and thought and action in the form it is told to reply in."""

    def encode(trajectory: Trajectory, index: int) -> Encoded:
        step = trajectory.steps[index]
        before = replace(trajectory, steps=trajectory.steps[:index], last=None, ending=None)
        return write(ask(before, step.observation), reply_text(step.decision))

    return encode


def reply_text(decision: Decision) -> str:
    """A decision as the reply that would have been read as it."""
    action = f"Action: {format_action(decision.action)}"
    return f"Thought: {decision.thought}\n{action}" if decision.thought else action


def page_text(observation: Observation) -> str:
    """A page with its title and address, as it is shown."""
    return f"{observation.title}\n{observation.url}\n\n{render(observation)}"


def next_page(before: Observation, after: Observation) -> str:
    """The whole page after the action."""
    return page_text(after)


def page_changes(before: Observation, after: Observation) -> str:
    """Only the lines that are different."""
    return line_changes(page_text(before), page_text(after))


def world_rows(
    trajectory: Trajectory,
    write: Write,
    prompt: Prompt | None = None,
    target: Target = page_changes,
) -> list[TokenRow]:
    """A row for each action whose result was seen: page and action in, `target` out.

    The prompt has sections `system` and `user`, the latter with slots `page` and `action`; without
    one it is the prompt that asks for `page_changes`. Dreams teach nothing about the world, and
    neither does an episode that infrastructure ended.
    """
    if _is_void(trajectory) or trajectory.provenance.imagined:
        return []
    prompt = prompt or load_prompt(PROMPTS / "world.md")
    rows = []
    for index, step in enumerate(trajectory.steps):
        after = observation_after(trajectory, index)
        if after is None:
            continue
        user = prompt.fill(
            "user",
            page=fence("page", page_text(step.observation)),
            action=format_action(step.decision.action),
        )
        rows.append(_row(trajectory, index, write, prompt, user, target(step.observation, after)))
    return rows


def reward_rows(
    trajectory: Trajectory, succeeded: bool, write: Write, prompt: Prompt | None = None
) -> list[TokenRow]:
    """A row that asks whether the episode succeeded, to be answered with yes or no.

    The prompt has sections `system` and `user`, the latter with slots `goal`, `turns` and `page`.
    An episode that infrastructure ended gives none.
    """
    if _is_void(trajectory) or not trajectory.steps:
        return []
    prompt = prompt or load_prompt(PROMPTS / "reward.md")
    user = prompt.fill(
        "user",
        goal=trajectory.goal or trajectory.task.goal or trajectory.steps[0].observation.goal,
        turns=told(trajectory),
        page=fence("page", page_text(trajectory.last)) if trajectory.last else "It was not seen.",
    )
    last = len(trajectory.steps) - 1
    return [_row(trajectory, last, write, prompt, user, YES if succeeded else NO)]


def told(trajectory: Trajectory) -> str:
    """The episode's actions and what came of them, one line a turn."""
    lines = []
    for index, step in enumerate(trajectory.steps):
        after = observation_after(trajectory, index)
        outcome = f" ({after.outcome})" if after is not None and after.outcome else ""
        lines.append(f"{index + 1}. {format_action(step.decision.action)}{outcome}")
    return "\n".join(lines)


def _is_void(trajectory: Trajectory) -> bool:
    return trajectory.ending is None or trajectory.ending.is_infrastructure


def _row(
    trajectory: Trajectory, index: int, write: Write, prompt: Prompt, user: str, reply: str
) -> TokenRow:
    messages = (Message("system", prompt.fill("system")), Message("user", user))
    return replace(
        encoded_row(write(messages, reply), step=index),
        imagined=trajectory.provenance.imagined,
        group=f"{trajectory.task.id}:{trajectory.task.seed}",
        episode=trajectory.id,
    )
