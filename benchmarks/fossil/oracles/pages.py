"""Oracles for writing on Fossil: tickets, wiki pages and forum posts."""

from itertools import pairwise
from urllib.parse import urlsplit

from benchmarks.fossil.oracles.steps import (
    ALL_TICKETS,
    SUBMIT,
    append_line,
    cells,
    choose,
    edit_page,
    edit_ticket,
    fill_unnamed,
    find_ticket,
    open_page,
    open_row,
)
from benchmarks.oracles import (
    Moves,
    Script,
    View,
    fill,
    oracle,
    play,
    press,
    push,
    quoted,
    register_plans,
    scripted,
)
from webagent.action import Action
from webagent.action.actions import Answer, Goto


def close_ticket(resolution: str, remark: str) -> Moves:
    """The three changes that close a ticket."""
    status, reason = choose("Status:", "Closed"), choose("Resolution:", resolution)
    return (status, reason, fill_unnamed(remark))


def open_ticket(title: str, kind: str, version: str, severity: str, text: str) -> Moves:
    """From any page: a new ticket."""
    return (
        press("Tickets"),
        press("New"),
        fill("Enter a one-line summary of the ticket:", title),
        choose("Type:", kind),
        fill("Version:", version),
        choose("Severity:", severity),
        fill_unnamed(text),
        *SUBMIT,
    )


def open_and_file(*values: str) -> Moves:
    """A new ticket; its own page then has the form for the rest."""
    *opened, subsystem, priority = values
    return (
        *open_ticket(*opened),
        *edit_ticket(
            choose("Subsystem:", subsystem),
            choose("Priority:", priority),
            choose("Status:", "Verified"),
        ),
    )


def create_page(name: str, text: str) -> Moves:
    """From any page: a new wiki page."""
    return (
        press("Wiki"),
        press("List"),
        press("New"),
        fill("Name of new wiki page:", name),
        push("Create"),
        fill_unnamed(text),
        push("Save & Close"),
    )


def change_default(*values: str) -> Moves:
    """The option's row has the default in its second cell; the goal has page and option either way
    round, and only the page's name has a space."""
    page, name, value = values if " " in values[0] else (values[1], values[0], values[2])

    def change(text: str) -> str:
        lines = text.split("\n")
        for place, line in enumerate(lines):
            if line.startswith(f"| {name} |"):
                row = line.split("|")
                lines[place] = "|".join((*row[:2], f" {value} ", *row[3:]))
        return "\n".join(lines)

    return (*open_page(page), *edit_page(change))


def post(text: str) -> Moves:
    """In the form of a post."""
    return (fill("Content:", text), *SUBMIT)


def reply_to(title: str, who: str, text: str) -> Moves:
    """The author stands below the head of a post, its button further down."""

    def answer(view: View) -> Action:
        heads = [
            node
            for node, author in pairwise(view.page.nodes)
            if node.name.startswith("(") and author.name == who
        ]
        return view.after(view.first(heads, f"a post by {who}")).click("button")

    return (press("Forum"), press(title), answer, *post(text))


register_plans(
    {
        # Set the status of the ticket "A" to "Review".
        "ticket-set-status": lambda title, status: (
            *find_ticket(title),
            *edit_ticket(choose("Status:", status)),
        ),
        # Change the "priority" of this ticket to "High".
        "ticket-set-here": lambda field, value: edit_ticket(
            choose(f"{field.capitalize()}:", value)
        ),
        # On the ticket "A" set the severity to "Minor", the priority to "Low" and the ...
        "ticket-change-fields": lambda title, severity, priority, subsystem: (
            *find_ticket(title),
            *edit_ticket(
                choose("Severity:", severity),
                choose("Priority:", priority),
                choose("Subsystem:", subsystem),
            ),
        ),
        # Change the title of the ticket "A" to "B".
        "ticket-retitle": lambda old, new: (*find_ticket(old), *edit_ticket(fill("Title:", new))),
        # Add the remark "A" to the ticket "B".
        "ticket-remark": lambda remark, title: (
            *find_ticket(title),
            *edit_ticket(fill_unnamed(remark)),
        ),
        # Close the ticket "A" with the resolution "Rejected" and the remark "B".
        "ticket-close": lambda title, resolution, remark: (
            *find_ticket(title),
            *edit_ticket(*close_ticket(resolution, remark)),
        ),
        # Reopen the ticket "A": its status and its resolution should both be Open.
        "ticket-reopen": lambda title: (
            *find_ticket(title),
            *edit_ticket(choose("Status:", "Open"), choose("Resolution:", "Open")),
        ),
        # Open a ticket with the summary "A", the type "Incident", the version "1.2", ...
        "ticket-open": open_ticket,
        "ticket-open-and-file": open_and_file,
        # Append a line to the end of the wiki page "A": "B"
        "wiki-append-line": lambda page, line: (*open_page(page), *append_line(line)),
        # On the wiki page "A" replace the word "b" by "c". It occurs once.
        "wiki-correct-word": lambda page, old, new: (
            *open_page(page),
            *edit_page(lambda text: text.replace(old, new)),
        ),
        "wiki-change-default": change_default,
        # Create a wiki page called "A" with this text and nothing else: "B"
        "wiki-create-page": create_page,
        "wiki-create-and-mention": lambda name, text, line, page: (
            *create_page(name, text),
            *open_page(page),
            *append_line(line),
        ),
        # Start a forum thread with the title "A" and the text "B".
        "forum-new-thread": lambda title, text: (
            press("Forum"),
            press("New Thread"),
            fill("Title:", title),
            *post(text),
        ),
        # Reply to the first post of the forum thread "A" with "B".
        "forum-reply": lambda title, text: (
            press("Forum"),
            press(title),
            push("Reply"),
            *post(text),
        ),
        # In the forum thread "A" reply to the post by "b", and to no other, with "C".
        "forum-reply-to": reply_to,
        # Only one's own posts have the button.
        "forum-edit-own": lambda title, text: (
            press("Forum"),
            press(title),
            push("Edit"),
            *post(text),
        ),
        # By the map of the site.
        "code-technote": lambda title, text: (
            press("Site Map"),
            press("New Tech-note"),
            fill("Timeline Comment:", title),
            fill_unnamed(text),
            *SUBMIT,
        ),
    }
)


@scripted("ticket-close-duplicate")
def close_duplicate(view: View) -> Script:
    """Both are looked at, the second one last; the newer one is closed."""
    looks = []
    for title in quoted(view)[:2]:
        view = yield from play(view, *find_ticket(title))
        looks.append(view)
    older, newer = sorted(looks, key=lambda look: look.search(r"added on (\S+ \S+):")[0])
    site = urlsplit(view.page.url)
    view = yield Goto(f"{site.scheme}://{site.netloc}/tktedit/{_read_hash(newer)}")
    yield from play(view, *close_ticket("Duplicate", _read_hash(older)), *SUBMIT)


def _read_hash(view: View) -> str:
    """Return the first ten characters of a ticket's hash, from its page."""
    return view.search(r"^([0-9a-f]{40})")[0][:10]


@scripted("ticket-triage")
def triage(view: View) -> Script:
    """The report says which tickets fit; each is opened from it, changed and left."""
    subsystem, status, priority = quoted(view)
    view = yield from play(view, *ALL_TICKETS)
    rows = [node.name.split(" | ") for node in view.page.nodes if node.name.count(" | ") == 4]
    titles = [row[4] for row in rows if row[2:4] == [status, subsystem]]
    for place, title in enumerate(titles):
        report = ALL_TICKETS if place else ()
        change = edit_ticket(choose("Priority:", priority))
        view = yield from play(view, *report, open_row(title), *change)


@oracle("ticket-read-field")
def read_field(view: View) -> Action:
    """`What is the severity of this ticket?`"""
    words = ("severity", "priority", "subsystem", "type", "resolution")
    field = next(word for word in words if word in view.goal.split('"')[0].lower())
    return Answer(cells(view, f"{field.capitalize()}:"))


@scripted("wiki-note-ticket")
def note_ticket(view: View) -> Script:
    """The number is read on the ticket's page, written on the wiki page, then the remark."""
    title, page, remark = quoted(view)
    view = yield from play(view, *find_ticket(title))
    note = (*open_page(page), *append_line(_read_hash(view)))
    yield from play(view, *note, *find_ticket(title), *edit_ticket(fill_unnamed(remark)))


@scripted("forum-answer-from-wiki")
def answer_from_wiki(view: View) -> Script:
    """`Find the default of the option "a" on the wiki page "B". Then reply ...`"""
    name, page, title = quoted(view)
    view = yield from play(view, *open_page(page))
    value = cells(view, name)
    yield from play(view, press("Forum"), press(title), push("Reply"), *post(value))
