"""An episode told as deeds: forms sent, pages opened, step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loop.proposers.backward import Deed, Filled, Opened, Submitted, is_title
from loop.proposers.exploration import is_preview, leads_to_a_form
from loop.proposers.explore_pages import (
    ENTER,
    field_of,
    forms_on,
    heading_above,
    is_in_menu,
    is_telling_name,
    is_typed,
    menu_of,
    subject_of,
)
from loop.proposers.frontier import pattern_of
from webagent.action import Action, is_final
from webagent.action.actions import (
    Check,
    Click,
    Fill,
    GoBack,
    Goto,
    Press,
    SelectOption,
    Uncheck,
)
from webagent.policy.past_actions import page_appearance
from webagent.records import Node, Observation, Step


@dataclass(frozen=True, slots=True)
class Told:
    """A deed with the step that completed it, counted from 0."""

    step: int
    deed: Deed


def deeds_of(steps: Sequence[Step], last: Observation | None) -> list[Told]:
    """What was done, step by step; what changed nothing on the page is left out."""
    if not steps:
        return []
    teller = _Teller(menu_of(steps[0].observation))
    for index, step in enumerate(steps):
        after = steps[index + 1].observation if index + 1 < len(steps) else last
        if after is not None and not is_final(step.decision.action):
            teller.tell(index, step.observation, step.decision.action, after)
    return teller.found


def is_one_of_many(page: Observation, button: Node) -> bool:
    """Whether a page has several buttons of this name, as a list has one for each thing."""
    return len(same_buttons(page, button)) > 1


def same_buttons(page: Observation, button: Node) -> list[Node]:
    """The page's buttons of this name."""
    return [n for n in page.nodes if n.mark and n.role == "button" and n.name == button.name]


def beside(page: Observation, button: Node) -> str:
    """What a button in a list belongs to: the last link above it that names something."""
    above = page.nodes[: page.nodes.index(button)]
    named = (n.name for n in reversed(above) if n.role == "link" and is_telling_name(n.name))
    return next(named, "")


def is_walk(step: Step) -> bool:
    """Whether a step only went from page to page."""
    action = step.decision.action
    node = step.observation.node(getattr(action, "mark", 0))
    is_link = isinstance(action, Click) and node is not None and node.role == "link"
    return is_link or isinstance(action, GoBack | Goto)


@dataclass(slots=True)
class _Teller:
    """Keeps what was entered and what the page is about while an episode goes on."""

    menu: Mapping[str, tuple[int, int]]
    found: list[Told] = field(default_factory=list)
    pending: dict[str, Filled] = field(default_factory=dict)
    """By label, what was entered and not sent yet."""
    subject: str = ""
    is_particular: bool = False

    def tell(self, index: int, page: Observation, action: Action, after: Observation) -> None:
        """One step."""
        if entered := _entered(page, action):
            self.pending[entered.label] = entered
            return
        node = page.node(getattr(action, "mark", 0))
        if isinstance(action, Goto | GoBack):
            self.subject, self.is_particular = subject_of(after), "*" in pattern_of(after.url)
            self.pending = {}
        if node is None or not (
            page.url != after.url
            or (after.outcome != "no effect" and page_appearance(page) != page_appearance(after))
        ):
            return
        leads = not self.pending and leads_to_a_form(node.name) and page.url != after.url
        if isinstance(action, Click) and (node.role == "link" or leads):
            self._go(node, page, after)
            opened = Opened(node.name, after.title, pattern_of(after.url))
            self.found.append(Told(index, opened))
        elif node.role == "button" or isinstance(action, Press):
            button = node.name if node.role == "button" else ENTER
            if not is_preview(button):
                fields = tuple(self.pending.values())
                heading = heading_above(page, _first_mark(page, node))
                subject, is_particular = self.subject, self.is_particular
                if not fields and is_one_of_many(page, node):
                    subject, is_particular = beside(page, node), True
                sent = Submitted(button, heading, fields, subject, is_particular)
                self.found.append(Told(index, sent))
                titled = next((f.value for f in fields if is_title(f.label)), "")
                self.subject = subject_of(after) or titled or self.subject
                self.is_particular = bool(self.subject)
            forms = forms_on(after)
            values = {
                f.label: f.node.value for form in forms for f in form.fields if is_typed(f.node)
            }
            values |= {f.label: f.node.value for form in forms for f in form.fields if f.options}
            self.pending = {
                label: each
                for label, each in self.pending.items()
                if values.get(label) == each.value
            }

    def _go(self, link: Node, page: Observation, after: Observation) -> None:
        """What the next page is about, and whether it is one of many."""
        self.pending = {}
        if is_in_menu(link, self.menu):
            self.subject, self.is_particular = "", False
            return
        if leads_to_a_form(link.name):
            self.subject = (self.subject or subject_of(page)) if self.is_particular else ""
            return
        said = f"{after.title} {' '.join(n.name for n in after.nodes if n.kind in _HEADINGS)}"
        is_named = is_telling_name(link.name) and link.name.casefold() in said.casefold()
        self.is_particular = "*" in pattern_of(after.url)
        self.subject = subject_of(after) or (link.name if is_named else "")
        if not self.is_particular:
            self.subject = ""


_HEADINGS = ("h1", "h2", "h3")


def _entered(page: Observation, action: Action) -> Filled | None:
    """What an action put into a field."""
    entry = field_of(page, getattr(action, "mark", 0))
    if entry is None:
        return None
    match action:
        case Fill(text=text):
            return Filled(entry.label, "textbox", text)
        case SelectOption(option=option):
            return Filled(entry.label, "combobox", option)
        case Check() | Click() if entry.node.role == "radio":
            return Filled(entry.label, "radio", "chosen")
        case Check() | Click() if entry.node.role in ("checkbox", "switch"):
            was = "checked" in entry.node.states and isinstance(action, Click)
            return Filled(entry.label, "checkbox", "unchecked" if was else "checked")
        case Uncheck():
            return Filled(entry.label, "checkbox", "unchecked")
    return None


def _first_mark(page: Observation, button: Node) -> int:
    """The mark of the first field of the button's form, above which its heading stands."""
    for form in forms_on(page):
        if button in form.buttons or button in [f.node for f in form.fields]:
            return form.fields[0].node.mark if form.fields else button.mark
    return button.mark
