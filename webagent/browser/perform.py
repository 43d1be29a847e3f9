"""Doing an action in a tab: one function for each action class.

Each returns the reason why the action could not be done, or an empty string.
"""

import asyncio
from difflib import get_close_matches
from functools import singledispatch
from pathlib import Path
from typing import Any

from webagent.action import Answer, GiveUp, Wait
from webagent.action import actions as act
from webagent.action.actions import Button
from webagent.action.custom import LONGEST_RESULT, call_function
from webagent.browser import input as pointer
from webagent.browser.input import hold_keys, read_keys
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError

_HOVER_MS = 200
_MOST_CLICKS = 3
_MOST_LOOKS = 3
_MOST_HOLDERS = 5
"""Menus in menus that are opened by the mouse on the way to an entry."""
_LONGEST_WAIT_MS = 60_000
_OPEN_MS = 1000
"""Virtual milliseconds that a list gets to open or to filter itself."""
_MOST_TURNS = 300
_FRAME_MS = 20
_CHOOSER_MS = 1000
"""Virtual milliseconds within which a click must have made the page ask for a file."""
_ASKS_FOR_NONE = "was clicked, but asks for no file"
_READ_SECONDS = 20.0
_NO_FILES = "no files are kept here; a folder for them is the setting downloads"


@singledispatch
async def perform(action: object, tabs: Tabs) -> str:
    """Do the action; return the reason when it could not be done, else an empty string."""
    raise WorldError(f"a browser does not know how to do {action!r}")


@perform.register
async def call_own(action: act.CustomAction, tabs: Tabs) -> str:
    message, went_well = await call_function(action)
    if not went_well:
        return message
    tabs.active.notes.append(message)
    return ""


@perform.register
async def click(action: act.Click, tabs: Tabs) -> str:
    return await _click_on(tabs, action.mark, action.button)


@perform.register
async def double_click(action: act.DoubleClick, tabs: Tabs) -> str:
    return await _click_on(tabs, action.mark, count=2)


@perform.register
async def click_with_keys(action: act.ClickWith, tabs: Tabs) -> str:
    if not 1 <= action.count <= _MOST_CLICKS:
        return f"one can click 1 to {_MOST_CLICKS} times, not {action.count}"
    keys = read_keys(action.keys) if action.keys else ()
    if isinstance(keys, str):
        return keys
    async with hold_keys(tabs.active, keys):
        return await _click_on(tabs, action.mark, action.button, action.count)


@perform.register
async def hover(action: act.Hover, tabs: Tabs) -> str:
    place = await _locate(tabs, action.mark)
    if "error" not in place:
        await pointer.move(tabs.active, (place["x"], place["y"]))
    return _error_in(place)


@perform.register
async def focus(action: act.Focus, tabs: Tabs) -> str:
    return await _ask(tabs, "focusOn", action.mark)


@perform.register
async def fill(action: act.Fill | act.Clear, tabs: Tabs) -> str:
    return await _fill_field(tabs, action.mark, getattr(action, "text", ""))


@perform.register
async def check(action: act.Check | act.Uncheck, tabs: Tabs) -> str:
    mark, wanted = action.mark, isinstance(action, act.Check)
    tick = await tabs.active.ask_about(mark, "tickOf")
    if "error" in tick:
        return _error_in(tick)
    if tick["ticked"] == wanted:
        return f"element {mark} is {'checked' if wanted else 'unchecked'} already"
    if tick["isRadio"] and not wanted:
        return f"element {mark} is a radio button; choose another one instead"
    return await _click_on(tabs, mark)


@perform.register
async def scroll(action: act.Scroll, tabs: Tabs) -> str:
    answer = await tabs.active.ask_about(action.mark, "scrollOn", action.dx, action.dy)
    reason = _error_in(answer)
    if answer.get("turnsWheel"):  # a map that zooms, for one
        place = await _locate(tabs, action.mark)
        if not (reason := _error_in(place)):
            await pointer.turn_wheel(tabs.active, (place["x"], place["y"]), action.dx, action.dy)
    if not reason:
        await tabs.active.next_frame()
    return reason


@perform.register
async def drag_and_drop(action: act.DragAndDrop, tabs: Tabs) -> str:
    handle = await tabs.active.ask_about(action.source, "handleOf")
    start = await _locate(tabs, handle.get("mark", action.source))
    end = await tabs.active.ask_about(action.target, "middleOf")
    if "error" in start or "error" in end:
        return _error_in(start) or _error_in(end)

    async def aim() -> pointer.Point:
        place = await tabs.active.ask_about(action.target, "middleOf", True)
        there = end if "error" in place else place
        return there["x"], there["y"]

    await _drag(
        tabs, (start["x"], start["y"]), (end["x"], end["y"]), None if end["isSeen"] else aim
    )
    return ""


@perform.register
async def use_mouse(
    action: act.MouseClick
    | act.MouseDoubleClick
    | act.MouseDrag
    | act.MouseMove
    | act.MouseDown
    | act.MouseUp
    | act.ScrollAt,
    tabs: Tabs,
) -> str:
    if reason := _outside(tabs, action.x, action.y):
        return reason
    tab, point = tabs.active, (action.x, action.y)
    match action:
        case act.MouseClick(button=button):
            await pointer.click(tab, point, button)
        case act.MouseDoubleClick(button=button):
            await pointer.click(tab, point, button, 2)
        case act.MouseDrag(to_x=x, to_y=y):
            await _drag(tabs, point, (x, y))
        case act.MouseMove():
            await pointer.move(tab, point)
        case act.MouseDown(button=button):
            await pointer.hold_button(tab, point, button)
        case act.MouseUp(button=button):
            await pointer.release_button(tab, point, button)
        case act.ScrollAt(dx=dx, dy=dy):
            await pointer.turn_wheel(tab, point, dx, dy)
            await tab.next_frame()
    return ""


@perform.register
async def press(action: act.Press, tabs: Tabs) -> str:
    keys = read_keys(action.key)
    if isinstance(keys, str):
        return keys
    reason = await _ask(tabs, "focusOn", action.mark)
    if not reason:
        await pointer.press(tabs.active, keys)
    return reason


@perform.register
async def hold_key(action: act.KeyboardDown | act.KeyboardUp, tabs: Tabs) -> str:
    keys, down = read_keys(action.key), isinstance(action, act.KeyboardDown)
    if isinstance(keys, str):
        return keys
    for key in keys if down else reversed(keys):
        await pointer.turn(tabs.active, key, down)
    return ""


@perform.register
async def type_text(action: act.KeyboardType, tabs: Tabs) -> str:
    if action.text:
        await pointer.type_text(tabs.active, action.text)
    return ""


@perform.register
async def insert_text(action: act.KeyboardInsertText, tabs: Tabs) -> str:
    await tabs.active.send("Input.insertText", text=action.text)
    return ""


@perform.register
async def select_option(action: act.SelectOption, tabs: Tabs) -> str:
    """Choose by label; from a list that the page builds: open it and click what bears the label."""
    mark, label = action.mark, action.option
    reason = await _ask(tabs, "choose", mark, label)
    if "has no option" in reason:
        return reason + await _suggest_labels(tabs, mark, label)
    if not reason.endswith("is not a drop-down list"):
        return reason

    async def find() -> dict[str, Any]:
        await tabs.settle(_OPEN_MS)
        return dict(await tabs.active.ask_about(mark, "optionNamed", label))

    found = await tabs.active.ask_about(mark, "optionNamed", label)
    if "error" in found:
        return _error_in(found)
    if "mark" not in found and not found["open"]:
        if reason := await _click_on(tabs, mark):
            return reason
        found = await find()
    if "mark" not in found and found.get("filters"):
        await _fill_field(tabs, mark, label)
        found = await find()
    if "mark" in found:
        return await _click_on(tabs, found["mark"])
    missing = f"element {mark} has no option {label!r}"
    return _error_in(found) or missing + await _suggest_labels(tabs, mark, label)


@perform.register
async def select_options(action: act.SelectOptions, tabs: Tabs) -> str:
    answer = await tabs.active.ask_about(action.mark, "chooseExactly", action.options)
    if "missing" in answer:
        return _error_in(answer) + await _suggest_labels(tabs, action.mark, answer["missing"])
    return _error_in(answer)


@perform.register
async def upload(action: act.UploadFile | act.UploadFiles, tabs: Tabs) -> str:
    paths = (action.path,) if isinstance(action, act.UploadFile) else action.paths
    if reason := _missing(paths):
        return reason
    if action.mark == 0:
        return await _give_files(tabs, paths)
    field = await tabs.active.ask_about(action.mark, "fileFieldOf")
    if "error" in field:
        return _error_in(field)
    if field["takes"]:
        reason = _too_many(paths, field["takes"])
        return reason or await tabs.active.upload(action.mark, _resolve(paths))
    reason = await _click_on(tabs, action.mark)
    reason = reason or await _answer_chooser(tabs, paths, f"element {action.mark}")
    if not reason.endswith(_ASKS_FOR_NONE):
        return reason
    # Some pages want files dropped on them instead.
    place = await _locate(tabs, action.mark)
    if "error" in place:
        return _error_in(place)

    async def is_wanted() -> bool:
        return await tabs.active.ask_about(action.mark, "dropIsWanted", action.mark) is True

    point = (place["x"], place["y"])
    await pointer.drop_files(tabs.active, point, _resolve(paths), is_wanted)
    if await tabs.active.ask_about(action.mark, "dropWasTaken", action.mark):
        return ""
    return f"element {action.mark} {_ASKS_FOR_NONE}, and takes none that is dropped on it"


@perform.register
async def upload_at(action: act.MouseUploadFile, tabs: Tabs) -> str:
    if reason := _outside(tabs, action.x, action.y) or _missing((action.path,)):
        return reason
    await pointer.click(tabs.active, (action.x, action.y))
    return await _answer_chooser(tabs, (action.path,), f"what lies at {action.x},{action.y}")


@perform.register
async def goto(action: act.Goto, tabs: Tabs) -> str:
    return await tabs.goto(action.url)


@perform.register
async def go_in_history(action: act.GoBack | act.GoForward, tabs: Tabs) -> str:
    return await tabs.active.go_in_history(-1 if isinstance(action, act.GoBack) else 1)


@perform.register
async def open_tab(action: act.NewTab, tabs: Tabs) -> str:
    await tabs.new()
    return ""


@perform.register
async def focus_tab(action: act.TabFocus, tabs: Tabs) -> str:
    return await tabs.focus(action.index)


@perform.register
async def close_tab(action: act.TabClose, tabs: Tabs) -> str:
    await tabs.close_active()
    return ""


@perform.register
async def answer_dialog(action: act.AnswerDialog, tabs: Tabs) -> str:
    return await tabs.active.dialogs.answer(action.reply == "accept", action.text)


@perform.register
async def wait(action: Wait, tabs: Tabs) -> str:
    return await tabs.clock.wait(tabs.active, min(max(0, action.milliseconds), _LONGEST_WAIT_MS))


@perform.register
async def read_file(action: act.ReadFile, tabs: Tabs) -> str:
    if tabs.downloads is None:
        return _NO_FILES
    mask = tabs.guard.secrets.masked if tabs.guard else str
    reading = asyncio.to_thread(
        tabs.downloads.read, action.name, action.start, LONGEST_RESULT, mask
    )
    try:
        message, is_read = await asyncio.wait_for(reading, _READ_SECONDS)
    except TimeoutError:
        return f"{action.name} takes more than {_READ_SECONDS:g} s to read"
    if not is_read:
        return message
    tabs.active.notes.append(message)
    return ""


@perform.register
async def print_page(action: act.PrintPage, tabs: Tabs) -> str:
    if tabs.downloads is None:
        return _NO_FILES
    name = f"{await tabs.active.ask('titleOf') or 'page'}.pdf"
    return tabs.downloads.keep(name, await tabs.active.print_page())


@perform.register
async def finish(action: Answer | GiveUp, tabs: Tabs) -> str:
    return ""


def _error_in(answer: dict[str, Any]) -> str:
    """Return what the page's side says against it."""
    return str(answer.get("error", ""))


async def _ask(tabs: Tabs, function: str, mark: int, *arguments: Any) -> str:
    """Have the page's side do something; return the reason when it cannot."""
    return _error_in(await tabs.active.ask_about(mark, function, *arguments))


async def _locate(tabs: Tabs, mark: int) -> dict[str, Any]:
    """Return the point of an element that a mouse would hit."""
    place = await _uncover(tabs, mark)
    if "option" in place:
        return {"error": f"element {mark} is an option of a list; choose it or act on the list"}
    return place


async def _uncover(tabs: Tabs, mark: int) -> dict[str, Any]:
    """Return where an element is, once the mouse is over all that has to bring it up."""
    for _ in range(_MOST_HOLDERS):
        place: dict[str, Any] = await tabs.active.ask_about(mark, "locate")
        if not place.get("isHolder"):
            return place
        await pointer.move(tabs.active, (place["x"], place["y"]))
        await tabs.settle(_HOVER_MS)
    return {"error": f"element {mark} does not appear when the mouse is over what should show it"}


async def _click_on(tabs: Tabs, mark: int, button: Button = "left", count: int = 1) -> str:
    """Click an element; an option of a drop-down list is chosen.

    A hovered style may load another picture, and until that has come there is nothing to click, and
    the mouse is over something else: a picture is located again until it stays where it is.
    """
    tab = tabs.active
    place = await _uncover(tabs, mark)
    if "option" in place:
        return await _ask(tabs, "choose", mark, place["option"])
    for _ in range(_MOST_LOOKS):
        if not place.get("isPicture"):
            break
        before = place
        await pointer.move(tab, (before["x"], before["y"]))
        await tabs.settle(_HOVER_MS)
        place = await tab.ask_about(mark, "locate")
        if place == before:
            break
    if "error" not in place:
        await pointer.click(tab, (place["x"], place["y"]), button, count)
    return _error_in(place)


async def _drag(
    tabs: Tabs, start: pointer.Point, end: pointer.Point, aim: pointer.Aim | None = None
) -> None:
    """Drag from one point to another, a frame's time for each move."""
    tab = tabs.active
    await pointer.drag(tab, start, end, lambda: tabs.clock.wait(tab, _FRAME_MS), aim)


def _outside(tabs: Tabs, x: int, y: int) -> str:
    """Return the reason when a point is not in the viewport."""
    size = tabs.active.page.viewport_size
    if size and not (0 <= x < size["width"] and 0 <= y < size["height"]):
        return f"the point {x},{y} is outside the {size['width']}x{size['height']} viewport"
    return ""


async def _fill_field(tabs: Tabs, mark: int, text: str) -> str:
    """Replace the text of a field; return the reason when it takes none."""
    ready = await tabs.active.ask_about(mark, "readyToFill", text)
    if ready.get("typing") and (text or not ready["empty"]):
        await pointer.type_text(tabs.active, text)
        # Once more as a whole where the page built the field anew at a key.
        anew = len(text) > 1 and await tabs.active.ask_about(mark, "replacedField", text)
        if anew and anew.get("typing"):
            await tabs.active.send("Input.insertText", text=text)
    if "scale" in ready:
        scale = ready["scale"]
        wanted, least, most = scale["wanted"], scale["least"], scale["most"]
        assert wanted is not None
        if (least is not None and wanted < least) or (most is not None and wanted > most):
            return f"element {mark} goes from {least:g} to {most:g} and does not take {wanted:g}"
        now = scale["now"]
        for _ in range(_MOST_TURNS):
            assert now is not None
            if now == wanted:
                return ""
            keys = ("ArrowRight", "ArrowLeft") if wanted > now else ("ArrowLeft", "ArrowRight")
            await pointer.press(tabs.active, keys[:1])
            there = await tabs.active.ask_about(mark, "scaleAt")
            if "error" in there:
                return _error_in(there)
            if abs(there["now"] - wanted) >= abs(now - wanted):  # past it, or the keys do nothing
                if there["now"] != now:
                    await pointer.press(tabs.active, keys[1:])
                break
            now = there["now"]
        return f"the arrow keys bring element {mark} to {now:g}, not to {wanted:g}; try to drag it"
    return _error_in(ready)


async def _suggest_labels(tabs: Tabs, mark: int, label: str) -> str:
    """Return which labels come near to a wrong one, or why it cannot be chosen."""
    labels = await tabs.active.ask_about(mark, "labelsOf")
    if label in labels["disabled"]:
        return " that can be chosen: it is disabled"
    lower = {each.lower(): each for each in labels["enabled"]}
    close = get_close_matches(label.lower(), lower, n=3, cutoff=0.5)
    return f"; did you mean {', '.join(repr(lower[each]) for each in close)}?" if close else ""


async def _answer_chooser(tabs: Tabs, paths: tuple[str, ...], clicked: str) -> str:
    """Give the files to what was clicked, which asks for them soon or not at all."""
    if tabs.active.chooser is None:
        await tabs.settle(_CHOOSER_MS)
    if tabs.active.chooser is None:
        return f"{clicked} {_ASKS_FOR_NONE}"
    return await _give_files(tabs, paths)


async def _give_files(tabs: Tabs, paths: tuple[str, ...]) -> str:
    chooser = tabs.active.chooser
    reason = _too_many(paths, chooser.takes) if chooser else ""
    return reason or await tabs.active.answer_chooser(_resolve(paths))


def _missing(paths: tuple[str, ...]) -> str:
    if not paths:
        return "no file was named"
    gone = [path for path in paths if not Path(path).expanduser().is_file()]
    return f"there is no file {', '.join(gone)}" if gone else ""


def _resolve(paths: tuple[str, ...]) -> list[str]:
    return [str(Path(path).expanduser().resolve()) for path in paths]


def _too_many(paths: tuple[str, ...], takes: str) -> str:
    return f"only one file is taken, not {len(paths)}" if takes == "one" and len(paths) > 1 else ""
