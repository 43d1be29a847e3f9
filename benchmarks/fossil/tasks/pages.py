"""Templates that write in the wiki and in the forum."""

import re
from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import WikiPage
from benchmarks.fossil.tasks.questions import options
from benchmarks.fossil.tasks.template import (
    LINES,
    PAGE_NAMES,
    THREADS,
    TaskDraft,
    besides,
    pages_are,
    posted,
    template,
    thought,
    tickets_are,
    worded,
)

_WORDS = {
    "release": "version",
    "picture": "image",
    "folder": "directory",
    "files": "documents",
    "developer": "maintainer",
    "meets": "gathers",
    "options": "settings",
    "steps": "stages",
    "index": "register",
    "archive": "tarball",
    "contrast": "difference",
    "sentence": "phrase",
}
"""Words that occur exactly once on some page, with what may stand in their place."""


def worded_pages() -> list[tuple[WikiPage, str]]:
    """Pages with a word that occurs once there, whatever its case."""
    return [
        (page, old)
        for page in project.pages()
        for old in _WORDS
        if len(re.findall(old, page.text, re.IGNORECASE)) == 1
        and re.search(rf"\b{old}\b", page.text)
    ]


@template("wiki-append-line", "writer", 7, "wiki edit")
def append_line(draw: Random) -> TaskDraft:
    """A line at the end of a page."""
    page, line = draw.choice(project.pages()), draw.choice(LINES)
    goal = worded(
        draw,
        "Append a line to the end of the wiki page {q_page}, below all that is there: {q_line}",
        "The wiki page {q_page} should end with one more line. Add it there: {q_line}",
        page=page.name,
        line=line,
    )
    return TaskDraft(goal, pages_are({page.name: f"{page.text.rstrip()}\n{line}"}))


@template("wiki-correct-word", "writer", 7, "wiki edit")
def correct_word(draw: Random) -> TaskDraft:
    """A word that occurs once is replaced by another."""
    page, old = draw.choice(worded_pages())
    goal = worded(
        draw,
        "On the wiki page {q_page} replace the word {q_old} by {q_new}. It occurs once.",
        "The wiki page {q_page} has a wrong word: {q_old}. It should read {q_new}; correct it and "
        "leave the rest as it is.",
        page=page.name,
        old=old,
        new=_WORDS[old],
    )
    return TaskDraft(goal, pages_are({page.name: re.sub(rf"\b{old}\b", _WORDS[old], page.text)}))


@template("wiki-change-default", "writer", 7, "wiki edit table")
def change_default(draw: Random) -> TaskDraft:
    """One cell of a table."""
    name, default = draw.choice(
        [(name, default) for name, default in options() if default.isdigit()]
    )
    value = str(int(default) + draw.choice([1, 2, 5, 10, 40]))
    goal = worded(
        draw,
        "In the table of the wiki page {q_page} the default of the option {q_name} should be "
        "{q_value}. Change it.",
        "The wiki page {q_page} gives an old default for the option {q_name}. Make it "
        "{q_value} and change nothing else.",
        page="Configuration reference",
        name=name,
        value=value,
    )
    text = next(page.text for page in project.pages() if page.name == "Configuration reference")
    after = text.replace(f"| {name} | {default} |", f"| {name} | {value} |")
    return TaskDraft(goal, pages_are({"Configuration reference": after}))


@template("wiki-create-page", "writer", 8, "wiki create")
def create_page(draw: Random) -> TaskDraft:
    """A new page with a text."""
    name, text = draw.choice(PAGE_NAMES), thought(draw)
    goal = worded(
        draw,
        "Create a wiki page called {q_name} with this text and nothing else: {q_text}",
        "The wiki lacks a page {q_name}. Make it; its whole text should be {q_text}",
        name=name,
        text=text,
    )
    return TaskDraft(goal, pages_are({name: text}))


@template("wiki-create-and-mention", "writer", 15, "wiki create edit long")
def create_and_mention(draw: Random) -> TaskDraft:
    """A new page, and a line about it on an old one."""
    name, text = draw.choice(PAGE_NAMES), thought(draw)
    page = draw.choice([page for page in project.pages() if not page.name.startswith("Manual ")])
    line = f"See also the page {name}."
    goal = worded(
        draw,
        "Create a wiki page called {q_name} with the text {q_text}. Then add the line {q_line} at "
        "the end of the wiki page {q_page}.",
        "Make a new wiki page, {q_name}, whose text is {q_text}. After that the line {q_line} "
        "should stand at the very end of the wiki page {q_page}.",
        name=name,
        text=text,
        line=line,
        page=page.name,
    )
    return TaskDraft(goal, pages_are({name: text, page.name: f"{page.text.rstrip()}\n{line}"}))


@template("wiki-note-ticket", "developer", 19, "wiki ticket edit comment long")
def note_ticket(draw: Random) -> TaskDraft:
    """A ticket's number goes to a wiki page, and a remark to the ticket."""
    open_ones = [ticket for ticket in project.tickets() if ticket.status == "Open"]
    ticket = draw.choice(open_ones)
    page = draw.choice(
        [each for each in project.pages() if each.name in ("Known problems", "Meetings")]
    )
    said = f"Listed on the page {page.name}."
    goal = worded(
        draw,
        "Look up the ticket {q_title} and append its hash, the first ten characters, as a line of "
        "its own to the end of the wiki page {q_page}. Then add the remark {q_said} to the ticket.",
        "The ticket {q_title} is to be mentioned on the wiki page {q_page}: the first ten "
        "characters of its hash as the last line, alone. When that is done, add the remark "
        "{q_said} to the ticket.",
        title=ticket.title,
        page=page.name,
        said=said,
    )
    written = pages_are({page.name: f"{page.text.rstrip()}\n{ticket.uuid[:10]}"})
    return TaskDraft(goal, besides(written, tickets_are([(ticket, {})], [(ticket, said)])))


@template("forum-new-thread", "reader", 7, "forum create")
def new_thread(draw: Random) -> TaskDraft:
    """A title and a text."""
    title, text = draw.choice(THREADS), thought(draw)
    goal = worded(
        draw,
        "Start a forum thread with the title {q_title} and the text {q_text}.",
        "Begin a new discussion in the forum. Its title: {q_title}. Its text: {q_text}.",
        title=title,
        text=text,
    )
    return TaskDraft(goal, posted("petra", f"Post: {title}", text))


@template("forum-reply", "reader", 7, "forum comment")
def reply(draw: Random) -> TaskDraft:
    """To the first post of a thread."""
    place = draw.randrange(len(project.threads()))
    title, text = project.threads()[place][0].title, thought(draw)
    goal = worded(
        draw,
        "Reply to the first post of the forum thread {q_title} with {q_text}.",
        "In the forum, answer the post that began the thread {q_title}. Write {q_text}.",
        title=title,
        text=text,
    )
    answered = repository.post_names()[place][0]
    return TaskDraft(goal, posted("petra", f"Reply: {title}", text, answered))


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
    goal = worded(
        draw,
        "In the forum thread {q_title} reply to the post by {q_who}, and to no other, with "
        "{q_text}.",
        "Open the forum thread {q_title} and answer what {q_who} wrote there. Your answer: "
        "{q_text}.",
        title=thread[0].title,
        who=thread[turn].user,
        text=text,
    )
    answered = repository.post_names()[place][turn]
    return TaskDraft(goal, posted("petra", f"Reply: {thread[0].title}", text, answered))


@template("forum-answer-from-wiki", "reader", 10, "forum wiki search long")
def answer_from_wiki(draw: Random) -> TaskDraft:
    """What is to be replied stands in the wiki."""
    place = draw.randrange(len(project.threads()))
    title = project.threads()[place][0].title
    name, default = draw.choice(options())
    goal = worded(
        draw,
        "Find the default of the option {q_name} on the wiki page {q_page}. Then reply to the "
        "first post of the forum thread {q_title} with that default and nothing else.",
        "Somebody needs the default of {q_name}, which is on the wiki page {q_page}. Look it up, "
        "and answer the first post of the forum thread {q_title} with just that value.",
        name=name,
        page="Configuration reference",
        title=title,
    )
    answered = repository.post_names()[place][0]
    return TaskDraft(goal, posted("petra", f"Reply: {title}", default, answered))


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
    goal = worded(
        draw,
        "You have written one post in the forum thread {q_title}. Replace its text by {q_text}.",
        "Edit your own post in the forum thread {q_title}: its whole text should be {q_text}.",
        title=thread[0].title,
        text=text,
    )
    names = repository.post_names()[place]
    post = thread[turn]
    comment = f"{'Edit reply' if turn else 'Edit'}: {thread[0].title}"
    answered = names[post.to] if turn else ""
    return TaskDraft(goal, posted("petra", comment, text, answered, names[turn]))
