"""Aims: whether a goal asks for one thing, in however many steps, or for two."""

import re
from collections.abc import Iterator
from itertools import pairwise

from loop.proposers.wording import content, stem, values, words

_ACTS = frozenset(
    """
    add answer append apply approve archive arrange assign attach begin book buy calculate
    cancel change check choose clear close comment compare complete compose configure copy
    correct count create cut deactivate decrease delete describe determine disable discard
    download draft drag draw drop duplicate edit enable enter export extract fill filter
    find flag follow format forward generate get give grant highlight identify import
    increase insert install invite join leave like list locate look lower mark merge modify
    move name navigate open order paste pin place play post print publish purchase put raise
    rate read register reject remove rename reopen reorder reply report request require
    resize resolve restore retrieve return retweet revert review save schedule scroll search
    see select send set share show sign sort split star start stop submit subscribe switch
    take tell toggle turn uncheck unpin unsubscribe update upgrade upload use view visit
    vote watch write
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
    answer him her his former latter above each others other else rest everything nothing
    here above below
    """.split()  # noqa: SIM905
)
_SENTENCE = re.compile(r"(?:(?<=[.?!])\s+|;\s*|\n+)(?=\w)")
_BREAK = re.compile(r"(?:,?\s+and then|,\s*then|,?\s+and also|,?\s+and)\s+(?=\w)", re.IGNORECASE)
_ASIDE = re.compile(
    r"^(?:in|on|at|for|from|under|of|with|within)\b[^,]{3,80},\s*(?=\w)", re.IGNORECASE
)
"""What a clause may begin with before it says what is asked for."""
_ALSO = re.compile(
    r"^\W*(?:also|additionally|separately|besides|furthermore|moreover)\b", re.IGNORECASE
)
_WISHED = re.compile(r"\b(?:should|must|has to|have to|needs? to|is to|are to)\b", re.IGNORECASE)
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
        if not _belong(before, first, after, second):
            return f"it asks for two things: {before.strip()[:60]!r} and {after.strip()[:60]!r}"
    return ""


def _clauses(goal: str) -> Iterator[tuple[str, str]]:
    """Each clause with the act it asks for; without one it belongs to the clause before."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"QUOTED{len(kept) - 1}Q"

    hidden = _QUOTED.sub(keep, goal)
    for sentence in _SENTENCE.split(hidden):
        for place, part in enumerate(_BREAK.split(sentence)):
            text = re.sub(r"QUOTED(\d+)Q", lambda match: kept[int(match[1])], part)
            yield text, _act(re.sub(r"QUOTED\d+Q", "", part), is_first=not place)


def _act(clause: str, is_first: bool) -> str:
    """What a clause asks for: the verb it begins with, a question word where a sentence begins with
    it, `should` for a wish; empty where it asks for nothing."""
    found = words(_ASIDE.sub("", clause.strip()))
    while found and found[0] in _LEADING:
        found = found[1:]
    if not found:
        return ""
    if found[0] in _ACTS or (is_first and found[0] in _QUESTIONS):
        return found[0]
    return "should" if _WISHED.search(clause) else ""


def _belong(before: str, first: str, after: str, second: str) -> bool:
    named = _QUOTED.search(after)
    if _BACKWARD & set(words(after[: named.start()] if named else after)):
        return True
    said = words(_QUOTED.sub(" ", after))
    if (second in _ENDINGS - {first} and not named) or len(said) <= 2:
        return True
    if first in _PREPARATIONS and not _ALSO.search(after):
        return True
    if named and _QUOTED.search(before):
        return bool(_telling(before) & _telling(after))
    own = content(before) - {stem(first)}
    other = content(after) - {stem(second)}
    return not own or not other or bool(own & other)


def _telling(clause: str) -> set[str]:
    """The words of what a clause names, short ones left out."""
    return {word for value in values(clause) for word in words(value) if len(word) > 3}
