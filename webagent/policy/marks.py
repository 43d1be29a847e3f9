"""The marks an action names, and those a page has."""

from webagent.action import Action
from webagent.action.actions import Press, Scroll, UploadFile, UploadFiles
from webagent.records import Observation

_MAY_MEAN_THE_PAGE = Press | Scroll | UploadFile | UploadFiles
FIELDS = ("mark", "source", "target")
"""The fields of actions that hold marks."""


def marks_of(action: Action) -> tuple[int, ...]:
    """The marks an action names; 0 is the page where the action allows it."""
    named = [getattr(action, field, None) for field in FIELDS]
    marks = tuple(mark for mark in named if mark is not None)
    return () if isinstance(action, _MAY_MEAN_THE_PAGE) and marks == (0,) else marks


def marks_on(observation: Observation) -> str:
    """The marks on the page as ranges: `1-4, 7`; `none` when there are none."""
    ranges: list[list[int]] = []
    for mark in sorted({node.mark for node in observation.nodes if node.mark}):
        if ranges and mark == ranges[-1][1] + 1:
            ranges[-1][1] = mark
        else:
            ranges.append([mark, mark])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges) or "none"
