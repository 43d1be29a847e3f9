"""Aims: whether a goal asks for one thing, in however many steps, or for two."""

import re
from collections.abc import Iterator
from itertools import pairwise

from tasks.proposers.wording import content, stem, words

_ACTS = frozenset(
    """
    add append apply archive approve arrange assign attach book buy calculate cancel change check
    choose clear close comment compare complete compose configure copy count create cut deactivate
    decrease delete describe determine disable discard download draft drag draw drop duplicate edit
    enable enter export extract fill filter find flag follow format forward generate get give
    highlight identify import increase insert install invite join leave like list locate look lower
    mark merge modify move name navigate open order paste pin place play post print publish purchase
    put raise rate read register reject remove rename reopen reorder reply report request resize
    resolve restore retrieve retweet return review revert save schedule scroll search see select
    send set share show sign sort split star start stop submit subscribe switch tag tell toggle turn
    type uncheck unpin unsubscribe update upgrade upload use view visit vote watch write
    """.split()  # noqa: SIM905
)
_QUESTIONS = frozenset(("what", "which", "who", "whom", "whose", "when", "where", "how", "why"))
_PREPARATIONS = frozenset(
    """
    find locate look search open visit view navigate go see sign log get use scroll select
    choose switch start check
    """.split()  # noqa: SIM905
)
"""Acts that lead up to another; what follows them is the aim."""
_ENDINGS = frozenset(
    """
    submit save confirm press click finish tell answer report give return reply post apply
    send place print name list state close cancel show hit set
    """.split()  # noqa: SIM905
)
"""Acts that complete the one before them."""
_BACKWARD = frozenset(
    """
    it its them they their this that these those same one ones both there result results
    answer him her his former latter above each
    """.split()  # noqa: SIM905
)
_BREAK = re.compile(
    r"(?:[.?!]\s+|;\s*|\n+|,?\s+and then\s+|,\s*then\s+|,?\s+and also\s+|,\s*and\s+|\s+and\s+|,\s+)"
    r"(?=[A-Za-z])",
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
_LEADING = frozenset(
    """
    please then also finally next first secondly second additionally separately afterwards
    besides and furthermore moreover after
    """.split()  # noqa: SIM905
)


def second_aim(goal: str) -> str:
    """Why a goal asks for two things that have nothing to do with each other; empty if it does not.

    Two clauses that both ask for something are one aim where the second speaks of the first (`it`,
    `its`, `the result`, a common word), where the first leads up to it (`find`, `open`) or where it
    only completes the first (`submit`, `save`, `tell`).
    """
    asked = [clause for clause in _clauses(goal) if clause[1]]
    for (before, first), (after, second) in pairwise(asked):
        if not _belong(before, first, after, second, goal):
            return f"it asks for two things: {before.strip()[:60]!r} and {after.strip()[:60]!r}"
    return ""


def _clauses(goal: str) -> Iterator[tuple[str, str]]:
    """Each clause with the act it begins with; without one it belongs to the clause before."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"QUOTED{len(kept) - 1}Q"

    hidden = _QUOTED.sub(keep, goal)
    for part in _BREAK.split(hidden):
        text = re.sub(r"QUOTED(\d+)Q", lambda match: kept[int(match[1])], part)
        yield text, _act(words(re.sub(r"QUOTED\d+Q", "", part)))


def _act(found: list[str]) -> str:
    """The verb or the question word that a clause begins with; empty where it has none."""
    while found and found[0] in _LEADING:
        found = found[1:]
    return found[0] if found and found[0] in (_ACTS | _QUESTIONS) else ""


def _belong(before: str, first: str, after: str, second: str, goal: str) -> bool:
    if first in _PREPARATIONS or second in _ENDINGS - {first}:
        return True
    if _BACKWARD & set(words(after)):
        return True
    own = content(before) - {stem(first)}
    other = content(after) - {stem(second)}
    return not own or not other or bool(own & other)
