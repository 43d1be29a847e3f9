"""The account: what a judge of built-in size reads of an episode, on one page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from webagent.action import Action
from webagent.action.actions import Answer, GiveUp
from webagent.models.builtin.layout import past_action_of
from webagent.records import Ending, Node, Observation, Step, Trajectory

_DEEDS = 8
"""Steps that are told in lines of their own, the latest ones."""
_OPS = ("click", "fill", "select_option", "press", "drag_and_drop", "scroll", "other")

ENDINGS = tuple(f"ending/{ending.value}" for ending in Ending)
DEEDS = tuple(f"deed/{op}" for op in _OPS)
KINDS = (*ENDINGS, *DEEDS, "answer/text", "answer/none", "page/last", "page/acted")
"""The kinds of lines that an account adds to a page, for the vocabulary."""


@dataclass(frozen=True, slots=True)
class Account:
    """The prompt of a judge: a page with what came before written on top of it."""

    page: Observation
    before: tuple[Step, ...]
    """The steps before the one in question."""
    action: Action


def account(trajectory: Trajectory) -> Account:
    """What decides: the page after the last action where there is one, else the page it was done
    on; above it how the episode ended, what was answered, and every earlier action with the line
    it was done to as it looked afterwards. The trajectory has at least one step.

    An episode under way is read as one that the page ended here. What the agent thought is not
    told: a judge believes it too easily.
    """
    *before, final = trajectory.steps
    last = trajectory.last
    shows = last is not None and not last.over and bool(last.nodes)
    page = last if shows and last is not None else final.observation
    ending = trajectory.ending or Ending.TASK_OVER
    told = (
        _line("ending", ending.value, 1),
        _line("page", "last" if shows else "acted", 2),
        *_answer(final),
        *_deeds(trajectory.steps if shows else before, page),
    )
    goal = final.observation.goal or trajectory.goal
    return Account(
        replace(page, goal=goal, nodes=(*told, *page.nodes)), tuple(before), final.decision.action
    )


def _line(role: str, kind: str, number: int, name: str = "", value: str = "") -> Node:
    """A line of the account. Its mark is negative, so that no element is taken for it."""
    return Node(-number, role, name, value, kind=kind)


def _answer(final: Step) -> Iterator[Node]:
    match final.decision.action:
        case Answer(text):
            yield _line("answer", "text" if text else "none", 3, text)
        case GiveUp(reason):
            yield _line("answer", "none", 3, reason)
        case _:
            return


def _deeds(steps: Sequence[Step], page: Observation) -> Iterator[Node]:
    """A line for each of the latest steps: what was acted on, what was typed, how it then was."""
    if not steps:
        return
    pages = [*(step.observation for step in steps[1:]), page]
    told = list(zip(steps, pages, strict=True))[-_DEEDS:]
    for number, (step, after) in enumerate(told, start=10):
        past = past_action_of(step.decision.action, step.observation)
        node = after.node(past.mark) or step.observation.node(past.mark)
        kind = past.op if past.op in _OPS else "other"
        states = tuple(s for s in node.states if s != "focused") if node else ()
        value = past.text or (node.value if node else "")
        name = past.name or _above(past.mark, step.observation)
        yield replace(_line("deed", kind, number, name, value), states=states)


def _above(mark: int, page: Observation) -> str:
    """The nearest named line above an element without a name."""
    name = ""
    for node in page.nodes:
        if mark and node.mark == mark:
            return name
        name = node.name or name
    return ""
