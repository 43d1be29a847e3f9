"""A solver without a model: does what goals of the built-in writer say, knowing the site's pages.

It never sees how a task was done at first, so that what it solves can be solved from the goal.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from loop.proposers.backward import is_title
from loop.proposers.backward_words import plain_label
from loop.proposers.exploration import is_preview, leads_to_a_form
from loop.proposers.explore_pages import Field, Form, facts_on, forms_on, is_typed
from loop.proposers.label_deeds import beside, is_one_of_many
from loop.proposers.prove_orders import Order, read_orders
from webagent.action import Action, format_action
from webagent.action.actions import Answer, Check, Click, Fill, GiveUp, Goto, Press, SelectOption
from webagent.records import Candidate, Decision, Node, Observation, Trajectory


@dataclass(slots=True)
class _Place:
    """How far it is with a goal."""

    orders: list[Order]
    tried: set[str] = field(default_factory=set)
    """Addresses gone to for the order under way."""
    done: list[Action] = field(default_factory=list)
    pressed: int = 0
    answer: str = ""


class Follower:
    """Goes to the pages that a goal speaks of, fills in what it says, presses, answers."""

    def __init__(self, pages: Sequence[Observation]) -> None:
        """`pages` are those that were seen of the site, by whomever."""
        self._pages = {page.url.split("#")[0]: page for page in reversed(pages)}
        self._places: dict[str, _Place] = {}

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The next thing to do; it gives up where it does not know one."""
        place = self._places.get(trajectory.id)
        if place is None or not trajectory.steps:
            place = self._places[trajectory.id] = _Place(read_orders(trajectory.goal))
            if not place.orders:
                return _decided(GiveUp("the goal cannot be read"))
        while place.orders:
            action = self._next(place.orders[0], place, observation)
            if action is not None:
                return _decided(action)
            place.orders.pop(0)
            place.tried, place.done, place.pressed = set(), [], 0
        return _decided(Answer(place.answer))

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """The one action it has in mind."""
        decision = await self.act(trajectory, observation)
        candidate = Candidate(format_action(decision.action), log_prob=0.0)
        return [replace(decision, candidates=(candidate,))][:n]

    def _next(self, order: Order, place: _Place, page: Observation) -> Action | None:
        """What the order still needs; None when it is done."""
        if order.kind == "ask":
            for fact in facts_on(page):
                is_it = plain_label(fact.label) == order.what and fact.subject == order.subject
                if is_it and page.title == order.page:
                    place.answer = fact.value
                    return None
            return self._go(self._titled(order.page), place)
        if order.kind == "go":
            at_last = page.title == order.page
            return None if at_last else self._go(self._titled(order.page), place)
        if not order.pairs and not order.title:
            return self._pressed(order, place, page)
        form = next((f for f in forms_on(page) if _fits(f, order)), None)
        if place.pressed and (form is None or not _has_stored_button(form, place)):
            return None
        if form is None or (
            order.subject and not place.done and not _speaks_of(page, order.subject)
        ):
            return self._toward(order, place, page)
        for entry, value in _entries(form, order):
            action = _put(entry, value)
            if action is not None and action not in place.done and not place.pressed:
                place.done.append(action)
                return action
        place.pressed += 1
        buttons = sorted(form.buttons, key=lambda button: _rank(button.name, order))
        place.done.append(
            pressed := Click(buttons[0].mark)
            if buttons
            else Press(form.fields[-1].node.mark, "Enter")
        )
        return pressed

    def _pressed(self, order: Order, place: _Place, page: Observation) -> Action | None:
        """A button by itself, the one of the thing or of the page that is named."""
        if place.pressed:
            return None
        for node in page.nodes:
            is_it = node.role == "button" and node.name.casefold() == order.what.casefold()
            if node.mark and is_it and _belongs(node, order, page):
                place.pressed += 1
                return Click(node.mark)
        return self._toward(order, place, page)

    def _toward(self, order: Order, place: _Place, page: Observation) -> Action:
        """Nearer to the form: by a link called as the thing is, one that opens a form, or a page
        that was seen to have either."""
        for node in page.nodes:
            is_link = bool(node.mark) and node.role in ("link", "button")
            near = node.name == order.subject or (
                _speaks_of(page, order.subject) and leads_to_a_form(node.name)
            )
            click = Click(node.mark)
            if order.subject and is_link and near and click not in place.done:
                place.done.append(click)
                return click
        return self._go(self._leading(order), place)

    def _leading(self, order: Order) -> Iterator[str]:
        pages = list(self._pages.items())
        if order.page:
            yield from self._titled(order.page)
        if not order.subject:
            fitting = [(u, f) for u, p in pages for f in forms_on(p) if _fits(f, order)]
            yield from (u for u, f in sorted(fitting, key=lambda each: -_likeness(each[1], order)))
        yield from (u for u, p in pages if any(n.mark and n.name == order.subject for n in p.nodes))
        yield from (u for u, p in pages if order.subject and _speaks_of(p, order.subject))

    def _titled(self, title: str) -> Iterator[str]:
        return (url for url, page in self._pages.items() if page.title == title)

    def _go(self, urls: Iterator[str], place: _Place) -> Action:
        for url in urls:
            if url not in place.tried:
                place.tried.add(url)
                return Goto(url)
        return GiveUp("no page that was seen leads there")


def _belongs(button: Node, order: Order, page: Observation) -> bool:
    if order.subject and is_one_of_many(page, button):
        return beside(page, button) == order.subject
    return _speaks_of(page, order.subject or order.page)


def _fits(form: Form, order: Order) -> bool:
    labels = {plain_label(entry.label) for entry in form.fields}
    if order.kind == "search":
        named = {button.name.casefold() for button in form.buttons}
        if len(order.what.split()) > 1:
            return bool(form.fields) and order.what.casefold() in named
        return bool(form.fields) and any("search" in name for name in named)
    has_title = not order.title or any(is_title(entry.label) for entry in form.fields)
    return bool(form.fields) and has_title and {label for label, _ in order.pairs} <= labels


def _entries(form: Form, order: Order) -> Iterator[tuple[Field, str]]:
    wanted = dict(order.pairs)
    titled = False
    for entry in form.fields:
        label = plain_label(entry.label)
        if label in wanted:
            yield entry, wanted[label]
        elif order.title and not titled and (is_title(entry.label) or order.kind == "search"):
            titled = True
            yield entry, order.title


def _put(entry: Field, value: str) -> Action | None:
    node = entry.node
    if node.role in ("checkbox", "switch", "radio"):
        return Check(node.mark) if "checked" not in node.states else None
    if is_typed(node):
        return Fill(node.mark, value)
    return SelectOption(node.mark, value) if node.value != value else None


def _has_stored_button(form: Form, place: _Place) -> bool:
    """Whether only a preview was pressed so far, and a button that stores is there now."""
    fresh = [b for b in form.buttons if not is_preview(b.name) and Click(b.mark) not in place.done]
    return place.pressed == 1 and bool(fresh) and len(form.buttons) > 1


def _rank(button: str, order: Order) -> tuple[bool, bool]:
    return f'"{button}"' not in order.what and button != order.what, is_preview(button)


def _likeness(form: Form, order: Order) -> int:
    words = set(re.findall(r"\w+", order.what.lower()))
    return len(words & set(re.findall(r"\w+", form.heading.lower())))


def _speaks_of(page: Observation, subject: str) -> bool:
    lines = [page.title, *(n.name for n in page.nodes if n.kind in ("h1", "h2", "h3", "td", "th"))]
    return bool(subject) and any(subject.casefold() in line.casefold() for line in lines)


def _decided(action: Action) -> Decision:
    return Decision(action, source="demonstration", weights="follower")
