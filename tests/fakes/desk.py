"""A help desk in memory: a site with pages, forms and a database, as a world to explore."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from urllib.parse import parse_qs, quote_plus, urlsplit

from loop.proposers.territory import Territory
from tasks.task import Json, Task
from webagent.action import Action
from webagent.action.actions import Check, Click, Fill, GoBack, Goto, Press, SelectOption
from webagent.records import Node, Observation

ADDRESS = "http://desk.test"
TERRITORY = Territory("desk", f"{ADDRESS}/", site="desk@1", has_database=True)
TYPES = ("Bug", "Wish", "Question")
_CLOCK = count(1_800_000_000, 7)


@dataclass
class Ticket:
    title: str
    type: str = "Bug"
    status: str = "Open"
    details: str = ""


@dataclass
class State:
    """The database, with the rows that were added since the reset."""

    tickets: list[Ticket] = field(
        default_factory=lambda: [
            Ticket("Broken lantern"),
            Ticket("Copper harbour map", "Wish", "Closed"),
            Ticket("Where is the meadow", "Question"),
        ]
    )
    changes: dict[str, dict[str, list[Json]]] = field(default_factory=dict)

    def note(self, kind: str, row: Json) -> None:
        table = self.changes.setdefault("ticket", {"added": [], "removed": [], "changed": []})
        table[kind].append(row)


class Desk:
    """Plays any task; everything follows from the actions but keys and times in the database."""

    def __init__(self, breaks: bool = False) -> None:
        """With `breaks`, tickets can be opened only once in the life of all worlds."""
        self.breaks = breaks
        self.opened = 0
        self._at: list[str] = []
        self._values: dict[str, str] = {}
        self._state = State()

    async def reset(self, task: Task) -> Observation:
        self._state, self._at = State(), [task.start_url]
        self._values = {}
        return self._page()

    async def step(self, action: Action) -> Observation:
        before = self._page()
        node = before.node(getattr(action, "mark", 0))
        match action:
            case Goto(url=url):
                self._go(url)
            case GoBack() if len(self._at) > 1:
                self._at.pop()
                self._values = {}
            case Fill(text=text) if node and node.role == "textbox":
                self._values[node.name] = text
            case SelectOption(option=option) if node and node.role == "combobox":
                self._values[node.name] = option
            case Check() if node and node.role == "checkbox":
                self._values[node.name] = "checked"
            case Click() if node and node.role == "link":
                self._follow(node.name)
            case Click() | Press() if node and node.role in ("button", "textbox"):
                self._send(node.name)
        after = self._page()
        return after if after != before else replace(after, outcome="no effect")

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        found: dict[str, Json] = {"changes": dict(self._state.changes)}
        for probe in task.probes:
            self._go(probe.url)
            found[probe.name] = "\n".join(node.name for node in self._page().nodes)
        return found

    async def close(self) -> None:
        """Nothing is held."""

    @property
    def _path(self) -> str:
        return urlsplit(self._at[-1]).path

    def _ticket(self) -> Ticket:
        """The one whose page is open; the last for a number that there is not."""
        number = int(self._path.rsplit("/", 1)[-1])
        return self._state.tickets[min(number, len(self._state.tickets) - 1)]

    def _go(self, url: str) -> None:
        self._at.append(url)
        self._values = {}

    def _follow(self, name: str) -> None:
        menu = {"Home": "/", "Tickets": "/tickets", "New ticket": "/new", "Log out": "/out"}
        titles = [ticket.title for ticket in self._state.tickets]
        if name in menu:
            self._go(ADDRESS + menu[name])
        elif name in titles:
            self._go(f"{ADDRESS}/ticket/{titles.index(name)}")

    def _send(self, button: str) -> None:
        title = self._values.get("Title", "")
        if button == "Search" and self._values.get("Words"):
            self._go(f"{ADDRESS}/search?q={quote_plus(self._values['Words'])}")
        elif button == "Submit" and title and not (self.breaks and self.opened):
            self.opened += 1
            ticket = Ticket(
                title, self._values.get("Type", "Bug"), "Open", self._values.get("Details", "")
            )
            self._state.tickets.append(ticket)
            key = next(_CLOCK)
            row: Json = {
                "id": len(self._state.tickets),
                "uuid": f"{key * 7919:040x}",
                "mtime": key,
                "title": ticket.title,
                "type": ticket.type,
                "details": ticket.details,
                "noise": key % 1000,
            }
            self._state.note("added", row)
            self._go(f"{ADDRESS}/ticket/{len(self._state.tickets) - 1}")
        elif button == "Save" and self._path.startswith("/ticket/"):
            ticket = self._ticket()
            new = self._values.get("New status", ticket.status)
            if new != ticket.status:
                before: Json = {"title": ticket.title, "status": ticket.status}
                ticket.status = new
                after: Json = {"title": ticket.title, "status": new}
                self._state.note("changed", {"before": before, "after": after})
            self._go(self._at[-1])

    def _page(self) -> Observation:
        title, lines = self._lines()
        nodes = [
            Node(mark, "link", name, kind="a", box=(10, 5, 50, 16))
            for mark, name in enumerate(("Home", "Tickets", "New ticket", "Log out"), start=1)
        ]
        for place, (role, name, kind, options) in enumerate(lines):
            mark = 0 if role == "text" else 10 + place
            value = self._values.get(name, options[0] if options else "")
            box = (10, 40 + 20 * place, 200, 16)
            states = ("checked",) if role == "checkbox" and value else ()
            shown = "" if role in ("link", "button", "text", "checkbox") else value
            nodes.append(Node(mark, role, name, shown, states, box, 0, kind))
            nodes += [Node(0, "option", option, kind="option", depth=1) for option in options]
        return Observation("", self._at[-1], f"Desk: {title}", tuple(nodes))

    def _lines(self) -> tuple[str, list[tuple[str, str, str, tuple[str, ...]]]]:
        tickets = self._state.tickets
        if self._path == "/new":
            return "New ticket", [
                ("text", "Open a new ticket", "h1", ()),
                ("textbox", "Title", "input:text", ()),
                ("combobox", "Type", "select", TYPES),
                ("textbox", "Details", "textarea", ()),
                ("button", "Submit", "input:submit", ()),
            ]
        if self._path == "/tickets":
            rows = [("link", ticket.title, "a", ()) for ticket in tickets]
            return "Tickets", [("text", "Tickets", "h1", ()), *rows]
        if self._path.startswith("/ticket/"):
            ticket = self._ticket()
            return f"Ticket {tickets.index(ticket)}", [
                ("text", f"Title: {ticket.title}", "td", ()),
                ("text", f"Status: {ticket.status}", "td", ()),
                ("text", f"Type: {ticket.type}", "td", ()),
                ("combobox", "New status", "select", (ticket.status, *_others(ticket.status))),
                ("button", "Save", "input:submit", ()),
            ]
        if self._path == "/search":
            words = parse_qs(urlsplit(self._at[-1]).query).get("q", [""])[0]
            found = [t.title for t in tickets if words.lower() in t.title.lower()]
            return "Search", [("text", f"{len(found)} found", "p", ())]
        return "Home", [
            ("text", "Welcome to the harbour desk", "h1", ()),
            ("textbox", "Words", "input:text", ()),
            ("button", "Search", "input:submit", ()),
        ]


def _others(status: str) -> tuple[str, ...]:
    return tuple(each for each in ("Open", "Closed", "Waiting") if each != status)
