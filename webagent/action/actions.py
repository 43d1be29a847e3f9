"""The actions: one frozen class each, from which the parser and the model's help derive.

Names and argument order follow BrowserGym's text calls, with numbered marks for its bids. Marks
are the numbers an observation gives to elements; coordinates are CSS pixels of the viewport.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, Union

Button: TypeAlias = Literal["left", "middle", "right"]


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
class Hover:
    """Move the mouse over an element."""

    mark: int


@dataclass(frozen=True, slots=True)
class Focus:
    """Give an element the keyboard focus."""

    mark: int


@dataclass(frozen=True, slots=True)
class Fill:
    """Replace the text of a field, as a person typing it would."""

    mark: int
    text: str


@dataclass(frozen=True, slots=True)
class SelectOption:
    """Choose an option of a drop-down list by its label."""

    mark: int
    option: str


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
class UploadFile:
    """Put a file into a file field."""

    mark: int
    path: str


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


Action: TypeAlias = Union[
    Click,
    DoubleClick,
    Hover,
    Focus,
    Fill,
    SelectOption,
    Press,
    Scroll,
    DragAndDrop,
    MouseClick,
    MouseDrag,
    UploadFile,
    Goto,
    GoBack,
    GoForward,
    NewTab,
    TabFocus,
    TabClose,
    Wait,
    Answer,
    GiveUp,
]

ACTIONS: dict[str, type[Action]] = {
    "click": Click,
    "dblclick": DoubleClick,
    "hover": Hover,
    "focus": Focus,
    "fill": Fill,
    "select_option": SelectOption,
    "press": Press,
    "scroll": Scroll,
    "drag_and_drop": DragAndDrop,
    "mouse_click": MouseClick,
    "mouse_drag": MouseDrag,
    "upload_file": UploadFile,
    "goto": Goto,
    "go_back": GoBack,
    "go_forward": GoForward,
    "new_tab": NewTab,
    "tab_focus": TabFocus,
    "tab_close": TabClose,
    "wait": Wait,
    "answer": Answer,
    "give_up": GiveUp,
}


def is_final(action: Action) -> bool:
    """Whether the agent ends the episode with this action."""
    return isinstance(action, Answer | GiveUp)
