"""Templates of what cannot be done on this site; right is to say so and to change nothing."""

from random import Random

from benchmarks.fossil.site import project
from benchmarks.fossil.tasks.template import (
    LINES,
    PAGE_NAMES,
    THREADS,
    contact,
    given_up,
    problem,
    template,
    thought,
)
from benchmarks.templates import TaskDraft


@template("impossible-missing-ticket", "developer", 4, "infeasible ticket search")
def missing_ticket(draw: Random) -> TaskDraft:
    """There is no such ticket."""
    return TaskDraft({"title": problem(draw)[0]}, given_up())


@template("impossible-due-date", "developer", 6, "infeasible ticket form")
def due_date(draw: Random) -> TaskDraft:
    """Tickets here have no such field."""
    ticket = draw.choice(project.tickets())
    day = f"2024-{draw.randrange(7, 13):02}-{draw.randrange(1, 29):02}"
    return TaskDraft({"day": day, "title": ticket.title}, given_up())


@template("impossible-reader-wiki", "reader", 4, "infeasible wiki rights")
def reader_wiki(draw: Random) -> TaskDraft:
    """Who is logged in may not edit the wiki."""
    page = draw.choice(project.pages())
    return TaskDraft({"page": page.name, "line": draw.choice(LINES)}, given_up())


@template("impossible-missing-page", "writer", 3, "infeasible wiki search")
def missing_page(draw: Random) -> TaskDraft:
    """There is no such page, and none is to be made."""
    return TaskDraft({"page": draw.choice(PAGE_NAMES)}, given_up())


@template("impossible-grant", "developer", 1, "infeasible admin rights")
def grant_without_rights(draw: Random) -> TaskDraft:
    """Who is logged in may not change users."""
    login = draw.choice([person.login for person in project.people() if person.login != "admin"])
    return TaskDraft({"login": login, "info": contact(draw, login)}, given_up())


@template("impossible-missing-thread", "reader", 2, "infeasible forum search")
def missing_thread(draw: Random) -> TaskDraft:
    """There is no such thread."""
    return TaskDraft({"title": draw.choice(THREADS), "text": thought(draw)}, given_up())


@template("impossible-missing-tag", "developer", 2, "infeasible code search")
def missing_tag(draw: Random) -> TaskDraft:
    """No check-in has this tag."""
    return TaskDraft({"tag": f"v{draw.randrange(2, 9)}.{draw.randrange(1, 9)}"}, given_up())
