"""A language of steps for scripts that know only what an observation says.

`click button "Save"`: a verb, role and name of an element. `*` is any role, a name that begins with
`~` is a part of it, `#2` the second that fits, `= "text"` a value, `x3` three times. Places are
shares of an element's box: `clickat * "Chart" = "0.5,0.1"` is the middle of its top.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from webagent.action import Action
from webagent.action import actions as act
from webagent.browser import BrowserWorld
from webagent.observation import render
from webagent.records import Node, Observation

_NOTES = ("no effect", "the page ")
"""Outcomes that tell of the page, and not that the action could not be done."""
STEP = re.compile(
    r'(?P<verb>\w+)(?: (?P<role>[\w*]+) "(?P<name>[^"]*)"(?: #(?P<nth>\d+))?)?'
    r'(?: -> (?P<to_role>[\w*]+) "(?P<to_name>[^"]*)"(?: #(?P<to_nth>\d+))?)?'
    r'(?: = "(?P<value>[^"]*)")?(?: x(?P<times>\d+))?'
)


def find(page: Observation, role: str, name: str, nth: int) -> Node:
    """Return the element that a step names. Raises `LookupError`."""
    part = name.removeprefix("~")
    found = [
        node
        for node in page.nodes
        if (node.mark or role == "text")
        and role in ("*", node.role)
        and (part.lower() in node.name.lower() if name.startswith("~") else node.name == part)
    ]
    if len(found) < nth:
        raise LookupError(f"no {role} {name!r} #{nth}")
    return found[nth - 1]


def _pair(text: str) -> tuple[float, float]:
    across, down = text.split(",")
    return float(across), float(down)


def plan(step: str, page: Observation, files: Path) -> Action:
    """Return the action of a step on the page. Raises `LookupError` where it names nothing."""
    said = STEP.fullmatch(step)
    assert said, f"not a step: {step}"
    value = said["value"] or ""
    node = find(page, said["role"], said["name"], int(said["nth"] or 1)) if said["role"] else None
    if node is None:
        return _without_element(said["verb"], value)
    mark, verb = node.mark, said["verb"]
    if said["to_role"]:
        target = find(page, said["to_role"], said["to_name"], int(said["to_nth"] or 1))
        if verb == "drag":
            return act.DragAndDrop(mark, target.mark)
        return act.MouseDrag(*_middle(node), *_middle(target))
    if verb in _ON_MARK:
        return _ON_MARK[verb](mark)
    if verb in _WITH_VALUE:
        return _WITH_VALUE[verb](mark, value)
    if verb == "scroll":
        across, down = _pair(value)
        return act.Scroll(mark, int(across), int(down))
    if verb == "upload":
        return act.UploadFile(mark, str(files / value))
    return _at_point(verb, node, value)


_ON_MARK = {
    "click": act.Click,
    "dblclick": act.DoubleClick,
    "hover": act.Hover,
    "focus": act.Focus,
    "clear": act.Clear,
    "check": act.Check,
    "uncheck": act.Uncheck,
}
_WITH_VALUE = {"fill": act.Fill, "press": act.Press, "select": act.SelectOption}


def _middle(node: Node) -> tuple[int, int]:
    left, top, width, height = node.box
    return left + width // 2, top + height // 2


def _without_element(verb: str, value: str) -> Action:
    if verb == "type":
        return act.KeyboardType(value)
    if verb == "key":
        return act.Press(0, value)
    assert verb == "wait", verb
    return act.Wait(int(value))


def _at_point(verb: str, node: Node, value: str) -> Action:
    """Return what is done at a place of the element's box: `0.5,0.1` is the middle of its top; a
    drag goes on by so many pixels."""
    left, top, width, height = node.box
    place, _, by = value.rpartition(" ") if verb != "clickat" else (value, "", "")
    across, down = _pair(place or "0.5,0.5")
    x, y = round(left + across * width), round(top + down * height)
    if verb == "clickat":
        return act.MouseClick(x, y)
    assert verb in ("dragby", "dragfrom"), verb
    dx, dy = _pair(by)
    return act.MouseDrag(x, y, round(x + dx), round(y + dy))


async def take_steps(
    world: BrowserWorld, page: Observation, steps: Sequence[str], files: Path
) -> str:
    """Take the steps from this page on; return why one could not be taken, with the page."""
    for step in steps:
        said = STEP.fullmatch(step)
        for _ in range(int(said["times"] or 1) if said else 1):
            try:
                page = await world.step(plan(step, page, files))
            except LookupError as error:
                return f"{step}: {error.args[0]}\n{render(page, 4000, boxes=True)}"
            if page.outcome and not page.outcome.startswith(_NOTES):
                return f"{step}: {page.outcome}\n{render(page, 4000, boxes=True)}"
    return ""
