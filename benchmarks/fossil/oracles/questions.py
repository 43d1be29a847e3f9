"""Oracles for questions on Fossil: go where it stands, read it, answer."""

import itertools
import re

from benchmarks.fossil.oracles.steps import (
    DAY,
    NUMBER,
    cells,
    find_ticket,
    first_day,
    line_with,
    open_page,
    press,
    quoted,
    walk,
)
from benchmarks.oracles import View, oracle
from webagent.action import Action
from webagent.action.actions import Answer
from webagent.errors import PolicyError

_PAGES_BY_WORD = {
    "candidate": "Release process",
    "manager": "Release process",
    "headings": "Manual writing notes",
    "watch mode": "Manual building a site",
    "exit status": "Manual building a site",
    "style sheet": "Manual themes",
    "titles count": "Manual search",
    "EPUB": "Manual exporting",
    "PDF": "Manual exporting",
    "disk": "Installation guide",
    "working days": "Reporting problems",
    "reproduce": "Reporting problems",
    "characters": "Coding style",
    "merged": "Contributing",
    "mirror": "Mirrors",
    "minutes": "Meetings",
    "planned": "Road map",
    "town": "Team",
    "contrast": "Accessibility",
}
"""Where a reader of the list of pages would look."""
_FACTS = {
    "candidate": r"is tried for (\d+) days",
    "deputy": r"deputy is (\w+)",
    "manager": r"release manager is (\w+)",
    "headings": r"at most (\d+) headings",
    "watch mode": r"^(\w)$",
    "exit status": r"exit status (\d+)",
    "style sheet": r"at most (\d+) kilobytes",
    "titles count": r"Titles count (\w+) times",
    "EPUB": r"have (\d+) pixels",
    "PDF": r"program (\w+)",
    "disk": r"about (\d+) megabytes",
    "working days": r"within (\d+) working days",
    "reproduce": r"closed after (\d+) days",
    "characters": r"at most (\d+) characters",
    "merged": r"(\w+) developers have to agree",
    "mirror": r"(\w+) \| \w+ \| once a day",
    "minutes": r"kept by (\w+)",
    "planned": r"(\d\.\d) \| December 2024",
    "town": r"Jonas Weber \| jonas \| \w+ \| (\w+)",
    "contrast": r"at least ([\d.]+) to 1",
}


@oracle("ticket-find-field")
def find_field(view: View) -> Action:
    """`There is a ticket with the title "A". What is its severity?`"""
    (title,) = quoted(view)
    labels = {"severity": "Severity:", "priority": "Priority:", "found in": "Version Found In:"}
    label = next(label for word, label in labels.items() if word in view.goal.replace(title, ""))
    return walk(view, *find_ticket(title), lambda now: Answer(cells(now, label)))


@oracle("ticket-who-closed")
def who_closed(view: View) -> Action:
    """The history has who set the status to Closed."""
    (title,) = quoted(view)

    def read(now: View) -> Action:
        changes = " ".join(node.name for node in now.page.nodes).split("Ticket change")
        closing = [part for part in changes if 'status changed to: "Closed"' in part]
        login = re.search(r'login: "(\w+)"', closing[-1] if closing else "")
        if login is None:
            raise PolicyError(f"expected who closed it, found {len(changes)} other changes")
        return Answer(login[1])

    return walk(view, *find_ticket(title), press("History"), read)


@oracle("ticket-who-wrote")
def who_wrote(view: View) -> Action:
    """The author stands above the remark."""
    said, title = quoted(view)

    def read(now: View) -> Action:
        nodes = now.page.nodes
        place = next(i for i, node in enumerate(nodes) if node.name == said)
        return Answer(nodes[place - 1].name.split(" added on ")[0])

    return walk(view, *find_ticket(title), read)


def _rows(view: View, columns: int) -> list[list[str]]:
    rows = [node.name.split(" | ") for node in view.page.nodes]
    return [row for row in rows if len(row) == columns]


@oracle("ticket-count-status")
def count_status(view: View) -> Action:
    """Counted in the report of all tickets."""
    wanted = list(reversed(quoted(view)))

    def read(now: View) -> Action:
        return Answer(str(sum(row[2:4] == wanted for row in _rows(now, 5))))

    return walk(view, press("Tickets"), press("Reports"), press("All Tickets"), read)


@oracle("ticket-count-severe")
def count_severe(view: View) -> Action:
    """Counted in the report with severities."""
    severity, subsystem = quoted(view)

    def read(now: View) -> Action:
        rows = [row for row in _rows(now, 5) if (row[0], row[3]) == (severity, subsystem)]
        return Answer(str(sum(row[2] != "Closed" for row in rows)))

    return walk(view, press("Tickets"), press("Reports"), press("By Severity"), read)


@oracle("wiki-read-option")
def read_option(view: View) -> Action:
    """`According to the wiki page "A", what is the default of the option "b"?`"""
    page, name = quoted(view)
    return walk(view, *open_page(page), lambda now: Answer(cells(now, name)))


@oracle("wiki-find-fact")
def find_fact(view: View) -> Action:
    """The page is known by a word of the question."""
    word = next(word for word in _PAGES_BY_WORD if word in view.goal)
    fact = _FACTS["deputy" if "deputy" in view.goal else word]

    moves = open_page(_PAGES_BY_WORD[word])
    return walk(view, *moves, lambda now: Answer(now.search(fact)[0]))


@oracle("wiki-who-edited")
def who_edited(view: View) -> Action:
    """The history has the newest version first."""
    (page,) = quoted(view)
    place = 0 if "last" in view.goal.replace(page, "") else -1

    def read(now: View) -> Action:
        names = [
            node.name
            for node, following in zip(now.page.nodes, now.page.nodes[1:], strict=False)
            if following.role == "link" and following.name == "diff"
        ]
        return Answer(names[place])

    return walk(view, *open_page(page), press("History"), read)


@oracle("forum-count-replies")
def count_replies(view: View) -> Action:
    """Posts are numbered."""
    (title,) = quoted(view)

    def read(now: View) -> Action:
        posts = [node for node in now.page.nodes if re.match(r"\(\d+\) By ", node.name)]
        return Answer(str(len(posts) - 1))

    return walk(view, press("Forum"), press(title), read)


@oracle("forum-who-said")
def who_said(view: View) -> Action:
    """The author's login is the first link of a post."""
    title, said = quoted(view)

    def read(now: View) -> Action:
        nodes = now.page.nodes
        place = next(i for i, node in enumerate(nodes) if node.name.startswith(said))
        heads = [i for i in range(place) if re.match(r"\(\d+\) By ", nodes[i].name)]
        return Answer(nodes[heads[-1] + 1].name)

    return walk(view, press("Forum"), press(title), read)


@oracle("code-last-change")
def last_change(view: View) -> Action:
    """Of the first entry on the page of the file: its content, then the check-in."""
    (path,) = quoted(view)
    folder, _, name = path.partition("/")

    def read(now: View) -> Action:
        numbers = [node.name for node in now.all("link") if NUMBER.fullmatch(node.name)]
        return Answer(numbers[1].strip("[]"))

    return walk(view, press("Files"), press(folder), press(name), press(path), read)


@oracle("code-who-tagged")
def who_tagged(view: View) -> Action:
    """The page of the tag has the check-in."""
    (tag,) = quoted(view)

    def read(now: View) -> Action:
        day = first_day(now)
        if "day" in view.goal:
            return Answer(DAY.search(day.name)[0])  # type: ignore[index]
        return Answer(now.after(day).all("link")[2].name)

    return walk(view, press("Tags"), press(tag), read)


@oracle("code-find-branch")
def find_branch(view: View) -> Action:
    """The timeline has the branch of each check-in."""
    (comment,) = quoted(view)

    def read(now: View) -> Action:
        line = next(node for node in now.page.nodes if node.name == comment)
        below = now.after(line)
        return Answer(below.after(line_with(below, "tags:")).find("link").name)

    return walk(view, press("Timeline"), read)


@oracle("code-count-check-ins")
def count_check_ins(view: View) -> Action:
    """The timeline has all of them on one page."""
    (who,) = quoted(view)

    def read(now: View) -> Action:
        nodes = now.page.nodes
        users = [after.name for node, after in itertools.pairwise(nodes) if node.name == "user:"]
        return Answer(str(users.count(who)))

    return walk(view, press("Timeline"), read)
