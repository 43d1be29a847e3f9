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
    button, keys = _BUTTONS.get(down.details["button"]), down.details.get("keys", [])
    if button is None:
        return None
    is_known = down.seen.node(down.mark) is not None and down.details["kind"] not in _PICTURES
    if is_known and keys:
        return act.ClickWith(down.mark, "+".join(keys), 1, button)
    if is_known:
        return act.Click(down.mark, button)
    if down.details["isTop"] and down.is_fresh and not keys:
        return act.MouseClick(down.details["x"], down.details["y"], button)
    return None


def is_drag(down: UserEvent, up: UserEvent) -> bool:
    """Return whether the mouse went far enough between, and off what it was pressed on."""
    way = max(abs(down.details[axis] - up.details[axis]) for axis in ("x", "y"))
    return bool(way > FAR and (down.mark != up.mark or not down.mark))


def drag_of(down: UserEvent, up: UserEvent) -> Action | None:
    """Return a drag onto another element, else from place to place; None inside a frame."""
    source, target = (down.seen.node(each.mark) for each in (down, up))
    if source is not None and target is not None and source is not target:
        return act.DragAndDrop(down.mark, up.mark)
    if down.details["isTop"] and up.details["isTop"]:
        return act.MouseDrag(*(each.details[axis] for each in (down, up) for axis in ("x", "y")))
    return None


def mark_of(draft: PendingStep) -> int:
    """Return the element it is done to; 0 for none."""
    mark: Any = getattr(draft.action, "mark", 0)
    return int(mark)


def not_understood(event: UserEvent) -> str:
    """Return why an action is left out."""
    called = event.details.get("called") or "something"
    what = {"down": "a click on", "up": "a drag to", "key": "a key on"}.get(
        event.what, "what was done to"
    )
    why = "it is nothing that was seen before" if event.is_fresh else "it came too soon to be seen"
    return f"{what} {called} was left out: {why}"


MOST_CLICKS = 2
_CHOSEN_FROM = ("select", "option")
_SET_BY_HAND = ("input:range",)
_MOVES: dict[str, Callable[[UserEvent], Action]] = {
    "went": lambda event: act.Goto(event.details["url"]),
    "back": lambda event: act.GoBack(),
    "forward": lambda event: act.GoForward(),
    "tab": lambda event: act.TabFocus(event.details["index"]),
    "opened": lambda event: act.NewTab(),
    "closed": lambda event: act.TabClose(),
}
"""What was done to the window, by the event that tells of it."""

Keep = Callable[[PendingStep], None]
Say = Callable[[str], object]


class Translator:
    """Hears what is event in order; hands every action on as soon as nothing can change it."""

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

    def hear(self, event: UserEvent) -> None:
        """Take one event in."""
        if move := _MOVES.get(event.what):
            self._end_typing()
            self._down = self._scrolling = None
            self._hand_on(event.seen)
            self._keep(PendingStep(event.seen, move(event)))
        elif event.what == "up":
            self._let_go(event)
        elif event.what == "dropped":
            down, self._down = self._down, None
            if down is not None:
                self._hold(down, drag_of(down, event))
        elif event.what == "double":
            first = self._held[0] if self._held else None
            is_click = all(isinstance(each.action, act.Click) for each in self._held)
            if first is not None and is_click and len(self._held) == MOST_CLICKS:
                self._held = [
                    PendingStep(first.seen, act.DoubleClick(mark_of(first)), first.called)
                ]
        elif event.what == "typing":
            if self._typing is None or self._typing.mark != event.mark:
                self._begin_typing(event, event.details.get("value"))
        elif event.what == "scrolled":
            self._hand_on(event.seen)
            self._scrolling = self._scrolling or Scrolling(event.seen)
            x, y = self._scrolling.by_mark.get(event.mark, (0, 0))
            self._scrolling.by_mark[event.mark] = (x + event.details["dx"], y + event.details["dy"])
        else:
            getattr(self, f"_hear_{event.what}")(event)

    def finish(self, after: Observation) -> None:
        """The person is done."""
        self._let_go()
        self._end_typing()
        self._hand_on(after)

    def _hear_down(self, event: UserEvent) -> None:
        self._end_typing()
        self._let_go()
        is_again = event.mark and all(mark_of(each) == event.mark for each in self._held)
        if not is_again or len(self._held) >= MOST_CLICKS:
            self._hand_on(event.seen)
        self._down = event

    def _hear_key(self, event: UserEvent) -> None:
        self._end_typing()
        self._hand_on(event.seen)
        key = {" ": "Space"}.get(event.details["key"], event.details["key"])
        if len(key) == 1 and not (key.isascii() and key.isprintable()):
            self._say(f"the key {key!r} was left out: it has no name in the action grammar")
            return
        # Shift is in a letter already.
        held = [each for each in event.details.get("held", ()) if each != "Shift" or len(key) > 1]
        self._put(event, act.Press(event.mark, "+".join([*held, key])))

    def _hear_typed(self, event: UserEvent) -> None:
        if self._typing is None or self._typing.mark != event.mark:
            self._begin_typing(event, None)
        if self._typing is not None:
            is_secret = self._typing.is_secret or event.details["isSecret"]
            self._typing = replace(self._typing, value=event.details["value"], is_secret=is_secret)

    def _hear_ticked(self, event: UserEvent) -> None:
        self._end_typing()
        click = self._take_click()
        made = act.Check if event.details["isTicked"] else act.Uncheck
        if click is not None:
            mark = event.mark if click.seen.node(event.mark) else mark_of(click)
            self._held.append(PendingStep(click.seen, made(mark), click.called))
        else:
            self._put(event, made(event.mark))

    def _hear_chosen(self, event: UserEvent) -> None:
        self._end_typing()
        self._down = None
        labels = tuple(event.details["labels"])
        choice: Action = act.SelectOptions(event.mark, labels)
        if len(labels) == 1 and not event.details["isSeveral"]:
            choice = act.SelectOption(event.mark, labels[0])
        before = self._held[-1] if self._held else None
        chosen = act.SelectOption | act.SelectOptions
        if before and isinstance(before.action, chosen) and mark_of(before) == event.mark:
            self._held[-1] = PendingStep(before.seen, choice, before.called)
        else:
            self._hand_on(event.seen)
            self._put(event, choice, is_held=True)

    def _hear_files(self, event: UserEvent) -> None:
        paths = event.details["paths"]
        if len(paths) != event.details["count"] or not paths:
            self._say(
                f"files put into {event.details['called']} were left out: they cannot be located"
            )
            return
        click = self._take_click()
        seen, mark = (click.seen, mark_of(click)) if click else (event.seen, event.mark)
        upload: Action = act.UploadFiles(mark, tuple(paths))
        if len(paths) == 1:
            upload = act.UploadFile(mark, paths[0])
        self._held.append(PendingStep(seen, upload, event.details["called"]))

    def _hear_dialog(self, event: UserEvent) -> None:
        self._end_typing()
        self._let_go()
        self._hand_on(event.seen)
        reply = act.AnswerDialog("dismiss", "")
        if event.details["accepted"]:
            reply = act.AnswerDialog("accept", event.details["text"])
        self._keep(PendingStep(event.seen, reply))

    def _let_go(self, up: UserEvent | None = None) -> None:
        """Take a mouse that is still pressed as let go of, where it is if nothing reports where."""
        down, self._down = self._down, None
        if down is None:
            return
        up = up or down
        kind = down.details.get("kind", "")
        is_typed = self._typing is not None and self._typing.mark == down.mark
        if kind not in _CHOSEN_FROM and kind not in _SET_BY_HAND and not is_typed:
            self._hold(down, drag_of(down, up) if is_drag(down, up) else click_of(down))

    def _hold(self, event: UserEvent, action: Action | None) -> None:
        if action is None:
            self._say(not_understood(event))
        else:
            self._put(event, action, is_held=True)

    def _put(self, event: UserEvent, action: Action, *, is_held: bool = False) -> None:
        """Keep an action on an element, after what brought the element forth."""
        called = event.details.get("called", "")
        mark = getattr(action, "mark", getattr(action, "source", 0))
        if mark and event.seen.node(mark) is None:
            self._say(not_understood(event))
            return
        self._lead_up(event, mark)
        is_blind = isinstance(action, act.MouseClick | act.MouseDrag)
        draft = PendingStep(event.seen, action, called, is_blind)
        if is_held:
            self._held.append(draft)
        else:
            self._keep(draft)

    def _lead_up(self, event: UserEvent, mark: int) -> None:
        scrolling, self._scrolling = self._scrolling, None
        if not mark:
            return
        if scrolling is not None and scrolling.seen.node(mark) is None:
            self._hand_on(event.seen)
            for over, (dx, dy) in scrolling.by_mark.items():
                self._keep(PendingStep(scrolling.seen, act.Scroll(over, dx, dy)))
        elif event.rested is not None and event.rested.node(mark) is None:
            hovered = [each for each in event.details.get("hovered", ()) if event.rested.node(each)]
            if hovered:
                self._hand_on(event.seen)
                self._keep(PendingStep(event.rested, act.Hover(hovered[-1])))

    def _begin_typing(self, event: UserEvent, before: str | None) -> None:
        self._end_typing()
        seen = event.seen
        if self._held and self._held[-1].action == act.Click(event.mark):
            seen = self._held.pop().seen
        self._hand_on(event.seen)
        if seen.node(event.mark) is None:
            self._say(not_understood(event))
            return
        self._lead_up(event, event.mark)
        node = seen.node(event.mark)
        known = before if before is not None else node.value if node else None
        details = event.details
        self._typing = Typing(
            seen, event.mark, known, known or "", details["isSecret"], details["called"]
        )
        if details["isSecret"]:
            self.secret_marks.add(event.mark)

    def _end_typing(self) -> None:
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
