"""A recorded action on the page as it is now: its elements and points found again."""

from dataclasses import dataclass, replace
from typing import Any

from webagent.action import Action, Answer, format_action
from webagent.action import actions as act
from webagent.errors import PolicyError
from webagent.guard.secret import find_placeholders
from webagent.policy.finding import describe_element, rebase
from webagent.policy.past_actions import MARK_FIELDS
from webagent.policy.replay.elements import MARK, ElementSearch, FoundElement
from webagent.records import Node, Observation, Step

_MIN_AROUND = 3
"""Characters that have to stand around a text for its place to be known by them."""
_AT_POINTS = (("x", "y"), ("to_x", "to_y"))
_BY_KEYBOARD = (act.KeyboardType, act.KeyboardInsertText, act.KeyboardDown, act.KeyboardUp)


@dataclass(frozen=True, slots=True)
class ReplayedStep:
    """One step of a replay: what was recorded, what was done instead of it, and why."""

    step: int
    """Counted from 1."""
    recorded: str
    """The action as text."""
    taken: str = ""
    """The action that was taken; empty where none was."""
    element: str = ""
    """What was acted on, as it was called then."""
    found: str = ""
    """What was taken for it."""
    rule: str = ""
    """By what the elements were found again; the weakest rule where there are two."""
    confidence: float = 1.0
    notes: tuple[str, ...] = ()
    """Texts that were replaced, and what else a reader should know."""
    refusal: str = ""
    """Why the step was not taken."""

    @property
    def is_healed(self) -> bool:
        """Whether the page had moved: the element was found by another rule than its mark."""
        return bool(self.taken and self.rule and self.rule != MARK)

    def describe(self) -> str:
        """Return it all in one sentence."""
        if self.refusal:
            return f"step {self.step}, {self.recorded}: refused: {self.refusal}"
        parts = [f"step {self.step}, {self.recorded}"]
        if self.is_healed:
            took = f" taken: {self.found}, as {self.taken}," if self.found != self.element else ""
            parts.append(
                f"{self.element}{took} found by {self.rule} (confidence {self.confidence:.2f})"
            )
        return "; ".join((*parts, *self.notes))


@dataclass(frozen=True, slots=True)
class StepReplay:
    """A recorded step, and the page on which it is done again."""

    step: Step
    now: Observation
    least: float
    """Confidence under which an element is not taken."""
    secrets: frozenset[str] = frozenset()
    """Names of secrets that the guard fills in."""
    moved: tuple[str, str] = ("", "")
    """The address that the recording began at, and the one that it begins at now."""

    def replay(self, number: int) -> tuple[Action, ReplayedStep]:
        """Return the action with the account of it. `number` counts from 1.

        Raises `PolicyError` with the reason where it is unknown what to do.
        """
        recorded, action = self.step.observation, self.step.decision.action
        done = ReplayedStep(number, format_action(action))
        for name in find_placeholders(done.recorded):
            if name not in self.secrets:
                raise PolicyError(
                    f"what was typed is the secret {name!r}, which is not in the recording;"
                    " give --guard FILE that knows it"
                )
        changes: dict[str, Any] = {}
        finds: list[tuple[Node, FoundElement]] = []
        for name in MARK_FIELDS:
            if not (mark := getattr(action, name, 0)):
                continue
            target = recorded.node(mark)
            if target is None:
                raise PolicyError(f"the recorded page has no element {mark} to look for")
            finds.append((target, self._find(target)))
            changes[name] = finds[-1][1].node.mark
        self._check_focus()
        moved = replace(action, **changes, **self._move_points())
        if isinstance(moved, act.Goto):
            moved = replace(moved, url=rebase(moved.url, *self.moved))
        elif isinstance(moved, Answer) and (text := self._read_again(moved.text)) != moved.text:
            done = replace(done, notes=(f"{moved.text!r} is {text!r} now",))
            moved = Answer(text)
        done = replace(done, taken=format_action(moved))
        if finds:
            weakest = min((found for _, found in finds), key=lambda found: found.confidence)
            done = replace(
                done,
                element=" onto ".join(describe_element(target) for target, _ in finds),
                found=" onto ".join(describe_element(found.node) for _, found in finds),
                rule=weakest.rule,
                confidence=round(weakest.confidence, 2),
            )
        return moved, done

    def _find(self, target: Node) -> FoundElement:
        found = ElementSearch(self.step.observation, target, self.now).find()
        if found.confidence < self.least:
            raise PolicyError(
                f"{describe_element(target)} was found by {found.rule} with a confidence of"
                f" {found.confidence:.2f}, and {self.least} is needed"
            )
        return found

    def _move_points(self) -> dict[str, Any]:
        """Return the action's points where the same elements are now."""
        recorded, action = self.step.observation, self.step.decision.action
        places, places_now = (
            [(node.role, node.name, node.box) for node in page.nodes]
            for page in (recorded, self.now)
        )
        changes: dict[str, Any] = {}
        if places == places_now and recorded.viewport == self.now.viewport:
            return changes
        for names in _AT_POINTS:
            if not hasattr(action, names[0]):
                continue
            x, y = (getattr(action, name) for name in names)
            over = [
                node
                for node in recorded.nodes
                if node.mark
                and node.box[0] <= x < node.box[0] + node.box[2]
                and node.box[1] <= y < node.box[1] + node.box[3]
            ]
            target = min(over, key=lambda node: node.box[2] * node.box[3], default=None)
            if target is None:
                raise PolicyError(
                    f"nothing that is known was at {x},{y}, and the page is another one"
                )
            box, then = self._find(target).node.box, target.box
            changes[names[0]] = box[0] + round((x - then[0]) * box[2] / max(1, then[2]))
            changes[names[1]] = box[1] + round((y - then[1]) * box[3] / max(1, then[3]))
        return changes

    def _check_focus(self) -> None:
        """Raise `PolicyError` where what is typed would go elsewhere than it went."""
        recorded, action = self.step.observation, self.step.decision.action
        is_typed = isinstance(action, _BY_KEYBOARD)
        if not is_typed and not (isinstance(action, act.Press) and not action.mark):
            return
        target = recorded.node(recorded.focus)
        if target is not None and self._find(target).node.mark != self.now.focus:
            raise PolicyError(
                f"{describe_element(target)} had the keyboard focus, and has it no more"
            )

    def _read_again(self, answer: str) -> str:
        """Return what was read off a line of the recorded page as that line has it now."""
        then, now = (
            [node.name for node in page.nodes] for page in (self.step.observation, self.now)
        )
        lines = [name for name in then if answer and name.count(answer) == 1]
        if not lines or any(line in now for line in lines):
            return answer
        found = set[str]()
        for start, end in (line.split(answer) for line in lines):
            if sum(map(str.isalnum, start + end)) >= _MIN_AROUND:
                found |= {
                    name[len(start) : len(name) - len(end)]
                    for name in now
                    if name.startswith(start)
                    and name.endswith(end)
                    and len(name) > len(start + end)
                }
        if not found and any(answer in name for name in now):
            return answer
        if len(found) != 1:
            raise PolicyError(
                f"{answer!r} stood on the recorded page and it is unknown what stands for it now"
            )
        return found.pop()
