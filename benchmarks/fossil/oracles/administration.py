"""Oracles for check-ins and administration on Fossil, and for what cannot be done there."""

from benchmarks.fossil.oracles.pages import done
from benchmarks.fossil.oracles.steps import (
    Move,
    appended,
    edit_page,
    fill,
    fill_unnamed,
    find_ticket,
    first_check_in,
    number_of,
    open_page,
    press,
    push,
    quoted,
    tick,
    untick,
    walk,
)
from benchmarks.oracles import View, oracle
from webagent.action import Action
from webagent.action.actions import Check, Click, GiveUp
from webagent.errors import PolicyError

_NEW_TAG = "Add the following new tag name to this check-in:"


def find_check_in(comment: str) -> tuple[Move, ...]:
    """From any page to a check-in, by the timeline: two moves."""

    def follow(view: View) -> Action:
        line = next((node for node in view.page.nodes if node.name == comment), None)
        if line is None:
            raise PolicyError(f"expected a check-in {comment!r} in the timeline, found none")
        return Click(view.after(line).find("link").mark)

    return (press("Timeline"), follow)


def change_check_in(*moves: Move) -> tuple[Move, ...]:
    """On a check-in: open its form, make changes, apply them."""
    return (press("edit"), *moves, push("Preview"), push("Apply Changes"))


@oracle("code-add-tag")
def add_tag(view: View) -> Action:
    """`Give the check-in "A" the tag "b".`"""
    comment, tag = quoted(view)
    moves = (tick(_NEW_TAG), fill_unnamed(tag, 1))
    return walk(view, *find_check_in(comment), *change_check_in(*moves), done)


@oracle("code-edit-comment")
def edit_comment(view: View) -> Action:
    """`Change the comment of the check-in "A" to "B".`"""
    comment, after = quoted(view)
    return walk(view, *find_check_in(comment), *change_check_in(fill_unnamed(after, 0)), done)


@oracle("code-move-tag")
def move_tag(view: View) -> Action:
    """`The tag "a" is on the wrong check-in. Cancel it there, and give it to "B" instead.`"""
    tag, comment = quoted(view)

    old = (press("Tags"), press(tag), first_check_in, *change_check_in(tick(f"Cancel tag {tag}")))
    new = change_check_in(tick(_NEW_TAG), fill_unnamed(tag, 1))
    return walk(view, *old, *find_check_in(comment), *new, done)


@oracle("code-close-branch")
def close_branch(view: View) -> Action:
    """The newest check-in of a branch is the first one in its timeline."""
    (branch,) = quoted(view)

    def mark(now: View) -> Action:
        boxes = [node for node in now.all("checkbox") if node.name.startswith("Mark ")]
        return Check(now.first(boxes, "a box that closes the branch").mark)

    way = (press("Branches"), press(branch), first_check_in)
    return walk(view, *way, *change_check_in(mark), done)


def open_user(login: str) -> tuple[Move, ...]:
    """From any page to the page about a user: three moves."""

    def follow(view: View) -> Action:
        users = view.after(next(node for node in view.page.nodes if node.name == "Alerts"))
        return Click(users.find("link", name=login).mark)

    return (press("Admin"), press("Users"), follow)


def user_form(login: str, info: str, secret: str, *words: str) -> tuple[Move, ...]:
    """From any page: a new user with these capabilities."""
    return (
        press("Admin"),
        press("Users"),
        press("Add"),
        fill("Login:", login),
        fill("Contact Info:", info),
        *(ticked(word) for word in words),
        fill("Password:", secret),
        push("Apply Changes"),
    )


def ticked(word: str) -> Move:
    """Tick a capability, whose name may be followed by whom it is inherited from."""
    return lambda view: tick(_box(view, word))(view)


def _box(view: View, word: str) -> str:
    boxes = [node for node in view.all("checkbox") if node.name.partition("[")[0] == word]
    return view.first(boxes, f"a box for {word}").name


@oracle("admin-add-user")
def add_user(view: View) -> Action:
    """`Add a user with the login "a", the contact info "B", the password "c" and ...`"""
    return walk(view, *user_form(*quoted(view)), done)


@oracle("admin-grant")
def grant(view: View) -> Action:
    """`Give the user "a" the capability "B", besides those held already.`"""
    login, word = quoted(view)
    return walk(view, *open_user(login), ticked(word), push("Apply Changes"), done)


@oracle("admin-revoke")
def revoke(view: View) -> Action:
    """`Take the capability "A" away from the user "b".`"""
    word, login = quoted(view)

    def clear(now: View) -> Action:
        return untick(_box(now, word))(now)

    return walk(view, *open_user(login), clear, push("Apply Changes"), done)


@oracle("admin-contact")
def change_contact(view: View) -> Action:
    """`Set the contact info of the user "a" to "B".`"""
    login, info = quoted(view)
    moves = (fill("Contact Info:", info), push("Apply Changes"))
    return walk(view, *open_user(login), *moves, done)


def configure(page: str, *moves: Move) -> tuple[Move, ...]:
    """From any page: make changes on a page of settings and apply them."""
    return (press("Admin"), press(page), *moves, push("Apply Changes"))


@oracle("admin-project-name")
def project_name(view: View) -> Action:
    """`Rename the project to "A" and set its description to "B"`"""
    name, text = quoted(view)
    moves = (fill("Project Name", name), fill("Project Description", text))
    return walk(view, *configure("Configuration", *moves), done)


@oracle("admin-timeline-rows")
def timeline_rows(view: View) -> Action:
    """The word Timeline is in the main menu, too; the page about the settings comes later."""
    (count,) = quoted(view)

    def open_settings(now: View) -> Action:
        return Click(now.all("link", name="Timeline")[-1].mark)

    moves = (fill("Default Number Of Rows", count), push("Apply Changes"))
    return walk(view, press("Admin"), open_settings, *moves, done)


@oracle("admin-moderation")
def moderation(view: View) -> Action:
    """`From now on "wiki" changes should wait for the approval of a moderator.`"""
    (what,) = quoted(view)
    return walk(view, *configure("Moderation", tick(f"Moderate {what} changes")), done)


@oracle("admin-copy-report")
def copy_report(view: View) -> Action:
    """`Make a copy of the ticket report "A" and call the copy "B".`"""
    old, title = quoted(view)

    def copy(now: View) -> Action:
        return Click(now.after(now.find("link", name=old)).find("link", name="copy").mark)

    form = (fill("Report Title:", title), push("Apply Changes"))
    return walk(view, press("Tickets"), press("Reports"), copy, *form, done)


@oracle("admin-welcome-member")
def welcome(view: View) -> Action:
    """A user, then a line in the wiki."""
    login, info, secret, word, line, page = quoted(view)
    user = user_form(login, info, secret, word)
    return walk(view, *user, *open_page(page), *edit_page(appended(line)), done)


def unless_found(name: str, reason: str) -> Move:
    """Give up where the page has no such link; it would be a mistake to look no further."""

    def move(view: View) -> Action:
        if view.all("link", name=name):
            raise PolicyError(f"{name!r} is there after all")
        return GiveUp(reason)

    return move


@oracle("impossible-missing-ticket")
def missing_ticket(view: View) -> Action:
    """Not in the report of all tickets."""
    (title,) = quoted(view)

    def look(now: View) -> Action:
        try:
            number_of(now, title)
        except PolicyError:
            return GiveUp(f"there is no ticket {title!r}")
        raise PolicyError(f"{title!r} is there after all")

    return walk(view, press("Tickets"), press("Reports"), press("All Tickets"), look)


@oracle("impossible-due-date")
def due_date(view: View) -> Action:
    """The form of the ticket has no such field."""
    _, title = quoted(view)

    def look(now: View) -> Action:
        if any("due" in node.name.lower().split() for node in now.all("textbox")):
            raise PolicyError("there is a field for it after all")
        return GiveUp("tickets have no due date here")

    return walk(view, *find_ticket(title), press("Edit"), look)


@oracle("impossible-reader-wiki")
def reader_wiki(view: View) -> Action:
    """The page offers nothing to edit it with."""
    page, _ = quoted(view)
    return walk(view, *open_page(page), unless_found("Edit", "this login may not edit the wiki"))


@oracle("impossible-missing-page")
def missing_page(view: View) -> Action:
    """Not in the list of pages."""
    (page,) = quoted(view)
    look = unless_found(page, f"there is no page {page!r}")
    return walk(view, press("Wiki"), press("List"), look)


@oracle("impossible-grant")
def grant_without_rights(view: View) -> Action:
    """The menu has no administration."""
    return walk(view, unless_found("Admin", "this login may not change users"))


@oracle("impossible-missing-thread")
def missing_thread(view: View) -> Action:
    """Not in the forum's list."""
    title, _ = quoted(view)
    return walk(view, press("Forum"), unless_found(title, f"there is no thread {title!r}"))


@oracle("impossible-missing-tag")
def missing_tag(view: View) -> Action:
    """Not in the list of tags."""
    (tag,) = quoted(view)
    return walk(view, press("Tags"), unless_found(tag, f"there is no tag {tag!r}"))
