"""Mouse and keyboard as the browser's own input events, so that pages see what a person causes."""

import asyncio

from webagent.action.actions import Button
from webagent.browser.tab import Tab, world_failures

Point = tuple[float, float]

_BUTTON_BITS = {"left": 1, "right": 2, "middle": 4}
_DRAG_MOVES = 5
_LONGEST_TYPED = 100


async def move(tab: Tab, point: Point) -> None:
    """Move the mouse."""
    await _mouse(tab, "mouseMoved", point)


async def click(tab: Tab, point: Point, button: Button = "left", count: int = 1) -> None:
    """Press and let go, once or more; the events travel together and arrive in order."""
    events = [_mouse(tab, "mouseMoved", point)]
    for number in range(1, count + 1):
        for kind in ("mousePressed", "mouseReleased"):
            events.append(_mouse(tab, kind, point, button, number))
    await asyncio.gather(*events)


async def drag(tab: Tab, start: Point, end: Point) -> None:
    """Press at one point, move to the other in small steps and let go.

    Where the press starts the browser's native drag and drop, the page gets its events instead.
    """
    await move(tab, start)
    await _mouse(tab, "mousePressed", start, "left", 1)
    for number in range(1, _DRAG_MOVES + 1):
        share = number / _DRAG_MOVES
        point = (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
        await _mouse(tab, "mouseMoved", point, "left")
    if await tab.drag_has_started():
        await _drop(tab, end)
    await _mouse(tab, "mouseReleased", end, "left", 1)


async def type_text(tab: Tab, text: str) -> None:
    """Type where the caret is, in place of what is selected, key by key.

    Of a long text all but the last character is put in at once: its page still hears a key, with
    the whole text in place.
    """
    if not text:
        return await press(tab, "Delete")
    if len(text) > _LONGEST_TYPED:
        await tab.send("Input.insertText", text=text[:-1])
        text = text[-1]
    if all(character.isascii() and (character.isalnum() or character == " ") for character in text):
        await asyncio.gather(*(_key(tab, kind, c) for c in text for kind in ("keyDown", "keyUp")))
        return
    async with world_failures():
        await tab.alive(tab.page.keyboard.type(text))


async def _key(tab: Tab, kind: str, character: str) -> None:
    """One key of letters, digits and space, the same on every keyboard; sent without waiting for
    the one before, and still in order."""
    upper = character.upper()
    place = "Space" if character == " " else f"{'Digit' if upper.isdigit() else 'Key'}{upper}"
    text = {"text": character, "unmodifiedText": character} if kind == "keyDown" else {}
    await tab.send(
        "Input.dispatchKeyEvent",
        type=kind,
        key=character,
        code=place,
        windowsVirtualKeyCode=ord(upper),
        **text,
    )


async def press(tab: Tab, key: str) -> None:
    """Press a key or a combination, in Playwright's names. Raises `WorldError`."""
    async with world_failures():
        await tab.alive(tab.page.keyboard.press(key))


async def _drop(tab: Tab, end: Point) -> None:
    data = await tab.dragged_data()
    for kind in ("dragEnter", "dragOver", "drop") if data else ():
        await tab.send("Input.dispatchDragEvent", type=kind, x=end[0], y=end[1], data=data)


async def _mouse(
    tab: Tab, kind: str, point: Point, button: Button | None = None, count: int = 0
) -> None:
    await tab.send(
        "Input.dispatchMouseEvent",
        type=kind,
        x=point[0],
        y=point[1],
        button=button or "none",
        buttons=_BUTTON_BITS[button] if button and kind != "mouseReleased" else 0,
        clickCount=count,
    )
