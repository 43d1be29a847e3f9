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
from benchmarks.fossil.tasks.template import (
    REMARKS,
    TaskDraft,
    problem,
    template,
    ticket_opened,
    tickets_are,
    worded,
)

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
    goal = worded(
        draw,
        "Set the status of the ticket {q_title} to {q_status}.",
        "The ticket {q_title} should have the status {q_status}; change that and nothing else.",
        title=ticket.title,
        status=status,
    )
    return TaskDraft(goal, tickets_are([(ticket, {"status": status})]))


@template("ticket-set-here", "developer", 5, "ticket form")
def set_here(draw: Random) -> TaskDraft:
    """One field, beginning at the ticket."""
    ticket = draw.choice(project.tickets())
    field = draw.choice(["priority", "severity", "subsystem"])
    value = other(draw, FIELDS[field], getattr(ticket, field))
    goal = worded(
        draw,
        "Change the {q_field} of this ticket to {q_value}.",
        "This ticket has the wrong {q_field}: make it {q_value}.",
        field=field,
        value=value,
    )
    start = f"/tktview/{ticket.uuid[:10]}"
    return TaskDraft(goal, tickets_are([(ticket, {field: value})]), start)


@template("ticket-change-fields", "developer", 11, "ticket form")
def change_fields(draw: Random) -> TaskDraft:
    """Three fields of one ticket."""
    ticket = draw.choice(project.tickets())
    after = {
        field: other(draw, FIELDS[field], getattr(ticket, field))
        for field in ("severity", "priority", "subsystem")
    }
    goal = worded(
        draw,
        "On the ticket {q_title} set the severity to {q_severity}, the priority to {q_priority} "
        "and the subsystem to {q_subsystem}.",
        "The ticket {q_title} was filed badly. Its severity should be {q_severity}, its priority "
        "{q_priority}, its subsystem {q_subsystem}.",
        title=ticket.title,
        **after,
    )
    return TaskDraft(goal, tickets_are([(ticket, after)]))


@template("ticket-retitle", "developer", 9, "ticket form")
def retitle(draw: Random) -> TaskDraft:
    """A ticket gets another title."""
    ticket = draw.choice(project.tickets())
    title = problem(draw).title
    goal = worded(
        draw,
        "Change the title of the ticket {q_old} to {q_new}.",
        "The ticket {q_old} needs a better title: {q_new}. Put it there.",
        old=ticket.title,
        new=title,
    )
    return TaskDraft(goal, tickets_are([(ticket, {"title": title})]))


@template("ticket-remark", "reader", 9, "ticket comment")
def remark(draw: Random) -> TaskDraft:
    """A remark by somebody who may do no more."""
    ticket, said = draw.choice(project.tickets()), draw.choice(REMARKS)
    goal = worded(
        draw,
        "Add the remark {q_said} to the ticket {q_title}.",
        "Write {q_said} as a new remark on the ticket {q_title}.",
        said=said,
        title=ticket.title,
    )
    return TaskDraft(goal, tickets_are([(ticket, {})], [(ticket, said)]))


@template("ticket-close", "developer", 11, "ticket form comment")
def close(draw: Random) -> TaskDraft:
    """Status, resolution and a remark."""
    ticket = draw.choice([ticket for ticket in project.tickets() if active(ticket)])
    resolutions = ["Rejected", "Workaround", "Works_As_Designed", "Overcome_By_Events"]
    resolution, said = draw.choice(resolutions), draw.choice(REMARKS)
    goal = worded(
        draw,
        "Close the ticket {q_title} with the resolution {q_resolution} and the remark {q_said}.",
        "The ticket {q_title} is done with: set it to Closed, resolution {q_resolution}, and add "
        "the remark {q_said}.",
        title=ticket.title,
        resolution=resolution,
        said=said,
    )
    after = {"status": "Closed", "resolution": resolution}
    return TaskDraft(goal, tickets_are([(ticket, after)], [(ticket, said)]))


@template("ticket-reopen", "developer", 10, "ticket form")
def reopen(draw: Random) -> TaskDraft:
    """A closed ticket is opened again."""
    closed = [each for each in project.tickets() if each.status == "Closed"]
    ticket = draw.choice([each for each in closed if each.resolution != "Open"])
    goal = worded(
        draw,
        "Reopen the ticket {q_title}: its status and its resolution should both be Open.",
        "The ticket {q_title} was closed too early. Set status and resolution back to Open.",
        title=ticket.title,
    )
    return TaskDraft(goal, tickets_are([(ticket, {"status": "Open", "resolution": "Open"})]))


@template("ticket-close-duplicate", "developer", 15, "ticket form comment search")
def close_duplicate(draw: Random) -> TaskDraft:
    """The newer of two tickets refers to the older one by its number."""
    newer, older = draw.choice(duplicates())
    pair = [newer.title, older.title]
    draw.shuffle(pair)
    goal = worded(
        draw,
        "The tickets {q_one} and {q_two} are about the same thing. Close the newer one of the two "
        "with the resolution Duplicate, and add as its remark the first ten characters of the "
        "hash of the older one.",
        "{q_one} and {q_two} are the same ticket twice. Of these, set the one that was opened "
        "later to Closed with the resolution Duplicate; as a remark on it write the first ten "
        "characters of the other one's hash.",
        one=pair[0],
        two=pair[1],
    )
    after = {"status": "Closed", "resolution": "Duplicate"}
    return TaskDraft(goal, tickets_are([(newer, after)], [(newer, older.uuid[:10])]))


def duplicates() -> list[tuple[Ticket, Ticket]]:
    """Pairs of tickets about one thing, the newer one first."""
    tickets = {ticket.title: ticket for ticket in project.tickets()}
    pairs = [
        (ticket, tickets[ticket.duplicates]) for ticket in tickets.values() if ticket.duplicates
    ]
    return [(a, b) if a.opened > b.opened else (b, a) for a, b in pairs]


@template("ticket-open", "reader", 10, "ticket form create")
def open_ticket(draw: Random) -> TaskDraft:
    """What the form for new tickets asks for."""
    told = problem(draw)
    fields = {
        "title": told.title,
        "type": draw.choice(TYPES),
        "foundin": draw.choice(VERSIONS),
        "severity": draw.choice(SEVERITIES),
    }
    goal = worded(
        draw,
        "Open a ticket with the summary {q_title}, the type {q_type}, the version {q_foundin}, the "
        "severity {q_severity} and the description {q_text}.",
        "Please report a problem: {q_title}. Type {q_type}, found in version {q_foundin}, severity "
        "{q_severity}; the description is {q_text}.",
        text=told.description,
        **fields,
    )
    after = {**fields, "status": "Open"}
    return TaskDraft(goal, ticket_opened(after, told.description))


@template("ticket-open-and-file", "developer", 16, "ticket form create long")
def open_and_file(draw: Random) -> TaskDraft:
    """Opened, then filed, because the form for new tickets does not ask for all fields."""
    told = problem(draw)
    fields = {
        "title": told.title,
        "type": draw.choice(TYPES),
        "foundin": draw.choice(VERSIONS),
        "severity": draw.choice(SEVERITIES),
        "subsystem": draw.choice(SUBSYSTEMS),
        "priority": draw.choice(["Immediate", "High", "Low", "Zero"]),
        "status": "Verified",
    }
    goal = worded(
        draw,
        "Open a ticket with the summary {q_title}, the type {q_type}, the version {q_foundin}, the "
        "severity {q_severity} and the description {q_text}. Then put it into the subsystem "
        "{q_subsystem}, with the priority {q_priority} and the status Verified.",
        "We need a new ticket: {q_title}, type {q_type}, version {q_foundin}, severity "
        "{q_severity}, described as {q_text}. Then set its subsystem to {q_subsystem}, "
        "its priority to {q_priority} and its status to Verified.",
        text=told.description,
        **fields,
    )
    return TaskDraft(goal, ticket_opened({**fields, "resolution": "Open"}, told.description))


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
    goal = worded(
        draw,
        "Give every ticket of the subsystem {q_subsystem} whose status is {q_status} the priority "
        "{q_priority}.",
        "All tickets filed under {q_subsystem} with the status {q_status} should get the "
        "priority {q_priority}. Leave the others as they are.",
        subsystem=subsystem,
        status=status,
        priority=priority,
    )
    return TaskDraft(goal, tickets_are([(ticket, {"priority": priority}) for ticket in group]))
