"""Mouse and keyboard as the browser's own input events, so that pages see what a person causes."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches
from typing import Any

from webagent.action.actions import Button
from webagent.browser.page.connection import world_failures
from webagent.browser.page.tab import Tab

_MODIFIER_BITS = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
_NAMED = (
    *_MODIFIER_BITS,
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Space", "Home", "End"),
    *("PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "CapsLock"),
    *("ContextMenu", "PrintScreen", "ScrollLock", "Pause", "NumLock"),
    *(f"F{number}" for number in range(1, 13)),
    *(f"Numpad{number}" for number in range(10)),
    *("NumpadAdd", "NumpadSubtract", "NumpadMultiply", "NumpadDivide", "NumpadDecimal"),
    *(f"Key{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    *(f"Digit{number}" for number in range(10)),
    *("Minus", "Equal", "BracketLeft", "BracketRight", "Backslash", "Semicolon", "Quote"),
    *("Backquote", "Comma", "Period", "Slash"),
    *("ShiftLeft", "ShiftRight", "ControlLeft", "ControlRight", "AltLeft", "AltRight"),
    *("MetaLeft", "MetaRight", "ControlOrMeta"),
)
_ALIASES = {
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "win": "Meta",
    "super": "Meta",
    "option": "Alt",
    "esc": "Escape",
    "return": "Enter",
    "del": "Delete",
    "ins": "Insert",
    "spacebar": "Space",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "plus": "+",
    "minus": "-",
}
_WRITING = {"Enter": ("\r", "Enter"), " ": (" ", "Space"), "Space": (" ", "Space")}
_KEY_EVENT = "Input.dispatchKeyEvent"
_BY_NAME = {name.lower(): name for name in _NAMED} | _ALIASES


def read_keys(text: str) -> tuple[str, ...] | str:
    """Return the keys of a combination such as `Control+a`, or in words what is wrong with it."""
    body = text.removesuffix("+") if text != "+" else ""
    parts = [*filter(None, body.split("+")), *["+"] * (text.endswith("+"))]
    keys = []
    for part in parts:
        is_character = len(part) == 1 and part.isascii() and part.isprintable()
        key = part if is_character else _BY_NAME.get(part.strip().lower())
        if key is None:
            close = get_close_matches(part.lower(), _BY_NAME, n=3, cutoff=0.6)
            names = ", ".join(dict.fromkeys(_BY_NAME[each] for each in close))
            return f"there is no key {part!r}" + (f"; did you mean {names}?" if names else "")
        keys.append(key)
    return tuple(keys) or "no key was named"


async def press(tab: Tab, keys: Iterable[str]) -> None:
    """Press the keys together and let go. Raises `WorldError`."""
    keys = tuple(keys)
    if len(keys) == 1 and is_plain(keys[0]) and not tab.modifiers:
        return await stroke(tab, keys[0])
    async with world_failures():
        await tab.alive(tab.page.keyboard.press("+".join(keys)))


def is_plain(key: str) -> bool:
    """Return whether a key writes the same on every keyboard: letter, digit, Space, Enter."""
    return key in _WRITING or (len(key) == 1 and key.isascii() and key.isalnum())


async def stroke(tab: Tab, key: str) -> None:
    """Press a plain key and let go; those after it need not wait, and still arrive in order."""
    text, code = _WRITING.get(key, (key, f"{'Digit' if key.isdigit() else 'Key'}{key.upper()}"))
    name = key if key == "Enter" else text
    event = {"key": name, "code": code, "windowsVirtualKeyCode": ord(text.upper())}
    await asyncio.gather(
        tab.do_input(_KEY_EVENT, type="keyDown", text=text, unmodifiedText=text, **event),
        tab.do_input(_KEY_EVENT, type="keyUp", **event),
    )


async def turn(tab: Tab, key: str, down: bool) -> None:
    """Press a key and hold it, or let go of it; the mouse knows of held modifiers."""
    bit = _MODIFIER_BITS.get(key.removesuffix("Left").removesuffix("Right"), 0)
    tab.modifiers = tab.modifiers | bit if down else tab.modifiers & ~bit
    keyboard = tab.page.keyboard
    async with world_failures():
        await tab.alive(keyboard.down(key) if down else keyboard.up(key))


@asynccontextmanager
async def hold_keys(tab: Tab, keys: tuple[str, ...]) -> AsyncIterator[None]:
    """Hold the keys down for as long as the block runs."""
    for key in keys:
        await turn(tab, key, True)
    try:
        yield
    finally:
        for key in reversed(keys):
            await turn(tab, key, False)


Point = tuple[float, float]
Aim = Callable[[], Awaitable[Point]]

_BUTTON_BITS = {"left": 1, "right": 2, "middle": 4}
_DRAG_MOVES = 5
_FIRST_PIXELS = 6
"""What is dragged follows from where it was first felt to move: a long first move would be lost."""
_LONGEST_TYPED = 100


async def move(tab: Tab, point: Point) -> None:
    """Move the mouse, with the button down that is held. A native drag hears of its end only."""
    if not (tab.pressed and tab.drags.has_begun):
        await _mouse(tab, "mouseMoved", point, tab.pressed)


async def click(tab: Tab, point: Point, button: Button = "left", count: int = 1) -> None:
    """Press and let go, once or more; the events are sent together and arrive in order."""
    events = [_mouse(tab, "mouseMoved", point)]
    for number in range(1, count + 1):
        for kind in ("mousePressed", "mouseReleased"):
            events.append(_mouse(tab, kind, point, button, number))
    await asyncio.gather(*events)


async def drag(
    tab: Tab,
    start: Point,
    end: Point,
    pause: Callable[[], Awaitable[object]],
    aim: Aim | None = None,
) -> None:
    """Press at one point, move to the other in small steps and let go; `aim` says where that is
    once the drag has begun.

    `pause` lets a frame's time pass after each: libraries that drag things follow by frames. Where
    the press starts the browser's native drag and drop, the page gets its events instead.
    """
    await move(tab, start)
    await hold_button(tab, start)
    await pause()
    first = min(1.0, _FIRST_PIXELS / max(1.0, math.dist(start, end)))
    for share in (first, *(number / _DRAG_MOVES for number in range(1, _DRAG_MOVES + 1))):
        point = (start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share)
        await move(tab, point)
        await pause()
        if aim is not None:
            end, aim = await aim(), None
    await release_button(tab, end)


async def hold_button(tab: Tab, point: Point, button: Button = "left") -> None:
    """Press a button at a point; it stays down until `release_button`."""
    tab.drags.forget()
    await _mouse(tab, "mousePressed", point, button, 1)
    tab.pressed = button


async def release_button(tab: Tab, point: Point, button: Button = "left") -> None:
    """Let go of a button; what was dragged natively is dropped, which also lets go."""
    is_dragging = tab.pressed == "left" and await tab.drag_has_started()
    tab.pressed = None
    data = await tab.drags.data() if is_dragging else None
    if data is None:
        return await _mouse(tab, "mouseReleased", point, button, 1)
    await _dispatch_drag(tab, point, data)


async def drop_files(
    tab: Tab, point: Point, paths: Sequence[str], is_wanted: Callable[[], Awaitable[bool]]
) -> None:
    """Drop files of this machine at a point, as if dragged there from a folder, where the page says
    while they are over it that it wants them."""
    copy = 1
    data = {"items": [], "files": list(paths), "dragOperationsMask": copy}
    await _dispatch_drag(tab, point, data, _OVER)
    await _dispatch_drag(tab, point, data, ("drop" if await is_wanted() else "dragCancel",))


async def turn_wheel(tab: Tab, point: Point, dx: int, dy: int) -> None:
    """Turn the wheel over a point, by CSS pixels right and down."""
    turned = {"type": "mouseWheel", "deltaX": dx, "deltaY": dy, "modifiers": tab.modifiers}
    await tab.do_input("Input.dispatchMouseEvent", x=point[0], y=point[1], **turned)


async def type_text(tab: Tab, text: str) -> None:
    """Type where the caret is, in place of what is selected, key by key.

    Of a long text all but the last character is put in at once: its page still hears a key, with
    the whole text in place.
    """
    if not text:
        return await press(tab, ("Delete",))
    if len(text) > _LONGEST_TYPED:
        await tab.send("Input.insertText", text=text[:-1])
        text = text[-1]
    if not tab.modifiers and all(map(is_plain, text)):
        await asyncio.gather(*(stroke(tab, character) for character in text))
        return
    async with world_failures():
        await tab.alive(tab.page.keyboard.type(text))


_OVER = ("dragEnter", "dragOver", "dragOver")
"""Twice over the point: the page may move elements under it the first time, and takes a drop only
where it accepted the last `dragOver`."""


async def _dispatch_drag(
    tab: Tab, point: Point, data: dict[str, Any], kinds: Sequence[str] = (*_OVER, "drop")
) -> None:
    for kind in kinds:
        await tab.send("Input.dispatchDragEvent", type=kind, x=point[0], y=point[1], data=data)


async def _mouse(
    tab: Tab, kind: str, point: Point, button: Button | None = None, count: int = 0
) -> None:
    tab.mouse = point
    await tab.do_input(
        "Input.dispatchMouseEvent",
        type=kind,
        x=point[0],
        y=point[1],
        button=button or "none",
        buttons=_BUTTON_BITS[button] if button and kind != "mouseReleased" else 0,
        clickCount=count,
        modifiers=tab.modifiers,
    )
