"""What was seen, done and answered in the remembered episodes, counted by task."""

import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from webagent.memory.cases import Case
from webagent.memory.goals import FUNCTION_WORDS, Goal, shape
from webagent.memory.pages import masked, stable_hash
from webagent.records import Node


@dataclass(slots=True)
class Usage:
    """What was seen and done in the remembered episodes, by task."""

    tasks: set[str] = field(default_factory=set)
    seen: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Tasks by the kind of element that stood on their pages."""
    used: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Tasks by the kind of element that was acted on."""
    questions: dict[str, set[str]] = field(default_factory=dict)
    """Words of the goals of each task that was answered with a text."""
    commands: dict[str, set[str]] = field(default_factory=dict)
    """The same of each task that was ended without one."""
    shapes: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Tasks by the shape of what was answered."""
    _read: int = 0

    def read(self, cases: Sequence[Case]) -> None:
        """Take in the cases that were added since the last time."""
        for case in cases[self._read :]:
            self.tasks.add(case.task)
            for key in case.page:
                self.seen[key].add(case.task)
            if case.role:
                name = case.called if case.signature.split("|")[2] else ""
                self.used[stable_hash(f"{case.role}|{name}")].add(case.task)
            if case.op == "answer":
                text = case.constant("text")
                words = self.commands if text == "" else self.questions
                words.setdefault(case.task, set()).update(content_words(_said(case.goal)))
                if text:
                    self.shapes[shape(text)].add(case.task)
        self._read = len(cases)

    def count(self, tasks: Collection[str], without: str) -> int:
        """Return how many of these tasks there are but for one."""
        return len(tasks) - (without in tasks)

    def chance_of_question(self, goal: Goal, without: str) -> float:
        """Return how likely a text is the answer to a goal: by its words, as naive Bayes has it."""
        groups = [
            [words for task, words in group.items() if task != without]
            for group in (self.questions, self.commands)
        ]
        logit = math.log((len(groups[0]) + 1) / (len(groups[1]) + 1))
        for word in set(content_words(_said(goal))):
            counts = [sum(word in words for words in group) for group in groups]
            if sum(counts) > 1:
                shares = [
                    (count + 0.5) / (len(group) + 1)
                    for count, group in zip(counts, groups, strict=True)
                ]
                logit += math.log(shares[0] / shares[1])
        return 1 / (1 + math.exp(-max(-20.0, min(20.0, logit))))


def _said(goal: Goal) -> str:
    """What a goal says without its values, question marks included."""
    return " ".join(goal.template) + (" ?" if "?" in goal.text else "")


@lru_cache(16384)
def content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that mean something, in lower case."""
    words = "".join(c.lower() if c.isalnum() or c in "-'?" else " " for c in text).split()
    found = [word.strip("-'?") for word in words] + (["?"] if "?" in text else [])
    return tuple(word for word in found if word and word not in FUNCTION_WORDS)


def key_of(node: Node) -> int:
    """Return the kind of an element, as a page's skeleton has it."""
    return stable_hash(f"{node.role}|{masked(node.name)}")
