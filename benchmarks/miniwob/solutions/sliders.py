"""Oracles for sliders and spinners, moved by keys and buttons."""

import json
import re

from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import ORDINALS, View
from webagent.action import Action
from webagent.action.actions import Click, Press
from webagent.records import Node, Observation

_FAR = 5
"""From here on a page key is tried before the arrow keys."""


@oracle("use-slider")
def set_slider(view: View) -> Action:
    """`Select 42 with the slider and hit Submit.`"""
    target = int(view.read_one(r"Select (-?\d+) with the slider"))
    return _set(view, [target]) or Click(view.find("button", name="Submit").mark)


@oracle("use-slider-2")
def set_sliders(view: View) -> Action:
    """`Set the sliders to the combination [3,14,7] and submit.`: from the top."""
    targets = json.loads(view.read_one(r"combination (\[.*\])"))
    return _set(view, targets) or Click(view.find("button", name="Submit").mark)


@oracle("form-sequence")
def set_slider_and_check(view: View) -> Action:
    """`Select 4 with the slider, click the 2nd checkbox, then hit Submit.`"""
    target, place = view.read(r"Select (-?\d+) with the slider, click the (\w+) checkbox")
    if move := _set(view, [int(target)]):
        return move
    box = view.all("checkbox")[ORDINALS[place]]
    return view.next_of(Click(box.mark), Click(view.find("button", name="Submit").mark))


@oracle("use-spinner")
def set_spinner(view: View) -> Action:
    """`Select -4 with the spinner and hit Submit.`: one click for each step."""
    target = int(view.read_one(r"Select (-?\d+) with the spinner"))
    field = view.find("spinbutton", "textbox")
    value = int(field.value or 0)
    if value == target:
        return Click(view.find("button", name="Submit").mark)
    up, down = (node for node in view.after(field).all() if node.name != "Submit")
    return Click(up.mark if value < target else down.mark)


def _set(view: View, targets: list[int]) -> Action | None:
    """The next key that brings the sliders to these values; None when they are there."""
    sliders = view.all("slider")
    handles = sliders or [node for node in view.all() if "slider" in node.name]
    for index, (handle, target) in enumerate(zip(handles, targets, strict=True)):
        value = slider_values(view.page)[index]
        if value != target:
            return Press(handle.mark, _key(view, handle, index, target - value))
    return None


def slider_values(page: Observation) -> list[int]:
    """The numbers shown with the sliders, in page order."""
    names = (node.name for node in page.nodes if not node.name.startswith("drawing"))
    return [int(number) for number in re.findall(r"-?\d+", " ".join(names))]


def _key(view: View, handle: Node, index: int, way: int) -> str:
    moves = [
        abs(slider_values(now)[index] - slider_values(then)[index])
        for then, action, now in view.steps
        if isinstance(action, Press) and action.mark == handle.mark and "Page" in action.key
    ]
    page = max(moves, default=0)
    if abs(way) >= (page * 0.6 if page else _FAR):
        return "PageUp" if way > 0 else "PageDown"
    return "ArrowRight" if way > 0 else "ArrowLeft"
