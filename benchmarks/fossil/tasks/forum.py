"""Templates that write in the forum."""

from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.tasks.outcome import posted
from benchmarks.fossil.tasks.questions import options
from benchmarks.fossil.tasks.template import Asked, template, worded
from benchmarks.fossil.tasks.words import THREADS, thought


@template("forum-new-thread", "reader", 7, "forum create")
def new_thread(draw: Random) -> Asked:
    """A title and a text."""
    title, text = draw.choice(THREADS), thought(draw)
    goal = worded(
        draw,
        "Start a forum thread with the title {q_title} and the text {q_text}.",
        "Begin a new discussion in the forum. Its title: {q_title}. Its text: {q_text}.",
        title=title,
        text=text,
    )
    return Asked(goal, posted("petra", f"Post: {title}", text))


@template("forum-reply", "reader", 7, "forum comment")
def reply(draw: Random) -> Asked:
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
    return Asked(goal, posted("petra", f"Reply: {title}", text, answered))


@template("forum-reply-to", "reader", 7, "forum comment")
def reply_to(draw: Random) -> Asked:
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
    return Asked(goal, posted("petra", f"Reply: {thread[0].title}", text, answered))


@template("forum-answer-from-wiki", "reader", 10, "forum wiki search long")
def answer_from_wiki(draw: Random) -> Asked:
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
    return Asked(goal, posted("petra", f"Reply: {title}", default, answered))


@template("forum-edit-own", "reader", 7, "forum edit")
def edit_own(draw: Random) -> Asked:
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
    return Asked(goal, posted("petra", comment, text, answered, names[turn]))
