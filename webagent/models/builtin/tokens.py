"""The fixed tokens of the built-in model: operations, keys, numbers and what frames them."""

from webagent.action import ACTIONS, Action

ROLES = ("role:policy", "role:world", "role:judge")
START, END = "<start>", "<end>"

SLOTS: dict[str, tuple[str, ...]] = {
    "click": ("mark",),
    "dblclick": ("mark",),
    "hover": ("mark",),
    "focus": ("mark",),
    "fill": ("mark", "text"),
    "select_option": ("mark", "option"),
    "press": ("mark", "key"),
    "scroll": ("mark", "way"),
    "drag_and_drop": ("mark", "mark"),
    "mouse_click": ("number", "number"),
    "mouse_drag": ("number", "number", "number", "number"),
    "go_back": (),
    "go_forward": (),
    "new_tab": (),
    "tab_focus": ("number",),
    "tab_close": (),
    "wait": (),
    "answer": ("text",),
    "give_up": ("text",),
}
"""Each operation's arguments as the built-in model says them; it types no addresses or paths."""

SLOT_KINDS = ("op", "mark", "option", "text", "key", "way", "number", "done", "outcome", "delta")

KEYS = (
    *("Enter", "Tab", "Escape", "Backspace", "Delete", "Space", "Home", "End"),
    *("PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *(f"Control+{letter}" for letter in "acvxzbiu"),
    *"abcdefghijklmnopqrstuvwxyz0123456789",
)
WAYS: dict[str, tuple[int, int]] = {
    "up": (0, -100),
    "down": (0, 100),
    "left": (-100, 0),
    "right": (100, 0),
    "far-up": (0, -400),
    "far-down": (0, 400),
}
"""Scroll steps in CSS pixels, right and down."""

NUMBERS = 128
"""Coordinates are counted in 1/128 of the viewport's longer side."""

OUTCOMES = ("goes-on", "ends", "succeeds", "fails", "nothing-changes")
EDITS = ("edit:remove", "edit:add", "edit:name", "edit:value", "edit:states")

FIXED: tuple[str, ...] = (
    *ROLES,
    START,
    END,
    *(f"op:{op}" for op in SLOTS),
    *(f"key:{key}" for key in KEYS),
    *(f"way:{way}" for way in WAYS),
    *(f"number:{i}" for i in range(NUMBERS)),
    *(f"is:{outcome}" for outcome in OUTCOMES),
    *EDITS,
    "outcome:none",
    "outcome:problem",
)

_OPS = {cls: name for name, cls in ACTIONS.items()}


def op_of(action: Action) -> str:
    """The name of the operation: `click`."""
    return _OPS[type(action)]
