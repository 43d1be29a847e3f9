"""Failures that were written after the rules and of which none was used to make them."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from evaluators.attribution import Cause
from tests.evaluators.attribution.cases import Made, entered, failed, page, said
from webagent.action.actions import Answer, Click, Fill, GiveUp, GoBack, Goto, Press, Scroll
from webagent.records import Ending, Node, Score

INBOX = page(
    "http://mail.test/inbox",
    "1 link Dana Fox — Invoice for March",
    "2 button Archive",
    "3 link Omar Diaz — Lunch on Friday",
    "4 button Archive",
    "5 button Compose",
    title="Inbox",
)
SEARCH = page("http://wiki.test/", "1 searchbox Search", "2 button Go")
RESULTS = page(
    "http://wiki.test/search",
    "3 results",
    "11 link River Tamar",
    "12 link River Tavy",
    "13 link River Torridge",
    title="Results",
)
BOARD = page(
    "http://code.test/issues",
    "Issues",
    "21 link Crash on start",
    "22 link Wrong colour in dark mode",
    "23 link New issue",
)


def at_the_site() -> Iterator[Made]:
    """World, site and limits."""
    hangs = failed(
        Cause.ENVIRONMENT,
        "page hangs",
        0,
        (INBOX, Click(5)),
        goal="Open the inbox.",
        ending=Ending.WORLD_FAILED,
        error="the page did not answer for 60 s",
        scores=(),
    )
    yield replace(hangs, trajectory=replace(hangs.trajectory, last=None))
    down = page("http://wiki.test/search", "503 Service Unavailable", title="503")
    turns = [
        *((SEARCH, Fill(1, "Tamar")), (SEARCH, Click(2))),
        *((down, Press(0, "F5")), (down, Answer("The search does not work"))),
    ]
    goal = "How long is the River Tamar?"
    yield failed(Cause.ENVIRONMENT, "search is down", 1, *turns, goal=goal, expected="98 km")
    wall = page(
        "http://code.test/login",
        Node(1, "textbox", "Login", kind="input:text"),
        Node(2, "textbox", "Secret", kind="input:password"),
        "3 button Log in",
    )
    turns, goal = (
        [(BOARD, Click(21)), (wall, GiveUp("I have no login"))],
        "How many issues are open?",
    )
    yield failed(Cause.ACCESS, "private repository", 0, *turns, goal=goal)
    human = page("http://wiki.test/check", "Please verify you are a human", "1 checkbox I")
    turns = [(SEARCH, Click(2)), (human, Click(1)), (human, Click(1))]
    goal, ending = "How long is the River Tavy?", Ending.STEP_LIMIT
    yield failed(Cause.ACCESS, "human check", 0, *turns, goal=goal, ending=ending)
    away = said(INBOX, "refused: bank.test is not among the sites")
    turns = [
        *((INBOX, Click(1)), (INBOX, Goto("http://bank.test/"))),
        *((away, Goto("http://bank.test/pay")), (away, GiveUp("the bank is not allowed"))),
    ]
    goal = "Pay the invoice of Dana Fox."
    yield failed(Cause.GUARD, "payment is elsewhere", 1, *turns, goal=goal)


def what_it_saw() -> Iterator[Made]:
    """Observation and memory."""
    blame = partial(failed, Cause.OBSERVATION)
    rows = [f"{n} | entry number {n} of the register of all ships of the port" for n in range(1200)]
    register = page("http://wiki.test/ships", *rows, "Owner of Meridian: H. Okafor")
    turns = [(register, Scroll(0, 0, 500)), (register, Answer("It is not listed"))]
    goal = "Who owns the ship Meridian?"
    yield blame("end of a long table", 0, *turns, goal=goal, expected="H. Okafor")
    drawing = "<svg><title>1991</title><text>52817</text></svg>"
    lines = ("Population over time", "1 link Back")
    turn = (page("http://wiki.test/chart", *lines, captured=drawing), Answer("not given"))
    goal = "What was the population in 1991?"
    yield blame("number in a drawing", 0, turn, goal=goal, expected="52817")
    blame = partial(failed, Cause.MEMORY)
    lines = ("Tracking number", "RR338201945DE", "1 link Contact")
    track = page("http://shop.test/parcel", *lines)
    form = page("http://shop.test/contact", "2 textbox Number", "3 button Ask")
    filled = entered(form, 2, "RR338210945DE")
    turns = [(track, Click(1)), (form, Fill(2, "RR338210945DE")), (filled, Click(3))]
    goal = "Ask the shop about your parcel by its tracking number."
    yield blame("digits swapped", 1, *turns, goal=goal, over=filled)
    turns = [
        (page("http://wiki.test/tamar", "Length: 98 km", "1 link Next"), Click(1)),
        (page("http://wiki.test/tavy", "Length: 27 km", "2 link Next"), GoBack()),
        (page("http://wiki.test/end", "End"), Answer("27 km")),
    ]
    goal = "How long is the longer of the two rivers?"
    yield blame("first of two forgotten", 2, *turns, goal=goal, expected="98 km")


def wrong_element() -> Iterator[Made]:
    """Grounding."""
    blame = partial(failed, Cause.GROUNDING)
    turns = [(INBOX, Click(2)), (INBOX, Answer("archived"))]
    yield blame("archived the other mail", 0, *turns, goal="Archive the mail of Omar Diaz.")
    turns = [(SEARCH, Fill(1, "River Tavy")), (SEARCH, Click(2)), (RESULTS, Click(13))]
    goal = 'Open the article "River Tavy".'
    yield blame("opened the other river", 2, *turns, goal=goal, over=RESULTS)
    gone = [said(BOARD, f"no element {mark} on this page") for mark in (48, 49, 50)]
    turns = [(BOARD, Click(48)), (gone[0], Click(49)), (gone[1], Click(50))]
    goal, limit = "Close the issue about the crash.", Ending.STEP_LIMIT
    yield blame("numbers that are not there", 0, *turns, goal=goal, last=gone[2], ending=limit)
    new = page("http://code.test/new", "31 textbox Title", "32 button Create")
    typed = entered(new, 31, "qwerty")
    turns = [(BOARD, Click(23)), (new, Fill(31, "qwerty")), (typed, Click(32))]
    goal = 'File an issue with the title "Broken link in footer".'
    yield blame("title from nowhere", 1, *turns, goal=goal, over=typed)


def wrong_plan() -> Iterator[Made]:
    """Planning."""
    blame, limit = partial(failed, Cause.PLANNING), Ending.STEP_LIMIT
    crash = page("http://code.test/21", "Crash on start", "1 link All")
    turns, goal = (
        [(BOARD, Click(21)), (crash, GoBack())] * 5,
        "How many comments has the crash report?",
    )
    stuck = {"ending": limit, "expected": "14"}
    yield blame("there and back for ever", 2, *turns, goal=goal, last=BOARD, **stuck)
    words = ("bridge", "Torridge", "opened", "bridge opened", "over Torridge")
    turns = [
        (replace(SEARCH, url=f"http://wiki.test/?q={n}"), Fill(1, word))
        for n, word in enumerate(words)
    ]
    goal, name = "When was the bridge over the Torridge opened?", "searches without end"
    yield blame(name, None, *turns, goal=goal, ending=limit, expected="1987")
    turn, goal = (SEARCH, GiveUp("unknown")), "When was the River Tamar first mapped?"
    yield blame("given up before looking", 0, turn, goal=goal)
    turn, goal = (SEARCH, Answer("about 310 km")), "How long is the River Tamar?"
    yield blame("answer guessed", 0, turn, goal=goal, expected="98 km")
    new = page("http://mail.test/new", "41 textbox To", "42 textbox Text", "43 button Send")
    to = entered(new, 41, "Omar Diaz")
    turns = [(INBOX, Click(5)), (new, Fill(41, "Omar Diaz")), (to, Click(43))]
    goal = 'Write "See you there" to "Omar Diaz".'
    yield blame("sent without its text", 2, *turns, goal=goal, over=to)


def the_verdict() -> Iterator[Made]:
    """What was judged rather than what was done."""
    blame = partial(failed, Cause.JUDGE, goal='Open the issue "Crash on start".')
    turns = [(BOARD, Click(21)), (page("http://code.test/21", "Crash on start"), Answer(""))]
    lost = Score("success", None, "evidence issue was not captured: HTTP 401", "checks_hold@2")
    closed = {"evidence": {"uncaptured": {"issue": "HTTP 401"}}, "scores": (lost,)}
    yield blame("evidence behind a login", None, *turns, **closed)
    split = (Score("success", 1.0, "ok", "checks_hold@2"), Score("success", 0.0, "no", "orm@3"))
    yield blame("reward model against the rule", None, *turns, scores=split)


def unseen_cases() -> list[Made]:
    """All of them."""
    kinds = (at_the_site, what_it_saw, wrong_element, wrong_plan, the_verdict)
    return [made for kind in kinds for made in kind()]
