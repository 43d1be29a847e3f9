"""The key points of a task, from its words alone, asked for once for each task."""

import asyncio
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluators.judge.court import Court, Hearing, seed_of
from evaluators.judge.examination import KeyPoint
from webagent.models.model import Message
from webagent.models.prompt import Prompt, load_prompt
from webagent.models.replies import UnusableError

PROMPT = Path(__file__).parent / "prompts" / "key_points.md"
_MOST = 20
_LINE = re.compile(r"^\s*(?:\*\*)?\d+[.)]\s*(?:\*\*)?\s*(.+?)\s*$", re.MULTILINE)
_KIND = re.compile(r"^\[(state|answer)\]\s*(.+)$", re.IGNORECASE)

Key = tuple[str, str, str]
"""Task text, model and prompt hash: what key points depend on."""


@dataclass(slots=True)
class KeyPoints:
    """Finds key points and keeps them; what is given is never asked for."""

    rules: str
    """Section of the prompt with what a point is in this variant."""
    given: Mapping[str, Sequence[str | KeyPoint]] = field(default_factory=dict)
    """Points by the task's text, for tasks whose points are known."""
    kept: MutableMapping[Key, tuple[KeyPoint, ...]] = field(default_factory=dict)
    """What was found so far; may be one that outlives the judge."""
    prompt: Prompt = field(default_factory=lambda: load_prompt(PROMPT))
    _asking: dict[Key, asyncio.Lock] = field(default_factory=dict)

    async def of(self, goal: str, hearing: Hearing) -> tuple[KeyPoint, ...]:
        """The points of the task.

        Raises `UnusableError` when two replies could not be read, `ModelError` when there is none.
        """
        if goal in self.given:
            return tuple(map(as_point, self.given[goal]))
        key = (goal, hearing.court.model.name, self.prompt.hash)
        async with self._asking.setdefault(key, asyncio.Lock()):
            if key not in self.kept:
                messages = (
                    Message(
                        "system", self.prompt.fill("system", rules=self.prompt.fill(self.rules))
                    ),
                    Message("user", self.prompt.fill("user", task=goal)),
                )
                court: Court = hearing.court
                asking = Hearing(court, seed_of(goal), hearing.notes, hearing.calls)
                reply = (await asking.ask(messages))[0]
                self.kept[key] = await asking.settle(messages, reply, read_points, self.prompt)
        return self.kept[key]


def read_points(text: str) -> tuple[KeyPoint, ...]:
    """The points of a numbered list, one a line. Raises `UnusableError` where there is none."""
    points = tuple(as_point(match[1].strip("* ")) for match in _LINE.finditer(text))
    if not 1 <= len(points) <= _MOST:
        raise UnusableError(
            f"{len(points)} numbered points were found; expected a list of 1 to {_MOST}, as"
            " '1. what must hold', one a line"
        )
    return points


def as_point(point: str | KeyPoint) -> KeyPoint:
    """A point from its line, `[answer] …` for what the agent has to say."""
    if isinstance(point, KeyPoint):
        return point
    found = _KIND.match(point)
    if found is None:
        return KeyPoint(point)
    return KeyPoint(found[2], "answer" if found[1].lower() == "answer" else "state")


def numbered(points: Sequence[KeyPoint], *, with_kind: bool) -> str:
    """The points as the model is shown them."""
    return "\n".join(
        f"{number}. {f'[{point.asks}] ' if with_kind else ''}{point.text}"
        for number, point in enumerate(points, start=1)
    )
