"""Asking a language model to say demonstrated goals in other words."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, Field

from webagent.memory.goals import read_goal
from webagent.memory.rewordings import Rewording, Rewordings
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read, read_form

REWORD = Path(__file__).parent / "prompts" / "reword.md"
REWORDINGS = "rewordings.jsonl"
"""File in a run's folder; it may be edited or written by hand."""
_AT_ONCE = 8
"""Requests at one time."""
_TEMPERATURE = 0.8


class _Others(BaseModel):
    others: list[str] = Field(min_length=1)


async def reword_goals(
    model: Model, goals: Iterable[str], count: int, file: Path
) -> tuple[Rewordings, str]:
    """Return the rewordings in the file, with `count` more asked for each kind of goal that it
    lacks, and what was done in a sentence. Each reply is appended to the file at once, so that what
    was asked is not asked again.

    A wording in which a value of the goal is missing is left out. Raises `StoreError` for a file
    that cannot be read, `ModelError` where the model fails.
    """
    known = Rewordings.read(file) if file.exists() else Rewordings()
    lacking: dict[tuple[str, ...], str] = {}
    for goal in sorted(goals, key=_has_equal_values):
        if not known.holds(goal):
            lacking.setdefault(read_goal(goal).template, goal)
    free = asyncio.Semaphore(_AT_ONCE)
    refused = unread = 0

    async def add(goal: str) -> None:
        nonlocal refused, unread
        async with free:
            try:
                others = await _ask(model, goal, count)
            except UnusableError:
                unread += 1
                return
        refused += len(known.add(goal, others))
        with file.open("a", encoding="utf-8") as lines:
            lines.write(Rewording(goal, tuple(others)).to_line())

    try:
        async with asyncio.TaskGroup() as group:
            for goal in lacking.values():
                group.create_task(add(goal))
    except ExceptionGroup as errors:
        # The first failure has cancelled the other requests; callers know it, and no groups.
        raise errors.exceptions[0] from errors
    told = f"{len(known)} other wordings of {len(known.by_template)} kinds of goals: {file}"
    if lacking:
        told += (
            f" ({model.name} was asked for {len(lacking)}; left out: {refused} wordings that lack a"
            f" value or differ in nothing, {unread} replies that cannot be read)"
        )
    return known, told


async def _ask(model: Model, goal: str, count: int) -> list[str]:
    """The other wordings in a model's reply, or in its second one. Raises `UnusableError`."""
    prompt = load_prompt(REWORD)
    values = "\n".join(f"- {slot.text}" for slot in read_goal(goal).slots)
    messages = (
        Message("system", prompt.fill("system", count=str(count))),
        Message("user", prompt.fill("user", goal=fence("goal", goal), values=values or "none")),
    )

    async def ask(conversation: tuple[Message, ...]) -> Reply:
        return (await model.complete(conversation, temperature=_TEMPERATURE)).replies[0]

    return await ask_and_read(
        ask,
        messages,
        lambda text: read_form(text, _Others).others[:count],
        lambda problem: prompt.fill("again", problem=problem),
    )


def _has_equal_values(goal: str) -> bool:
    """Such a goal is asked for last: its wordings do not say which of them is which."""
    values = [slot.text for slot in read_goal(goal).slots]
    return len(set(values)) < len(values)
