"""Failed episodes whose cause is known, since they were made to fail in one way each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from evaluators.attribution import Cause
from tasks.task import Json, Task, TaskCheck
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, GiveUp, Goto, SelectOption
from webagent.records import Decision, Ending, Node, Observation, Score, Step, Trajectory

FAILED = (Score("success", 0.0, "it does not hold", "checks_hold@1"),)
SITE = "http://shop.test"


@dataclass(frozen=True)
class Made:
    """A failure with its true cause and, where there is one, the step to blame."""

    name: str
    cause: Cause
    trajectory: Trajectory
    step: int | None = None
    scores: tuple[Score, ...] = FAILED


def text(words: str) -> Node:
    """A line of static text."""
    return Node(0, "text", words)


def node(mark: int, role: str, name: str, **more: Any) -> Node:
    """An element."""
    return Node(mark, role, name, **more)


def page(path: str, *nodes: Node, title: str = "Shop", **more: Any) -> Observation:
    """A page of the site."""
    url = path if ":" in path else SITE + path
    return Observation("", url, title, nodes, **more)


def played(  # noqa: PLR0913 - what makes up an episode
    name: str,
    goal: str,
    *turns: tuple[Observation, Action],
    last: Observation | None = None,
    ending: Ending = Ending.ANSWERED,
    expected: str = "",
    evidence: dict[str, Json] | None = None,
    error: str = "",
) -> Trajectory:
    """An episode of these pages with what was done on each."""
    checks = (TaskCheck("episode.answer", "equals", expected),) if expected else ()
    return Trajectory(
        id=name,
        task=Task(f"made/{name}@1", SITE, goal=goal, checks=checks),
        goal=goal,
        steps=tuple(Step(seen, Decision(action)) for seen, action in turns),
        last=last if last is not None else turns[-1][0],
        ending=ending,
        evidence=evidence or {},
        error=error,
    )


def said(seen: Observation, outcome: str) -> Observation:
    """The page again, with what the browser says."""
    return replace(seen, outcome=outcome)


HOME = page("/", text("Welcome"), node(1, "link", "Lamps"), node(2, "link", "Chairs"), title="Home")
LAMPS = page("/lamps", text("Lamps"), node(3, "link", "Red lamp"), node(4, "link", "Blue lamp"))
FORM = page("/form", node(1, "textbox", "Code"), node(2, "button", "Send"), title="Form")


def environment() -> Iterator[Made]:
    """Browser, server or site broke."""
    goal = 'Open the page of the "Red lamp".'
    broke = played("crash", goal, (HOME, Click(1)), ending=Ending.WORLD_FAILED, error="crashed")
    yield Made("browser crashed", Cause.ENVIRONMENT, replace(broke, last=None), 0, ())
    out = played("model", goal, (HOME, Click(1)), ending=Ending.MODEL_FAILED, error="no reply")
    yield Made("model server away", Cause.ENVIRONMENT, out, None, ())
    errors = {
        "bad gateway": page("/lamps", text("502 Bad Gateway"), text("nginx"), title="502"),
        "internal": page("/lamps", text("Internal Server Error"), title="Error"),
        "unreachable": page("chrome-error://chromewebdata/", text("This site can’t be reached")),
        "missing": page("/lamps", text("404 Not Found"), title="404 Not Found"),
    }
    for name, error in errors.items():
        turns = ((HOME, Click(1)), (error, GiveUp("the page is broken")))
        yield Made(name, Cause.ENVIRONMENT, played(name, goal, *turns, ending=Ending.GAVE_UP), 0)


def access() -> Iterator[Made]:
    """The site kept the agent out."""
    goal = 'Which price does the "Red lamp" have?'
    ended = played("robot", goal, (HOME, Click(1)), ending=Ending.CAPTCHA, error="a captcha")
    yield Made("captcha ended it", Cause.ACCESS, ended, 0, ())
    login = page(
        "/login",
        text("Please sign in to see prices"),
        node(5, "textbox", "E-mail"),
        node(6, "textbox", "Password", kind="input:password"),
        node(7, "button", "Sign in"),
        title="Sign in",
    )
    walls = {
        "login wall": login,
        "paywall": page("/lamps", text("Subscribe to continue reading"), node(8, "button", "Buy")),
        "forbidden": page("/lamps", text("403 Forbidden"), title="403 Forbidden"),
        "cloudflare": page("/lamps", text("Checking your browser"), title="Just a moment..."),
        "too many": page("/lamps", text("Too Many Requests"), title="429"),
    }
    for name, wall in walls.items():
        turns = ((HOME, Click(1)), (wall, Answer("I cannot get in")))
        yield Made(name, Cause.ACCESS, played(name, goal, *turns, expected="40 EUR"), 0)
    noted = said(LAMPS, "the page shows a captcha (picture) on it; only a person may pass it")
    turns = ((HOME, Click(1)), (noted, Click(3)), (noted, GiveUp("a captcha")))
    made = played("captcha on it", goal, *turns, ending=Ending.GAVE_UP)
    yield Made("captcha on the page", Cause.ACCESS, made, 0)


def guard() -> Iterator[Made]:
    """A limit refused what the task needed."""
    goal = 'Order the "Red lamp".'
    no = "refused: orders are not allowed"
    yield Made(
        "guard ended it",
        Cause.GUARD,
        played("end", goal, (LAMPS, Click(3)), ending=Ending.GUARD_REFUSED, error=no),
        0,
    )
    turns = ((HOME, Click(1)), (LAMPS, Click(3)), (said(LAMPS, no), GiveUp("not allowed")))
    given_up = played("given up", goal, *turns, ending=Ending.GAVE_UP)
    yield Made("refused, then given up", Cause.GUARD, given_up, 1)
    tries = ((LAMPS, Click(3)), (said(LAMPS, no), Click(3)), (said(LAMPS, no), Click(3)))
    stuck = played("stuck", goal, *tries, last=said(LAMPS, no), ending=Ending.STEP_LIMIT)
    yield Made("refused again and again", Cause.GUARD, stuck, 0)
    away = "refused: other.test is not among the sites"
    turns = ((HOME, Goto("http://other.test/")), (said(HOME, away), Answer("It cannot be reached")))
    yield Made("another site", Cause.GUARD, played("site", goal, *turns), 0)


def observation() -> Iterator[Made]:
    """What was needed was there and not shown."""
    filler = [text(f"Line {n} of a long list of what is in stock today") for n in range(900)]
    far = Node(9, "button", "Cancel order", box=(0, 9000, 80, 20))
    long = page("/order", *filler, far, node(1, "link", "Back"), viewport=(1280, 720))
    for end in (Answer("There is no such button"), GiveUp("no such button")):
        ending = Ending.ANSWERED if isinstance(end, Answer) else Ending.GAVE_UP
        turns = ((HOME, Click(1)), (long, end))
        made = played("cut", 'Press the "Cancel order" button.', *turns, ending=ending)
        yield Made(f"cut from a long page, {ending}", Cause.OBSERVATION, made, 1)
    price = replace(LAMPS, captured="<ul><li>Red lamp <b>41 EUR</b></li></ul>")
    turns = ((HOME, Click(1)), (price, Answer("no price is given")))
    made = played("source", "What does the red lamp cost?", *turns, expected="41 EUR")
    yield Made("only in the source", Cause.OBSERVATION, made, 1)
    blank = page("/canvas", title="Map")
    made = played(
        "canvas",
        'Click "Paris" on the map.',
        (blank, GiveUp("I see nothing")),
        ending=Ending.GAVE_UP,
    )
    yield Made("nothing observed", Cause.OBSERVATION, made, 0)
    deep = replace(long, nodes=(*filler, text("Voucher: SPRING-77")))
    turns = ((deep, Answer("no voucher")),)
    made = played("voucher", "What is the voucher?", *turns, expected="SPRING-77")
    yield Made("answer cut off", Cause.OBSERVATION, made, 0)


def grounding() -> Iterator[Made]:
    """Right intent, wrong element or value."""
    rows = page(
        "/users",
        text("Alice Stone"),
        node(1, "button", "Delete"),
        text("Bob Miller"),
        node(2, "button", "Delete"),
        text("Carla Rossi"),
        node(3, "button", "Delete"),
    )
    over = replace(rows, over=True)
    for name, mark in (("Bob Miller", 1), ("Carla Rossi", 2), ("Alice Stone", 3)):
        made = played(
            "twin",
            f"Delete the user {name}.",
            (rows, Click(mark)),
            last=over,
            ending=Ending.TASK_OVER,
        )
        yield Made(f"twin of {name}", Cause.GROUNDING, made, 0)
    cards = page(
        "/cards",
        node(1, "link", "Lamp | Red | 40 EUR"),
        node(2, "button", "Add to cart"),
        node(3, "link", "Lamp | Blue | 45 EUR"),
        node(4, "button", "Add to cart"),
    )
    made = played(
        "card", "Put the Blue lamp into the cart.", (cards, Click(2)), (cards, Answer(""))
    )
    yield Made("button of another card", Cause.GROUNDING, made, 0)
    made = played(
        "lamp",
        'Click on the link "Blue lamp".',
        (HOME, Click(1)),
        (LAMPS, Click(3)),
        last=replace(LAMPS, over=True),
        ending=Ending.TASK_OVER,
    )
    yield Made("wrong link", Cause.GROUNDING, made, 1)
    for outcome in ("no element 77 on this page", "element 77 is gone from the page"):
        turns = [
            (LAMPS, Click(77)),
            (said(LAMPS, outcome), Click(78)),
            (said(LAMPS, "no element 78 on this page"), Fill(79, "Red lamp")),
        ]
        made = played(
            "marks",
            'Open "Red lamp".',
            *turns,
            ending=Ending.STEP_LIMIT,
            last=said(LAMPS, "no element 79 on this page"),
        )
        yield Made(f"marks that are not there, {outcome[:7]}", Cause.GROUNDING, made, 0)
    wrong = "element 2 is not a text field"
    turns = [
        (FORM, Fill(2, "AB-12")),
        (said(FORM, wrong), Fill(2, "AB-12")),
        (said(FORM, wrong), GiveUp("it takes no text")),
    ]
    made = played("field", 'Enter "AB-12" as the code and send it.', *turns, ending=Ending.GAVE_UP)
    yield Made("not a text field", Cause.GROUNDING, made, 0)
    filled = replace(FORM, nodes=(node(1, "textbox", "Code", value="9"), FORM.nodes[1]))
    turns = [(FORM, Fill(1, "9")), (filled, Click(2))]
    made = played(
        "value",
        'Enter "AB-12" as the code and press Send.',
        *turns,
        last=replace(filled, over=True),
        ending=Ending.TASK_OVER,
    )
    yield Made("made-up value", Cause.GROUNDING, made, 0)
    table = page("/table", text("Height: 40 cm"), text("Price: 41 EUR"), node(1, "link", "Back"))
    made = played(
        "misread",
        "What does it cost?",
        (HOME, Click(1)),
        (table, Answer("40 cm")),
        expected="41 EUR",
    )
    yield Made("misread", Cause.GROUNDING, made, 1)


def planning() -> Iterator[Made]:
    """The wrong thing, again, too early or too long."""
    goal = 'Find the page of the "Green lamp".'
    idle = said(LAMPS, "no effect")
    turns = [(LAMPS, Click(3)), *[(idle, Click(3))] * 5]
    made = played("loop", goal, *turns, last=idle, ending=Ending.STEP_LIMIT)
    yield Made("the same click for ever", Cause.PLANNING, made, 1)
    turns = [(HOME, Click(1)), (LAMPS, Goto(SITE + "/"))] * 4
    made = played("circle", goal, *turns, last=HOME, ending=Ending.STEP_LIMIT)
    yield Made("round in a circle", Cause.PLANNING, made, 2)
    made = played("early", goal, (HOME, GiveUp("too hard")), ending=Ending.GAVE_UP)
    yield Made("given up at once", Cause.PLANNING, made, 0)
    ways = [
        (
            page(f"/shelf/{n}", text(f"Shelf {n}"), node(n + 1, "link", f"Shelf {n + 1}")),
            Click(n + 1),
        )
        for n in range(8)
    ]
    made = played("limit", goal, *ways, ending=Ending.STEP_LIMIT)
    yield Made("out of steps", Cause.PLANNING, made, None)
    made = played("none", goal, (HOME, Click(1)), ending=Ending.POLICY_UNREADABLE, error="no call")
    yield Made("unreadable reply", Cause.PLANNING, made, None)
    boxes = page(
        "/boxes",
        node(1, "checkbox", "Red", states=("checked",)),
        node(2, "checkbox", "Blue", states=("unchecked",)),
        node(3, "button", "Send"),
    )
    before = replace(
        boxes, nodes=(replace(boxes.nodes[0], states=("unchecked",)), *boxes.nodes[1:])
    )
    made = played(
        "half",
        "Tick Red and Blue, then press Send.",
        (before, Click(1)),
        (boxes, Click(3)),
        last=replace(boxes, over=True),
        ending=Ending.TASK_OVER,
    )
    yield Made("half done", Cause.PLANNING, made, 1)
    made = played(
        "invented", "How many lamps are there?", (HOME, Answer("there are 1375")), expected="12"
    )
    yield Made("answer from nowhere", Cause.PLANNING, made, 0)
    lost = page("/lamps/green", text("404 Not Found"), title="404 Not Found")
    turns = ((HOME, Goto(SITE + "/lamps/green")), (lost, GiveUp("no such page")))
    made = played("address", goal, *turns, ending=Ending.GAVE_UP)
    yield Made("made-up address", Cause.PLANNING, made, 0)


def memory() -> Iterator[Made]:
    """Seen earlier, then lost or changed."""
    codes = (
        ("ZX-44719", "ZX-44179"),
        ("Magnolia Street 12", "Magnolia Steet 21"),
        ("order 100834", "order 108034"),
    )
    for right, wrong in codes:
        note = page("/note", text("Your code"), text(right), node(1, "link", "Form"))
        filled = replace(FORM, nodes=(node(1, "textbox", "Code", value=wrong), FORM.nodes[1]))
        turns = [(note, Click(1)), (FORM, Fill(1, wrong)), (filled, Click(2))]
        made = played(
            "copy",
            "Enter the code of the note into the form.",
            *turns,
            last=replace(filled, over=True),
            ending=Ending.TASK_OVER,
        )
        yield Made(f"mistyped {right}", Cause.MEMORY, made, 1)
    pages = [
        page("/a", text("Red lamp 41 EUR"), node(1, "link", "Next")),
        page("/b", text("Blue lamp 45 EUR"), node(2, "link", "Done")),
        page("/c", text("Which one is cheaper?")),
    ]
    for name, given in (("the other one", "45 EUR"), ("nothing", "I do not remember")):
        turns = [(pages[0], Click(1)), (pages[1], Click(2)), (pages[2], Answer(given))]
        made = played("cheaper", "What does the cheaper lamp cost?", *turns, expected="41 EUR")
        yield Made(f"answered {name}", Cause.MEMORY, made, 2)


def judge() -> Iterator[Made]:
    """The verdict is in doubt."""
    goal = 'Open "Red lamp".'
    done = played("done", goal, (LAMPS, Click(3)), (page("/lamps/red", text("Red lamp")), Answer()))
    lost = replace(done, evidence={"uncaptured": {"page": "the tab had been closed"}})
    missing = Score(
        "success", None, "evidence page was not captured: the tab had been closed", "c@1"
    )
    yield Made("uncaptured", Cause.JUDGE, lost, None, (missing,))
    odd = Score("success", None, "price is 'free': cannot be compared ('free' is no number)", "c@1")
    yield Made("cannot be compared", Cause.JUDGE, done, None, (odd,))
    both = (Score("success", 0.0, "no", "rule@1"), Score("success", 1.0, "it shows", "judge@1"))
    yield Made("evaluators disagree", Cause.JUDGE, done, None, both)
    none = Score("success", None, "the task has no check for 'success'; a judge can say", "c@1")
    yield Made("no check", Cause.JUDGE, done, None, (none,))


def decoys() -> Iterator[Made]:
    """Failures that look like another cause than theirs."""
    article = page(
        "/forum",
        *(text(f"Reply {n}: this captcha said access denied") for n in range(60)),
        node(1, "link", "Older"),
        node(2, "link", "Newer"),
    )
    made = played(
        "talk",
        'Click on the link "Newer".',
        (article, Click(1)),
        last=replace(article, over=True),
        ending=Ending.TASK_OVER,
    )
    yield Made("a forum about captchas", Cause.GROUNDING, made, 0)
    login = page(
        "/login",
        node(1, "textbox", "Username"),
        node(2, "textbox", "Password", kind="input:password"),
        node(3, "button", "Log in"),
    )
    turns = [(login, Fill(1, "kim")), (login, Fill(2, "q")), (login, Click(3))]
    made = played(
        "login task",
        'Log in as "kim" with the password "s3cret".',
        *turns,
        last=replace(login, over=True),
        ending=Ending.TASK_OVER,
    )
    yield Made("a login that was the task", Cause.GROUNDING, made, 1)
    idle = said(LAMPS, "no effect")
    ads = {"guard": {"refused": 1, "refusals": [{"what": "GET http://ads.test", "reason": "site"}]}}
    made = played(
        "ads",
        'Find "Green lamp".',
        (LAMPS, Click(4)),
        *[(idle, Click(4))] * 5,
        last=idle,
        ending=Ending.STEP_LIMIT,
        evidence=ads,
    )
    yield Made("an advertisement was refused", Cause.PLANNING, made, 1)
    started = said(HOME, "refused: other.test is not among the sites")
    turns = [
        (HOME, Goto("http://other.test")),
        (started, Click(1)),
        (LAMPS, Click(3)),
        (page("/lamps/red", text("Red lamp"), node(5, "button", "Buy")), Click(5)),
        (page("/cart", text("In the cart: Red lamp"), node(6, "button", "Pay")), Click(6)),
    ]
    made = played(
        "past",
        'Buy the "Blue lamp".',
        *turns,
        last=page("/paid", text("Thank you"), over=True),
        ending=Ending.TASK_OVER,
    )
    yield Made("refused early and got past it", Cause.GROUNDING, made, 2)
    form = page(
        "/pick",
        node(1, "combobox", "Country"),
        node(2, "option", "Peru"),
        node(3, "option", "Chad"),
        node(4, "button", "Send"),
    )
    bad = said(form, 'element 1 has no option "Per"')
    turns = [(form, SelectOption(1, "Per")), (bad, SelectOption(1, "Per")), (bad, Click(4))]
    made = played(
        "option",
        "Choose Peru and press Send.",
        *turns,
        last=replace(form, over=True),
        ending=Ending.TASK_OVER,
    )
    yield Made("an option that is not there", Cause.GROUNDING, made, 0)


def all_cases() -> list[Made]:
    """Every made failure."""
    kinds = (environment, access, guard, observation, grounding, planning, memory, judge, decoys)
    return [made for kind in kinds for made in kind()]
