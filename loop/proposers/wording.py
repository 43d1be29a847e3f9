"""Goals as words: the values they name, how alike two are, and whether one asks for two things."""

import re
from collections.abc import Iterator
from itertools import pairwise

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)|«([^»]+)»")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<![.?!:]\s)(?<!^)(?<![\"“'«])\b[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*")
_STOP = frozenset(
    """
    a an and any are as at be by can could do for from has have i if in into is it its kindly like
    me my of on onto or our please so some such than that the their them then there these they this
    those to under up via want was were where which will with would you your
    """.split()  # noqa: SIM905
)
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e"), ("s", ""))


def words(text: str) -> list[str]:
    """Return the words in lower case, in order."""
    return [word.casefold() for word in _WORD.findall(text)]


def stem(word: str) -> str:
    """Return the word without a plural's or a verb's ending, roughly."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return (word[: -len(ending)] + instead).rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


def content(text: str) -> frozenset[str]:
    """Return the words that carry meaning, by their stems."""
    return frozenset(stem(word) for word in words(text) if word not in _STOP)


def values(text: str) -> frozenset[str]:
    """Return what a goal names exactly, in lower case: quoted words, numbers and names."""
    quoted = ["".join(groups) for groups in _QUOTED.findall(text)]
    rest = _QUOTED.sub(" ", text)
    found = [*quoted, *_NUMBER.findall(rest), *(match[0] for match in _NAME.finditer(rest))]
    return frozenset(" ".join(value.casefold().split()) for value in found)


def shingles(text: str) -> frozenset[str]:
    """Return runs of four letters over the meaningful words.

    They forgive endings and the order of phrases.
    """
    kept = [f" {stem(word)} " for word in words(text) if word not in _STOP]
    return frozenset(w[i : i + 4] for w in kept for i in range(max(1, len(w) - 3)))


def likeness(one: str, other: str) -> float:
    """Return how alike two goals are, 0 to 1.

    By common words or common runs of letters (Jaccard), whichever sees more, or where one holds
    nearly all of the other by that share.
    """
    first, second = content(one), content(other)
    if not first or not second:
        return float(one.casefold().split() == other.casefold().split())
    shorter = min(len(first), len(second))
    held = len(first & second) / shorter
    return max(
        _jaccard(first, second),
        _jaccard(shingles(one), shingles(other)),
        held - 0.2 if shorter >= 4 else 0.0,
    )


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


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
_COMPLETIONS = frozenset(
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
_QUOTED_TEXT = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
_LEADING = frozenset(
    """
    please then also finally next first secondly second additionally separately afterwards
    besides and furthermore moreover after
    """.split()  # noqa: SIM905
)


def find_second_goal(goal: str) -> str:
    """Return why a goal asks for two unrelated things; empty if it does not.

    Two clauses that both ask for something are one aim where the second speaks of the first (`it`,
    `its`, `the result`, a common word), where the first leads up to it (`find`, `open`) or where it
    only completes the first (`submit`, `save`, `tell`).
    """
    asking = [clause for clause in _split_clauses(goal) if clause[1]]
    for (before, first), (after, second) in pairwise(asking):
        if not _belong_together(before, first, after, second):
            return f"it asks for two things: {before.strip()[:60]!r} and {after.strip()[:60]!r}"
    return ""


def _split_clauses(goal: str) -> Iterator[tuple[str, str]]:
    """Yield each clause with the act it asks for; without one it belongs to the clause before."""
    quoted: list[str] = []

    def hide(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"QUOTED{len(quoted) - 1}Q"

    for sentence in _SENTENCE.split(_QUOTED_TEXT.sub(hide, goal)):
        for place, part in enumerate(_BREAK.split(sentence)):
            text = re.sub(r"QUOTED(\d+)Q", lambda match: quoted[int(match[1])], part)
            yield text, _find_act(re.sub(r"QUOTED\d+Q", "", part), is_first=not place)


def _find_act(clause: str, is_first: bool) -> str:
    """Return what a clause asks for; empty where it asks for nothing.

    The verb it begins with, a question word where a sentence begins with it, `should` for a wish.
    """
    found = words(_ASIDE.sub("", clause.strip()))
    while found and found[0] in _LEADING:
        found = found[1:]
    if not found:
        return ""
    if found[0] in _ACTS or (is_first and found[0] in _QUESTIONS):
        return found[0]
    return "should" if _WISHED.search(clause) else ""


def _belong_together(before: str, first: str, after: str, second: str) -> bool:
    named = _QUOTED_TEXT.search(after)
    if _BACKWARD & set(words(after[: named.start()] if named else after)):
        return True
    outside = words(_QUOTED_TEXT.sub(" ", after))
    if (second in _COMPLETIONS - {first} and not named) or len(outside) <= 2:
        return True
    if first in _PREPARATIONS and not _ALSO.search(after):
        return True
    if named and _QUOTED_TEXT.search(before):
        return bool(_value_words(before) & _value_words(after))
    own = content(before) - {stem(first)}
    other = content(after) - {stem(second)}
    return not own or not other or bool(own & other)


def _value_words(clause: str) -> set[str]:
    """Return the words of what a clause names, short ones left out."""
    return {word for value in values(clause) for word in words(value) if len(word) > 3}
