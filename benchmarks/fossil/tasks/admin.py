"""Templates of administration: users, settings, reports."""

from random import Random

from benchmarks.fossil.site import project
from benchmarks.fossil.site.project import Person
from benchmarks.fossil.tasks.outcome import (
    besides,
    pages_are,
    report_copied,
    settings_are,
    user_added,
    user_changed,
)
from benchmarks.fossil.tasks.template import Asked, template, worded
from benchmarks.fossil.tasks.words import LOGINS, contact, password

CAPABILITIES = {
    "Attachments": "b",
    "Clone": "g",
    "New Wiki": "f",
    "Append Wiki": "m",
    "Write Wiki": "k",
    "Moderate Wiki": "l",
    "Write Tickets": "w",
    "Moderate Tickets": "q",
    "Ticket Report": "t",
    "Moderate Forum": "5",
    "Chatroom": "C",
    "Send Announcements": "A",
}
"""As the page about a user names them, with Fossil's letters."""
_NAMES = ("Inkstone", "Leafmark", "Notepress", "Paperlane", "Pagewright", "Foliant", "Quartz")
_TEXTS = (
    *("Makes books and sites from notes.", "A small program for people with many notes."),
    *("Plain text in, pages out.", "Publishes what you write.", "For handbooks and diaries."),
)


def people() -> list[Person]:
    """Everybody but the administrator."""
    return [person for person in project.people() if person.login != "admin"]


def ordered(capabilities: str) -> str:
    """In the order in which Fossil writes them: small letters, digits, capital letters."""
    return "".join(
        sorted(set(capabilities), key=lambda each: (not each.islower(), each.isupper(), each))
    )


@template("admin-add-user", "admin", 10, "admin form create")
def add_user(draw: Random) -> Asked:
    """Login, contact, password and two capabilities."""
    login, secret = draw.choice(LOGINS), password(draw)
    one, two = draw.sample(list(CAPABILITIES), 2)
    info = contact(draw, login)
    goal = worded(
        draw,
        "Add a user with the login {q_login}, the contact info {q_info}, the password {q_secret} "
        "and just two capabilities, {q_one} and {q_two}.",
        "We have a new member: login {q_login}, contact info {q_info}, password {q_secret}. Set "
        "the user up with the capabilities {q_one} and {q_two}, no others.",
        login=login,
        info=info,
        secret=secret,
        one=one,
        two=two,
    )
    held = ordered(CAPABILITIES[one] + CAPABILITIES[two])
    return Asked(goal, user_added(login, secret, info, held))


@template("admin-grant", "admin", 6, "admin form")
def grant(draw: Random) -> Asked:
    """One more capability."""
    person = draw.choice(people())
    word = draw.choice([each for each, c in CAPABILITIES.items() if c not in person.capabilities])
    goal = worded(
        draw,
        "Give the user {q_login} the capability {q_word}, besides those held already.",
        "The user {q_login} should have {q_word}, too. Grant that capability and no other.",
        login=person.login,
        word=word,
    )
    after = ordered(person.capabilities + CAPABILITIES[word])
    return Asked(goal, user_changed(person.login, {"cap": after}, {"info": person.name}))


@template("admin-revoke", "admin", 6, "admin form")
def revoke(draw: Random) -> Asked:
    """One capability fewer."""
    held = {letter: word for word, letter in CAPABILITIES.items()}
    choices = [
        (person, each) for person in people() for each in person.capabilities if each in held
    ]
    person, letter = draw.choice(choices)
    goal = worded(
        draw,
        "Take the capability {q_word} away from the user {q_login}.",
        "Nobody wants {q_word} for {q_login} any more. Remove that capability from the user.",
        word=held[letter],
        login=person.login,
    )
    after = ordered(person.capabilities.replace(letter, ""))
    return Asked(goal, user_changed(person.login, {"cap": after}, {"info": person.name}))


@template("admin-contact", "admin", 6, "admin form")
def change_contact(draw: Random) -> Asked:
    """A user's contact info."""
    person = draw.choice(people())
    info = contact(draw, person.login)
    goal = worded(
        draw,
        "Set the contact info of the user {q_login} to {q_info}.",
        "The user {q_login} has a new name. The contact info should be {q_info}.",
        login=person.login,
        info=info,
    )
    after = {"info": info, "cap": ordered(person.capabilities)}
    return Asked(goal, user_changed(person.login, {"info": info}, {"cap": after["cap"]}))


@template("admin-project-name", "admin", 6, "admin settings")
def project_name(draw: Random) -> Asked:
    """Name and description of the project."""
    name, text = draw.choice(_NAMES), draw.choice(_TEXTS)
    goal = worded(
        draw,
        "Rename the project to {q_name} and set its description to {q_text}",
        "In the configuration, change the project name to {q_name} and the project description to "
        "{q_text}",
        name=name,
        text=text,
    )
    return Asked(goal, settings_are({"project-name": name, "project-description": text}))


@template("admin-timeline-rows", "admin", 5, "admin settings")
def timeline_rows(draw: Random) -> Asked:
    """How many rows a timeline has."""
    count = str(draw.choice([20, 25, 30, 40, 60, 75, 80, 100, 120, 150, 200]))
    goal = worded(
        draw,
        "Set the default number of rows of a timeline to {q_count}.",
        "Timelines should show {q_count} rows unless somebody asks for more. Change that setting.",
        count=count,
    )
    return Asked(goal, settings_are({"timeline-default-length": count}))


@template("admin-moderation", "admin", 5, "admin settings")
def moderation(draw: Random) -> Asked:
    """Whether changes wait for a moderator."""
    what = draw.choice(["ticket", "wiki"])
    goal = worded(
        draw,
        "From now on {q_what} changes should wait for the approval of a moderator. Turn that on, "
        "for these only.",
        "Require that a moderator approves {q_what} changes; leave the other kind as it is.",
        what=what,
    )
    return Asked(goal, settings_are({"modreq-tkt" if what == "ticket" else "modreq-wiki": "1"}))


@template("admin-copy-report", "developer", 6, "admin report create")
def copy_report(draw: Random) -> Asked:
    """A ticket report under a name of its own."""
    old = draw.choice(["All Tickets", "By Severity"])
    title = f"{draw.choice(['Meeting', 'Weekly', 'Release', 'Team', 'Monthly'])} overview"
    if draw.random() < 0.5:
        title = f"{title} {draw.randrange(2, 10)}"
    goal = worded(
        draw,
        "Make a copy of the ticket report {q_old} and call the copy {q_title}.",
        "We need the ticket report {q_old} a second time, with the title {q_title}.",
        old=old,
        title=title,
    )
    return Asked(goal, report_copied(title, old))


@template("admin-welcome-member", "admin", 15, "admin wiki form edit long")
def welcome(draw: Random) -> Asked:
    """A new user, and a line about the user in the wiki."""
    login, secret = draw.choice(LOGINS), password(draw)
    info, word = contact(draw, login), draw.choice(["Reader", "Developer"])
    page = next(page for page in project.pages() if page.name == "Team")
    line = f"{login.capitalize()} joined in June 2024."
    goal = worded(
        draw,
        "Add a user with the login {q_login}, the contact info {q_info}, the password {q_secret} "
        "and the single capability {q_word}. Then append the line {q_line} to the end of the wiki "
        "page {q_page}.",
        "Welcome a new member: set up the login {q_login}, contact info {q_info}, password "
        "{q_secret}, with nothing but the capability {q_word}. When the user is there, add the "
        "line {q_line} at the end of the wiki page {q_page}.",
        login=login,
        info=info,
        secret=secret,
        word=word,
        line=line,
        page=page.name,
    )
    added = user_added(login, secret, info, {"Reader": "u", "Developer": "v"}[word])
    written = pages_are({page.name: f"{page.text.rstrip()}\n{line}"})
    return Asked(goal, besides(added, written))
