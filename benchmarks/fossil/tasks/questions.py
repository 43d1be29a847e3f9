"""Templates that ask for something to be found out, and nothing to be changed."""

from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import Ticket
from benchmarks.fossil.tasks.template import CHOICES, answered, template
from benchmarks.templates import TaskDraft


def options() -> list[tuple[str, str]]:
    """Return the options of the configuration file with their defaults, as the wiki has them."""
    page = next(page for page in project.pages() if page.name == "Configuration reference")
    rows = [line.strip("| ").split(" | ") for line in page.text.splitlines() if line[:1] == "|"]
    return [(name, default) for name, default, _ in rows[2:]]


@template("ticket-read-field", "reader", 1, "question ticket")
def read_field(draw: Random) -> TaskDraft:
    """Begins at the ticket."""
    ticket = draw.choice(project.tickets())
    field = draw.choice(["severity", "priority", "subsystem", "type", "resolution"])
    return TaskDraft(
        {"field": field}, answered(getattr(ticket, field)), f"/tktview/{ticket.uuid[:10]}"
    )


@template("ticket-find-field", "reader", 5, "question ticket search")
def find_field(draw: Random) -> TaskDraft:
    """Begins at the home page."""
    ticket = draw.choice(project.tickets())
    field = draw.choice(["severity", "priority", "foundin"])
    return TaskDraft(
        {"title": ticket.title, "field": {"foundin": "version found in"}.get(field, field)},
        answered(getattr(ticket, field)),
    )


@template("ticket-who-closed", "reader", 6, "question ticket history")
def who_closed(draw: Random) -> TaskDraft:
    """The one who set the status to Closed is in the ticket's history."""
    closed = [ticket for ticket in project.tickets() if ticket.status == "Closed"]
    ticket = draw.choice(closed)
    last = next(each for each in ticket.changes if each.fields.get("status") == "Closed")
    return TaskDraft({"title": ticket.title}, answered(last.user))


@template("ticket-who-wrote", "reader", 5, "question ticket search")
def who_wrote(draw: Random) -> TaskDraft:
    """The author of one remark."""
    pairs = [
        (ticket, change)
        for ticket in project.tickets()
        for change in ticket.changes
        if [each.comment for each in ticket.changes].count(change.comment) == 1
    ]
    ticket, change = draw.choice(pairs)
    return TaskDraft({"said": change.comment, "title": ticket.title}, answered(change.user))


@template("ticket-count-status", "reader", 4, "question ticket count")
def count_status(draw: Random) -> TaskDraft:
    """To be counted in the report of all tickets."""
    subsystem = draw.choice(sorted({ticket.subsystem for ticket in project.tickets()}))
    status = draw.choice(["Open", "Closed", "Fixed", "Deferred", "Verified"])
    found = [
        each for each in project.tickets() if (each.subsystem, each.status) == (subsystem, status)
    ]
    return TaskDraft({"subsystem": subsystem, "status": status}, answered(str(len(found))))


@template("ticket-count-severe", "reader", 4, "question ticket count report")
def count_severe(draw: Random) -> TaskDraft:
    """To be counted in the report with severities."""
    severity = draw.choice(["Severe", "Important", "Minor", "Cosmetic", "Critical"])
    subsystem = draw.choice(sorted({ticket.subsystem for ticket in project.tickets()}))

    def counts(ticket: Ticket) -> bool:
        is_there = ticket.severity == severity and ticket.subsystem == subsystem
        return is_there and ticket.status != "Closed"

    return TaskDraft(
        {"severity": severity, "subsystem": subsystem},
        answered(str(sum(map(counts, project.tickets())))),
    )


@template("wiki-read-option", "reader", 4, "question wiki")
def read_option(draw: Random) -> TaskDraft:
    """From the table of the configuration reference."""
    name, default = draw.choice(options())
    return TaskDraft({"page": "Configuration reference", "name": name}, answered(default))


@template("wiki-find-fact", "reader", 4, "question wiki search")
def find_fact(draw: Random) -> TaskDraft:
    """Which page has it is to be found out."""
    fact = draw.choice(CHOICES["facts"])
    return TaskDraft({"question": fact["question"]}, answered(*fact["answers"]))


@template("wiki-who-edited", "reader", 5, "question wiki history")
def who_edited(draw: Random) -> TaskDraft:
    """From the history of a page."""
    page = draw.choice([page for page in project.pages() if len({u for _, u in page.versions}) > 1])
    first = draw.random() < 0.5
    return TaskDraft(
        {
            "page": page.name,
            "did": "wrote the first version of" if first else "was the last to edit",
            "did_so": "wrote the first version" if first else "was the last to edit it",
        },
        answered(page.versions[0 if first else -1][1]),
    )


@template("forum-count-replies", "reader", 3, "question forum count")
def count_replies(draw: Random) -> TaskDraft:
    """The first post is no reply."""
    thread = draw.choice(project.threads())
    return TaskDraft({"title": thread[0].title}, answered(str(len(thread) - 1)))


@template("forum-who-said", "reader", 3, "question forum")
def who_said(draw: Random) -> TaskDraft:
    """The author of one reply."""
    thread = draw.choice([thread for thread in project.threads() if len(thread) > 1])
    post = draw.choice(thread[1:])
    return TaskDraft(
        {"title": thread[0].title, "said": post.text.split(". ")[0].rstrip(".?!")},
        answered(post.user),
    )


@template("code-last-change", "reader", 5, "question code history")
def last_change(draw: Random) -> TaskDraft:
    """Of a file that was only ever changed on the trunk."""
    names = repository.check_in_names()
    history = list(zip(project.check_ins(), names, strict=True))
    paths = sorted({path for change, _ in history for path in change.paths})
    trunk_only = [
        path
        for path in paths
        if all(change.branch == "trunk" for change, _ in history if path in change.paths)
        and path.startswith("quill/")
    ]
    path = draw.choice(trunk_only)
    _, name = [pair for pair in history if path in pair[0].paths][-1]
    return TaskDraft({"path": path}, answered(name[:10]))


@template("code-who-tagged", "reader", 3, "question code")
def who_tagged(draw: Random) -> TaskDraft:
    """A check-in by its tag: who made it, or when."""
    change = draw.choice([change for change in project.check_ins() if change.tag])
    by_date = draw.random() < 0.6
    return TaskDraft(
        {
            "asked": "On which day was" if by_date else "By whom was",
            "form": "date as year-month-day" if by_date else "login name only",
            "tag": change.tag,
        },
        answered(change.date[:10] if by_date else change.user),
    )


@template("code-find-branch", "reader", 2, "question code history")
def find_branch(draw: Random) -> TaskDraft:
    """The branch of one check-in."""
    branches = [change for change in project.check_ins() if change.branch != "trunk"]
    change = draw.choice(branches)
    return TaskDraft({"comment": change.comment}, answered(change.branch))


@template("code-count-check-ins", "reader", 2, "question code count")
def count_check_ins(draw: Random) -> TaskDraft:
    """How many check-ins somebody made."""
    who = draw.choice(sorted({change.user for change in project.check_ins()}))
    found = [change for change in project.check_ins() if change.user == who]
    return TaskDraft({"who": who}, answered(str(len(found))))
