"""Elements of a page by what tells them from others, and addresses of a site that has moved.

Programs name an element's role, name, row and the text before it in their steps; a replay reads
them off the recorded page.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher
from urllib.parse import urlsplit, urlunsplit

from webagent.memory.goals import clean
from webagent.memory.pages import is_within, read_page
from webagent.records import Node, Observation

_MOST_BESIDE = 8
"""Texts on one side of an element that may tell which it is."""


def plain(text: str) -> str:
    """Return a text for comparing: in lower case, with single spaces."""
    return clean(text).lower()


def bare(text: str) -> str:
    """Return a text for comparing names: `plain`, punctuation at its ends laid aside."""
    return plain(text).strip(" .:…!*›»>") or plain(text)


def describe_element(node: Node) -> str:
    """Return an element in a person's words."""
    name = f' "{node.name}"' if node.name else " without a name"
    return f"{node.role}{name}"


def line_of(page: Observation, node: Node) -> int:
    """Return at which place of a page an element stands."""
    return next(i for i, each in enumerate(page.nodes) if each is node)


def row_texts(page: Observation, node: Node) -> list[str]:
    """Return the texts in the row of an element, without what the row's fields hold."""
    read = read_page(page)
    line = line_of(page, node)
    return [
        plain(unit.text)
        for at in read.row_lines(line)
        if page.nodes[at].role != "option"
        for unit in read.units_of(at)
        if unit.text and not (page.nodes[at].value and unit.text == clean(page.nodes[at].value))
    ]


def text_before(page: Observation, node: Node) -> str:
    """Return the static text that stands nearest before an element."""
    line = line_of(page, node)
    before = (n.name for n in reversed(page.nodes[:line]) if not n.mark and n.name.strip())
    return clean(next(before, ""))


def texts_beside(
    page: Observation, line: int, alike: Sequence[int] = (), *, is_after: bool = False
) -> list[str]:
    """Return the texts before or after a line, nearest first, up to the next one `alike` it."""
    start = max((other for other in alike if other < line), default=-1)
    end = min((other for other in alike if other > line), default=len(page.nodes))
    nodes = page.nodes[line + 1 : end] if is_after else page.nodes[start + 1 : line][::-1]
    return [t for n in nodes if n.role != "option" and (t := plain(n.name))][:_MOST_BESIDE]


def has_all(wanted: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether each of the wanted texts stands in one of the texts, as words."""
    return all(any(is_within(each, text) for text in texts) for each in wanted)


def find_elements(
    page: Observation, role: str, name: str, row: Sequence[str], after: str, *, is_text: bool
) -> list[Node]:
    """Return the elements of a role, in order, that are called `name`, stand right `after` a text
    and in a row with texts, so far as these are given; with `is_text` static text counts, too."""
    name, after, wanted = plain(name), plain(after), [plain(each) for each in row]
    found = [
        node
        for node in page.nodes
        if (node.mark or is_text)
        and node.role == role
        and (not name or plain(node.name) == name)
        and (not after or plain(text_before(page, node)) == after)
    ]
    rows = [(node, row_texts(page, node)) for node in found] if row else []
    # A whole cell counts before a longer text that holds the words, too.
    whole = [node for node, texts in rows if all(each in texts for each in wanted)]
    return (whole or [n for n, texts in rows if has_all(wanted, texts)]) if row else found


def find_nearest(page: Observation, role: str, name: str) -> Node | None:
    """Return the element that is most like one that is missing, to be proposed to a person."""
    scored = [
        (compare_names(name, node.name) + (node.role == role), -at)
        for at, node in enumerate(page.nodes)
        if node.mark and node.name and (node.role, plain(node.name)) != (role, plain(name))
    ]
    best = max(scored, default=(0.0, 0))
    return page.nodes[-best[1]] if best[0] > 1 else None


def compare_names(one: str, other: str) -> float:
    """Return how alike two names are, from 0 to 1: by shared words, else by letters."""
    first, second = bare(one), bare(other)
    if first == second:
        return 1.0
    if not first or not second:
        return 0.0
    mine, its = set(first.split()), set(second.split())
    shared = len(mine & its)
    by_words = 2 * shared / (len(mine) + len(its))
    if shared and (mine <= its or its <= mine):
        by_words = max(by_words, 0.8)
    by_letters = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return max(by_words, by_letters if by_letters >= 0.75 else 0.4 * by_letters)


def rebase(url: str, old: str, new: str) -> str:
    """Return an address of the site of `old` at the site of `new`; any other as it is."""
    parts, before, after = urlsplit(url), urlsplit(old), urlsplit(new)
    if not new or (parts.scheme, parts.netloc) != (before.scheme, before.netloc):
        return url
    return urlunsplit(parts._replace(scheme=after.scheme, netloc=after.netloc))
