"""Oracles for writing on Fossil: wiki pages and forum posts."""

from benchmarks.fossil.solutions.fossil import (
    Move,
    appended,
    cells,
    edit_page,
    fill,
    fill_unnamed,
    find_ticket,
    open_page,
    press,
    push,
    quoted,
    submit_ticket,
    walk,
)
from benchmarks.fossil.solutions.tickets import done
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click


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
