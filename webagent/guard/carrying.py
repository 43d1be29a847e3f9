"""Actions that can move text from one document to another: pasting, dragging."""

from webagent.action import Action
from webagent.action import actions as act

_PASTED_WITH = ("v", "keyv", "insert")
_DRAGGING = act.DragAndDrop | act.MouseDrag | act.MouseDown | act.MouseUp


class Hands:
    """What the agent's hands are at; keys that it holds count for the keys that follow."""

    def __init__(self) -> None:
        self._held: set[str] = set()

    def may_carry(self, action: Action) -> bool:
        """Whether an action may put what was copied or selected before somewhere else."""
        if isinstance(action, _DRAGGING) or getattr(action, "button", "left") == "middle":
            return True
        if isinstance(action, act.KeyboardUp):
            self._held.discard(action.key.lower())
        if not isinstance(action, act.Press | act.KeyboardDown):
            return False
        *modifiers, key = action.key.lower().split("+")
        with_others = bool(modifiers or self._held)
        may_paste = key == "paste" or (key in _PASTED_WITH and with_others)
        if isinstance(action, act.KeyboardDown):
            self._held.add(key)
        return may_paste
