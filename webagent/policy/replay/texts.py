"""Texts of recorded actions as they are to be now, or read anew from where they stood."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from webagent.action import Action, Answer
from webagent.action import actions as act
from webagent.errors import PolicyError
from webagent.guard.secret import names_in
from webagent.policy.replay.elements import Found, Search
from webagent.policy.replay.values import Values
from webagent.records import Observation

_TEXTS = ("text", "option", "url")
_LEAST_AROUND = 3
"""Characters that have to stand around a text for its place to be known by them."""


@dataclass(frozen=True, slots=True)
class Writing:
    """The texts of one recorded action."""

    recorded: Observation
    now: Observation
    values: Values
    secrets: frozenset[str] = frozenset()
    """Names of secrets that the guard fills in."""

    def rewritten(self, action: Action) -> tuple[Action, tuple[str, ...]]:
        """The action with its texts as they are to be now, and what was replaced, in words.

        Raises `PolicyError` where a text depends on what cannot be told.
        """
        notes: list[str] = []
        for name, text in _texts_of(action):
            new = self._now(action, text)
            if new != text:
                notes.append(f"{text!r} is {new!r} now")
                action = _with(action, name, text, new)
        return action, tuple(notes)

    def _now(self, action: Action, text: str) -> str:
        if names := names_in(text):
            return self._secret(names, text)
        carried = self.values.carried(text)
        if carried.how == "unsure":
            raise PolicyError(f"it cannot be told what stands for {text!r} in the new goal; say so"
                              f" with --values {text!r}=…")  # fmt: skip
        if carried.how == "goal" and "\n" in text.strip() and carried.text != text:
            raise PolicyError(
                "a text of several lines was typed in which the goal is only a part; nothing"
                " recorded says how the rest is to be now"
            )
        if isinstance(action, Answer) and carried.how == "goal" and self._is_one_of_several():
            raise PolicyError(
                f"the answer {text!r} was one of several things that the goal names, and nothing"
                f" recorded says which it is now; say so with --values {text!r}=…"
            )
        if carried.is_told or isinstance(action, act.Goto):
            return carried.text
        return self._elsewhere(action, text)

    def _is_one_of_several(self) -> bool:
        return self.values.is_another_task and len(self.values.alignment.changes) > 1

    def _secret(self, names: tuple[str, ...], text: str) -> str:
        for name in names:
            if name in self.values.given:
                text = text.replace(f"<secret:{name}>", self.values.given[name])
            elif name not in self.secrets:
                raise PolicyError(
                    f"what was typed is the secret {name!r}, which is not in the recording; give"
                    f" --guard FILE that knows it, or --values {name}=…"
                )
        return text

    def _elsewhere(self, action: Action, text: str) -> str:
        """A text that the goal says nothing of: as it was, or from where it was read."""
        stood = [line for line in lines_with(self.recorded, text)]
        is_new = self.values.is_another_task and _said(self.recorded) != _said(self.now)
        if isinstance(action, Answer) and stood:
            is_new = is_new or not any(lines_with(self.now, text))
        if not is_new:
            return text
        read = self._read_anew(text)
        if read is None:
            where = "stood on the recorded page" if stood else "is not in the goal"
            raise PolicyError(
                f"{text!r} {where} and it cannot be told what stands for it now; say so with"
                f" --values {text!r}=…"
            )
        return read

    def _read_anew(self, text: str) -> str | None:
        found = {*self._from_fields(text), *self._from_lines(text)}
        return found.pop() if len(found) == 1 else None

    def _from_fields(self, text: str) -> Iterator[str]:
        for node in self.recorded.nodes:
            if node.mark and node.value == text:
                again = Search(self.recorded, node, self.now, self.values).find()
                if isinstance(again, Found) and again.node.value:
                    yield again.node.value

    def _from_lines(self, text: str) -> Iterator[str]:
        for line in lines_with(self.recorded, text):
            start, _, end = line.partition(text)
            start, end = self.values.within(start), self.values.within(end)
            if sum(map(str.isalnum, start + end)) < _LEAST_AROUND:
                continue
            for node in self.now.nodes:
                name = node.name
                if name.startswith(start) and name.endswith(end) and len(name) > len(start + end):
                    yield name[len(start) : len(name) - len(end)]


def _said(page: Observation) -> list[tuple[str, str, str]]:
    """All that a page says, also in its fields."""
    return [(node.role, node.name, node.value) for node in page.nodes]


def lines_with(page: Observation, text: str) -> Iterator[str]:
    """The lines of a page that say a text, once, among other words."""
    for node in page.nodes:
        if node.name.count(text) == 1:
            yield node.name


def texts_of(action: Action) -> tuple[str, ...]:
    """What an action types, chooses, opens or answers."""
    return tuple(text for _, text in _texts_of(action))


def _texts_of(action: Action) -> list[tuple[str, str]]:
    if isinstance(action, act.SelectOptions):
        return [("options", option) for option in action.options]
    found = [(name, getattr(action, name, "")) for name in _TEXTS]
    return [(name, text) for name, text in found if text]


def _with(action: Action, name: str, old: str, new: str) -> Action:
    if isinstance(action, act.SelectOptions):
        options = tuple(new if option == old else option for option in action.options)
        return replace(action, options=options)
    changes: dict[str, Any] = {name: new}
    return replace(action, **changes)
