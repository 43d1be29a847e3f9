"""Templates that write in the wiki and in the forum."""

import re
from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import WikiPage
from benchmarks.fossil.tasks.questions import options
from benchmarks.fossil.tasks.template import (
    CHOICES,
    besides,
    pages_are,
    posted,
    template,
    thought,
    tickets_are,
)
from benchmarks.templates import TaskDraft


def worded_pages() -> list[tuple[WikiPage, str]]:
    """Pages with a word that occurs once there, whatever its case."""
    return [
        (page, old)
        for page in project.pages()
        for old in CHOICES["synonyms"]
        if len(re.findall(old, page.text, re.IGNORECASE)) == 1
        and re.search(rf"\b{old}\b", page.text)
    ]


@template("wiki-append-line", "writer", 7, "wiki edit")
def append_line(draw: Random) -> TaskDraft:
    """A line at the end of a page."""
    page, line = draw.choice(project.pages()), draw.choice(CHOICES["lines"])
    return TaskDraft(
        {"page": page.name, "line": line}, pages_are({page.name: f"{page.text.rstrip()}\n{line}"})
    )


@template("wiki-correct-word", "writer", 7, "wiki edit")
def correct_word(draw: Random) -> TaskDraft:
    """A word that occurs once is replaced by another."""
    page, old = draw.choice(worded_pages())
    new = CHOICES["synonyms"][old]
    return TaskDraft(
        {"page": page.name, "old": old, "new": new},
        pages_are({page.name: re.sub(rf"\b{old}\b", new, page.text)}),
    )


@template("wiki-change-default", "writer", 7, "wiki edit table")
def change_default(draw: Random) -> TaskDraft:
    """One cell of a table."""
    name, default = draw.choice(
        [(name, default) for name, default in options() if default.isdigit()]
    )
    value = str(int(default) + draw.choice([1, 2, 5, 10, 40]))
    text = next(page.text for page in project.pages() if page.name == "Configuration reference")
    after = text.replace(f"| {name} | {default} |", f"| {name} | {value} |")
    return TaskDraft(
        {"page": "Configuration reference", "name": name, "value": value},
        pages_are({"Configuration reference": after}),
    )


@template("wiki-create-page", "writer", 8, "wiki create")
def create_page(draw: Random) -> TaskDraft:
    """A new page with a text."""
    name, text = draw.choice(CHOICES["page_names"]), thought(draw)
    return TaskDraft({"name": name, "text": text}, pages_are({name: text}))


@template("wiki-create-and-mention", "writer", 15, "wiki create edit long")
def create_and_mention(draw: Random) -> TaskDraft:
    """A new page, and a line about it on an old one."""
    name, text = draw.choice(CHOICES["page_names"]), thought(draw)
    page = draw.choice([page for page in project.pages() if not page.name.startswith("Manual ")])
    line = f"See also the page {name}."
    return TaskDraft(
        {"name": name, "text": text, "line": line, "page": page.name},
        pages_are({name: text, page.name: f"{page.text.rstrip()}\n{line}"}),
    )


@template("wiki-note-ticket", "developer", 19, "wiki ticket edit comment long")
def note_ticket(draw: Random) -> TaskDraft:
    """A ticket's number goes to a wiki page, and a remark to the ticket."""
    open_ones = [ticket for ticket in project.tickets() if ticket.status == "Open"]
    ticket = draw.choice(open_ones)
    page = draw.choice(
        [each for each in project.pages() if each.name in ("Known problems", "Meetings")]
    )
    said = f"Listed on the page {page.name}."
    written = pages_are({page.name: f"{page.text.rstrip()}\n{ticket.uuid[:10]}"})
    return TaskDraft(
        {"title": ticket.title, "page": page.name, "said": said},
        besides(written, tickets_are([(ticket, {})], [(ticket, said)])),
    )


@template("forum-new-thread", "reader", 7, "forum create")
def new_thread(draw: Random) -> TaskDraft:
    """A title and a text."""
    title, text = draw.choice(CHOICES["threads"]), thought(draw)
    return TaskDraft({"title": title, "text": text}, posted("petra", f"Post: {title}", text))


@template("forum-reply", "reader", 7, "forum comment")
def reply(draw: Random) -> TaskDraft:
    """To the first post of a thread."""
    place = draw.randrange(len(project.threads()))
    title, text = project.threads()[place][0].title, thought(draw)
    answered = repository.post_names()[place][0]
    return TaskDraft(
        {"title": title, "text": text}, posted("petra", f"Reply: {title}", text, answered)
    )


@template("forum-reply-to", "reader", 7, "forum comment")
def reply_to(draw: Random) -> TaskDraft:
    """To the post of one person in a thread."""
    places = [
        (place, turn)
        for place, thread in enumerate(project.threads())
        for turn, post in enumerate(thread)
        if turn and [each.user for each in thread].count(post.user) == 1
    ]
    place, turn = draw.choice(places)
    thread, text = project.threads()[place], thought(draw)
    answered = repository.post_names()[place][turn]
    return TaskDraft(
        {"title": thread[0].title, "who": thread[turn].user, "text": text},
        posted("petra", f"Reply: {thread[0].title}", text, answered),
    )


@template("forum-answer-from-wiki", "reader", 10, "forum wiki search long")
def answer_from_wiki(draw: Random) -> TaskDraft:
    """What is to be replied stands in the wiki."""
    place = draw.randrange(len(project.threads()))
    title = project.threads()[place][0].title
    name, default = draw.choice(options())
    answered = repository.post_names()[place][0]
    return TaskDraft(
        {"name": name, "page": "Configuration reference", "title": title},
        posted("petra", f"Reply: {title}", default, answered),
    )


@template("forum-edit-own", "reader", 7, "forum edit")
def edit_own(draw: Random) -> TaskDraft:
    """A post of one's own gets another text."""
    places = [
        (place, turn)
        for place, thread in enumerate(project.threads())
        for turn, post in enumerate(thread)
        if post.user == "petra" and [each.user for each in thread].count("petra") == 1
    ]
    place, turn = draw.choice(places)
    thread, text = project.threads()[place], thought(draw)
    names = repository.post_names()[place]
    post = thread[turn]
    comment = f"{'Edit reply' if turn else 'Edit'}: {thread[0].title}"
    answered = names[post.to] if turn else ""
    return TaskDraft(
        {"title": thread[0].title, "text": text},
        posted("petra", comment, text, answered, names[turn]),
    )
