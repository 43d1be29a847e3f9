"""Slips: an action as it would be done by someone who got it wrong."""

import re
from dataclasses import replace

import numpy as np

from webagent.action import Action
from webagent.action.actions import (
    Click,
    DragAndDrop,
    Fill,
    MouseClick,
    MouseDrag,
    Press,
    SelectOption,
)
from webagent.records import Node, Observation

_REACH = 60
"""CSS pixels by which a point is missed at most."""


def slipped(action: Action, page: Observation, rng: np.random.Generator) -> Action | None:
    """Another action of the same kind: elsewhere, or with another value.

    None where the page offers no other, or the kind of action has nothing to get wrong.
    """
    match action:
        case Click(mark):
            other = _other_element(mark, page, rng)
            return Click(other) if other else None
        case Fill(mark, text):
            fields = [
                n.mark for n in page.nodes if n.mark != mark and n.role in ("textbox", "searchbox")
            ]
            if fields and rng.random() < 0.25:
                return Fill(int(rng.choice(fields)), text)
            return Fill(mark, wrong_text(text, page.goal, rng)) if text else None
        case SelectOption(mark, option):
            others = [name for name in _options(mark, page) if name != option]
            return SelectOption(mark, str(rng.choice(others))) if others else None
        case DragAndDrop(source, target):
            other = _other_element(target, page, rng, but=source)
            return DragAndDrop(source, other) if other else None
        case MouseClick() | MouseDrag():
            width, height = (side or 320 for side in page.viewport)
            right, down = (int(d) for d in rng.integers(8, _REACH, 2) * rng.choice([-1, 1], 2))
            if isinstance(action, MouseClick):
                return replace(
                    action, x=_inside(action.x + right, width), y=_inside(action.y + down, height)
                )
            return replace(
                action,
                to_x=_inside(action.to_x + right, width),
                to_y=_inside(action.to_y + down, height),
            )
        case Press(mark, key) if len(key) == 1:
            return Press(mark, str(rng.choice([k for k in "abcdefghij0123456789" if k != key])))
        case _:
            return None


def wrong_text(text: str, goal: str, rng: np.random.Generator) -> str:
    """Another text: a part of the right one, another piece of the goal, or a digit or letter off.

    Never the same, nor the same but for capitals and white space.
    """
    pieces = [p for p in re.findall(r"[\w./@-]+", goal) if not _same(p, text)]
    words = text.split()
    choices = [_misspelt(text, rng)]
    if pieces:
        choices.append(str(rng.choice(pieces)))
    if len(words) > 1:
        choices.append(" ".join(words[:-1]))
    choices = [choice for choice in choices if choice and not _same(choice, text)]
    return str(rng.choice(choices)) if choices else f"{text}x"


def _same(one: str, other: str) -> bool:
    return "".join(one.lower().split()) == "".join(other.lower().split())


def _misspelt(text: str, rng: np.random.Generator) -> str:
    places = [i for i, sign in enumerate(text) if sign.isalnum()]
    if not places:
        return ""
    place = int(rng.choice(places))
    signs = "0123456789" if text[place].isdigit() else "abcdefghijklmnopqrstuvwxyz"
    sign = str(rng.choice([s for s in signs if s != text[place].lower()]))
    return text[:place] + sign + text[place + 1 :]


def _other_element(mark: int, page: Observation, rng: np.random.Generator, but: int = 0) -> int:
    """An element to act on instead, mostly one of the same role; 0 where there is none."""
    here = page.node(mark)
    others = [
        node
        for node in page.nodes
        if node.mark
        and node.mark not in (mark, but)
        and "disabled" not in node.states
        and not (here is not None and (node.role, node.name) == (here.role, here.name))
    ]
    alike = [node for node in others if here is not None and node.role == here.role]
    pool = alike if alike and rng.random() < 0.8 else others
    return pool[int(rng.integers(len(pool)))].mark if pool else 0


def _options(mark: int, page: Observation) -> list[str]:
    """Names of the options that stand under a list."""
    places = [i for i, node in enumerate(page.nodes) if node.mark == mark]
    names: list[str] = []
    for node in page.nodes[places[0] + 1 :] if places else ():
        if node.role != "option":
            break
        names.append(node.name)
    return names


def _inside(place: int, side: int) -> int:
    return max(1, min(side - 2, place))


def submits(page: Observation) -> list[Node]:
    """The elements that may close a form: its buttons."""
    return [n for n in page.nodes if n.mark and n.role == "button" and "disabled" not in n.states]
