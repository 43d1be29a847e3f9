"""Keys by name: what people and models call them, and pressing them in a tab."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from difflib import get_close_matches

from webagent.browser.page.line import world_failures
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
    """The keys of a combination such as `Control+a`, or in words what is wrong with it."""
    body = text.removesuffix("+") if text != "+" else ""
    parts = [*filter(None, body.split("+")), *["+"] * (text.endswith("+"))]
    keys = []
    for part in parts:
        key = (
            part
            if (len(part) == 1 and part.isascii() and part.isprintable())
            else _BY_NAME.get(part.strip().lower())
        )
        if key is None:
            return f"there is no key {part!r}{_meant(part)}"
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
    """Whether it is the same key on every keyboard, and writes: a letter, a digit, Space, Enter."""
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
async def held(tab: Tab, keys: tuple[str, ...]) -> AsyncIterator[None]:
    """The keys are down for as long as the block runs."""
    for key in keys:
        await turn(tab, key, True)
    try:
        yield
    finally:
        for key in reversed(keys):
            await turn(tab, key, False)


def _meant(name: str) -> str:
    close = get_close_matches(name.lower(), _BY_NAME, n=3, cutoff=0.6)
    return f"; did you mean {', '.join(dict.fromkeys(_BY_NAME[each] for each in close))}?" * bool(
        close
    )
