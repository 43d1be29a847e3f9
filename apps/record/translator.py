"""Translate what a person did in the browser into actions; pure functions of events, no browser."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from webagent.action import Action
from webagent.action import actions as act
from webagent.browser.watching import UserEvent
from webagent.guard.secret import placeholder
from webagent.records import Observation


@dataclass(frozen=True, slots=True)
class PendingStep:
    """An action a person did, with what was before them."""

    seen: Observation
    action: Action
    called: str = ""
    """What it was done to, for people."""
    is_blind: bool = False
    """Whether it hit nothing that has a mark, so that it may have done nothing at all."""


@dataclass(frozen=True, slots=True)
class Typing:
    """A field that is being typed into."""

    seen: Observation
    mark: int
    before: str | None
    """What was in it; None where that is not known."""
    value: str
    is_secret: bool
    called: str


@dataclass(frozen=True, slots=True)
class Scrolling:
    """What was scrolled since the last action, and what was seen before that."""

    seen: Observation
    by_mark: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Pixels right and down by mark, in the order in which they were begun."""


FAR = 6
"""Pixels; whoever moves the pressed mouse further means to drag."""
_BUTTONS: dict[int, act.Button] = {0: "left", 1: "middle", 2: "right"}
_PICTURES = ("canvas",)


def click_of(down: UserEvent) -> Action | None:
    """Return a click where the mouse was pressed; None where nothing there can be named."""
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
    """Return whether the mouse went far enough between, and off what it was pressed on."""
    way = max(abs(down.said[axis] - up.said[axis]) for axis in ("x", "y"))
    return bool(way > FAR and (down.mark != up.mark or not down.mark))


def drag_of(down: UserEvent, up: UserEvent) -> Action | None:
    """Return a drag onto another element, else from place to place; None inside a frame."""
    source, target = (down.seen.node(each.mark) for each in (down, up))
    if source is not None and target is not None and source is not target:
        return act.DragAndDrop(down.mark, up.mark)
    if down.said["isTop"] and up.said["isTop"]:
        return act.MouseDrag(*(each.said[axis] for each in (down, up) for axis in ("x", "y")))
    return None


def mark_of(draft: PendingStep) -> int:
    """Return the element it is done to; 0 for none."""
    mark: Any = getattr(draft.action, "mark", 0)
    return int(mark)


def not_understood(told: UserEvent) -> str:
    """Return what is said of an action that is left out."""
    called = told.said.get("called") or "something"
    what = {"down": "a click on", "up": "a drag to", "key": "a key on"}.get(
        told.what, "what was done to"
    )
    why = "it is nothing that was seen before" if told.is_fresh else "it came too soon to be seen"
    return f"{what} {called} was left out: {why}"


MOST_CLICKS = 2
_CHOSEN_FROM = ("select", "option")
_SET_BY_HAND = ("input:range",)
_MOVES: dict[str, Callable[[UserEvent], Action]] = {
    "went": lambda told: act.Goto(told.said["url"]),
    "back": lambda told: act.GoBack(),
    "forward": lambda told: act.GoForward(),
    "tab": lambda told: act.TabFocus(told.said["index"]),
    "opened": lambda told: act.NewTab(),
    "closed": lambda told: act.TabClose(),
}
"""What was done to the window, by the event that tells of it."""

Keep = Callable[[PendingStep], None]
Say = Callable[[str], object]


class Translator:
    """Hears what is told in order; hands every action on as soon as nothing can change it."""

    def __init__(self, keep: Keep, say: Say) -> None:
        """`keep` gets each action, `say` a sentence on what is left out."""
        self.secrets: dict[str, str] = {}
        """Values that were typed into fields for secrets, to the names they are kept under."""
        self.secret_marks: set[int] = set()
        self._keep = keep
        self._say = say
        self._down: UserEvent | None = None
        self._held: list[PendingStep] = []
        self._typing: Typing | None = None
        self._scrolling: Scrolling | None = None

    def hear(self, told: UserEvent) -> None:
        """Take one event in."""
        if move := _MOVES.get(told.what):
            self._end_typing(told.seen)
            self._down = self._scrolling = None
            self._hand_on(told.seen)
            self._keep(PendingStep(told.seen, move(told)))
        elif told.what == "up":
            self._let_go(told)
        elif told.what == "dropped":
            down, self._down = self._down, None
            if down is not None:
                self._hold(down, drag_of(down, told))
        elif told.what == "double":
            first = self._held[0] if self._held else None
            is_click = all(isinstance(each.action, act.Click) for each in self._held)
            if first is not None and is_click and len(self._held) == MOST_CLICKS:
                self._held = [
                    PendingStep(first.seen, act.DoubleClick(mark_of(first)), first.called)
                ]
        else:
            getattr(self, f"_hear_{told.what}")(told)

    def finish(self, after: Observation) -> None:
        """The person is done."""
        self._let_go()
        self._end_typing()
        self._hand_on(after)

    def _hear_down(self, told: UserEvent) -> None:
        self._end_typing(told.seen)
        self._let_go()
        is_again = told.mark and all(mark_of(each) == told.mark for each in self._held)
        if not is_again or len(self._held) >= MOST_CLICKS:
            self._hand_on(told.seen)
        self._down = told

    def _hear_key(self, told: UserEvent) -> None:
        self._end_typing(told.seen)
        self._hand_on(told.seen)
        key = {" ": "Space"}.get(told.said["key"], told.said["key"])
        if len(key) == 1 and not (key.isascii() and key.isprintable()):
            self._say(f"the key {key!r} was left out: it has no name in the action grammar")
            return
        # Shift is in a letter already.
        held = [each for each in told.said.get("held", ()) if each != "Shift" or len(key) > 1]
        self._put(told, act.Press(told.mark, "+".join([*held, key])))

    def _hear_typing(self, told: UserEvent) -> None:
        if self._typing is not None and self._typing.mark == told.mark:
            return
        self._begin_typing(told, told.said.get("value"))

    def _hear_typed(self, told: UserEvent) -> None:
        if self._typing is None or self._typing.mark != told.mark:
            self._begin_typing(told, None)
        if self._typing is not None:
            is_secret = self._typing.is_secret or told.said["isSecret"]
            self._typing = replace(self._typing, value=told.said["value"], is_secret=is_secret)

    def _hear_ticked(self, told: UserEvent) -> None:
        self._end_typing(told.seen)
        click = self._take_click()
        made = act.Check if told.said["isTicked"] else act.Uncheck
        if click is not None:
            mark = told.mark if click.seen.node(told.mark) else mark_of(click)
            self._held.append(PendingStep(click.seen, made(mark), click.called))
        else:
            self._put(told, made(told.mark))

    def _hear_chosen(self, told: UserEvent) -> None:
        self._end_typing(told.seen)
        self._down = None
        labels = tuple(told.said["labels"])
        choice: Action = act.SelectOptions(told.mark, labels)
        if len(labels) == 1 and not told.said["isSeveral"]:
            choice = act.SelectOption(told.mark, labels[0])
        before = self._held[-1] if self._held else None
        chosen = act.SelectOption | act.SelectOptions
        if before and isinstance(before.action, chosen) and mark_of(before) == told.mark:
            self._held[-1] = PendingStep(before.seen, choice, before.called)
        else:
            self._hand_on(told.seen)
            self._put(told, choice, is_held=True)

    def _hear_files(self, told: UserEvent) -> None:
        paths = told.said["paths"]
        if len(paths) != told.said["count"] or not paths:
            self._say(
                f"files put into {told.said['called']} were left out: their location is not known"
            )
            return
        click = self._take_click()
        seen, mark = (click.seen, mark_of(click)) if click else (told.seen, told.mark)
        upload: Action = act.UploadFiles(mark, tuple(paths))
        if len(paths) == 1:
            upload = act.UploadFile(mark, paths[0])
        self._held.append(PendingStep(seen, upload, told.said["called"]))

    def _hear_scrolled(self, told: UserEvent) -> None:
        self._hand_on(told.seen)
        self._scrolling = self._scrolling or Scrolling(told.seen)
        x, y = self._scrolling.by_mark.get(told.mark, (0, 0))
        self._scrolling.by_mark[told.mark] = (x + told.said["dx"], y + told.said["dy"])

    def _hear_dialog(self, told: UserEvent) -> None:
        self._end_typing()
        self._let_go()
        self._hand_on(told.seen)
        reply = act.AnswerDialog("dismiss", "")
        if told.said["accepted"]:
            reply = act.AnswerDialog("accept", told.said["text"])
        self._keep(PendingStep(told.seen, reply))

    def _let_go(self, up: UserEvent | None = None) -> None:
        """Take a mouse that is still pressed as let go of, where it is if it is not said where."""
        down, self._down = self._down, None
        if down is not None:
            self._release(down, up or down)

    def _release(self, down: UserEvent, up: UserEvent) -> None:
        """Take in that the mouse was let go of: a click where it was pressed, else a drag."""
        kind = down.said.get("kind", "")
        is_typed = self._typing is not None and self._typing.mark == down.mark
        if kind in _CHOSEN_FROM or kind in _SET_BY_HAND or is_typed:
            return
        self._hold(down, drag_of(down, up) if is_drag(down, up) else click_of(down))

    def _hold(self, told: UserEvent, action: Action | None) -> None:
        if action is None:
            self._say(not_understood(told))
        else:
            self._put(told, action, is_held=True)

    def _put(self, told: UserEvent, action: Action, *, is_held: bool = False) -> None:
        """Keep an action on an element, after what brought the element forth."""
        called = told.said.get("called", "")
        mark = getattr(action, "mark", getattr(action, "source", 0))
        if mark and told.seen.node(mark) is None:
            self._say(not_understood(told))
            return
        self._lead_up(told, mark)
        is_blind = isinstance(action, act.MouseClick | act.MouseDrag)
        draft = PendingStep(told.seen, action, called, is_blind)
        if is_held:
            self._held.append(draft)
        else:
            self._keep(draft)

    def _lead_up(self, told: UserEvent, mark: int) -> None:
        scrolling, self._scrolling = self._scrolling, None
        if not mark:
            return
        if scrolling is not None and scrolling.seen.node(mark) is None:
            self._hand_on(told.seen)
            for over, (dx, dy) in scrolling.by_mark.items():
                self._keep(PendingStep(scrolling.seen, act.Scroll(over, dx, dy)))
        elif told.rested is not None and told.rested.node(mark) is None:
            hovered = [each for each in told.said.get("hovered", ()) if told.rested.node(each)]
            if hovered:
                self._hand_on(told.seen)
                self._keep(PendingStep(told.rested, act.Hover(hovered[-1])))

    def _begin_typing(self, told: UserEvent, before: str | None) -> None:
        self._end_typing(told.seen)
        seen = told.seen
        if self._held and self._held[-1].action == act.Click(told.mark):
            seen = self._held.pop().seen
        self._hand_on(told.seen)
        if seen.node(told.mark) is None:
            self._say(not_understood(told))
            return
        self._lead_up(told, told.mark)
        node = seen.node(told.mark)
        known = before if before is not None else node.value if node else None
        said = told.said
        self._typing = Typing(seen, told.mark, known, known or "", said["isSecret"], said["called"])
        if said["isSecret"]:
            self.secret_marks.add(told.mark)

    def _end_typing(self, after: Observation | None = None) -> None:
        typing, self._typing = self._typing, None
        if typing is None or typing.value == typing.before:
            return
        text = typing.value
        if typing.is_secret and text:
            self.secret_marks.add(typing.mark)
            number = len(self.secrets) + 1
            name = "password" if number == 1 else f"password{number}"
            text = placeholder(self.secrets.setdefault(text, name))
        action = act.Fill(typing.mark, text) if text else act.Clear(typing.mark)
        self._keep(PendingStep(typing.seen, action, typing.called))

    def _take_click(self) -> PendingStep | None:
        """Return the click that has just turned out to be something else."""
        self._let_go()
        if self._held and isinstance(self._held[-1].action, act.Click):
            return self._held.pop()
        return None

    def _hand_on(self, after: Observation) -> None:
        held, self._held = self._held, []
        for place, draft in enumerate(held):
            before, is_last = draft.seen, place == len(held) - 1
            was = (before.nodes, before.url, before.scroll)
            if draft.is_blind and is_last and was == (after.nodes, after.url, after.scroll):
                self._say(f"a click on {draft.called or 'nothing'} was left out: it had no effect")
            else:
                self._keep(draft)
