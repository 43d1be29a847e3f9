"""A solver of written goals that knows the site's pages and never how a task was done at first."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from loop.proposers.goals import is_title, simplify_label
from loop.proposers.labelling import find_list_item, find_same_buttons
from loop.proposers.page_forms import FormField, PageForm, find_facts, find_forms, is_typed
from loop.proposers.territory import is_form_link, is_preview
from webagent.action import Action, format_action
from webagent.action.actions import Answer, Check, Click, Fill, GiveUp, Goto, Press, SelectOption
from webagent.records import Candidate, Decision, Node, Observation, Trajectory

_QUESTION = re.compile(
    r'^(?:What (?:is|are) (?:the )?(?P<label>[^"]+?)|(?:How many|Which) (?P<many>[^"]+?) does)'
    r'(?: (?:of )?"(?P<subject>[^"]+)")?(?: have)? on the page "(?P<page>[^"]+)"\?$'
)
_GO = re.compile(r'^Go to the page "(?P<page>[^"]+)"\.?$')
_SEARCH = re.compile(
    r'^(?P<button>Search[^"]*?|Find[^"]*?) for "(?P<text>[^"]+)"(?: with (?P<pairs>.+?))?'
    r'(?: on the page "(?P<page>[^"]+)")?\.?$',
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r'^Change (?P<pairs>.+) (?:for "(?P<subject>[^"]+)"|on the page "(?P<page>[^"]+)")\.?$',
    re.IGNORECASE,
)
_MAKE = re.compile(
    r'^(?P<what>[^"]*?(?:press "[^"]+")?)(?: titled "(?P<title>[^"]+)")?'
    r'(?: for "(?P<subject>[^"]+)")?(?: with (?P<pairs>.+?))?'
    r'(?: on the page "(?P<page>[^"]+)")?\.?$',
    re.IGNORECASE,
)
_PAIR = re.compile(r'(?:^|, | and )(.+?) (?:to )?("[^"]*"|\S+?)(?=, | and |$)')


@dataclass(frozen=True, slots=True)
class GoalPart:
    """One thing that a goal asks for."""

    kind: str
    """`ask`, `go`, `search` or `send`."""
    what: str = ""
    """The label that is asked for, or the words for the form."""
    page: str = ""
    subject: str = ""
    title: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    """Labels with their values."""


def parse_goal(goal: str) -> list[GoalPart]:
    """What a goal asks for, in order; empty where it is not of the built-in writer's making."""
    orders = []
    for part in re.split(r", then (?=[a-z])", goal):
        order = _parse_part(part[:1].upper() + part[1:])
        if order is None:
            return []
        orders.append(order)
    return orders


def _parse_part(text: str) -> GoalPart | None:
    if found := _QUESTION.match(text):
        label = found["label"] or found["many"] or ""
        return GoalPart("ask", label, found["page"], found["subject"] or "")
    if found := _GO.match(text):
        return GoalPart("go", page=found["page"])
    if found := _SEARCH.match(text):
        pairs = _parse_pairs(found["pairs"])
        return GoalPart("search", found["button"], found["page"] or "", "", found["text"], pairs)
    if found := _CHANGE.match(text):
        pairs = tuple(
            (re.sub(r"^the ", "", label), value) for label, value in _parse_pairs(found["pairs"])
        )
        return GoalPart("send", "", found["page"] or "", found["subject"] or "", "", pairs)
    found = _MAKE.match(text)
    if found and any(found[name] for name in ("title", "pairs", "subject", "page")):
        subject, title, page = (found[name] or "" for name in ("subject", "title", "page"))
        return GoalPart("send", found["what"], page, subject, title, _parse_pairs(found["pairs"]))
    return None


def _parse_pairs(text: str | None) -> tuple[tuple[str, str], ...]:
    return tuple((label, value.strip('"')) for label, value in _PAIR.findall(text or ""))


@dataclass(slots=True)
class _Progress:
    """How far it is with a goal."""

    orders: list[GoalPart]
    tried: set[str] = field(default_factory=set)
    """Addresses gone to for the order under way."""
    done: list[Action] = field(default_factory=list)
    pressed: int = 0
    answer: str = ""


class GoalSolver:
    """Goes to the pages that a goal speaks of, fills in what it says, presses, answers."""

    def __init__(self, pages: Sequence[Observation]) -> None:
        """`pages` are those that were seen of the site, by whomever."""
        self._pages = {page.url.split("#")[0]: page for page in reversed(pages)}
        self._places: dict[str, _Progress] = {}

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The next thing to do; it gives up where it does not know one."""
        place = self._places.get(trajectory.id)
        if place is None or not trajectory.steps:
            place = self._places[trajectory.id] = _Progress(parse_goal(trajectory.goal))
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

    def _next(self, order: GoalPart, place: _Progress, page: Observation) -> Action | None:
        """What the order still needs; None when it is done."""
        if order.kind == "ask":
            for fact in find_facts(page):
                is_it = simplify_label(fact.label) == order.what and fact.subject == order.subject
                if is_it and page.title == order.page:
                    place.answer = fact.value
                    return None
            return self._go(self._titled(order.page), place)
        if order.kind == "go":
            at_last = page.title == order.page
            return None if at_last else self._go(self._titled(order.page), place)
        if not order.pairs and not order.title:
            return self._pressed(order, place, page)
        form = next((f for f in find_forms(page) if _fits(f, order)), None)
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

    def _pressed(self, order: GoalPart, place: _Progress, page: Observation) -> Action | None:
        """A button by itself, the one of the thing or of the page that is named."""
        if place.pressed:
            return None
        for node in page.nodes:
            is_it = node.role == "button" and node.name.casefold() == order.what.casefold()
            if node.mark and is_it and _belongs(node, order, page):
                place.pressed += 1
                return Click(node.mark)
        return self._toward(order, place, page)

    def _toward(self, order: GoalPart, place: _Progress, page: Observation) -> Action:
        """Nearer to the form: by a link called as the thing is, one that opens a form, or a page
        that was seen to have either."""
        for node in page.nodes:
            is_link = bool(node.mark) and node.role in ("link", "button")
            near = node.name == order.subject or (
                _speaks_of(page, order.subject) and is_form_link(node.name)
            )
            click = Click(node.mark)
            if order.subject and is_link and near and click not in place.done:
                place.done.append(click)
                return click
        return self._go(self._leading(order), place)

    def _leading(self, order: GoalPart) -> Iterator[str]:
        pages = list(self._pages.items())
        if order.page:
            yield from self._titled(order.page)
        if not order.subject:
            fitting = [(u, f) for u, p in pages for f in find_forms(p) if _fits(f, order)]
            yield from (
                u for u, f in sorted(fitting, key=lambda each: -_count_common_words(each[1], order))
            )
        yield from (u for u, p in pages if any(n.mark and n.name == order.subject for n in p.nodes))
        yield from (u for u, p in pages if order.subject and _speaks_of(p, order.subject))

    def _titled(self, title: str) -> Iterator[str]:
        return (url for url, page in self._pages.items() if page.title == title)

    def _go(self, urls: Iterator[str], place: _Progress) -> Action:
        for url in urls:
            if url not in place.tried:
                place.tried.add(url)
                return Goto(url)
        return GiveUp("no page that was seen leads there")


def _belongs(button: Node, order: GoalPart, page: Observation) -> bool:
    if order.subject and len(find_same_buttons(page, button)) > 1:
        return find_list_item(page, button) == order.subject
    return _speaks_of(page, order.subject or order.page)


def _fits(form: PageForm, order: GoalPart) -> bool:
    labels = {simplify_label(entry.label) for entry in form.fields}
    if order.kind == "search":
        named = {button.name.casefold() for button in form.buttons}
        if len(order.what.split()) > 1:
            return bool(form.fields) and order.what.casefold() in named
        return bool(form.fields) and any("search" in name for name in named)
    has_title = not order.title or any(is_title(entry.label) for entry in form.fields)
    return bool(form.fields) and has_title and {label for label, _ in order.pairs} <= labels


def _entries(form: PageForm, order: GoalPart) -> Iterator[tuple[FormField, str]]:
    wanted = dict(order.pairs)
    titled = False
    for entry in form.fields:
        label = simplify_label(entry.label)
        if label in wanted:
            yield entry, wanted[label]
        elif order.title and not titled and (is_title(entry.label) or order.kind == "search"):
            titled = True
            yield entry, order.title


def _put(entry: FormField, value: str) -> Action | None:
    node = entry.node
    if node.role in ("checkbox", "switch", "radio"):
        return Check(node.mark) if "checked" not in node.states else None
    if is_typed(node):
        return Fill(node.mark, value)
    return SelectOption(node.mark, value) if node.value != value else None


def _has_stored_button(form: PageForm, place: _Progress) -> bool:
    """Whether only a preview was pressed so far, and a button that stores is there now."""
    fresh = [b for b in form.buttons if not is_preview(b.name) and Click(b.mark) not in place.done]
    return place.pressed == 1 and bool(fresh) and len(form.buttons) > 1


def _rank(button: str, order: GoalPart) -> tuple[bool, bool]:
    return f'"{button}"' not in order.what and button != order.what, is_preview(button)


def _count_common_words(form: PageForm, order: GoalPart) -> int:
    words = set(re.findall(r"\w+", order.what.lower()))
    return len(words & set(re.findall(r"\w+", form.heading.lower())))


def _speaks_of(page: Observation, subject: str) -> bool:
    lines = [page.title, *(n.name for n in page.nodes if n.kind in ("h1", "h2", "h3", "td", "th"))]
    return bool(subject) and any(subject.casefold() in line.casefold() for line in lines)


def _decided(action: Action) -> Decision:
    return Decision(action, source="demonstration", weights="follower")
