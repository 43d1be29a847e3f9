"""Failed episodes whose cause is known, since they were made to fail in one way each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evaluators.attribution import Cause
from tasks.task import Json, Task, TaskCheck
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, GiveUp, Goto, SelectOption
from webagent.records import Decision, Ending, Node, Observation, Score, Step, Trajectory

FAILED = (Score("success", 0.0, "it does not hold", "checks_hold@2"),)
SITE = "http://shop.test"


@dataclass(frozen=True)
class Made:
    """A failure with its true cause and, where there is one, the step to blame."""

    name: str
    cause: Cause
    trajectory: Trajectory
    step: int | None = None
    scores: tuple[Score, ...] = FAILED


_ELEMENT = re.compile(r"(\d+) ((?:text|search)box|link|button|checkbox|combobox|option) (.*)")


def page(path: str, *lines: str | Node, title: str = "Shop", **more: Any) -> Observation:
    """A page of the site; a line is an element, as `3 link Red lamp`, or static text."""
    url = path if ":" in path else SITE + path
    return Observation("", url, title, tuple(map(_read_line, lines)), **more)


def _read_line(line: str | Node) -> Node:
    if isinstance(line, Node):
        return line
    element = _ELEMENT.fullmatch(line)
    return Node(int(element[1]), element[2], element[3]) if element else Node(0, "text", line)


def entered(seen: Observation, mark: int, value: str) -> Observation:
    """The page again, with a value in this field."""
    nodes = (replace(each, value=value) if each.mark == mark else each for each in seen.nodes)
    return replace(seen, nodes=tuple(nodes))


def played(  # noqa: PLR0913 - what makes up an episode
    name: str,
    goal: str,
    *turns: tuple[Observation, Action],
    last: Observation | None = None,
    ending: Ending | None = None,
    expected: str = "",
    evidence: dict[str, Json] | None = None,
    error: str = "",
) -> Trajectory:
    """An episode of these pages with what was done on each; without an ending the last action says
    how it ended."""
    checks = (TaskCheck("episode.answer", "equals", expected),) if expected else ()
    said = Ending.GAVE_UP if isinstance(turns[-1][1], GiveUp) else Ending.ANSWERED
    return Trajectory(
        id=name,
        task=Task(f"made/{name}@1", SITE, goal=goal, checks=checks),
        goal=goal,
        steps=tuple(Step(seen, Decision(action)) for seen, action in turns),
        last=last if last is not None else turns[-1][0],
        ending=ending or said,
        evidence=evidence or {},
        error=error,
    )


def failed(
    cause: Cause,
    name: str,
    step: int | None,
    *turns: tuple[Observation, Action],
    goal: str,
    over: Observation | None = None,
    scores: tuple[Score, ...] = FAILED,
    **more: Any,
) -> Made:
    """A failure of these turns; `over` is the page on which the task ended by itself."""
    if over is not None:
        more |= {"last": replace(over, over=True), "ending": Ending.TASK_OVER}
    episode = played(name.replace(" ", "-"), goal, *turns, **more)
    return Made(name, cause, episode, step, scores)


def said(seen: Observation, outcome: str) -> Observation:
    """The page again, with what the browser says."""
    return replace(seen, outcome=outcome)


HOME = page("/", "Welcome", "1 link Lamps", "2 link Chairs", title="Home")
LAMPS = page("/lamps", "Lamps", "3 link Red lamp", "4 link Blue lamp")
FORM = page("/form", "1 textbox Code", "2 button Send", title="Form")


def environment() -> Iterator[Made]:
    """Browser, server or site broke."""
    blame = partial(failed, Cause.ENVIRONMENT, goal='Open the page of the "Red lamp".')
    crash = blame(
        "browser crashed", 0, (HOME, Click(1)), ending=Ending.WORLD_FAILED, error="crashed"
    )
    yield replace(crash, trajectory=replace(crash.trajectory, last=None), scores=())
    away = (HOME, Click(1))
    yield blame(
        "model server away", None, away, ending=Ending.MODEL_FAILED, error="no reply", scores=()
    )
    errors = {
        "bad gateway": page("/lamps", "502 Bad Gateway", "nginx", title="502"),
        "internal": page("/lamps", "Internal Server Error", title="Error"),
        "unreachable": page("chrome-error://chromewebdata/", "This site can’t be reached"),
        "missing": page("/lamps", "404 Not Found", title="404 Not Found"),
    }
    for name, error in errors.items():
        yield blame(name, 0, (HOME, Click(1)), (error, GiveUp("the page is broken")))


def access() -> Iterator[Made]:
    """The site kept the agent out."""
    blame = partial(failed, Cause.ACCESS, goal='Which price does the "Red lamp" have?')
    robot = {"ending": Ending.CAPTCHA, "error": "a captcha"}
    yield blame("captcha ended it", 0, (HOME, Click(1)), scores=(), **robot)
    login = page(
        "/login",
        "Please sign in to see prices",
        "5 textbox E-mail",
        Node(6, "textbox", "Password", kind="input:password"),
        "7 button Sign in",
        title="Sign in",
    )
    walls = {
        "login wall": login,
        "paywall": page("/lamps", "Subscribe to continue reading", "8 button Buy"),
        "forbidden": page("/lamps", "403 Forbidden", title="403 Forbidden"),
        "cloudflare": page("/lamps", "Checking your browser", title="Just a moment..."),
        "too many": page("/lamps", "Too Many Requests", title="429"),
    }
    for name, wall in walls.items():
        turns = ((HOME, Click(1)), (wall, Answer("I cannot get in")))
        yield blame(name, 0, *turns, expected="40 EUR")
    noted = said(LAMPS, "the page shows a captcha (picture) on it; only a person may pass it")
    turns = ((HOME, Click(1)), (noted, Click(3)), (noted, GiveUp("a captcha")))
    yield blame("captcha on the page", 0, *turns)


def guard() -> Iterator[Made]:
    """A limit refused what the task needed."""
    blame = partial(failed, Cause.GUARD, goal='Order the "Red lamp".')
    no = "refused: orders are not allowed"
    refused = said(LAMPS, no)
    yield blame("guard ended it", 0, (LAMPS, Click(3)), ending=Ending.GUARD_REFUSED, error=no)
    turns = ((HOME, Click(1)), (LAMPS, Click(3)), (refused, GiveUp("not allowed")))
    yield blame("refused, then given up", 1, *turns)
    tries = ((LAMPS, Click(3)), (refused, Click(3)), (refused, Click(3)))
    yield blame("refused again and again", 0, *tries, last=refused, ending=Ending.STEP_LIMIT)
    away = said(HOME, "refused: other.test is not among the sites")
    turns = ((HOME, Goto("http://other.test/")), (away, Answer("It cannot be reached")))
    yield blame("another site", 0, *turns)


def observation() -> Iterator[Made]:
    """What was needed was there and not shown."""
    blame = partial(failed, Cause.OBSERVATION)
    filler = [f"Line {n} of a long list of what is in stock today" for n in range(900)]
    far = Node(9, "button", "Cancel order", box=(0, 9000, 80, 20))
    long = page("/order", *filler, far, "1 link Back", viewport=(1280, 720))
    for how, end in {
        "answered": Answer("There is no such button"),
        "gave up": GiveUp("no such button"),
    }.items():
        turns = ((HOME, Click(1)), (long, end))
        name = f"cut from a long page, {how}"
        yield blame(name, 1, *turns, goal='Press the "Cancel order" button.')
    price = replace(LAMPS, captured="<ul><li>Red lamp <b>41 EUR</b></li></ul>")
    turns = ((HOME, Click(1)), (price, Answer("no price is given")))
    cost = "What does the red lamp cost?"
    yield blame("only in the source", 1, *turns, goal=cost, expected="41 EUR")
    blank = (page("/canvas", title="Map"), GiveUp("I see nothing"))
    yield blame("nothing observed", 0, blank, goal='Click "Paris" on the map.')
    deep = page("/order", *filler, "Voucher: SPRING-77", viewport=(1280, 720))
    given = (deep, Answer("no voucher"))
    yield blame("answer cut off", 0, given, goal="What is the voucher?", expected="SPRING-77")


def grounding() -> Iterator[Made]:
    """Right intent, wrong element or value."""
    blame = partial(failed, Cause.GROUNDING)
    names = ("Alice Stone", "Bob Miller", "Carla Rossi")
    lines = [line for n, name in enumerate(names, 1) for line in (name, f"{n} button Delete")]
    rows = page("/users", *lines)
    for name, mark in (("Bob Miller", 1), ("Carla Rossi", 2), ("Alice Stone", 3)):
        turn = (rows, Click(mark))
        yield blame(f"twin of {name}", 0, turn, goal=f"Delete the user {name}.", over=rows)
    cards = page(
        "/cards",
        *("1 link Lamp | Red | 40 EUR", "2 button Add to cart"),
        *("3 link Lamp | Blue | 45 EUR", "4 button Add to cart"),
    )
    turns = ((cards, Click(2)), (cards, Answer("")))
    yield blame("button of another card", 0, *turns, goal="Put the Blue lamp into the cart.")
    turns = ((HOME, Click(1)), (LAMPS, Click(3)))
    yield blame("wrong link", 1, *turns, goal='Click on the link "Blue lamp".', over=LAMPS)
    twins = page("/twins", "1 button Yes", "2 button yes")
    goal = 'Click on the "yes" button.'
    yield blame("twin in other letter case", 0, (twins, Click(1)), goal=goal, over=twins)
    for outcome in ("no element 77 on this page", "element 77 is gone from the page"):
        second = (said(LAMPS, "no element 78 on this page"), Fill(79, "Red lamp"))
        turns = ((LAMPS, Click(77)), (said(LAMPS, outcome), Click(78)), second)
        last = said(LAMPS, "no element 79 on this page")
        name = f"marks that are not there, {outcome[:7]}"
        yield blame(name, 0, *turns, goal='Open "Red lamp".', ending=Ending.STEP_LIMIT, last=last)
    wrong, fill = said(FORM, "element 2 is not a text field"), Fill(2, "AB-12")
    turns = ((FORM, fill), (wrong, fill), (wrong, GiveUp("it takes no text")))
    yield blame("not a text field", 0, *turns, goal='Enter "AB-12" as the code and send it.')
    filled = entered(FORM, 1, "9")
    turns = ((FORM, Fill(1, "9")), (filled, Click(2)))
    goal = 'Enter "AB-12" as the code and press Send.'
    yield blame("made-up value", 0, *turns, goal=goal, over=filled)
    table = page("/table", "Height: 40 cm", "Price: 41 EUR", "1 link Back")
    turns = ((HOME, Click(1)), (table, Answer("40 cm")))
    yield blame("misread", 1, *turns, goal="What does it cost?", expected="41 EUR")


def planning() -> Iterator[Made]:
    """The wrong thing, again, too early or too long."""
    blame = partial(failed, Cause.PLANNING, goal='Find the page of the "Green lamp".')
    stopped = partial(blame, ending=Ending.STEP_LIMIT)
    idle = said(LAMPS, "no effect")
    turns = [(LAMPS, Click(3)), *[(idle, Click(3))] * 5]
    yield stopped("the same click for ever", 1, *turns, last=idle)
    turns = [(HOME, Click(1)), (LAMPS, Goto(SITE + "/"))] * 4
    yield stopped("round in a circle", 2, *turns, last=HOME)
    yield blame("given up at once", 0, (HOME, GiveUp("too hard")))
    shelves = [page(f"/shelf/{n}", f"Shelf {n}", f"{n + 1} link Shelf {n + 1}") for n in range(8)]
    turns = [(shelf, Click(n)) for n, shelf in enumerate(shelves, 1)]
    yield stopped("out of steps", None, *turns)
    unread = {"ending": Ending.POLICY_UNREADABLE, "error": "no call"}
    yield blame("unreadable reply", None, (HOME, Click(1)), **unread)
    boxes = page(
        "/boxes",
        Node(1, "checkbox", "Red", states=("checked",)),
        Node(2, "checkbox", "Blue", states=("unchecked",)),
        "3 button Send",
    )
    red, *others = boxes.nodes
    before = replace(boxes, nodes=(replace(red, states=("unchecked",)), *others))
    turns = [(before, Click(1)), (boxes, Click(3))]
    yield blame("half done", 1, *turns, goal="Tick Red and Blue, then press Send.", over=boxes)
    guess = (HOME, Answer("there are 1375"))
    yield blame("answer from nowhere", 0, guess, goal="How many lamps are there?", expected="12")
    lost = page("/lamps/green", "404 Not Found", title="404 Not Found")
    turns = [(HOME, Goto(SITE + "/lamps/green")), (lost, GiveUp("no such page"))]
    yield blame("made-up address", 0, *turns)


def memory() -> Iterator[Made]:
    """Seen earlier, then lost or changed."""
    blame = partial(failed, Cause.MEMORY)
    codes = {
        "ZX-44719": "ZX-44179",
        "Magnolia Street 12": "Magnolia Steet 21",
        "order 100834": "order 108034",
    }
    for right, wrong in codes.items():
        note, filled = page("/note", "Your code", right, "1 link Form"), entered(FORM, 1, wrong)
        turns = ((note, Click(1)), (FORM, Fill(1, wrong)), (filled, Click(2)))
        goal = "Enter the code of the note into the form."
        yield blame(f"mistyped {right}", 1, *turns, goal=goal, over=filled)
    red = (page("/a", "Red lamp 41 EUR", "1 link Next"), Click(1))
    blue = (page("/b", "Blue lamp 45 EUR", "2 link Done"), Click(2))
    asked = page("/c", "Which one is cheaper?")
    for name, given in (("the other one", "45 EUR"), ("nothing", "I do not remember")):
        turns, goal = (red, blue, (asked, Answer(given))), "What does the cheaper lamp cost?"
        yield blame(f"answered {name}", 2, *turns, goal=goal, expected="41 EUR")


def judge() -> Iterator[Made]:
    """The verdict is in doubt."""
    turns = ((LAMPS, Click(3)), (page("/lamps/red", "Red lamp"), Answer()))
    blame = partial(failed, Cause.JUDGE, goal='Open "Red lamp".')
    tab = "the tab had been closed"
    missing = Score("success", None, f"evidence page was not captured: {tab}", "c@1")
    lost: dict[str, Json] = {"uncaptured": {"page": tab}}
    yield blame("uncaptured", None, *turns, evidence=lost, scores=(missing,))
    odd = Score("success", None, "price is 'free': cannot be compared ('free' is no number)", "c@1")
    yield blame("cannot be compared", None, *turns, scores=(odd,))
    both = (Score("success", 0.0, "no", "rule@1"), Score("success", 1.0, "it shows", "judge@1"))
    yield blame("evaluators disagree", None, *turns, scores=both)
    none = Score("success", None, "the task has no check for 'success'; a judge must decide", "c@1")
    yield blame("no check", None, *turns, scores=(none,))


def decoys() -> Iterator[Made]:
    """Failures that look like another cause than theirs."""
    blame = partial(failed, Cause.GROUNDING)
    replies = (f"Reply {n}: this captcha said access denied" for n in range(60))
    forum = page("/forum", *replies, "1 link Older", "2 link Newer")
    newer = 'Click on the link "Newer".'
    yield blame("a forum about captchas", 0, (forum, Click(1)), goal=newer, over=forum)
    password = Node(2, "textbox", "Password", kind="input:password")
    login = page("/login", "1 textbox Username", password, "3 button Log in")
    turns = [(login, Fill(1, "kim")), (login, Fill(2, "q")), (login, Click(3))]
    goal = 'Log in as "kim" with the password "s3cret".'
    yield blame("a login that was the task", 1, *turns, goal=goal, over=login)
    idle = said(LAMPS, "no effect")
    yield failed(
        Cause.PLANNING,
        "an advertisement was refused",
        1,
        *((LAMPS, Click(4)), *[(idle, Click(4))] * 5),
        goal='Find "Green lamp".',
        last=idle,
        ending=Ending.STEP_LIMIT,
        evidence={
            "guard": {"refused": 1, "refusals": [{"what": "GET http://ads.test", "reason": "site"}]}
        },
    )
    started = said(HOME, "refused: other.test is not among the sites")
    turns = [
        (HOME, Goto("http://other.test")),
        (started, Click(1)),
        (LAMPS, Click(3)),
        (page("/lamps/red", "Red lamp", "5 button Buy"), Click(5)),
        (page("/cart", "In the cart: Red lamp", "6 button Pay"), Click(6)),
    ]
    paid, past = page("/paid", "Thank you"), "refused early and got past it"
    yield blame(past, 2, *turns, goal='Buy the "Blue lamp".', over=paid)
    form = page("/pick", "1 combobox Country", "2 option Peru", "3 option Chad", "4 button Send")
    bad, choose = said(form, 'element 1 has no option "Per"'), SelectOption(1, "Per")
    turns = [(form, choose), (bad, choose), (bad, Click(4))]
    goal = "Choose Peru and press Send."
    yield blame("an option that is not there", 0, *turns, goal=goal, over=form)


def all_cases() -> list[Made]:
    """Every made failure."""
    kinds = (environment, access, guard, observation, grounding, planning, memory, judge, decoys)
    return [made for kind in kinds for made in kind()]
