"""Which elements and values a goal names, and what of them stands on a page."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from webagent.records import Node, Observation

_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]|(?<!\w)['‘]([^'’]+)['’](?!\w)")
_HANDLE = re.compile(r"[@#][\w.-]+")
_WORD = re.compile(r"[^\W_]+(?:[-.'@][^\W_]+)*")
_BESIDE = re.compile(r"\s*(?:\||:(?=\s))\s*")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_ALIKE = {"x": ("close", "×"), "×": ("close", "x")}
"""What elements are called whose sign a goal may quote."""
_NEAR = 0.72
_SEVERAL = 3
_LEAST_NEAR, _MOST_NEAR = 4, 80
"""Characters; shorter texts resemble each other by chance, longer ones are no values."""


def quoted(goal: str) -> tuple[str, ...]:
    """What the goal puts in quotation marks, or marks as a name with @ or #."""
    found = [a or b for a, b in _QUOTED.findall(goal)]
    return tuple(term.strip() for term in (*found, *_HANDLE.findall(goal)) if term.strip())


def names_in(goal: str) -> tuple[str, ...]:
    """What tells one thing from another like it: quoted terms, capitalised words, numbers."""
    rest = _QUOTED.sub(" ", goal)
    words = _WORD.findall(rest)[1:]
    marked = [word for word in words if word[:1].isupper() or word[:1].isdigit()]
    return (*quoted(goal), *marked)


def ordinal(goal: str) -> int | None:
    """Which one the goal asks for, counted from 1, where it asks for exactly one such."""
    found = {int(number) for number in _ORDINAL.findall(goal)}
    return found.pop() if len(found) == 1 else None


def wanted(page: Observation, goal: str) -> tuple[Node, ...]:
    """The elements whose names the goal has: quoted, or as words of its own.

    Beside quoted terms other words count only when they are capitalised. Where no element has the
    name that is quoted, elements of that kind are meant, as in `a "textarea" widget`.
    """
    terms = {_plain(term) for term in quoted(goal)}
    terms |= {other for term in terms for other in _ALIKE.get(term, ())}
    elements = [node for node in page.nodes if node.mark]
    named = tuple(n for n in elements if n.name.strip() and _is_named(n.name.strip(), goal, terms))
    return named or tuple(n for n in elements if n.kind.rpartition(":")[2] in terms)


def mentions(node: Node, names: Iterable[str]) -> bool:
    """Whether the element's name is a line of several words with one of these names in it."""
    return len(node.name.split()) >= _SEVERAL and any(stands_in(name, node.name) for name in names)


def stands_in(text: str, where: str) -> bool:
    """Whether the text stands there as words of their own, whatever their case."""
    plain = re.escape(_plain(text))
    return bool(plain) and re.search(rf"(?<!\w){plain}(?!\w)", _plain(where)) is not None


def near(text: str, where: Iterable[str]) -> str:
    """The text among these that resembles it most without being equal; empty for none."""
    mine = _plain(text)
    if not _LEAST_NEAR <= len(mine) <= _MOST_NEAR:
        return ""
    best, closeness = "", _NEAR
    for other in sorted(where):
        if abs(len(other) - len(mine)) > len(mine) // 3 or (theirs := _plain(other)) == mine:
            continue
        found = SequenceMatcher(None, mine, theirs, autojunk=False).ratio()
        if found >= closeness:
            best, closeness = other, found
    return best


def text_of(page: Observation) -> str:
    """Everything the observation has of the page, a line for each node."""
    lines = (" ".join((node.name, node.value, node.description)) for node in page.nodes)
    return "\n".join((page.title, *lines))


def pieces_of(page: Observation) -> list[str]:
    """Texts of the page that could be copied: names, values, and their single words."""
    whole = [text for node in page.nodes for text in (node.name, node.value) if text]
    return [*whole, *(word for text in whole for word in _WORD.findall(text))]


def labelled(page: Observation) -> list[tuple[str, str]]:
    """Capitalised labels with the values that stand beside them on the same line."""
    found = []
    for node in page.nodes:
        label, _, value = (part.strip() for part in _BESIDE.sub("\n", node.name, 1).partition("\n"))
        if label[:1].isupper() and value and not _BESIDE.search(value) and len(label) > 1:
            found.append((label, value))
    return found


def words_of(text: str) -> frozenset[str]:
    """The words of a text, without signs between them."""
    return frozenset(_WORD.findall(text.casefold()))


def is_same(one: str, other: str) -> bool:
    """Whether two texts are the same words, whatever their case and the space around them."""
    return _plain(one) == _plain(other)


def line_of(node: Node) -> str:
    """An element as it is quoted in evidence."""
    return f'[{node.mark}] {node.role} "{node.name}"' if node.mark else f'"{node.name}"'


def _is_named(name: str, goal: str, terms: set[str]) -> bool:
    if _plain(name) in terms:
        return True
    if terms and not name[0].isupper():
        return False
    exact = re.escape(name)
    return len(name) > 1 and re.search(rf"(?<![\w]){exact}(?![\w])", goal) is not None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
