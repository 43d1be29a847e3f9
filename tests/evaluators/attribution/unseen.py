"""Failures that were written after the rules and of which none was used to make them."""

from collections.abc import Iterator
from dataclasses import replace

from evaluators.attribution import Cause
from tests.evaluators.attribution.cases import Made, node, page, played, said, text
from webagent.action.actions import Answer, Click, Fill, GiveUp, GoBack, Goto, Press, Scroll
from webagent.records import Ending, Score

INBOX = page(
    "http://mail.test/inbox",
    node(1, "link", "Dana Fox — Invoice for March"),
    node(2, "button", "Archive"),
    node(3, "link", "Omar Diaz — Lunch on Friday"),
    node(4, "button", "Archive"),
    node(5, "button", "Compose"),
    title="Inbox",
)
SEARCH = page("http://wiki.test/", node(1, "searchbox", "Search"), node(2, "button", "Go"))
RESULTS = page(
    "http://wiki.test/search",
    text("3 results"),
    node(11, "link", "River Tamar"),
    node(12, "link", "River Tavy"),
    node(13, "link", "River Torridge"),
    title="Results",
)
BOARD = page(
    "http://code.test/issues",
    text("Issues"),
    node(21, "link", "Crash on start"),
    node(22, "link", "Wrong colour in dark mode"),
    node(23, "link", "New issue"),
)


def at_the_site() -> Iterator[Made]:
    """World, site and limits."""
    timed_out = played(
        "slow",
        "Open the inbox.",
        (INBOX, Click(5)),
        ending=Ending.WORLD_FAILED,
        error="the page did not answer for 60 s",
    )
    yield Made("page hangs", Cause.ENVIRONMENT, replace(timed_out, last=None), 0, ())
    down = page("http://wiki.test/search", text("503 Service Unavailable"), title="503")
    turns = (
        (SEARCH, Fill(1, "Tamar")),
        (SEARCH, Click(2)),
        (down, Press(0, "F5")),
        (down, Answer("The search does not work")),
    )
    yield Made(
        "search is down",
        Cause.ENVIRONMENT,
        played("down", "How long is the River Tamar?", *turns, expected="98 km"),
        1,
    )
    wall = page(
        "http://code.test/login",
        node(1, "textbox", "Login", kind="input:text"),
        node(2, "textbox", "Secret", kind="input:password"),
        node(3, "button", "Log in"),
    )
    yield Made(
        "private repository",
        Cause.ACCESS,
        played(
            "private",
            "How many issues are open?",
            (BOARD, Click(21)),
            (wall, GiveUp("I have no login")),
            ending=Ending.GAVE_UP,
        ),
        0,
    )
    human = page(
        "http://wiki.test/check", text("Please verify you are a human"), node(1, "checkbox", "I")
    )
    yield Made(
        "human check",
        Cause.ACCESS,
        played(
            "check",
            "How long is the River Tavy?",
            (SEARCH, Click(2)),
            (human, Click(1)),
            (human, Click(1)),
            ending=Ending.STEP_LIMIT,
        ),
        0,
    )
    away = "refused: bank.test is not among the sites"
    yield Made(
        "payment is elsewhere",
        Cause.GUARD,
        played(
            "pay",
            "Pay the invoice of Dana Fox.",
            (INBOX, Click(1)),
            (INBOX, Goto("http://bank.test/")),
            (said(INBOX, away), Goto("http://bank.test/pay")),
            (said(INBOX, away), GiveUp("the bank is not allowed")),
            ending=Ending.GAVE_UP,
        ),
        1,
    )


def what_it_saw() -> Iterator[Made]:
    """Observation and memory."""
    rows = [
        text(f"{n} | entry number {n} of the register of all ships of the port")
        for n in range(1200)
    ]
    register = page("http://wiki.test/ships", *rows, text("Owner of Meridian: H. Okafor"))
    yield Made(
        "end of a long table",
        Cause.OBSERVATION,
        played(
            "ship",
            "Who owns the ship Meridian?",
            (register, Scroll(0, 0, 500)),
            (register, Answer("It is not listed")),
            expected="H. Okafor",
        ),
        0,
    )
    chart = page(
        "http://wiki.test/chart",
        text("Population over time"),
        node(1, "link", "Back"),
        captured="<svg><title>1991</title><text>52817</text></svg>",
    )
    yield Made(
        "number in a drawing",
        Cause.OBSERVATION,
        played(
            "chart",
            "What was the population in 1991?",
            (chart, Answer("not given")),
            expected="52817",
        ),
        0,
    )
    track = page(
        "http://shop.test/parcel",
        text("Tracking number"),
        text("RR338201945DE"),
        node(1, "link", "Contact"),
    )
    form = page("http://shop.test/contact", node(2, "textbox", "Number"), node(3, "button", "Ask"))
    filled = replace(form, nodes=(replace(form.nodes[0], value="RR338210945DE"), form.nodes[1]))
    yield Made(
        "digits swapped",
        Cause.MEMORY,
        played(
            "track",
            "Ask the shop about your parcel by its tracking number.",
            (track, Click(1)),
            (form, Fill(2, "RR338210945DE")),
            (filled, Click(3)),
            last=replace(filled, over=True),
            ending=Ending.TASK_OVER,
        ),
        1,
    )
    first = page("http://wiki.test/tamar", text("Length: 98 km"), node(1, "link", "Next"))
    second = page("http://wiki.test/tavy", text("Length: 27 km"), node(2, "link", "Next"))
    yield Made(
        "first of two forgotten",
        Cause.MEMORY,
        played(
            "longer",
            "How long is the longer of the two rivers?",
            (first, Click(1)),
            (second, GoBack()),
            (page("http://wiki.test/end", text("End")), Answer("27 km")),
            expected="98 km",
        ),
        2,
    )


def what_it_did() -> Iterator[Made]:
    """Grounding and planning."""
    yield Made(
        "archived the other mail",
        Cause.GROUNDING,
        played(
            "archive",
            "Archive the mail of Omar Diaz.",
            (INBOX, Click(2)),
            (INBOX, Answer("archived")),
        ),
        0,
    )
    yield Made(
        "opened the other river",
        Cause.GROUNDING,
        played(
            "river",
            'Open the article "River Tavy".',
            (SEARCH, Fill(1, "River Tavy")),
            (SEARCH, Click(2)),
            (RESULTS, Click(13)),
            last=replace(RESULTS, over=True),
            ending=Ending.TASK_OVER,
        ),
        2,
    )
    gone = said(BOARD, "no element 48 on this page")
    yield Made(
        "numbers that are not there",
        Cause.GROUNDING,
        played(
            "issue",
            "Close the issue about the crash.",
            (BOARD, Click(48)),
            (gone, Click(49)),
            (said(BOARD, "no element 49 on this page"), Click(50)),
            last=said(BOARD, "no element 50 on this page"),
            ending=Ending.STEP_LIMIT,
        ),
        0,
    )
    new = page("http://code.test/new", node(31, "textbox", "Title"), node(32, "button", "Create"))
    typed = replace(new, nodes=(replace(new.nodes[0], value="qwerty"), new.nodes[1]))
    yield Made(
        "title from nowhere",
        Cause.GROUNDING,
        played(
            "title",
            'File an issue with the title "Broken link in footer".',
            (BOARD, Click(23)),
            (new, Fill(31, "qwerty")),
            (typed, Click(32)),
            last=replace(typed, over=True),
            ending=Ending.TASK_OVER,
        ),
        1,
    )
    yield Made(
        "there and back for ever",
        Cause.PLANNING,
        played(
            "back",
            "How many comments has the crash report?",
            *[
                (BOARD, Click(21)),
                (
                    page("http://code.test/21", text("Crash on start"), node(1, "link", "All")),
                    GoBack(),
                ),
            ]
            * 5,
            last=BOARD,
            ending=Ending.STEP_LIMIT,
            expected="14",
        ),
        2,
    )
    yield Made(
        "searches without end",
        Cause.PLANNING,
        played(
            "search",
            "When was the bridge over the Torridge opened?",
            *[
                (replace(SEARCH, url=f"http://wiki.test/?q={n}"), Fill(1, word))
                for n, word in enumerate(
                    ("bridge", "Torridge", "opened", "bridge opened", "over Torridge")
                )
            ],
            ending=Ending.STEP_LIMIT,
            expected="1987",
        ),
        None,
    )
    yield Made(
        "given up before looking",
        Cause.PLANNING,
        played(
            "quit",
            "When was the River Tamar first mapped?",
            (SEARCH, GiveUp("unknown")),
            ending=Ending.GAVE_UP,
        ),
        0,
    )
    yield Made(
        "answer guessed",
        Cause.PLANNING,
        played(
            "guess",
            "How long is the River Tamar?",
            (SEARCH, Answer("about 310 km")),
            expected="98 km",
        ),
        0,
    )
    compose = page(
        "http://mail.test/new",
        node(41, "textbox", "To"),
        node(42, "textbox", "Text"),
        node(43, "button", "Send"),
    )
    to = replace(compose, nodes=(replace(compose.nodes[0], value="Omar Diaz"), *compose.nodes[1:]))
    yield Made(
        "sent without its text",
        Cause.PLANNING,
        played(
            "mail",
            'Write "See you there" to "Omar Diaz".',
            (INBOX, Click(5)),
            (compose, Fill(41, "Omar Diaz")),
            (to, Click(43)),
            last=replace(to, over=True),
            ending=Ending.TASK_OVER,
        ),
        2,
    )


def the_verdict() -> Iterator[Made]:
    """What was judged rather than what was done."""
    done = played(
        "done",
        'Open the issue "Crash on start".',
        (BOARD, Click(21)),
        (page("http://code.test/21", text("Crash on start")), Answer("")),
    )
    closed = replace(done, evidence={"uncaptured": {"issue": "HTTP 401"}})
    lost = Score("success", None, "evidence issue was not captured: HTTP 401", "checks_hold@1")
    yield Made("evidence behind a login", Cause.JUDGE, closed, None, (lost,))
    split = (Score("success", 1.0, "ok", "checks_hold@1"), Score("success", 0.0, "no", "orm@3"))
    yield Made("reward model against the rule", Cause.JUDGE, done, None, split)


def unseen_cases() -> list[Made]:
    """All of them."""
    return [
        made for kind in (at_the_site, what_it_saw, what_it_did, the_verdict) for made in kind()
    ]
