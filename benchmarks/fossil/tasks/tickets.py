"""Templates that open and change tickets."""

from collections.abc import Sequence
from random import Random

from benchmarks.fossil.site import project
from benchmarks.fossil.site.project import (
    PRIORITIES,
    SEVERITIES,
    STATUSES,
    SUBSYSTEMS,
    TYPES,
    Ticket,
)
from benchmarks.fossil.tasks.template import CHOICES, problem, template, ticket_opened, tickets_are
from benchmarks.templates import TaskDraft

FIELDS = {
    "priority": PRIORITIES,
    "severity": SEVERITIES,
    "subsystem": SUBSYSTEMS,
    "status": STATUSES,
    "type": TYPES,
}
VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")


def other(draw: Random, choices: Sequence[str], than: str) -> str:
    """One of the choices that is not this."""
    return draw.choice([choice for choice in choices if choice != than])


def active(ticket: Ticket) -> bool:
    """Whether there is anything left to do about it."""
    return ticket.status in ("Open", "Verified", "Fixed")


@template("ticket-set-status", "developer", 9, "ticket form")
def set_status(draw: Random) -> TaskDraft:
    """One field of one ticket."""
    ticket = draw.choice(project.tickets())
    status = other(draw, ["Verified", "Review", "Deferred", "Tested"], ticket.status)
    return TaskDraft(
        {"title": ticket.title, "status": status}, tickets_are([(ticket, {"status": status})])
    )


@template("ticket-set-here", "developer", 5, "ticket form")
def set_here(draw: Random) -> TaskDraft:
    """One field, beginning at the ticket."""
    ticket = draw.choice(project.tickets())
    field = draw.choice(["priority", "severity", "subsystem"])
    value = other(draw, FIELDS[field], getattr(ticket, field))
    start = f"/tktview/{ticket.uuid[:10]}"
    return TaskDraft(
        {"field": field, "value": value}, tickets_are([(ticket, {field: value})]), start
    )


@template("ticket-change-fields", "developer", 11, "ticket form")
def change_fields(draw: Random) -> TaskDraft:
    """Three fields of one ticket."""
    ticket = draw.choice(project.tickets())
    after = {
        field: other(draw, FIELDS[field], getattr(ticket, field))
        for field in ("severity", "priority", "subsystem")
    }
    return TaskDraft({"title": ticket.title, **after}, tickets_are([(ticket, after)]))


@template("ticket-retitle", "developer", 9, "ticket form")
def retitle(draw: Random) -> TaskDraft:
    """A ticket gets another title."""
    ticket = draw.choice(project.tickets())
    title, _ = problem(draw)
    return TaskDraft({"old": ticket.title, "new": title}, tickets_are([(ticket, {"title": title})]))


@template("ticket-remark", "reader", 9, "ticket comment")
def remark(draw: Random) -> TaskDraft:
    """A remark by somebody who may do no more."""
    ticket, said = draw.choice(project.tickets()), draw.choice(CHOICES["remarks"])
    return TaskDraft(
        {"said": said, "title": ticket.title}, tickets_are([(ticket, {})], [(ticket, said)])
    )


@template("ticket-close", "developer", 11, "ticket form comment")
def close(draw: Random) -> TaskDraft:
    """Status, resolution and a remark."""
    ticket = draw.choice([ticket for ticket in project.tickets() if active(ticket)])
    resolutions = ["Rejected", "Workaround", "Works_As_Designed", "Overcome_By_Events"]
    resolution, said = draw.choice(resolutions), draw.choice(CHOICES["remarks"])
    after = {"status": "Closed", "resolution": resolution}
    return TaskDraft(
        {"title": ticket.title, "resolution": resolution, "said": said},
        tickets_are([(ticket, after)], [(ticket, said)]),
    )


@template("ticket-reopen", "developer", 10, "ticket form")
def reopen(draw: Random) -> TaskDraft:
    """A closed ticket is opened again."""
    closed = [each for each in project.tickets() if each.status == "Closed"]
    ticket = draw.choice([each for each in closed if each.resolution != "Open"])
    return TaskDraft(
        {"title": ticket.title}, tickets_are([(ticket, {"status": "Open", "resolution": "Open"})])
    )


@template("ticket-close-duplicate", "developer", 15, "ticket form comment search")
def close_duplicate(draw: Random) -> TaskDraft:
    """The newer of two tickets refers to the older one by its number."""
    newer, older = draw.choice(duplicates())
    pair = [newer.title, older.title]
    draw.shuffle(pair)
    after = {"status": "Closed", "resolution": "Duplicate"}
    return TaskDraft(
        {"one": pair[0], "two": pair[1]}, tickets_are([(newer, after)], [(newer, older.uuid[:10])])
    )


def duplicates() -> list[tuple[Ticket, Ticket]]:
    """Pairs of tickets about one thing, the newer one first."""
    tickets = {ticket.title: ticket for ticket in project.tickets()}
    pairs = [
        (ticket, tickets[ticket.duplicates]) for ticket in tickets.values() if ticket.duplicates
    ]
    return [(a, b) if a.opened > b.opened else (b, a) for a, b in pairs]


def draw_ticket(draw: Random) -> tuple[str, dict[str, str]]:
    """The description and the fields that the form for new tickets asks for."""
    title, description = problem(draw)
    return description, {
        "title": title,
        "type": draw.choice(TYPES),
        "foundin": draw.choice(VERSIONS),
        "severity": draw.choice(SEVERITIES),
    }


@template("ticket-open", "reader", 10, "ticket form create")
def open_ticket(draw: Random) -> TaskDraft:
    """What the form for new tickets asks for."""
    text, fields = draw_ticket(draw)
    return TaskDraft({"text": text, **fields}, ticket_opened({**fields, "status": "Open"}, text))


@template("ticket-open-and-file", "developer", 16, "ticket form create long")
def open_and_file(draw: Random) -> TaskDraft:
    """Opened, then filed, because the form for new tickets does not ask for all fields."""
    text, fields = draw_ticket(draw)
    fields["subsystem"] = draw.choice(SUBSYSTEMS)
    fields["priority"] = draw.choice(["Immediate", "High", "Low", "Zero"])
    fields["status"] = "Verified"
    after = {**fields, "resolution": "Open"}
    return TaskDraft({"text": text, **fields}, ticket_opened(after, text))


@template("ticket-triage", "developer", 33, "ticket form report long")
def triage(draw: Random) -> TaskDraft:
    """Every ticket of one status in a subsystem gets the same priority."""
    groups: dict[tuple[str, str], list[Ticket]] = {}
    for ticket in project.tickets():
        groups.setdefault((ticket.subsystem, ticket.status), []).append(ticket)
    fitting = {key: group for key, group in groups.items() if 2 <= len(group) <= 4}
    subsystem, status = draw.choice(sorted(fitting))
    group = fitting[subsystem, status]
    unused = set(PRIORITIES) - {ticket.priority for ticket in group}
    priority = draw.choice(sorted(unused))
    return TaskDraft(
        {"subsystem": subsystem, "status": status, "priority": priority},
        tickets_are([(ticket, {"priority": priority}) for ticket in group]),
    )
