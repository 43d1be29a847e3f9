"""Templates of check-ins, technotes, users, settings, reports, and those that cannot be done."""

from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import ProjectMember
from benchmarks.fossil.tasks.template import (
    CHOICES,
    besides,
    check_ins_are,
    contact,
    pages_are,
    password,
    problem,
    report_copied,
    settings_are,
    technote_written,
    template,
    thought,
    user_added,
    user_changed,
)
from benchmarks.templates import TaskDraft, given_up


def newest(count: int) -> list[int]:
    """The places of the newest check-ins, those with a tag left out."""
    history = project.check_ins()
    return [place for place in range(len(history)) if not history[place].tag][-count:]


@template("code-add-tag", "developer", 8, "code form")
def add_tag(draw: Random) -> TaskDraft:
    """A tag for a check-in that is known by its comment."""
    place, tag = draw.choice(newest(30)), draw.choice(CHOICES["tags"])
    name = repository.check_in_names()[place]
    return TaskDraft(
        {"comment": project.check_ins()[place].comment, "tag": tag},
        check_ins_are([(name, f"sym-{tag}", 1, None)]),
    )


@template("code-edit-comment", "developer", 7, "code form edit")
def edit_comment(draw: Random) -> TaskDraft:
    """A check-in gets another comment."""
    place = draw.choice(newest(30))
    comment = project.check_ins()[place].comment
    after = f"{comment}, {draw.choice(['second try', 'see the manual', 'with tests', 'for 1.4'])}"
    name = repository.check_in_names()[place]
    return TaskDraft(
        {"comment": comment, "after": after}, check_ins_are([(name, "comment", 1, after)])
    )


@template("code-move-tag", "developer", 15, "code form long")
def move_tag(draw: Random) -> TaskDraft:
    """A tag goes from one check-in to another."""
    history, names = project.check_ins(), repository.check_in_names()
    old = draw.choice([place for place, change in enumerate(history) if change.tag])
    new = draw.choice(newest(20))
    tag = history[old].tag
    tags = [(names[old], f"sym-{tag}", 0, None), (names[new], f"sym-{tag}", 1, None)]
    return TaskDraft({"tag": tag, "comment": history[new].comment}, check_ins_are(tags))


@template("code-close-branch", "developer", 8, "code form")
def close_branch(draw: Random) -> TaskDraft:
    """The newest check-in of a branch is marked as closed."""
    history = project.check_ins()
    merged = {change.merge for change in history}
    tips = {change.branch: place for place, change in enumerate(history)}
    branch = draw.choice(sorted(tips.keys() - merged - {"trunk"}))
    name = repository.check_in_names()[tips[branch]]
    return TaskDraft({"branch": branch}, check_ins_are([(name, "closed", 1, None)]))


@template("code-technote", "developer", 8, "code create")
def technote(draw: Random) -> TaskDraft:
    """A technote with a comment and a text."""
    title, text = draw.choice(CHOICES["technotes"]), thought(draw)
    return TaskDraft({"title": title, "text": text}, technote_written("mara", title, text))


CAPABILITIES: dict[str, str] = CHOICES["capabilities"]
"""As the page about a user names them, with Fossil's letters."""


def people() -> list[ProjectMember]:
    """Everybody but the administrator."""
    return [person for person in project.people() if person.login != "admin"]


def ordered(capabilities: str) -> str:
    """In the order in which Fossil writes them: small letters, digits, capital letters."""
    return "".join(
        sorted(set(capabilities), key=lambda each: (not each.islower(), each.isupper(), each))
    )


@template("admin-add-user", "admin", 10, "admin form create")
def add_user(draw: Random) -> TaskDraft:
    """Login, contact, password and two capabilities."""
    login, secret = draw.choice(CHOICES["logins"]), password(draw)
    one, two = draw.sample(list(CAPABILITIES), 2)
    info = contact(draw, login)
    held = ordered(CAPABILITIES[one] + CAPABILITIES[two])
    return TaskDraft(
        {"login": login, "info": info, "secret": secret, "one": one, "two": two},
        user_added(login, secret, info, held),
    )


@template("admin-grant", "admin", 6, "admin form")
def grant(draw: Random) -> TaskDraft:
    """One more capability."""
    person = draw.choice(people())
    word = draw.choice([each for each, c in CAPABILITIES.items() if c not in person.capabilities])
    after = ordered(person.capabilities + CAPABILITIES[word])
    return TaskDraft(
        {"login": person.login, "word": word},
        user_changed(person.login, {"cap": after}, {"info": person.name}),
    )


@template("admin-revoke", "admin", 6, "admin form")
def revoke(draw: Random) -> TaskDraft:
    """One capability fewer."""
    held = {letter: word for word, letter in CAPABILITIES.items()}
    choices = [
        (person, each) for person in people() for each in person.capabilities if each in held
    ]
    person, letter = draw.choice(choices)
    after = ordered(person.capabilities.replace(letter, ""))
    return TaskDraft(
        {"word": held[letter], "login": person.login},
        user_changed(person.login, {"cap": after}, {"info": person.name}),
    )


@template("admin-contact", "admin", 6, "admin form")
def change_contact(draw: Random) -> TaskDraft:
    """A user's contact info."""
    person = draw.choice(people())
    info = contact(draw, person.login)
    after = {"info": info, "cap": ordered(person.capabilities)}
    return TaskDraft(
        {"login": person.login, "info": info},
        user_changed(person.login, {"info": info}, {"cap": after["cap"]}),
    )


@template("admin-project-name", "admin", 6, "admin settings")
def project_name(draw: Random) -> TaskDraft:
    """Name and description of the project."""
    name, text = draw.choice(CHOICES["project_names"]), draw.choice(CHOICES["project_texts"])
    return TaskDraft(
        {"name": name, "text": text},
        settings_are({"project-name": name, "project-description": text}),
    )


@template("admin-timeline-rows", "admin", 5, "admin settings")
def timeline_rows(draw: Random) -> TaskDraft:
    """How many rows a timeline has."""
    count = str(draw.choice([20, 25, 30, 40, 60, 75, 80, 100, 120, 150, 200]))
    return TaskDraft({"count": count}, settings_are({"timeline-default-length": count}))


@template("admin-moderation", "admin", 5, "admin settings")
def moderation(draw: Random) -> TaskDraft:
    """Whether changes wait for a moderator."""
    what = draw.choice(["ticket", "wiki"])
    return TaskDraft(
        {"what": what}, settings_are({"modreq-tkt" if what == "ticket" else "modreq-wiki": "1"})
    )


@template("admin-copy-report", "developer", 6, "admin report create")
def copy_report(draw: Random) -> TaskDraft:
    """A ticket report under a name of its own."""
    old = draw.choice(["All Tickets", "By Severity"])
    title = f"{draw.choice(['Meeting', 'Weekly', 'Release', 'Team', 'Monthly'])} overview"
    if draw.random() < 0.5:
        title = f"{title} {draw.randrange(2, 10)}"
    return TaskDraft({"old": old, "title": title}, report_copied(title, old))


@template("admin-welcome-member", "admin", 15, "admin wiki form edit long")
def welcome(draw: Random) -> TaskDraft:
    """A new user, and a line about the user in the wiki."""
    login, secret = draw.choice(CHOICES["logins"]), password(draw)
    info, word = contact(draw, login), draw.choice(["Reader", "Developer"])
    page = next(page for page in project.pages() if page.name == "Team")
    line = f"{login.capitalize()} joined in June 2024."
    added = user_added(login, secret, info, {"Reader": "u", "Developer": "v"}[word])
    written = pages_are({page.name: f"{page.text.rstrip()}\n{line}"})
    return TaskDraft(
        {
            "login": login,
            "info": info,
            "secret": secret,
            "word": word,
            "line": line,
            "page": page.name,
        },
        besides(added, written),
    )


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
    return TaskDraft({"page": page.name, "line": draw.choice(CHOICES["lines"])}, given_up())


@template("impossible-missing-page", "writer", 3, "infeasible wiki search")
def missing_page(draw: Random) -> TaskDraft:
    """There is no such page, and none is to be made."""
    return TaskDraft({"page": draw.choice(CHOICES["page_names"])}, given_up())


@template("impossible-grant", "developer", 1, "infeasible admin rights")
def grant_without_rights(draw: Random) -> TaskDraft:
    """Who is logged in may not change users."""
    login = draw.choice([person.login for person in project.people() if person.login != "admin"])
    return TaskDraft({"login": login, "info": contact(draw, login)}, given_up())


@template("impossible-missing-thread", "reader", 2, "infeasible forum search")
def missing_thread(draw: Random) -> TaskDraft:
    """There is no such thread."""
    return TaskDraft({"title": draw.choice(CHOICES["threads"]), "text": thought(draw)}, given_up())


@template("impossible-missing-tag", "developer", 2, "infeasible code search")
def missing_tag(draw: Random) -> TaskDraft:
    """No check-in has this tag."""
    return TaskDraft({"tag": f"v{draw.randrange(2, 9)}.{draw.randrange(1, 9)}"}, given_up())
