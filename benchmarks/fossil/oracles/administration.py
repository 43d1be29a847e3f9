"""Oracles for check-ins and administration on Fossil, and for what cannot be done there."""

from benchmarks.fossil.oracles.steps import (
    ALL_TICKETS,
    append_line,
    fill_unnamed,
    find_ticket,
    first_check_in,
    number_of,
    open_page,
    press_below,
    tick,
    tick_capability,
)
from benchmarks.oracles import Move, Moves, View, fill, press, push, register_plans
from webagent.action import Action
from webagent.action.actions import Check, Click, GiveUp
from webagent.errors import PolicyError


def find_check_in(comment: str) -> Moves:
    """From any page to a check-in, by the timeline: two moves."""

    def follow(view: View) -> Action:
        lines = [node for node in view.page.nodes if node.name == comment]
        line = view.first(lines, f"a check-in {comment!r} in the timeline")
        return view.after(line).click("link")

    return (press("Timeline"), follow)


def change_check_in(*moves: Move) -> Moves:
    """On a check-in: open its form, make changes, apply them."""
    return (press("edit"), *moves, push("Preview"), push("Apply Changes"))


def add_tag(comment: str, tag: str) -> Moves:
    """From any page: a tag for a check-in."""
    label = "Add the following new tag name to this check-in:"
    return (*find_check_in(comment), *change_check_in(tick(label), fill_unnamed(tag, 1)))


def close_branch(branch: str) -> Moves:
    """The newest check-in of a branch is the first one in its timeline."""

    def mark(view: View) -> Action:
        boxes = [node for node in view.all("checkbox") if node.name.startswith("Mark ")]
        return Check(view.first(boxes, "a box that closes the branch").mark)

    return (press("Branches"), press(branch), first_check_in, *change_check_in(mark))


def change_user(login: str, *moves: Move) -> Moves:
    """From any page: open the page about a user, make changes, apply them."""
    users = (press("Admin"), press("Users"), press_below("Alerts", login))
    return (*users, *moves, push("Apply Changes"))


def add_user(login: str, info: str, secret: str, *words: str) -> Moves:
    """From any page: a new user with these capabilities."""
    return (
        press("Admin"),
        press("Users"),
        press("Add"),
        fill("Login:", login),
        fill("Contact Info:", info),
        *map(tick_capability, words),
        fill("Password:", secret),
        push("Apply Changes"),
    )


def configure(page: str, *moves: Move) -> Moves:
    """From any page: make changes on a page of settings and apply them."""
    return (press("Admin"), press(page), *moves, push("Apply Changes"))


def unless_found(name: str, reason: str) -> Move:
    """Give up where the page has no such link; it would be a mistake to look no further."""

    def move(view: View) -> Action:
        if view.all("link", name=name):
            raise PolicyError(f"{name!r} exists, contrary to the goal")
        return GiveUp(reason)

    return move


def find_no_ticket(title: str) -> Moves:
    """Not in the report of all tickets."""

    def look(view: View) -> Action:
        try:
            number_of(view, title)
        except PolicyError:
            return GiveUp(f"there is no ticket {title!r}")
        raise PolicyError(f"{title!r} exists, contrary to the goal")

    return (*ALL_TICKETS, look)


def find_no_due_date(view: View) -> Action:
    """The form of a ticket has no such field."""
    if any("due" in node.name.lower().split() for node in view.all("textbox")):
        raise PolicyError("there is a field for it, contrary to the goal")
    return GiveUp("tickets have no due date here")


register_plans(
    {
        # Give the check-in "A" the tag "b".
        "code-add-tag": add_tag,
        # Change the comment of the check-in "A" to "B".
        "code-edit-comment": lambda comment, after: (
            *find_check_in(comment),
            *change_check_in(fill_unnamed(after, 0)),
        ),
        # The tag "a" is on the wrong check-in. Cancel it there, and give it to "B" instead.
        "code-move-tag": lambda tag, comment: (
            press("Tags"),
            press(tag),
            first_check_in,
            *change_check_in(tick(f"Cancel tag {tag}")),
            *add_tag(comment, tag),
        ),
        "code-close-branch": close_branch,
        # Add a user with the login "a", the contact info "B", the password "c" and ...
        "admin-add-user": add_user,
        # Give the user "a" the capability "B", besides those held already.
        "admin-grant": lambda login, word: change_user(login, tick_capability(word)),
        # Take the capability "A" away from the user "b".
        "admin-revoke": lambda word, login: change_user(login, tick_capability(word, off=True)),
        # Set the contact info of the user "a" to "B".
        "admin-contact": lambda login, info: change_user(login, fill("Contact Info:", info)),
        # Rename the project to "A" and set its description to "B"
        "admin-project-name": lambda name, text: configure(
            "Configuration", fill("Project Name", name), fill("Project Description", text)
        ),
        # The word Timeline is in the main menu, too; the page about the settings comes later.
        "admin-timeline-rows": lambda count: (
            press("Admin"),
            lambda view: Click(view.all("link", name="Timeline")[-1].mark),
            fill("Default Number Of Rows", count),
            push("Apply Changes"),
        ),
        # From now on "wiki" changes should wait for the approval of a moderator.
        "admin-moderation": lambda what: configure("Moderation", tick(f"Moderate {what} changes")),
        # Make a copy of the ticket report "A" and call the copy "B".
        "admin-copy-report": lambda old, title: (
            press("Tickets"),
            press("Reports"),
            lambda view: view.after(view.find("link", name=old)).click(name="copy"),
            fill("Report Title:", title),
            push("Apply Changes"),
        ),
        # A user, then a line in the wiki.
        "admin-welcome-member": lambda login, info, secret, word, line, page: (
            *add_user(login, info, secret, word),
            *open_page(page),
            *append_line(line),
        ),
        "impossible-missing-ticket": find_no_ticket,
        "impossible-due-date": lambda day, title: (
            *find_ticket(title),
            press("Edit"),
            find_no_due_date,
        ),
        # The page offers nothing to edit it with.
        "impossible-reader-wiki": lambda page, line: (
            *open_page(page),
            unless_found("Edit", "this login may not edit the wiki"),
        ),
        "impossible-missing-page": lambda page: (
            press("Wiki"),
            press("List"),
            unless_found(page, f"there is no page {page!r}"),
        ),
        # The menu has no administration.
        "impossible-grant": lambda *_: (unless_found("Admin", "this login may not change users"),),
        "impossible-missing-thread": lambda title, text: (
            press("Forum"),
            unless_found(title, f"there is no thread {title!r}"),
        ),
        "impossible-missing-tag": lambda tag: (
            press("Tags"),
            unless_found(tag, f"there is no tag {tag!r}"),
        ),
    }
)
