"""Goals in other words: what a demonstrated goal could also have been called.

A person puts the same wish in words that no demonstration has. Other wordings are kept for each
kind of goal, its values left open, so that every episode with such a goal is remembered in all of
them.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from webagent.errors import StoreError
from webagent.memory.goals import Goal, clean, read_goal
from webagent.records import Trajectory

_WORD = r"[A-Z0-9](?:[\w'’.-]*\w)?"
_QUOTED_NAME = re.compile(rf'["“]({_WORD}(?: {_WORD})*)["”]')
"""A quoted value that is told from other words without its quotation marks."""
_OPEN = re.compile(r"\{(\d+)\}")


@dataclass(frozen=True, slots=True)
class Rewording:
    """A goal, and how others would have put it."""

    goal: str
    others: tuple[str, ...]

    def to_line(self) -> str:
        """Return it as a line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


@dataclass(slots=True)
class Rewordings:
    """Other wordings of goals, by what is left of a goal when its values are masked."""

    by_template: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    """Texts in which `{0}` stands for the goal's first value."""

    def __len__(self) -> int:
        return sum(map(len, self.by_template.values()))

    def holds(self, goal: str) -> bool:
        """Return whether there are other wordings of such a goal, or none could be used."""
        return read_goal(goal).template in self.by_template

    def add(self, goal: str, others: Iterable[str]) -> list[str]:
        """Keep other wordings of a goal; return those that are refused, since they lack one of its
        values or differ from it in nothing else."""
        read = read_goal(goal)
        kept, refused = list(self.by_template.get(read.template, ())), []
        for other in map(clean, others):
            opened = _open(other, read)
            if opened is None or read_goal(other).template == read.template:
                refused.append(other)
            elif opened not in kept:
                kept.append(opened)
        self.by_template[read.template] = tuple(kept)
        return refused

    def reword(self, goal: str) -> list[str]:
        """Return a goal in the other wordings of its kind, and without quotation marks around
        names and numbers."""
        read = read_goal(goal)
        found = [
            _OPEN.sub(lambda match: read.slots[int(match[1])].text, other)
            for other in self.by_template.get(read.template, ())
        ]
        # Most people leave the quotation marks out.
        unquoted = map(_unquote, (goal, *found))
        return [each for each in dict.fromkeys((*found, *unquoted)) if each != goal]

    @classmethod
    def read(cls, file: Path) -> "Rewordings":
        """Return the rewordings in a file of JSON lines, `{"goal": "…", "others": ["…"]}`. Raises
        `StoreError` where one is not so."""
        found = cls()
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{file} cannot be read: {error}") from error
        for number, line in enumerate(lines, 1):
            try:
                each = _READ.validate_json(line)
            except ValidationError as error:
                raise StoreError(
                    f'{file}, line {number}: expected {{"goal": "…", "others": ["…"]}}:'
                    f" {error.errors()[0]['msg']}"
                ) from error
            found.add(each.goal, each.others)
        return found


def reword_episode(trajectory: Trajectory, goal: str) -> Trajectory:
    """Return the episode as if its goal had been put so."""
    steps = tuple(
        replace(step, observation=replace(step.observation, goal=goal)) for step in trajectory.steps
    )
    task = replace(trajectory.task, goal=goal)
    return replace(trajectory, task=task, goal=goal, steps=steps)


def _unquote(text: str) -> str:
    return _QUOTED_NAME.sub(r"\1", text)


def _open(text: str, goal: Goal) -> str | None:
    """The text with the goal's values left open; None where one of them is missing. Equal values
    are taken to stand in the order in which the goal has them, each once."""
    places: dict[str, list[int]] = {}
    for i, slot in enumerate(goal.slots):
        places.setdefault(slot.text, []).append(i)
    text = text.replace("{", "(").replace("}", ")")
    if not places:
        return text
    longest = sorted(places, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(value)}(?!\w)" for value in longest))
    found = Counter(match.group() for match in pattern.finditer(text))
    if any(found[value] != len(same) for value, same in places.items() if len(same) > 1):
        return None
    if found.keys() != places.keys():
        return None

    def leave_open(match: re.Match[str]) -> str:
        same = places[match.group()]
        return f"{{{same.pop(0) if len(same) > 1 else same[0]}}}"

    return pattern.sub(leave_open, text)


_READ = TypeAdapter(Rewording)
