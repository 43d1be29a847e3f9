"""Oracles for questions on Fossil: go where it stands, read it, answer."""

import itertools
import re
from collections.abc import Callable

from benchmarks.fossil.oracles.steps import (
    ALL_TICKETS,
    NUMBER,
    cells,
    find_ticket,
    first_day,
    line_with,
    open_page,
)
from benchmarks.fossil.tasks.template import CHOICES
from benchmarks.oracles import Move, Moves, View, planned, press, quoted, register_plans
from webagent.action.actions import Answer
from webagent.errors import PolicyError

_POST = r"\(\d+\) By "
"""The head of a forum post; posts are numbered."""


def answer(read: Callable[[View], str]) -> Move:
    """Answer with what is read on the page."""
    return lambda view: Answer(read(view))


def read_closer(view: View) -> str:
    """Return who set the status to Closed, from a ticket's history."""
    changes = " ".join(node.name for node in view.page.nodes).split("Ticket change")
    closing = [part for part in changes if 'status changed to: "Closed"' in part]
    login = re.search(r'login: "(\w+)"', closing[-1] if closing else "")
    if login is None:
        raise PolicyError(f"expected who closed it, found {len(changes)} other changes")
    return login[1]


def read_rows(view: View) -> list[list[str]]:
    """Return the rows of a report of tickets, which have five columns."""
    rows = [node.name.split(" | ") for node in view.page.nodes]
    return [row for row in rows if len(row) == 5]


def count_replies(view: View) -> str:
    """Return how many posts there are besides the first."""
    posts = [node for node in view.page.nodes if re.match(_POST, node.name)]
    return str(len(posts) - 1)


def find_author(remark: str, title: str) -> Moves:
    """The author stands above the remark."""

    def read(view: View) -> str:
        names = [node.name for node in view.page.nodes]
        return names[names.index(remark) - 1].split(" added on ")[0]

    return (*find_ticket(title), answer(read))


def count_severe(severity: str, subsystem: str) -> Moves:
    """Counted in the report with severities."""

    def count(view: View) -> str:
        rows = [row for row in read_rows(view) if (row[0], row[3]) == (severity, subsystem)]
        return str(sum(row[2] != "Closed" for row in rows))

    return (press("Tickets"), press("Reports"), press("By Severity"), answer(count))


def find_who_said(title: str, said: str) -> Moves:
    """The author's login is the first link of a post."""

    def read(view: View) -> str:
        nodes = view.page.nodes
        place = next(i for i, node in enumerate(nodes) if node.name.startswith(said))
        heads = [i for i in range(place) if re.match(_POST, nodes[i].name)]
        return nodes[heads[-1] + 1].name

    return (press("Forum"), press(title), answer(read))


def find_last_change(path: str) -> Moves:
    """Of the first entry on the page of the file: its content, then the check-in."""
    folder, _, name = path.partition("/")

    def read(view: View) -> str:
        numbers = [node.name for node in view.all("link") if NUMBER.fullmatch(node.name)]
        return numbers[1].strip("[]")

    return (press("Files"), press(folder), press(name), press(path), answer(read))


def find_branch(comment: str) -> Moves:
    """The timeline has the branch of each check-in."""

    def read(view: View) -> str:
        line = next(node for node in view.page.nodes if node.name == comment)
        below = view.after(line)
        return below.after(line_with(below, "tags:")).find("link").name

    return (press("Timeline"), answer(read))


def count_check_ins(who: str) -> Moves:
    """The timeline has all of them on one page."""

    def count(view: View) -> str:
        pairs = itertools.pairwise(view.page.nodes)
        return str([after.name for node, after in pairs if node.name == "user:"].count(who))

    return (press("Timeline"), answer(count))


register_plans(
    {
        "ticket-who-closed": lambda title: (
            *find_ticket(title),
            press("History"),
            answer(read_closer),
        ),
        "ticket-who-wrote": find_author,
        # Counted in the report of all tickets.
        "ticket-count-status": lambda subsystem, status: (
            *ALL_TICKETS,
            answer(lambda view: str(sum(r[2:4] == [status, subsystem] for r in read_rows(view)))),
        ),
        "ticket-count-severe": count_severe,
        # According to the wiki page "A", what is the default of the option "b"?
        "wiki-read-option": lambda page, name: (
            *open_page(page),
            answer(lambda view: cells(view, name)),
        ),
        "forum-count-replies": lambda title: (press("Forum"), press(title), answer(count_replies)),
        "forum-who-said": find_who_said,
        "code-last-change": find_last_change,
        "code-find-branch": find_branch,
        "code-count-check-ins": count_check_ins,
    }
)


@planned("ticket-find-field")
def find_field(view: View) -> Moves:
    """`There is a ticket with the title "A". What is its severity?`"""
    (title,) = quoted(view)
    labels = {"severity": "Severity:", "priority": "Priority:", "found in": "Version Found In:"}
    label = next(label for word, label in labels.items() if word in view.goal.replace(title, ""))
    return (*find_ticket(title), answer(lambda now: cells(now, label)))


@planned("wiki-find-fact")
def find_fact(view: View) -> Moves:
    """The page is where a reader of their list would look."""
    fact = next(fact for fact in CHOICES["facts"] if fact["question"] in view.goal)
    return (*open_page(fact["page"]), answer(lambda now: now.search(fact["says"])[0]))


@planned("wiki-who-edited")
def who_edited(view: View) -> Moves:
    """The history has the newest version first."""
    (page,) = quoted(view)
    place = 0 if "last" in view.goal.replace(page, "") else -1

    def read(now: View) -> str:
        pairs = itertools.pairwise(now.page.nodes)
        names = [node.name for node, link in pairs if (link.role, link.name) == ("link", "diff")]
        return names[place]

    return (*open_page(page), press("History"), answer(read))


@planned("code-who-tagged")
def who_tagged(view: View) -> Moves:
    """The page of the tag has the check-in."""
    (tag,) = quoted(view)

    def read(now: View) -> str:
        day = first_day(now)
        if "day" in view.goal:
            return day.name[:10]
        return now.after(day).all("link")[2].name

    return (press("Tags"), press(tag), answer(read))
