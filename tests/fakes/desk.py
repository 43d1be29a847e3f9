"""A help desk as a small application with faults: tickets that are listed, added and closed."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.fakes.listening import Handler, listening

STYLE = "<style>td, th { padding: 4px 12px } body { font: 14px sans-serif }</style>"


class Desk(ThreadingHTTPServer):
    """Serves the tickets; `faults` says what goes wrong with a ticket of a title, by its ending."""

    daemon_threads = True

    def __init__(self, tickets: list[list[str]]) -> None:
        super().__init__(("127.0.0.1", 0), _Pages)
        self.tickets = tickets
        """Title, customer and state of each."""
        self.writes = 0
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"
        self.notice = False
        self.is_closing_final = False
        """Whether a closed ticket has no button to close it."""
        self.size = 0
        """Tickets on each page of the list; 0 for all on one."""
        self.next = '<a href="/?page={}">Next</a>'
        """What leads to the next page; the last page has it too where `always_next`."""
        self.always_next = False
        self.on_page: Callable[[int], None] = lambda page: None
        """Called before a page of the list is shown."""
        self.columns = ("Title", "Customer", "State")
        self.changed: dict[str, str] = {}
        """What pages say in another way since the site was changed."""
        self.confirms = False
        """Whether a new ticket is shown once more before it is saved."""


class _Pages(Handler):
    server: Desk

    def do_GET(self) -> None:
        """Show the list, or the form of a new ticket."""
        page = int((parse_qs(urlsplit(self.path).query).get("page") or ["1"])[0])
        self.server.on_page(page)
        size = self.server.size or len(self.server.tickets)
        listed = self._list((page - 1) * size, page * size)
        if self.server.size and (self.server.always_next or page * size < len(self.server.tickets)):
            listed += self.server.next.format(page + 1)
        if urlsplit(self.path).path == "/new":
            fields = "".join(
                f'<p><label>{name} <input name="{name.lower()}"></label></p>'
                for name in ("Title", "Customer")
            )
            listed = f'<form method="post" action="/add">{fields}<button>Save</button></form>'
        notice = '<p><button onclick="this.parentNode.remove()">Got it</button></p>'
        self._send(200, (notice if self.server.notice else "") + listed)

    def _list(self, start: int, end: int) -> str:
        rows = "".join(
            f"<tr><td>{escape(title)}</td><td>{escape(customer)}</td><td>{state}</td><td>"
            + f'<form method="post" action="/close?at={at}"><button>Close</button></form></td></tr>'
            * (state == "open" or not self.server.is_closing_final)
            for at, (title, customer, state) in enumerate(self.server.tickets)
            if start <= at < end
        )
        head = "".join(f"<th>{column}</th>" for column in self.server.columns)
        head = f"<tr>{head}<th></th></tr>" if self.server.size else ""
        return f'<a href="/new">New ticket</a><table>{head}{rows}</table>'

    def do_POST(self) -> None:
        """Add or close a ticket, with the fault that its title names."""
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.writes += 1
        if self.path.startswith("/close"):
            self.server.tickets[int(self.path.partition("=")[2])][2] = "closed"
            return self._send(303, "")
        title, customer = form["title"][0], form["customer"][0]
        if self.server.confirms and self.path == "/add":
            hidden = "".join(
                f'<input type=hidden name={n} value="{v[0]}">' for n, v in form.items()
            )
            confirm = (
                f'<form method="post" action="/really">{hidden}<button>Confirm</button></form>'
            )
            return self._send(200, confirm)
        fault = title.rpartition("!")[2]
        ticket = [title, customer, "open"]
        added = {"dropped": [], "session": [], "doubled": [ticket, [*ticket]]}
        if fault == "partial":
            ticket[1] = ""
        if fault == "stale":  # somebody else's ticket is overwritten
            del self.server.tickets[0]
        self.server.tickets.extend(added.get(fault, [ticket]))
        if fault == "session":
            return self._send(401, "Please log in.")
        return self._send(500 if fault == "error" else 303, "")

    def _send(self, status: int, body: str) -> None:
        page = f"<!doctype html><title>Desk</title>{STYLE}<h1>Desk</h1>{body}"
        for old, new in self.server.changed.items():
            page = page.replace(old, new)
        self.send(page, status, {"Location": "/"} if status == 303 else {})


@contextmanager
def desk(*tickets: tuple[str, str]) -> Iterator[Desk]:
    """Serve a desk with these open tickets."""
    with listening(Desk([[*each, "open"] for each in tickets])) as server:
        yield server
