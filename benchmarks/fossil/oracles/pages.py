"""Oracles for writing on Fossil: tickets, wiki pages and forum posts."""

from benchmarks.fossil.oracles.steps import (
    Move,
    appended,
    cells,
    choose,
    edit_page,
    fill,
    fill_unnamed,
    find_ticket,
    open_page,
    open_row,
    press,
    push,
    quoted,
    submit_ticket,
    visit,
    walk,
)
from benchmarks.oracles import View, oracle
from webagent.action import Action
from webagent.action.actions import Answer, Click


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


@oracle("wiki-append-line")
def append_line(view: View) -> Action:
    """`Append a line to the end of the wiki page "A": "B"`"""
    page, line = quoted(view)
    return walk(view, *open_page(page), *edit_page(appended(line)), done)


@oracle("wiki-correct-word")
def correct_word(view: View) -> Action:
    """`On the wiki page "A" replace the word "b" by "c". It occurs once.`"""
    page, old, new = quoted(view)
    return walk(view, *open_page(page), *edit_page(lambda text: text.replace(old, new)), done)


@oracle("wiki-change-default")
def change_default(view: View) -> Action:
    """The option's row has the default in its second cell."""
    page, name, value = read_option(view)

    def change(text: str) -> str:
        lines = text.split("\n")
        for place, line in enumerate(lines):
            if line.startswith(f"| {name} |"):
                cells = line.split("|")
                lines[place] = "|".join((*cells[:2], f" {value} ", *cells[3:]))
        return "\n".join(lines)

    return walk(view, *open_page(page), *edit_page(change), done)


def read_option(view: View) -> tuple[str, str, str]:
    """Page, option and value, whichever way round the goal has the first two."""
    one, two, value = quoted(view)
    return (one, two, value) if " " in one else (two, one, value)


def create(name: str, text: str) -> tuple[Move, ...]:
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


@oracle("wiki-create-page")
def create_page(view: View) -> Action:
    """`Create a wiki page called "A" with this text and nothing else: "B"`"""
    return walk(view, *create(*quoted(view)), done)


@oracle("wiki-create-and-mention")
def create_and_mention(view: View) -> Action:
    """Two pages, one after the other."""
    name, text, line, page = quoted(view)
    return walk(view, *create(name, text), *open_page(page), *edit_page(appended(line)), done)


@oracle("wiki-note-ticket")
def note_ticket(view: View) -> Action:
    """The number is read on the ticket's page, written on the wiki page, then the remark."""
    title, page, said = quoted(view)
    way = find_ticket(title)
    if len(view.done) < len(way):
        return walk(view, *way)
    ticket = View(view.goal, (*view.past, view.page)[len(way)])
    number = ticket.search(r"^([0-9a-f]{40})")[0][:10]
    remark = (press("Edit"), fill_unnamed(said), *submit_ticket())
    written = edit_page(appended(number))
    return walk(view, *way, *open_page(page), *written, *find_ticket(title), *remark, done)


@oracle("forum-new-thread")
def new_thread(view: View) -> Action:
    """`Start a forum thread with the title "A" and the text "B".`"""
    title, text = quoted(view)
    moves = (fill("Title:", title), *posting(text))
    return walk(view, press("Forum"), press("New Thread"), *moves, done)


def posting(text: str) -> tuple[Move, ...]:
    """In the form of a post."""
    return (fill("Content:", text), push("Preview"), push("Submit"))


@oracle("forum-reply")
def reply(view: View) -> Action:
    """`Reply to the first post of the forum thread "A" with "B".`"""
    title, text = quoted(view)
    return walk(view, press("Forum"), press(title), push("Reply"), *posting(text), done)


@oracle("forum-reply-to")
def reply_to(view: View) -> Action:
    """`In the forum thread "A" reply to the post by "b", and to no other, with "C".`"""
    title, who, text = quoted(view)

    def answer(now: View) -> Action:
        heads = [
            node
            for node, author in zip(now.page.nodes, now.page.nodes[1:], strict=False)
            if node.name.startswith("(") and author.name == who
        ]
        return Click(now.after(now.first(heads, f"a post by {who}")).find("button").mark)

    return walk(view, press("Forum"), press(title), answer, *posting(text), done)


@oracle("forum-answer-from-wiki")
def answer_from_wiki(view: View) -> Action:
    """`Find the default of the option "a" on the wiki page "B". Then reply ...`"""
    name, page, title = quoted(view)
    way = open_page(page)
    if len(view.done) < len(way):
        return walk(view, *way)
    value = cells(View(view.goal, (*view.past, view.page)[len(way)]), name)
    moves = (press("Forum"), press(title), push("Reply"), *posting(value))
    return walk(view, *way, *moves, done)


@oracle("forum-edit-own")
def edit_own(view: View) -> Action:
    """Only one's own posts can be edited."""
    title, text = quoted(view)
    return walk(view, press("Forum"), press(title), push("Edit"), *posting(text), done)


@oracle("code-technote")
def technote(view: View) -> Action:
    """By the map of the site."""
    title, text = quoted(view)
    moves = (press("Site Map"), press("New Tech-note"))
    form = (fill("Timeline Comment:", title), fill_unnamed(text), push("Preview"), push("Submit"))
    return walk(view, *moves, *form, done)
