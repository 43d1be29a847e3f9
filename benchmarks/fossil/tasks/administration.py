"""Templates of check-ins, technotes, users, settings and reports."""

from random import Random

from benchmarks.fossil.site import project, repository
from benchmarks.fossil.site.project import ProjectMember
from benchmarks.fossil.tasks.template import (
    LOGINS,
    TAGS,
    TECHNOTES,
    TaskDraft,
    besides,
    check_ins_are,
    contact,
    pages_are,
    password,
    report_copied,
    settings_are,
    technote_written,
    template,
    thought,
    user_added,
    user_changed,
    worded,
)


def newest(count: int) -> list[int]:
    """The places of the newest check-ins, those with a tag left out."""
    history = project.check_ins()
    return [place for place in range(len(history)) if not history[place].tag][-count:]


@template("code-add-tag", "developer", 8, "code form")
def add_tag(draw: Random) -> TaskDraft:
    """A tag for a check-in that is known by its comment."""
    place, tag = draw.choice(newest(30)), draw.choice(TAGS)
    goal = worded(
        draw,
        "Give the check-in {q_comment} the tag {q_tag}.",
        "Look for the check-in with the comment {q_comment} and add the tag {q_tag} to it.",
        comment=project.check_ins()[place].comment,
        tag=tag,
    )
    name = repository.check_in_names()[place]
    return TaskDraft(goal, check_ins_are([(name, f"sym-{tag}", 1, None)]))


@template("code-edit-comment", "developer", 7, "code form edit")
def edit_comment(draw: Random) -> TaskDraft:
    """A check-in gets another comment."""
    place = draw.choice(newest(30))
    comment = project.check_ins()[place].comment
    after = f"{comment}, {draw.choice(['second try', 'see the manual', 'with tests', 'for 1.4'])}"
    goal = worded(
        draw,
        "Change the comment of the check-in {q_comment} to {q_after}.",
        "The comment of the check-in {q_comment} is too short. It should read {q_after}.",
        comment=comment,
        after=after,
    )
    name = repository.check_in_names()[place]
    return TaskDraft(goal, check_ins_are([(name, "comment", 1, after)]))


@template("code-move-tag", "developer", 15, "code form long")
def move_tag(draw: Random) -> TaskDraft:
    """A tag goes from one check-in to another."""
    history, names = project.check_ins(), repository.check_in_names()
    old = draw.choice([place for place, change in enumerate(history) if change.tag])
    new = draw.choice(newest(20))
    tag = history[old].tag
    goal = worded(
        draw,
        "The tag {q_tag} is on the wrong check-in. Cancel it there, and give it to the check-in "
        "{q_comment} instead.",
        "Take the tag {q_tag} away from the check-in that has it, and add it to the check-in "
        "{q_comment}.",
        tag=tag,
        comment=history[new].comment,
    )
    tags = [(names[old], f"sym-{tag}", 0, None), (names[new], f"sym-{tag}", 1, None)]
    return TaskDraft(goal, check_ins_are(tags))


@template("code-close-branch", "developer", 8, "code form")
def close_branch(draw: Random) -> TaskDraft:
    """The newest check-in of a branch is marked as closed."""
    history = project.check_ins()
    merged = {change.merge for change in history}
    tips = {change.branch: place for place, change in enumerate(history)}
    branch = draw.choice(sorted(tips.keys() - merged - {"trunk"}))
    goal = worded(
        draw,
        "Nobody works on the branch {q_branch} any more. Mark it as closed.",
        "Close the branch {q_branch}, by its newest check-in.",
        branch=branch,
    )
    name = repository.check_in_names()[tips[branch]]
    return TaskDraft(goal, check_ins_are([(name, "closed", 1, None)]))


@template("code-technote", "developer", 8, "code create")
def technote(draw: Random) -> TaskDraft:
    """A technote with a comment and a text."""
    title, text = draw.choice(TECHNOTES), thought(draw)
    goal = worded(
        draw,
        "Write a technote with the timeline comment {q_title} and the text {q_text}.",
        "Announce something in a new technote. Its comment in the timeline: {q_title}. Its text: "
        "{q_text}.",
        title=title,
        text=text,
    )
    return TaskDraft(goal, technote_written("mara", title, text))


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
    return TaskDraft(goal, user_added(login, secret, info, held))


@template("admin-grant", "admin", 6, "admin form")
def grant(draw: Random) -> TaskDraft:
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
    return TaskDraft(goal, user_changed(person.login, {"cap": after}, {"info": person.name}))


@template("admin-revoke", "admin", 6, "admin form")
def revoke(draw: Random) -> TaskDraft:
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
    return TaskDraft(goal, user_changed(person.login, {"cap": after}, {"info": person.name}))


@template("admin-contact", "admin", 6, "admin form")
def change_contact(draw: Random) -> TaskDraft:
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
    return TaskDraft(goal, user_changed(person.login, {"info": info}, {"cap": after["cap"]}))


@template("admin-project-name", "admin", 6, "admin settings")
def project_name(draw: Random) -> TaskDraft:
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
    return TaskDraft(goal, settings_are({"project-name": name, "project-description": text}))


@template("admin-timeline-rows", "admin", 5, "admin settings")
def timeline_rows(draw: Random) -> TaskDraft:
    """How many rows a timeline has."""
    count = str(draw.choice([20, 25, 30, 40, 60, 75, 80, 100, 120, 150, 200]))
    goal = worded(
        draw,
        "Set the default number of rows of a timeline to {q_count}.",
        "Timelines should show {q_count} rows unless somebody asks for more. Change that setting.",
        count=count,
    )
    return TaskDraft(goal, settings_are({"timeline-default-length": count}))


@template("admin-moderation", "admin", 5, "admin settings")
def moderation(draw: Random) -> TaskDraft:
    """Whether changes wait for a moderator."""
    what = draw.choice(["ticket", "wiki"])
    goal = worded(
        draw,
        "From now on {q_what} changes should wait for the approval of a moderator. Turn that on, "
        "for these only.",
        "Require that a moderator approves {q_what} changes; leave the other kind as it is.",
        what=what,
    )
    return TaskDraft(goal, settings_are({"modreq-tkt" if what == "ticket" else "modreq-wiki": "1"}))


@template("admin-copy-report", "developer", 6, "admin report create")
def copy_report(draw: Random) -> TaskDraft:
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
    return TaskDraft(goal, report_copied(title, old))


@template("admin-welcome-member", "admin", 15, "admin wiki form edit long")
def welcome(draw: Random) -> TaskDraft:
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
    return TaskDraft(goal, besides(added, written))
