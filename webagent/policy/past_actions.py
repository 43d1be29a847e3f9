"""Past actions: which ones repeat or undo earlier ones, and which went in circles."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from webagent.action import Action, format_action
from webagent.action.actions import (
    Check,
    Click,
    Fill,
    KeyboardInsertText,
    KeyboardType,
    Press,
    Scroll,
    SelectOption,
    SelectOptions,
    Uncheck,
    UploadFile,
    UploadFiles,
)
from webagent.models.builtin.vocabulary import op_of
from webagent.models.prompt import load_prompt
from webagent.records import Observation, Step, Trajectory

LOOPS_PROMPT = load_prompt(Path(__file__).parent / "prompts" / "loops.md")
MARK_FIELDS = ("mark", "source", "target")
"""The fields of actions that hold marks."""
MAY_MEAN_THE_PAGE: TypeAlias = Press | Scroll | UploadFile | UploadFiles
"""Actions that take mark 0 for the page as a whole."""
_ENTERING = (
    *(Fill, Check, Uncheck, SelectOption, SelectOptions, UploadFile, UploadFiles),
    *(KeyboardType, KeyboardInsertText),
)
"""Actions that put into a form what a button may send."""
_MIN_REPETITIONS = 2
"""The same action on the same page so often is a loop."""
LOOP_PATIENCE = 3
"""Repetitions from which another action is required; at twice as many the episode is given up."""

ActionKey: TypeAlias = tuple[str | int, ...]
"""Operation and arguments, with the indices of lines in place of their marks."""


def action_key(action: Action, observation: Observation) -> ActionKey:
    """Return an action by what it does to which line, the same on a page that was rendered anew."""
    lines = {node.mark: i for i, node in enumerate(observation.nodes) if node.mark}
    arguments: list[str | int] = []
    for field in fields(action):
        value = getattr(action, field.name)
        arguments.append(lines.get(value, -1) if field.name in MARK_FIELDS else value)
    return op_of(action), *arguments


def find_tried_actions(trajectory: Trajectory, observation: Observation) -> frozenset[ActionKey]:
    """Return what was already done in this episode on a page that looks the same.

    Pages answer the same action in the same way, so repeating it would lead round in a circle.
    """
    now = page_appearance(observation)
    return frozenset(
        action_key(step.decision.action, step.observation)
        for step in trajectory.steps
        if page_appearance(step.observation) == now
    )


def page_appearance(observation: Observation) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Return what a reader sees of a page, marks, boxes and focus aside."""
    return [
        (n.role, n.name, n.value, tuple(s for s in n.states if s != "focused"))
        for n in observation.nodes
    ]


def find_detours(steps: Sequence[Step]) -> frozenset[int]:
    """Return the indices of steps that led nowhere.

    The page looked the same again afterwards, and nothing was sent in between that would show
    elsewhere; or a field was filled that was filled anew later on. Entering what a field holds
    already changes nothing either, and is what has to be done where it holds something else.
    """
    pages = [page_appearance(step.observation) for step in steps]
    found: set[int] = set()
    for i, page in enumerate(pages):
        least = i + 1 if isinstance(steps[i].decision.action, _ENTERING) else i
        for again in range(len(pages) - 1, least, -1):
            if pages[again] == page and not _may_have_sent(steps, i, again):
                found.update(range(i, again))
                break
    fills = [
        (i, s.decision.action.mark)
        for i, s in enumerate(steps)
        if isinstance(s.decision.action, Fill)
    ]
    last_fill = {mark: i for i, mark in fills}
    return frozenset(found | {i for i, mark in fills if last_fill[mark] > i})


def _may_have_sent(steps: Sequence[Step], start: int, end: int) -> bool:
    """Whether something was entered before or among these steps and a button or key pressed in
    them afterwards: a form that is sent often looks as it did before."""
    entered = False
    for i, step in enumerate(steps[:end]):
        action = step.decision.action
        if entered and i >= start and isinstance(action, Click | Press):
            nodes = step.observation.nodes
            role = next((node.role for node in nodes if node.mark == action.mark), "button")
            if isinstance(action, Press) or role == "button":
                return True
        entered = entered or isinstance(action, _ENTERING)
    return False


def marks_of(action: Action) -> tuple[int, ...]:
    """Return the marks an action names; 0 is the page where the action allows it."""
    named = [getattr(action, field, None) for field in MARK_FIELDS]
    marks = tuple(mark for mark in named if mark is not None)
    return () if isinstance(action, MAY_MEAN_THE_PAGE) and marks == (0,) else marks


def format_marks(observation: Observation) -> str:
    """Return the marks on the page as ranges: `1-4, 7`; `none` when there are none."""
    ranges: list[list[int]] = []
    for mark in sorted({node.mark for node in observation.nodes if node.mark}):
        if ranges and mark == ranges[-1][1] + 1:
            ranges[-1][1] = mark
        else:
            ranges.append([mark, mark])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges) or "none"


@dataclass(frozen=True, slots=True)
class Loop:
    """What was done repeatedly on a page that is there again."""

    repeated: tuple[tuple[ActionKey, int], ...]
    """Each action that was done here more than once, with how often; the most frequent first."""
    lines: tuple[str, ...]
    """The same as text, with the marks of the page now."""

    @property
    def times(self) -> int:
        """How often the most frequent one was done."""
        return self.repeated[0][1]

    @property
    def reason(self) -> str:
        """Why an episode in it is given up."""
        return LOOPS_PROMPT.fill("reason", done=self.lines[0].removeprefix("- "))

    def count(self, action: Action, observation: Observation) -> int:
        """Return how often the action was done here, 0 unless that was more than once."""
        return dict(self.repeated).get(action_key(action, observation), 0)


def find_loop(trajectory: Trajectory, now: Observation) -> Loop | None:
    """Return the loop the episode is in, if any.

    It makes no difference whether the actions had no effect or led away and back again: in both
    cases the page, its address and its place of scrolling are as they were.
    """
    here = page_state(now)
    last: dict[ActionKey, str] = {}
    counts: Counter[ActionKey] = Counter()
    still: Counter[ActionKey] = Counter()
    steps = trajectory.steps
    after = [*(step.observation for step in steps[1:]), now]
    for step, led_to in zip(steps, after, strict=False):
        if page_state(step.observation) == here:
            action = step.decision.action
            key = action_key(action, step.observation)
            lines = {node.mark: i for i, node in enumerate(step.observation.nodes) if node.mark}
            marks: dict[str, Any] = {
                name: now.nodes[lines[mark]].mark
                for name in MARK_FIELDS
                if (mark := getattr(action, name, 0)) in lines
            }
            last[key] = format_action(replace(action, **marks))
            counts[key] += 1
            still[key] += page_state(led_to) == here
    repeated = tuple((key, n) for key, n in counts.most_common() if n >= _MIN_REPETITIONS)
    lines_of = tuple(
        f"- {last[key]}: {n} times, {'without effect' if still[key] == n else 'and back here'}"
        for key, n in repeated
    )
    return Loop(repeated, lines_of) if repeated else None


def page_state(page: Observation) -> tuple[object, ...]:
    """Return what makes a page the same again: address, tabs, scrolling and appearance."""
    return page.url, page.active_tab, len(page.tabs), page.scroll, page_appearance(page)
