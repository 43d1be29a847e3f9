"""Single deeds as actions: what a press, a drag, a key, a choice or a reply is."""

from collections.abc import Sequence
from typing import Any

from apps.record.draft import Draft
from webagent.action import Action
from webagent.action import actions as act
from webagent.browser.watching import UserEvent
from webagent.records import Observation

FAR = 6
"""Pixels; whoever moves the pressed mouse further means to drag."""
_BUTTONS: dict[int, act.Button] = {0: "left", 1: "middle", 2: "right"}
_PICTURES = ("canvas",)


def click_of(down: UserEvent) -> Action | None:
    """A click where the mouse was pressed; None where there is nothing to name and no place."""
    button, keys = _BUTTONS.get(down.said["button"]), down.said.get("keys", [])
    if button is None:
        return None
    is_known = down.seen.node(down.mark) is not None and down.said["kind"] not in _PICTURES
    if is_known and keys:
        return act.ClickWith(down.mark, "+".join(keys), 1, button)
    if is_known:
        return act.Click(down.mark, button)
    if down.said["isTop"] and down.is_fresh and not keys:
        return act.MouseClick(down.said["x"], down.said["y"], button)
    return None


def is_drag(down: UserEvent, up: UserEvent) -> bool:
    """Whether the mouse went far enough between, and off what it was pressed on."""
    way = max(abs(down.said[axis] - up.said[axis]) for axis in ("x", "y"))
    return bool(way > FAR and (down.mark != up.mark or not down.mark))


def drag_of(down: UserEvent, up: UserEvent) -> Action | None:
    """From one element onto another, else from place to place; None inside a frame."""
    source, target = (down.seen.node(each.mark) for each in (down, up))
    if source is not None and target is not None and source is not target:
        return act.DragAndDrop(down.mark, up.mark)
    if down.said["isTop"] and up.said["isTop"]:
        return act.MouseDrag(*(each.said[axis] for each in (down, up) for axis in ("x", "y")))
    return None


def press_of(told: UserEvent, key: str) -> Action:
    """A key with those that were held; Shift is in a letter already."""
    held = [each for each in told.said.get("held", ()) if each != "Shift" or len(key) > 1]
    return act.Press(told.mark, "+".join([*held, key]))


def choice_of(told: UserEvent) -> Action:
    """What a list was set to."""
    labels = tuple(told.said["labels"])
    if len(labels) == 1 and not told.said["isSeveral"]:
        return act.SelectOption(told.mark, labels[0])
    return act.SelectOptions(told.mark, labels)


def is_choice(action: Action, mark: int) -> bool:
    """Whether it sets the list with this mark."""
    return isinstance(action, act.SelectOption | act.SelectOptions) and action.mark == mark


def upload_of(mark: int, paths: Sequence[str]) -> Action:
    """One file or several, put into a field."""
    if len(paths) == 1:
        return act.UploadFile(mark, paths[0])
    return act.UploadFiles(mark, tuple(paths))


def reply_of(told: UserEvent) -> Action:
    """How a dialog was answered."""
    if told.said["accepted"]:
        return act.AnswerDialog("accept", told.said["text"])
    return act.AnswerDialog("dismiss", "")


def mark_of(draft: Draft) -> int:
    """The element it is done to; 0 for none."""
    mark: Any = getattr(draft.action, "mark", 0)
    return int(mark)


def is_unchanged(before: Observation, after: Observation) -> bool:
    """Whether nothing that is seen has come of a deed."""
    return (before.nodes, before.url, before.scroll) == (after.nodes, after.url, after.scroll)


def not_understood(told: UserEvent) -> str:
    """What is said of a deed that is left out."""
    called = told.said.get("called") or "something"
    what = {"down": "a click on", "up": "a drag to", "key": "a key on"}.get(
        told.what, "what was done to"
    )
    why = "it is nothing that was seen before" if told.is_fresh else "it came too soon to be seen"
    return f"{what} {called} was left out: {why}"
