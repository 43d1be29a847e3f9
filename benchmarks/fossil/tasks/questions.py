"""Templates that ask for something to be found out, and nothing to be changed."""

from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import Ticket
from benchmarks.fossil.tasks.template import TaskDraft, answered, template, worded

FIELD_WORDS = {
    "severity": "severity",
    "priority": "priority",
    "subsystem": "subsystem",
    "type": "type",
    "resolution": "resolution",
}
FACTS = (
    ("How many days is a release candidate tried?", "10"),
    ("Who is the release manager?", "Tomas"),
    ("Who is the deputy of the release manager?", "Ines"),
    ("How many headings may a note have at most?", "400"),
    ("Which letter has to be pressed to leave the watch mode?", "q"),
    ("Which exit status does a failed build end with?", "3"),
    ("How many kilobytes may the style sheet of a theme have at most?", "64"),
    ("How many times as much as the text do titles count in the search?", "five|5"),
    ("How many pixels should the longer side of the cover of an EPUB have?", "1600"),
    ("Which program are PDF files made with?", "weasy"),
    ("How many megabytes of disk does Quillmark need?", "30"),
    ("Within how many working days does a developer answer a ticket?", "5"),
    ("After how many days is a ticket closed that nobody can reproduce?", "30"),
    ("How many characters may a line of code have at most?", "88"),
    ("How many developers have to agree before a branch is merged?", "two|2"),
    ("Which place has the mirror that is updated once a day?", "Montreal"),
    ("Who keeps the minutes of the meetings?", "Ola"),
    ("Which version is planned for December 2024?", "1.5"),
    ("In which town does Jonas Weber live?", "Leipzig"),
    ("Which contrast, to 1, should text have at least?", "4.5"),
)


def options() -> list[tuple[str, str]]:
    """The options of the configuration file with their defaults, as the wiki has them."""
    page = next(page for page in project.pages() if page.name == "Configuration reference")
    rows = [line.strip("| ").split(" | ") for line in page.text.splitlines() if line[:1] == "|"]
    return [(name, default) for name, default, _ in rows[2:]]


@template("ticket-read-field", "reader", 1, "question ticket")
def read_field(draw: Random) -> TaskDraft:
    """Begins at the ticket."""
    ticket = draw.choice(project.tickets())
    field = draw.choice(list(FIELD_WORDS))
    goal = worded(
        draw,
        "What is the {field} of this ticket? Answer with the value as the page shows it.",
        "Tell me the {field} of the ticket on this page, just as it is written there.",
        field=FIELD_WORDS[field],
    )
    return TaskDraft(goal, answered(getattr(ticket, field)), f"/tktview/{ticket.uuid[:10]}")


@template("ticket-find-field", "reader", 5, "question ticket search")
def find_field(draw: Random) -> TaskDraft:
    """Begins at the home page."""
    ticket = draw.choice(project.tickets())
    field = draw.choice(["severity", "priority", "foundin"])
    goal = worded(
        draw,
        "There is a ticket with the title {q_title}. What is its {field}? Give only the value.",
        "Look up the ticket {q_title} and answer with its {field}, nothing else.",
        title=ticket.title,
        field={"foundin": "version found in"}.get(field, field),
    )
    return TaskDraft(goal, answered(getattr(ticket, field)))


@template("ticket-who-closed", "reader", 6, "question ticket history")
def who_closed(draw: Random) -> TaskDraft:
    """The one who set the status to Closed is in the ticket's history."""
    closed = [ticket for ticket in project.tickets() if ticket.status == "Closed"]
    ticket = draw.choice(closed)
    last = next(each for each in ticket.changes if each.fields.get("status") == "Closed")
    goal = worded(
        draw,
        "Who closed the ticket {q_title}? Answer with the login name only.",
        "Find out which user set the ticket {q_title} to Closed; answer with just the login name.",
        title=ticket.title,
    )
    return TaskDraft(goal, answered(last.user))


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
    goal = worded(
        draw,
        "Who wrote {q_said} on the ticket {q_title}? Answer with the login name only.",
        "Somebody remarked {q_said} on the ticket {q_title}. Give just the login name.",
        said=change.comment,
        title=ticket.title,
    )
    return TaskDraft(goal, answered(change.user))


@template("ticket-count-status", "reader", 4, "question ticket count")
def count_status(draw: Random) -> TaskDraft:
    """To be counted in the report of all tickets."""
    subsystem = draw.choice(sorted({ticket.subsystem for ticket in project.tickets()}))
    status = draw.choice(["Open", "Closed", "Fixed", "Deferred", "Verified"])
    goal = worded(
        draw,
        "How many tickets of the subsystem {q_subsystem} have the status {q_status}? "
        "Answer with the number.",
        "Count the tickets that are filed under {q_subsystem} and whose status is {q_status}. "
        "Answer with the number only.",
        subsystem=subsystem,
        status=status,
    )
    found = [
        each for each in project.tickets() if (each.subsystem, each.status) == (subsystem, status)
    ]
    return TaskDraft(goal, answered(str(len(found))))


@template("ticket-count-severe", "reader", 4, "question ticket count report")
def count_severe(draw: Random) -> TaskDraft:
    """To be counted in the report with severities."""
    severity = draw.choice(["Severe", "Important", "Minor", "Cosmetic", "Critical"])
    subsystem = draw.choice(sorted({ticket.subsystem for ticket in project.tickets()}))
    goal = worded(
        draw,
        "How many tickets of severity {q_severity} in the subsystem {q_subsystem} are not closed "
        "yet? Answer with the number.",
        "Count those tickets of severity {q_severity} and subsystem {q_subsystem} whose status is "
        "anything but Closed. Answer with the number only.",
        severity=severity,
        subsystem=subsystem,
    )

    def counts(ticket: Ticket) -> bool:
        is_there = ticket.severity == severity and ticket.subsystem == subsystem
        return is_there and ticket.status != "Closed"

    return TaskDraft(goal, answered(str(sum(map(counts, project.tickets())))))


@template("wiki-read-option", "reader", 4, "question wiki")
def read_option(draw: Random) -> TaskDraft:
    """From the table of the configuration reference."""
    name, default = draw.choice(options())
    goal = worded(
        draw,
        "According to the wiki page {q_page}, what is the default of the option {q_name}? "
        "Answer with the value only.",
        "Open the page {q_page} of the wiki and give the default value of {q_name}, nothing else.",
        page="Configuration reference",
        name=name,
    )
    return TaskDraft(goal, answered(default))


@template("wiki-find-fact", "reader", 4, "question wiki search")
def find_fact(draw: Random) -> TaskDraft:
    """Which page has it is to be found out."""
    question, answer = draw.choice(FACTS)
    goal = worded(
        draw,
        "{question} The wiki says so. Answer with that one word or number.",
        "Find this in the wiki and answer with the one word or number: {question}",
        question=question,
    )
    return TaskDraft(goal, answered(*answer.split("|")))


@template("wiki-who-edited", "reader", 5, "question wiki history")
def who_edited(draw: Random) -> TaskDraft:
    """From the history of a page."""
    page = draw.choice([page for page in project.pages() if len({u for _, u in page.versions}) > 1])
    first = draw.random() < 0.5
    goal = worded(
        draw,
        "Who {did} the wiki page {q_page}? Answer with the login name only.",
        "Look at the history of the wiki page {q_page}: who {did} it? Give just the login name.",
        page=page.name,
        did="wrote the first version of" if first else "was the last to edit",
    )
    goal = goal.replace("version of it?", "version?")
    return TaskDraft(goal, answered(page.versions[0 if first else -1][1]))


@template("forum-count-replies", "reader", 3, "question forum count")
def count_replies(draw: Random) -> TaskDraft:
    """The first post is no reply."""
    thread = draw.choice(project.threads())
    goal = worded(
        draw,
        "How many replies does the forum thread {q_title} have? The first post is none. "
        "Answer with the number.",
        "Count the answers in the thread {q_title} of the forum, without the post that began it. "
        "Answer with the number only.",
        title=thread[0].title,
    )
    return TaskDraft(goal, answered(str(len(thread) - 1)))


@template("forum-who-said", "reader", 3, "question forum")
def who_said(draw: Random) -> TaskDraft:
    """The author of one reply."""
    thread = draw.choice([thread for thread in project.threads() if len(thread) > 1])
    post = draw.choice(thread[1:])
    goal = worded(
        draw,
        "In the forum thread {q_title} somebody wrote {q_said}. "
        "Who was it? Answer with the login name only.",
        "Which user said in the thread {q_title}: {q_said}? Give just the login name.",
        title=thread[0].title,
        said=post.text.split(". ")[0].rstrip(".?!"),
    )
    return TaskDraft(goal, answered(post.user))


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
    goal = worded(
        draw,
        "In which check-in was the file {q_path} last changed? "
        "Answer with the first ten characters of its hash.",
        "Find the newest check-in that changed {q_path} and give the first ten characters of the "
        "check-in's hash.",
        path=path,
    )
    return TaskDraft(goal, answered(name[:10]))


@template("code-who-tagged", "reader", 3, "question code")
def who_tagged(draw: Random) -> TaskDraft:
    """A check-in by its tag: who made it, or when."""
    change = draw.choice([change for change in project.check_ins() if change.tag])
    by_date = draw.random() < 0.6
    goal = worded(
        draw,
        "{asked} the check-in that has the tag {q_tag} made? Answer with the {form}.",
        "Look for the tag {q_tag}. {asked} that check-in made? Answer with the {form}.",
        asked="On which day was" if by_date else "By whom was",
        form="date as year-month-day" if by_date else "login name only",
        tag=change.tag,
    )
    return TaskDraft(goal, answered(change.date[:10] if by_date else change.user))


@template("code-find-branch", "reader", 2, "question code history")
def find_branch(draw: Random) -> TaskDraft:
    """The branch of one check-in."""
    branches = [change for change in project.check_ins() if change.branch != "trunk"]
    change = draw.choice(branches)
    goal = worded(
        draw,
        "On which branch was the check-in {q_comment} made? Answer with the name of the branch.",
        "There is a check-in with the comment {q_comment}. Which branch is it on? Give its name.",
        comment=change.comment,
    )
    return TaskDraft(goal, answered(change.branch))


@template("code-count-check-ins", "reader", 2, "question code count")
def count_check_ins(draw: Random) -> TaskDraft:
    """How many check-ins somebody made."""
    who = draw.choice(sorted({change.user for change in project.check_ins()}))
    found = [change for change in project.check_ins() if change.user == who]
    goal = worded(
        draw,
        "How many check-ins has {q_who} made in all, merges included? Answer with the number.",
        "Count the check-ins by the user {q_who}, on every branch. Answer with the number only.",
        who=who,
    )
    return TaskDraft(goal, answered(str(len(found))))
