"""Rows from text: what a language model learns as a world model or as a reward model."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TypeAlias

from webagent.action import format_action
from webagent.errors import ModelError
from webagent.models.model import Message
from webagent.models.prompt import fence, load_prompt
from webagent.observation import render
from webagent.records import Observation, Trajectory
from webagent.training.language.rows import Encoded, TokenRow, make_encoded_row

NOTHING = "no change"
OVER = "the task is over"
"""What is written where the page ends the episode."""
_HEAD = re.compile(r"@(\d+) -(\d+)")


PROMPTS = Path(__file__).parent / "prompts"
YES, NO = "yes", "no"
Write: TypeAlias = Callable[[Sequence[Message], str], Encoded]
"""Messages and a reply in a model's ids."""


def line_changes(before: str, after: str) -> str:
    """Return the lines that differ: `@3 -2` stands for "from line 3 on, 2 lines go", and the lines
    that come in their place follow with a `+`."""
    old, new = before.split("\n"), after.split("\n")
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    said: list[str] = []
    for tag, start, stop, first, last in matcher.get_opcodes():
        if tag != "equal":
            said.append(f"@{start + 1} -{stop - start}")
            said.extend(f"+{line}" for line in new[first:last])
    return "\n".join(said) or NOTHING


def apply_changes(before: str, changes: str) -> str:
    """Return the text after changes. Raises `ModelError` for what `line_changes` does not write."""
    old = before.split("\n")
    if changes == NOTHING:
        return before
    new: list[str] = []
    done, started = 0, False
    for line in changes.split("\n"):
        head = _HEAD.fullmatch(line)
        if head:
            start, gone = int(head[1]) - 1, int(head[2])
            if not done <= start <= start + gone <= len(old):
                raise ModelError(f"{line!r} is not a change of the {len(old) - done} lines left")
            new += old[done:start]
            done, started = start + gone, True
        elif started and line.startswith("+"):
            new.append(line[1:])
        else:
            raise ModelError(f"expected a line such as @3 -2, or +text after it; got {line[:40]!r}")
    return "\n".join([*new, *old[done:]])


def page_text(observation: Observation) -> str:
    """Return a page with its title and address, as it is shown."""
    return f"{observation.title}\n{observation.url}\n\n{render(observation)}"


def page_changes(before: Observation, after: Observation) -> str:
    """Return only the lines that are different, or that the page ends the episode."""
    if after.over:
        return OVER
    return line_changes(page_text(before), page_text(after))


def make_world_lessons(
    trajectory: Trajectory,
) -> Iterator[tuple[int, tuple[Message, Message], str]]:
    """Yield for each action whose result was seen its step, the messages that ask for it, and the
    reply: page and action in, what changed out.

    Dreams teach nothing about the world, and neither does an episode that infrastructure ended.
    """
    if (
        trajectory.ending is None or trajectory.ending.is_infrastructure
    ) or trajectory.provenance.imagined:
        return
    prompt = load_prompt(PROMPTS / "world.md")
    system = Message("system", prompt.fill("system"))
    for index, step in enumerate(trajectory.steps):
        after = trajectory.page_after(index)
        if after is None:
            continue
        user = prompt.fill(
            "user",
            page=fence("page", page_text(step.observation)),
            action=format_action(step.decision.action),
        )
        changes = page_changes(step.observation, after)
        yield index, (system, Message("user", user)), changes


def make_world_rows(trajectory: Trajectory, write: Write) -> list[TokenRow]:
    """Return a row for each of `make_world_lessons`."""
    return [
        replace(
            make_encoded_row(write(messages, reply), step=index),
            group=f"{trajectory.task.id}:{trajectory.task.seed}",
            episode=trajectory.id,
        )
        for index, messages, reply in make_world_lessons(trajectory)
    ]


def format_turns(trajectory: Trajectory) -> str:
    """Return the episode's actions and what came of them, one line a turn."""
    lines = []
    for index, step in enumerate(trajectory.steps):
        after = trajectory.page_after(index)
        outcome = f" ({after.outcome})" if after is not None and after.outcome else ""
        lines.append(f"{index + 1}. {format_action(step.decision.action)}{outcome}")
    return "\n".join(lines)
