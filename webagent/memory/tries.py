"""Tries that failed at tasks without any success, so that none of them is made again.

Sampling of whole tries without replacement, as Shi, Bieber and Singh (2020, Incremental Sampling
Without Replacement for Sequence Models) do it with one tree for each task: what a failed try's
further steps were likely is taken from the action that led to them. Unlike there an action that was
often tried also counts less wherever it comes, since other values and orders are other sequences.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from webagent.action import Action
from webagent.action.actions import GiveUp
from webagent.memory.constants import GIVEN_UP, LEAST_LEFT, MOST_TRIES, TRIED_AFTER, TRIED_AGAIN
from webagent.memory.goals import Goal, clean, shape
from webagent.memory.pages import masked, read_page, stable_hash
from webagent.memory.scene import mark_of, signature
from webagent.records import Observation

Try = tuple[tuple[int, float], ...]
"""Key and probability of each step."""
GIVE_UP = stable_hash("give up")


@dataclass(slots=True)
class FailedTries:
    """Failed tries by task."""

    tries: defaultdict[str, list[Try]] = field(default_factory=lambda: defaultdict(list))
    _used: defaultdict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))
    """Probability that is used up, by the hash of a beginning of a try."""
    _counts: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """How often an action was tried, by its key and by that of the pair with the one before."""

    def add(self, task: str, tried: Try) -> None:
        """Take in a try that failed."""
        if len(self.tries[task]) >= MOST_TRIES:
            return
        self.tries[task].append(tried)
        used, node, before = self._used[task], 0, 0
        for i, (key, _) in enumerate(tried):
            node = _follow(node, key)
            rest = math.prod(chance for _, chance in tried[i + 1 :])
            used[node] = used.get(node, 0.0) + rest
            self._counts[task].update((key, _follow(before, key)))
            before = key

    def forget(self, task: str) -> None:
        """Forget the tries of a task that succeeded."""
        for each in (self.tries, self._used, self._counts):
            each.pop(task, None)

    def weigh(self, task: str, past: Sequence[int], keys: Iterable[int]) -> list[float]:
        """Return what is left of each action's probability after these, 1 for what is new."""
        node = 0
        for key in past:
            node = _follow(node, key)
        used, counts = self._used[task], self._counts[task]
        before = past[-1] if past else 0
        return [
            max(LEAST_LEFT, 1 - used.get(_follow(node, key), 0.0))
            / (1 + counts[key]) ** (GIVEN_UP if key == GIVE_UP else TRIED_AGAIN)
            / (1 + counts[_follow(before, key)]) ** TRIED_AFTER
            for key in keys
        ]


def _follow(node: int, key: int) -> int:
    return stable_hash(f"{node}|{key}")


def key_of_action(action: Action, observation: Observation, goal: Goal) -> int:
    """Return what was done to what, as it is the same for other values of the same goal."""
    if isinstance(action, GiveUp):
        return GIVE_UP
    parts = [signature(action, observation, goal)]
    page, mark = read_page(observation), mark_of(action, observation)
    if mark in page.line_of:
        node = page.nodes[page.line_of[mark]]
        same = page.by_name.get((node.role, clean(node.name).lower()), [])
        parts.append(str(min(same.index(page.line_of[mark]), 9)) if len(same) > 1 else "")
    text = getattr(action, "text", "") or getattr(action, "option", "")
    slots = [i for i, slot in enumerate(goal.slots) if slot.text == text]
    if slots:
        parts.append(f"${slots[0]}")
    elif text:
        hits = page.find(text)
        line = page.units[hits[0]].line if hits else 0
        beside = page.units[hits[0] - 1].text if hits and hits[0] else ""
        role = page.nodes[line].role if page.nodes else ""  # an imagined page may be empty
        parts.append(f"{shape(text)}|{masked(beside)}|{role}")
    return stable_hash("|".join(parts))
