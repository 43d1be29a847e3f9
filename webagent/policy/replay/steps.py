"""A recorded action on the page as it is now: its elements, points and texts found again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from webagent.action import Action, Answer, format_action
from webagent.action import actions as act
from webagent.errors import PolicyError
from webagent.guard.secret import find_placeholders
from webagent.policy.finding import describe_element, line_of, row_texts, texts_beside
from webagent.policy.past_actions import MARK_FIELDS
from webagent.policy.replay.elements import (
    MARK,
    ElementSearch,
    FoundElement,
    LostElement,
    find_alike,
    page_structure,
)
from webagent.policy.replay.goals import ValueMapping, WordSequence
from webagent.records import Node, Observation, Step, Trajectory

_TEXTS = ("text", "option", "url")
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
class TextRewriter:
    """The texts of one recorded action."""

    recorded: Observation
    now: Observation
    values: ValueMapping
    secrets: frozenset[str] = frozenset()
    """Names of secrets that the guard fills in."""

    def rewrite(self, action: Action) -> tuple[Action, tuple[str, ...]]:
        """Return the action with its texts as they are to be now, and what was replaced, in words.

        Raises `PolicyError` where a text depends on what is unknown.
        """
        notes: list[str] = []
        for name, text in list_texts(action):
            new = self._rewrite_text(action, text)
            if new == text:
                continue
            notes.append(f"{text!r} is {new!r} now")
            changes: dict[str, Any] = {name: new}
            if isinstance(action, act.SelectOptions):
                options = (new if option == text else option for option in action.options)
                changes = {"options": tuple(options)}
            action = replace(action, **changes)
        return action, tuple(notes)

    def _rewrite_text(self, action: Action, text: str) -> str:
        if names := find_placeholders(text):
            for name in names:
                if name in self.values.given:
                    text = text.replace(f"<secret:{name}>", self.values.given[name])
                elif name not in self.secrets:
                    raise PolicyError(
                        f"what was typed is the secret {name!r}, which is not in the recording;"
                        f" give --guard FILE that knows it, or --values {name}=…"
                    )
            return text
        carried = self.values.carry(text)
        if carried.how == "unsure":
            raise PolicyError(
                f"it is unknown what stands for {text!r} in the new goal; say so"
                f" with --values {text!r}=…"
            )
        if carried.how == "goal" and "\n" in text.strip() and carried.text != text:
            raise PolicyError(
                "a text of several lines was typed in which the goal is only a part; nothing"
                " recorded says how the rest is to be now"
            )
        is_ambiguous = self.values.is_another_task and len(self.values.alignment.changes) > 1
        if isinstance(action, Answer) and carried.how == "goal" and is_ambiguous:
            raise PolicyError(
                f"the answer {text!r} was one of several things that the goal names, and nothing"
                f" recorded says which it is now; say so with --values {text!r}=…"
            )
        if carried.is_known or isinstance(action, act.Goto):
            return carried.text
        return self._find_elsewhere(action, text)

    def _find_elsewhere(self, action: Action, text: str) -> str:
        """Return a text that the goal says nothing of: as it was, or from where it was read."""
        stood = list(find_lines_with(self.recorded, text))
        then, now = (
            [(node.role, node.name, node.value) for node in page.nodes]
            for page in (self.recorded, self.now)
        )
        is_new = self.values.is_another_task and then != now
        if isinstance(action, Answer) and stood:
            is_new = is_new or not any(find_lines_with(self.now, text))
        if not is_new:
            return text
        found = set[str]()
        for line in find_lines_with(self.recorded, text):
            start, end = (self.values.replace_in(part) for part in line.split(text))
            if sum(map(str.isalnum, start + end)) < _MIN_AROUND:
                continue
            names = (node.name for node in self.now.nodes)
            found |= {
                name[len(start) : len(name) - len(end)]
                for name in names
                if name.startswith(start) and name.endswith(end) and len(name) > len(start + end)
            }
        for node in self.recorded.nodes:
            if node.mark and node.value == text:
                again = ElementSearch(self.recorded, node, self.now, self.values).find()
                if isinstance(again, FoundElement) and again.node.value:
                    found.add(again.node.value)
        if len(found) != 1:
            where = "stood on the recorded page" if stood else "is not in the goal"
            raise PolicyError(
                f"{text!r} {where} and it is unknown what stands for it now; say so with"
                f" --values {text!r}=…"
            )
        return found.pop()


def find_lines_with(page: Observation, text: str) -> Iterator[str]:
    """Yield the lines of a page that say a text, once, among other words."""
    for node in page.nodes:
        if node.name.count(text) == 1:
            yield node.name


def list_texts(action: Action) -> list[tuple[str, str]]:
    """Return what an action types, chooses, opens or answers, each behind the field's name."""
    if isinstance(action, act.SelectOptions):
        return [("options", option) for option in action.options]
    found = [(name, getattr(action, name, "")) for name in _TEXTS]
    return [(name, text) for name, text in found if text]


@dataclass(frozen=True, slots=True)
class ReplayContext:
    """Where a recording is played: what it is carried over by, and the confidence needed."""

    values: ValueMapping
    least: float
    """Confidence under which an element is not taken."""
    secrets: frozenset[str] = frozenset()
    moved: tuple[str, str] = ("", "")
    """The address it began at, and the one it begins at now."""


def replay_step(
    number: int, step: Step, now: Observation, place: ReplayContext
) -> tuple[Action, ReplayedStep]:
    """Return the action for a recorded step, with the account of it. `number` counts from 1.

    Raises `PolicyError` with the reason where it is unknown what to do.
    """
    recorded, action = step.observation, step.decision.action
    done = ReplayedStep(number, format_action(action))
    changes: dict[str, Any] = {}
    finds: list[tuple[Node, FoundElement]] = []
    for name in MARK_FIELDS:
        if not (mark := getattr(action, name, 0)):
            continue
        target = recorded.node(mark)
        if target is None:
            raise PolicyError(f"the recorded page has no element {mark} to look for")
        found = _find_or_raise(recorded, target, now, place)
        finds.append((target, found))
        changes[name] = found.node.mark
    moved = _move_points(replace(action, **changes), recorded, now, place)
    if isinstance(action, act.Goto):
        before, after, parts = (
            urlsplit(place.moved[0]),
            urlsplit(place.moved[1]),
            urlsplit(action.url),
        )
        if not place.moved[1] or (parts.scheme, parts.netloc) != (before.scheme, before.netloc):
            rebased = action.url
        else:
            rebased = urlunsplit(parts._replace(scheme=after.scheme, netloc=after.netloc))
        moved = replace(action, url=rebased)
    _check_focus(action, recorded, now, place)
    moved, notes = TextRewriter(recorded, now, place.values, place.secrets).rewrite(moved)
    done = replace(done, taken=format_action(moved), notes=notes)
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


def list_recorded_texts(recording: Trajectory) -> Iterator[str]:
    """Yield the texts of a recording's steps: what they type, and what tells their elements."""
    for step in recording.steps:
        page, action = step.observation, step.decision.action
        for _, text in list_texts(action):
            yield text
            yield from find_lines_with(page, text)
        for mark in (getattr(action, name, 0) for name in MARK_FIELDS):
            if target := page.node(mark):
                yield target.name
                alike = find_alike(page, target, target.name)
                if len(alike) > 1:
                    yield from row_texts(page, target)
                    yield from texts_beside(page, line_of(page, target), alike)


def _find_or_raise(
    recorded: Observation, target: Node, now: Observation, place: ReplayContext
) -> FoundElement:
    search = ElementSearch(recorded, target, now, place.values)
    found = search.find()
    if isinstance(found, LostElement):
        raise PolicyError(found.reason)
    if found.confidence < place.least:
        raise PolicyError(
            f"{describe_element(target)} was found by {found.rule} with a confidence of"
            f" {found.confidence:.2f}, and {place.least} is needed"
        )
    values = search.values
    if found.is_named or not values.is_another_task or search.is_renamed or not target.name:
        return found
    goal = set(WordSequence.of(values.alignment.new.text).plain)
    is_in_goal = set(WordSequence.of(target.name).plain) <= goal
    at = line_of(recorded, target)
    beside = recorded.nodes[max(0, at - 1) : at + 2]
    alike = [n for n in beside if n.mark and (n.role, n.kind) == (target.role, target.kind)]
    is_named = is_in_goal or target.name in values.given.values()
    # The choice depended on what the recorded page showed and this one does not.
    if not is_named and len(alike) > 1 and page_structure(recorded) != page_structure(now):
        raise PolicyError(
            f"{describe_element(target)} was chosen among others; the goal does not name it, and"
            " the page says other things now"
        )
    return found


def _move_points(
    action: Action, recorded: Observation, now: Observation, place: ReplayContext
) -> Action:
    """Return the action with its points where the same elements are now."""
    places, places_now = (
        [(node.role, node.name, node.box) for node in page.nodes] for page in (recorded, now)
    )
    if places == places_now and recorded.viewport == now.viewport:
        return action
    for names in _AT_POINTS:
        if not hasattr(action, names[0]):
            continue
        if place.values.is_another_task:
            raise PolicyError("a point was acted on, and the page has other things in other places")
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
            raise PolicyError(f"nothing that is known was at {x},{y}, and the page is another one")
        box, then = _find_or_raise(recorded, target, now, place).node.box, target.box
        to_x = box[0] + round((x - then[0]) * box[2] / max(1, then[2]))
        to_y = box[1] + round((y - then[1]) * box[3] / max(1, then[3]))
        changes: dict[str, Any] = {names[0]: to_x, names[1]: to_y}
        action = replace(action, **changes)
    return action


def _check_focus(
    action: Action, recorded: Observation, now: Observation, place: ReplayContext
) -> None:
    """Raise `PolicyError` where what is typed would go elsewhere than it went."""
    is_typed = isinstance(action, _BY_KEYBOARD)
    if not is_typed and not (isinstance(action, act.Press) and not action.mark):
        return
    target = recorded.node(recorded.focus)
    if target is None:
        return
    found = _find_or_raise(recorded, target, now, place)
    if found.node.mark != now.focus:
        raise PolicyError(f"{describe_element(target)} had the keyboard focus, and has it no more")
