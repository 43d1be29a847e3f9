"""What pages send is compared with the goal before it leaves, and read back afterwards, against an
office's form that loses, doubles and misreports what it is sent."""

from collections.abc import Awaitable, Callable, Iterator
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest

from tasks.task import Task
from tests.fakes.listening import Handler, listening
from webagent.action import parse_action
from webagent.browser import Browser
from webagent.guard import Guard
from webagent.records import Observation

pytestmark = pytest.mark.browser
GOAL = 'Set the phone of "Ann Low" in Bath to 555-0102.'


class Office:
    """People with phone numbers, and what goes wrong when one is saved."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.people = {1: ("Ann Low", "Bath", "555-0000"), 2: ("Ann Low", "York", "555-0001")}
        self.posts = list[str]()
        office = self

        class Pages(Handler):
            def do_GET(self) -> None:
                self.answer(200, office.page(self.path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                office.posts.append(body)
                if office.fault != "drop" and office.fault != "session":
                    number = int(self.path.rsplit("/", 1)[-1])
                    name, town, _ = office.people[number]
                    office.people[number] = name, town, parse_qs(body)["phone"][0]
                if office.fault == "error":
                    return self.answer(500, "It broke")
                to = "/login" if office.fault == "session" else "/"
                self.send("", 303, {"Location": to})

            def answer(self, status: int, text: str) -> None:
                self.send(f"<!doctype html><title>Office</title>{text}", status)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def page(self, path: str) -> str:
        """Return the list of people with a form in each row."""
        if path == "/login":
            return "<label>Password <input type=password></label>"
        twice = (
            'onsubmit="event.preventDefault(); const send = () => fetch(this.action, {method:'
            " 'POST', body: new URLSearchParams(new FormData(this))}); send(); send()\""
        )
        rows = "".join(
            f"<tr><td>{name}</td><td>{town}</td><td><form method=post action=/people/{number}"
            f" {twice if self.fault == 'double' else ''}><input name=phone value='{phone}'"
            f" aria-label=Phone><button>Save</button></form></td></tr>"
            for number, (name, town, phone) in self.people.items()
        )
        return f"<table>{rows}</table>"


@pytest.fixture
def office(request: pytest.FixtureRequest) -> Iterator[Office]:
    """An office that is open, with the fault that the test asks for."""
    opened = Office(getattr(request, "param", ""))
    with listening(opened.server):
        yield opened


Play = Callable[..., Awaitable[tuple[Observation, dict[str, Any]]]]


@pytest.fixture
def play(held: Browser, office: Office) -> Play:
    """Fills in a row's phone and saves it; returns the page afterwards and the guard's evidence."""

    async def fill(row: int, text: str, approver: Any = None, confirm: Any = "risky"):
        held.guard = Guard.chosen(None, confirm, approver)
        world = await held.world()
        task = Task("office/phone@1", office.url, GOAL, clock="real", settle_ms=300)
        page = await world.reset(task)
        fields = [node.mark for node in page.nodes if node.role == "textbox"]
        buttons = [node.mark for node in page.nodes if node.role == "button"]
        await world.step(parse_action(f'fill({fields[row]}, "{text}")'))
        page = await world.step(parse_action(f"click({buttons[row]})"))
        evidence: Any = await world.evidence(task)
        await world.close()
        return page, evidence["guard"]

    return fill


async def test_what_the_goal_asks_for_is_sent_and_read_back(office: Office, play: Play) -> None:
    page, found = await play(0, "555-0102")

    assert office.people[1][2] == "555-0102"
    assert not page.outcome
    assert found["verified"] is True
    assert [each["fields"] for each in found["writes"]] == [[["Phone", "555-0102"]]]


@pytest.mark.parametrize(
    ("row", "text", "reason"),
    [
        (0, "555-0199", "'555-0199' for 'Phone' is not what the goal asks for"),
        (1, "555-0102", "another row also has 'bath', as the goal does"),
    ],
)
async def test_another_value_or_a_look_alike_row_is_not_sent(office, play, row, text, reason):
    page, found = await play(row, text)

    assert not office.posts
    assert page.outcome == f"refused: not sent: {reason}"
    assert page.url == office.url
    assert (found["writes"], found["verified"]) == ([], None)
    assert [(each["rule"], each["where"]) for each in found["refusals"]] == [("confirm", "action")]


async def test_a_person_is_asked_and_may_say_yes(office: Office, play: Play) -> None:
    class Person:
        question = ""

        async def approve(self, question: str) -> bool:
            self.question = question
            return True

    person = Person()
    await play(0, "555-0199", person)

    assert office.people[1][2] == "555-0199"
    assert "phone" in person.question and "not what the goal asks for" in person.question


async def test_all_changes_need_a_yes_where_that_is_chosen(office: Office, play: Play) -> None:
    page, _ = await play(0, "555-0102", confirm="all")

    assert not office.posts
    assert "nobody approved of it" in page.outcome


@pytest.mark.parametrize(
    ("office", "verified", "status", "posts"),
    [
        ("drop", False, 303, 1),
        ("session", False, 303, 1),
        ("error", True, 500, 1),
        ("double", True, 303, 1),
    ],
    indirect=["office"],
)
async def test_a_form_that_fails_is_no_silent_success(office, play, verified, status, posts):
    page, found = await play(0, "555-0102")

    assert len(office.posts) == posts
    assert found["verified"] is verified
    assert [each["status"] for each in found["writes"]] == [status]
    assert ("one action has sent it already" in page.outcome) is (office.fault == "double")
