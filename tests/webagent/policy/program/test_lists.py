"""Lists over several pages: what each adds, and when a list ends."""

import asyncio
import json
from dataclasses import replace

import pytest

from tasks.task import Task
from webagent.action import Action, Answer
from webagent.action.actions import Click, Goto
from webagent.errors import PolicyError
from webagent.policy.program import Program, ProgramPolicy
from webagent.policy.program.aligning import find_columns, list_actions
from webagent.policy.program.program import ProgramCheck, ProgramStep
from webagent.records import Decision, Node, Observation, Provenance, Step, Trajectory

URL = "https://desk.example/"
PAST = Trajectory("e1", Task("t/a@1", URL, "Read."), Provenance())
STEP = ProgramStep("list", "link", "Next", columns=("Title", "State"))
CHECK = ProgramCheck(beside=("Tickets",))
ROWS = [[("a", "1"), ("b", "2")], [("c", "3"), ("d", "")], [("e", "5")]]


def table(rows: list[tuple[str, ...]], *columns: str, place: str = "body table") -> str:
    """What is captured of a page with a table and the links above it."""
    links = {"place": "nav a", "columns": ["a"], "rows": [["Home"], ["Help"]], "tags": ["a"]}
    return json.dumps([links, {"place": place, "columns": columns, "rows": rows, "tags": ["td"]}])


class Book:
    """A site whose pages are turned; each is its HTML, and whether it has a next one."""

    def __init__(self, *pages: str, next_at_the_end: bool = False, states: tuple[str, ...] = ()):
        self.pages, self.at, self.states = pages, 0, states
        self.last = len(pages) - (not next_at_the_end)
        self.turned = 0

    def show(self, action: Action | None = None) -> Observation:
        """Do an action, and return the page."""
        if isinstance(action, Goto):
            self.at = int(action.url.partition("=")[2] or 0)
        if isinstance(action, Click):
            self.turned += 1
            self.at += 1
        at = min(self.at, len(self.pages) - 1)
        nodes = [Node(0, "text", "Tickets" if self.pages[at] else "Error", kind="h1")]
        if self.at < self.last:
            nodes.append(Node(1, "link", "Next"))
        elif self.states:
            nodes.append(Node(1, "link", "Next", states=self.states))
        return Observation("", f"{URL}?p={at}", "", tuple(nodes), captured=self.pages[at])


def read(book: Book, step: ProgramStep = STEP) -> tuple[list[tuple[str, ...]], ProgramPolicy]:
    """Play a program that reads the book; return its rows."""
    policy = ProgramPolicy(Program("Read.", URL, {}, (step,), CHECK), {})

    async def play() -> None:
        page = book.show()
        while not isinstance(action := (await policy.act(PAST, page)).action, Answer):
            page = book.show(action)

    asyncio.run(play())
    return [tuple(row.values()) for each in policy.readings[-1] for row in each.rows], policy


ALL = [row for rows in ROWS for row in rows]
PAGES = [table(rows, "Title", "State") for rows in ROWS]


@pytest.mark.parametrize(
    "book",
    [
        Book(*PAGES),
        Book(*PAGES, states=("disabled",)),
        Book(*PAGES, next_at_the_end=True),  # it shows the last page again
        Book(*PAGES, PAGES[0], next_at_the_end=True),  # it begins anew
        Book(*PAGES, table([], "Title", "State")),  # a page beyond the end
        Book(*PAGES, "[]"),
        Book(*(table(ALL[:n], "Title", "State") for n in (2, 4, 5))),  # more of it
    ],
)
def test_a_list_ends_where_nothing_new_is_shown(book):
    rows, policy = read(book)
    assert rows == ALL and policy.is_stable


def test_the_columns_that_are_wanted_are_read_wherever_they_stand():
    pages = [table([(s, "x", t) for t, s in rows], "State", "No.", "Title") for rows in ROWS]
    assert read(Book(*pages))[0] == ALL


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ([PAGES[0], table([("x",)], "Title")], "page 2 of the list, .* has no list with Title, St"),
        ([PAGES[0], ""], "page 2 .* but none"),
        ([table([], "Other")], "page 1 .* has no list with Title, State, but a; Other"),
        ([f"{PAGES[0][:-1]}, {PAGES[1][1:]}"], "has 2 lists with Title, State"),
    ],
)
def test_what_cannot_be_read_for_certain_ends_with_the_reason(pages, reason):
    with pytest.raises(PolicyError, match=reason):
        read(Book(*pages))


def test_an_interrupted_reading_goes_on_and_one_that_fits_no_more_begins_anew():
    _, before = read(Book(*PAGES))
    for changed, turned in ((False, 1 + 2), (True, 2 + 2)):
        book, policy = Book(*PAGES), replace(before, readings=[before.readings[0][:2]])
        policy._playing = None
        if changed:
            policy.readings[0][1] = replace(policy.readings[0][1], rows=({"Title": "z"},))

        async def play(book: Book = book, policy: ProgramPolicy = policy) -> None:
            page = book.show()
            while not isinstance(action := (await policy.act(PAST, page)).action, Answer):
                page = book.show(action)

        asyncio.run(play())
        assert [row["Title"] for page in policy.readings[-1] for row in page.rows] == [*"abcde"]
        assert policy.is_stable and book.turned == turned


def test_a_list_without_a_header_is_known_by_the_tags_of_its_texts():
    pages = [table([("x", *row) for row in rows], "h3", "price", "state") for rows in ROWS]
    pages = [each.replace('"td"', '"h3", "p"') for each in pages]
    rows, _ = read(Book(*pages), replace(STEP, columns=("h3", "p")))
    assert rows == [("x", *row) for row in ALL]


@pytest.mark.parametrize("shown", [ROWS[1], ALL])
def test_the_columns_are_those_of_the_rows_that_a_press_exchanges_or_adds(shown):
    def page(rows: list[tuple[str, ...]]) -> Observation:
        head = [Node(0, "text", "Title | State", kind="th")]
        cells = [Node(0, "text", " | ".join(row), kind="td") for row in rows]
        return Observation("Read.", URL, "", (*head, *cells, Node(1, "link", "More")))

    step = Step(page(ROWS[0]), Decision(Click(1), source="demonstration"))
    recording = replace(PAST, steps=(step,), last=page(shown))
    assert find_columns(list(list_actions(recording))) == ("Title", "State")
