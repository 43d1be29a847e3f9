"""The actions: one frozen class each, from which the parser and the model's help derive.

Names and argument order follow BrowserGym's text calls, with numbered marks for its bids. Marks
are the numbers an observation gives to elements; coordinates are CSS pixels of the viewport.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, Union, get_args

Button: TypeAlias = Literal["left", "middle", "right"]
Reply: TypeAlias = Literal["accept", "dismiss"]


@dataclass(frozen=True, slots=True)
class Click:
    """Click an element."""

    mark: int
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class DoubleClick:
    """Double-click an element."""

    mark: int


@dataclass(frozen=True, slots=True)
class ClickWith:
    """Click an element, once or more, while keys such as `Control+Shift` are held."""

    mark: int
    keys: str
    count: int = 1
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class Hover:
    """Move the mouse over an element."""

    mark: int


@dataclass(frozen=True, slots=True)
class Focus:
    """Give an element the keyboard focus."""

    mark: int


@dataclass(frozen=True, slots=True)
class Fill:
    """Replace the text of a field, as a person typing it would, or set a slider to a value."""

    mark: int
    text: str


@dataclass(frozen=True, slots=True)
class Clear:
    """Empty a field."""

    mark: int


@dataclass(frozen=True, slots=True)
class Check:
    """Tick a checkbox, radio button or switch; one that is ticked stays so."""

    mark: int


@dataclass(frozen=True, slots=True)
class Uncheck:
    """Take the tick from a checkbox or switch."""

    mark: int


@dataclass(frozen=True, slots=True)
class SelectOption:
    """Choose an option of a drop-down list by its label."""

    mark: int
    option: str


@dataclass(frozen=True, slots=True)
class SelectOptions:
    """Choose exactly these options of a list that takes several, by their labels."""

    mark: int
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Press:
    """Press a key or a combination such as `Control+a` on an element; mark 0 is the page."""

    mark: int
    key: str


@dataclass(frozen=True, slots=True)
class Scroll:
    """Scroll an element, or the page with mark 0, by so many pixels right and down."""

    mark: int
    dx: int
    dy: int


@dataclass(frozen=True, slots=True)
class DragAndDrop:
    """Drag one element onto another."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class MouseClick:
    """Click at a point of the viewport."""

    x: int
    y: int
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class MouseDrag:
    """Press the mouse at one point, move to another and let go."""

    x: int
    y: int
    to_x: int
    to_y: int


@dataclass(frozen=True, slots=True)
class MouseMove:
    """Move the mouse to a point of the viewport."""

    x: int
    y: int


@dataclass(frozen=True, slots=True)
class MouseDoubleClick:
    """Double-click at a point."""

    x: int
    y: int
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class MouseDown:
    """Move to a point, press a mouse button and hold it."""

    x: int
    y: int
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class MouseUp:
    """Move to a point and let go of a mouse button."""

    x: int
    y: int
    button: Button = "left"


@dataclass(frozen=True, slots=True)
class ScrollAt:
    """Turn the mouse wheel over a point by so many pixels right and down."""

    x: int
    y: int
    dx: int
    dy: int


@dataclass(frozen=True, slots=True)
class KeyboardDown:
    """Press a key where the keyboard focus is, and hold it."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyboardUp:
    """Let go of a key."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyboardType:
    """Type where the keyboard focus is, key by key."""

    text: str


@dataclass(frozen=True, slots=True)
class KeyboardInsertText:
    """Put text in at the keyboard focus at once, as pasting does."""

    text: str


@dataclass(frozen=True, slots=True)
class UploadFile:
    """Put a file into a file field, or into what asks for one when clicked or, with mark 0, did."""

    mark: int
    path: str


@dataclass(frozen=True, slots=True)
class UploadFiles:
    """Put several files into a file field, as with `upload_file`."""

    mark: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MouseUploadFile:
    """Click at a point that asks for a file, and choose this one."""

    x: int
    y: int
    path: str


@dataclass(frozen=True, slots=True)
class AnswerDialog:
    """Answer the page's open dialog with `accept` or `dismiss`; a prompt takes the text."""

    reply: Reply
    text: str = ""


@dataclass(frozen=True, slots=True)
class Goto:
    """Open an address in the current tab."""

    url: str


@dataclass(frozen=True, slots=True)
class GoBack:
    """Go back one page."""


@dataclass(frozen=True, slots=True)
class GoForward:
    """Go forward one page."""


@dataclass(frozen=True, slots=True)
class NewTab:
    """Open an empty tab and move to it."""


@dataclass(frozen=True, slots=True)
class TabFocus:
    """Move to the tab with this index, counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class TabClose:
    """Close the current tab."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Let so many milliseconds pass on the page."""

    milliseconds: int = 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """Finish the task with an answer; empty text when none is asked for."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Finish because the task cannot be done, with the reason."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Read a file that this episode downloaded, by its name, from so many characters on."""

    name: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class PrintPage:
    """Print the page as a PDF into the episode's folder for files."""


@dataclass(frozen=True, slots=True)
class CustomAction:
    """A call of a function of one's own; see `custom_action`."""


Action: TypeAlias = Union[
    Click,
    DoubleClick,
    ClickWith,
    Hover,
    Focus,
    Fill,
    Clear,
    Check,
    Uncheck,
    SelectOption,
    SelectOptions,
    Press,
    Scroll,
    DragAndDrop,
    MouseClick,
    MouseDrag,
    MouseMove,
    MouseDoubleClick,
    MouseDown,
    MouseUp,
    ScrollAt,
    KeyboardDown,
    KeyboardUp,
    KeyboardType,
    KeyboardInsertText,
    UploadFile,
    UploadFiles,
    MouseUploadFile,
    AnswerDialog,
    Goto,
    GoBack,
    GoForward,
    NewTab,
    TabFocus,
    TabClose,
    Wait,
    Answer,
    GiveUp,
    ReadFile,
    PrintPage,
    CustomAction,
]

_BROWSERGYM_NAMES = {
    DoubleClick: "dblclick",
    MouseDoubleClick: "mouse_dblclick",
    AnswerDialog: "dialog",
}
"""What calls are named where that is not the class's name in lower case."""

ACTIONS: dict[str, type[Action]] = {
    _BROWSERGYM_NAMES.get(cls, re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()): cls
    for cls in get_args(Action)
    if cls is not CustomAction
}
"""Every action by the name of its call, functions that were made actions included."""
ACTION_NAMES: dict[type, str] = {cls: name for name, cls in ACTIONS.items()}
"""The names of their calls, also of functions that only a stored episode knows."""

ESSENTIAL: tuple[str, ...] = (
    *("click", "dblclick", "hover", "focus", "fill", "select_option", "select_options", "press"),
    *("scroll", "drag_and_drop", "mouse_click", "mouse_drag", "upload_file", "upload_files"),
    *("dialog", "goto", "go_back", "go_forward", "new_tab", "tab_focus", "tab_close", "wait"),
    *("answer", "give_up"),
)
"""What a model is offered by default; the rest are finer parts of these, and what
needs a folder for files."""


def is_final(action: Action) -> bool:
    """Return whether the agent ends the episode with this action."""
    return isinstance(action, Answer | GiveUp)
