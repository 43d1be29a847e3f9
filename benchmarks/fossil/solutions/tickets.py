"""Oracles for tickets on Fossil: open them, change them, close them."""

from benchmarks.fossil.solutions.fossil import (
    Move,
    cells,
    choose,
    fill,
    fill_unnamed,
    find_ticket,
    open_row,
    press,
    quoted,
    submit_ticket,
    visit,
    walk,
)
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Answer


def done(view: View) -> Action:
    """There is nothing more to do."""
    return Answer("")


def edit(*moves: Move) -> tuple[Move, ...]:
    """On a ticket: open its form, make changes, submit it."""
    return (press("Edit"), *moves, *submit_ticket())


@oracle("ticket-set-status")
def set_status(view: View) -> Action:
    """`Set the status of the ticket "A" to "Review".`"""
    title, status = quoted(view)
    return walk(view, *find_ticket(title), *edit(choose("Status:", status)), done)


@oracle("ticket-set-here")
def set_here(view: View) -> Action:
    """`Change the "priority" of this ticket to "High".`"""
    field, value = quoted(view)
    return walk(view, *edit(choose(f"{field.capitalize()}:", value)), done)


@oracle("ticket-change-fields")
def change_fields(view: View) -> Action:
    """`On the ticket "A" set the severity to "Minor", the priority to "Low" and the ...`"""
    title, severity, priority, subsystem = quoted(view)
    moves = (
        choose("Severity:", severity),
        choose("Priority:", priority),
        choose("Subsystem:", subsystem),
    )
    return walk(view, *find_ticket(title), *edit(*moves), done)


@oracle("ticket-retitle")
def retitle(view: View) -> Action:
    """`Change the title of the ticket "A" to "B".`"""
    old, new = quoted(view)
    return walk(view, *find_ticket(old), *edit(fill("Title:", new)), done)


@oracle("ticket-remark")
def remark(view: View) -> Action:
    """`Add the remark "A" to the ticket "B".`"""
    said, title = quoted(view)
    return walk(view, *find_ticket(title), *edit(fill_unnamed(said)), done)


@oracle("ticket-close")
def close(view: View) -> Action:
    """`Close the ticket "A" with the resolution "Rejected" and the remark "B".`"""
    title, resolution, said = quoted(view)
    return walk(view, *find_ticket(title), *edit(*closing(resolution, said)), done)


def closing(resolution: str, said: str) -> tuple[Move, ...]:
    """The three changes that close a ticket."""
    status, why = choose("Status:", "Closed"), choose("Resolution:", resolution)
    return (status, why, fill_unnamed(said))


@oracle("ticket-reopen")
def reopen(view: View) -> Action:
    """`Reopen the ticket "A": its status and its resolution should both be Open.`"""
    (title,) = quoted(view)
    moves = (choose("Status:", "Open"), choose("Resolution:", "Open"))
    return walk(view, *find_ticket(title), *edit(*moves), done)


@oracle("ticket-close-duplicate")
def close_duplicate(view: View) -> Action:
    """Both are looked at, the second one last; the newer one is closed."""
    one, two = quoted(view)[:2]
    moves = (*find_ticket(one), press("Tickets"), press("Reports"), press("All Tickets"))
    moves = (*moves, open_row(two))
    if len(view.done) < len(moves):
        return walk(view, *moves)
    looks = [View(view.goal, page) for page in (view.past[4], (*view.past, view.page)[8])]
    opened = [look.search(r"added on (\S+ \S+):")[0] for look in looks]
    older = looks[opened.index(min(opened))]
    newer = looks[opened.index(max(opened))]
    moves = (*moves, visit("/tktedit/" + _hash(newer)[:10]))
    return walk(view, *moves, *closing("Duplicate", _hash(older)[:10]), *submit_ticket(), done)


def _hash(view: View) -> str:
    return view.search(r"^([0-9a-f]{40})")[0]


@oracle("ticket-open")
def open_ticket(view: View) -> Action:
    """`Open a ticket with the summary "A", the type "Incident", the version "1.2", ...`"""
    return walk(view, *opening(*quoted(view)), done)


@oracle("ticket-open-and-file")
def open_and_file(view: View) -> Action:
    """Opened as in `ticket-open`; its own page then has the form for the rest."""
    *told, subsystem, priority = quoted(view)
    moves = (
        choose("Subsystem:", subsystem),
        choose("Priority:", priority),
        choose("Status:", "Verified"),
    )
    return walk(view, *opening(*told), *edit(*moves), done)


def opening(title: str, kind: str, version: str, severity: str, text: str) -> tuple[Move, ...]:
    """From any page: a new ticket."""
    return (
        press("Tickets"),
        press("New"),
        fill("Enter a one-line summary of the ticket:", title),
        choose("Type:", kind),
        fill("Version:", version),
        choose("Severity:", severity),
        fill_unnamed(text),
        *submit_ticket(),
    )


@oracle("ticket-triage")
def triage(view: View) -> Action:
    """The report says which tickets fit; each is opened from it, changed and left."""
    subsystem, status, priority = quoted(view)
    way: tuple[Move, ...] = (press("Tickets"), press("Reports"), press("All Tickets"))
    if len(view.done) < len(way):
        return walk(view, *way)
    report = view.past[3] if len(view.past) > 3 else view.page
    rows = [node.name.split(" | ") for node in report.nodes if node.name.count(" | ") == 4]
    titles = [row[4] for row in rows if row[2:4] == [status, subsystem]]
    moves = list(way)
    for place, title in enumerate(titles):
        moves += way if place else ()
        moves += [open_row(title), *edit(choose("Priority:", priority))]
    return walk(view, *moves, done)


@oracle("ticket-read-field")
def read_field(view: View) -> Action:
    """`What is the severity of this ticket?`"""
    return Answer(cells(view, f"{field_of(view.goal).capitalize()}:"))


def field_of(goal: str) -> str:
    """The field that a goal asks for."""
    words = ("severity", "priority", "subsystem", "type", "resolution")
    return next(word for word in words if word in goal.split('"')[0].lower())
