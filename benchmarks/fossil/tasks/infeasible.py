"""Templates of what cannot be done on this site; right is to say so and to change nothing."""

from random import Random

from benchmarks.fossil.site import project
from benchmarks.fossil.tasks.template import (
    LINES,
    PAGE_NAMES,
    THREADS,
    TaskDraft,
    contact,
    given_up,
    problem,
    template,
    thought,
    worded,
)


@template("impossible-missing-ticket", "developer", 4, "infeasible ticket search")
def missing_ticket(draw: Random) -> TaskDraft:
    """There is no such ticket."""
    goal = worded(
        draw,
        "Close the ticket {q_title} with the resolution Fixed.",
        "Set the ticket {q_title} to Closed; its resolution is Fixed.",
        title=problem(draw).title,
    )
    return TaskDraft(goal, given_up())


@template("impossible-due-date", "developer", 6, "infeasible ticket form")
def due_date(draw: Random) -> TaskDraft:
    """Tickets here have no such field."""
    ticket = draw.choice(project.tickets())
    day = f"2024-{draw.randrange(7, 13):02}-{draw.randrange(1, 29):02}"
    goal = worded(
        draw,
        "Put {q_day} into the due date field of the ticket {q_title}.",
        "Fill {q_day} in as the due date, in the field for it, of the ticket {q_title}.",
        day=day,
        title=ticket.title,
    )
    return TaskDraft(goal, given_up())


@template("impossible-reader-wiki", "reader", 4, "infeasible wiki rights")
def reader_wiki(draw: Random) -> TaskDraft:
    """Who is logged in may not edit the wiki."""
    page = draw.choice(project.pages())
    goal = worded(
        draw,
        "Append a line to the end of the wiki page {q_page}: {q_line}",
        "The wiki page {q_page} should end with one more line, {q_line}",
        page=page.name,
        line=draw.choice(LINES),
    )
    return TaskDraft(goal, given_up())


@template("impossible-missing-page", "writer", 3, "infeasible wiki search")
def missing_page(draw: Random) -> TaskDraft:
    """There is no such page, and none is to be made."""
    goal = worded(
        draw,
        "Delete the last line of the existing wiki page {q_page}. Make no new page.",
        "Take away the last line of the wiki page {q_page}, which is there already.",
        page=draw.choice(PAGE_NAMES),
    )
    return TaskDraft(goal, given_up())


@template("impossible-grant", "developer", 1, "infeasible admin rights")
def grant_without_rights(draw: Random) -> TaskDraft:
    """Who is logged in may not change users."""
    login = draw.choice([person.login for person in project.people() if person.login != "admin"])
    goal = worded(
        draw,
        "Set the contact info of the user {q_login} to {q_info}.",
        "The user {q_login} has a new name. The contact info should be {q_info}.",
        login=login,
        info=contact(draw, login),
    )
    return TaskDraft(goal, given_up())


@template("impossible-missing-thread", "reader", 2, "infeasible forum search")
def missing_thread(draw: Random) -> TaskDraft:
    """There is no such thread."""
    goal = worded(
        draw,
        "Reply to the first post of the forum thread {q_title} with {q_text}.",
        "In the forum, answer the post that began the thread {q_title}. Write {q_text}.",
        title=draw.choice(THREADS),
        text=thought(draw),
    )
    return TaskDraft(goal, given_up())


@template("impossible-missing-tag", "developer", 2, "infeasible code search")
def missing_tag(draw: Random) -> TaskDraft:
    """No check-in has this tag."""
    goal = worded(
        draw,
        "Cancel the tag {q_tag} on the check-in that has it.",
        "Take the tag {q_tag} away from its check-in.",
        tag=f"v{draw.randrange(2, 9)}.{draw.randrange(1, 9)}",
    )
    return TaskDraft(goal, given_up())
