"""Validity: whether a task is one that can be done on this site and seen to be done."""

import re
import sqlite3
from calendar import month_name
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from itertools import pairwise

from loop.proposers.lexicon import LANGUAGES, find_listed
from loop.proposers.requests import SiteScope
from tasks.task import Refusal, Task

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)|«([^»]+)»")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<![.?!:]\s)(?<!^)(?<![\"“'«])\b[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*")
_STOP = find_listed("stop")
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


_ACTS = find_listed("acts")
_QUESTIONS = frozenset(("what", "which", "who", "whom", "whose", "when", "where", "how", "why"))
_PREPARATIONS = find_listed("preparations")
"""Acts that lead up to another; what follows them is the aim."""
_COMPLETIONS = find_listed("completions")
"""Acts that complete the one before them."""
_BACKWARD = find_listed("backward")
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
_LEADING = find_listed("leading")


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


_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


def _find_wrong_check(task: Task, scope: SiteScope) -> str:
    """Return why a task's checks could never be made; empty where they could.

    Whether they ask for the right thing is proven by solving.
    """
    if not task.checks:
        return "it has queries and no check that uses them" if task.queries else ""
    evidence = {check.evidence for check in task.checks}
    if (task.queries or "changes" in evidence) and not scope.tables:
        return "its checks ask a database, and the site has none"
    known = {"episode.answer", "episode.said", "episode.ending", "episode.url"}
    known |= {*task.queries, *task.evidence, *(probe.name for probe in task.probes)}
    known |= {*task.records, *(["changes"] if scope.tables else [])}
    for check in task.checks:
        if check.evidence not in known:
            return f"a check is of {check.evidence!r}, which nothing captures"
        if scope.rules and check.rule not in scope.rules:
            return f"a check uses the rule {check.rule!r}, which is not offered"
    if unused := task.queries.keys() - evidence:
        return f"no check uses the query {min(unused)!r}"
    problems = (_find_wrong_query(name, query, scope) for name, query in task.queries.items())
    return next(filter(None, problems), "")


def _find_wrong_query(name: str, query: str, scope: SiteScope) -> str:
    """Return why a query does more than read these tables; it is compiled, never run on rows."""

    def quote(column: str) -> str:
        return '"' + column.replace('"', '""') + '"'

    with closing(sqlite3.connect(":memory:")) as database:
        for table, columns in scope.tables.items():
            listed = ", ".join(map(quote, columns)) or '"rowid_only"'
            database.execute(f"CREATE TABLE {quote(table)} ({listed})")
        database.set_authorizer(
            lambda action, *place: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
        )
        try:
            database.execute(f"EXPLAIN {query}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            return f"the query {name!r} cannot be asked: {error}"
    return ""


_LONGEST = 150
_SLOT = re.compile(
    r"\{\{?[^{}\"]*\}?\}|\$\{?[A-Z_]{3,}\}?|\[[A-Za-z][\w .'-]*\]|<[a-z][\w -]*>|_{3,}"
    r"|\b(?:TODO|TBD|XXX+|FIXME|lorem ipsum)\b"
)
_SLOT_IN_QUOTES = re.compile(
    r"[\"“]\s*(?:\{\{?[^{}\"]*\}?\}|<[\w .'-]+>|\[[\w .'-]+\]|_{3,}|\$\{?[A-Z_]{3,}\}?)\s*[\"”]"
)
"""A quoted text that is a slot from end to end; others may hold brackets of their own."""
_IN_QUOTES = re.compile(r"\"[^\"]*\"|“[^”]*”")
_ENDLESS = re.compile(
    r"\b(?:explore|browse(?: around| through)?|get (?:familiar|to know|an overview)|familiari[sz]e"
    r"|learn (?:more )?about|look around|have a look|check out|feel free|try out|play with|discover"
    r"|see what)\b",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|right now|currently|current (?:price|weather|time|date)"
    r"|latest|most recent|(?:this|next|last) (?:week|month|year|weekend)|near me|nearby"
    r"|my (?:location|area|city))\b",
    re.IGNORECASE,
)
_REPEATED = re.compile(
    r"\b(?:all|each|every one|every|the) (?:of the )?(\d{1,4}) [a-z]", re.IGNORECASE
)
_DATE = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\b(?![:.]\d)")
_NEGATIVE = re.compile(
    r"(?<![\w.-])-\d+(?:\.\d+)? (?:item|cop|unit|piece|star|time|day|ticket|product|percent|%)"
    r"|\b(?:quantity|price|amount|number) (?:to|of|is|at) -\d",
    re.IGNORECASE,
)
_STARS = re.compile(r"\b(\d+) (?:out of|of|/) (\d+) stars?|\b(\d+)[- ]stars?\b", re.IGNORECASE)
_MONTHS = [name.lower() for name in month_name[1:]]
_SPELT_DATE = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({'|'.join(_MONTHS)})"
    rf"|({'|'.join(_MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?)\b",
    re.IGNORECASE,
)


def check_validity(task: Task, scope: SiteScope, steps: int = 0) -> Refusal | None:
    """Return why a task is not well-formed; None where nothing is found against it.

    By rules alone, of which the first that finds something decides. `steps` is how many its author
    expects.
    """
    goal = task.goal
    reason = (
        _find_foreign_language(goal, scope)
        or _find_unfinished(goal)
        or _find_wrong_place(task, scope)
        or _find_excess_steps(task, scope, steps)
        or _find_missing_end(task, scope)
        or _find_impossible_value(goal)
        or find_second_goal(goal)
        or _find_wrong_check(task, scope)
    )
    return Refusal("validity", reason) if reason else None


def _find_unfinished(goal: str) -> str:
    count = len(words(goal))
    if count < 2:
        return f"the goal {goal!r} says too little"
    if count > _LONGEST:
        return f"the goal has {count} words, more than {_LONGEST}"
    slot = _SLOT.search(_IN_QUOTES.sub('""', goal)) or _SLOT_IN_QUOTES.search(goal)
    return f"{slot[0]!r} was not filled in" if slot else ""


def _find_foreign_language(goal: str, scope: SiteScope) -> str:
    text = _IN_QUOTES.sub(" ", goal)
    letters = [letter for letter in text if letter.isalpha()]
    # Latin letters end at U+024F.
    foreign = sum(ord(letter) > 0x24F for letter in letters)
    if scope.language in LANGUAGES and letters and foreign > 0.3 * len(letters):
        return f"the goal is not in {scope.language!r}: it is in another script"
    found = words(text)
    shares = {name: sum(w in common.split() for w in found) for name, common in LANGUAGES.items()}
    best = max(shares, key=lambda name: shares[name])
    own = shares.get(scope.language)
    if own is not None and shares[best] >= max(3, own + 2):
        return f"the goal is not in {scope.language!r}: its words are of {best!r}"
    return ""


def _find_wrong_place(task: Task, scope: SiteScope) -> str:
    if not scope.holds(task.start_url):
        return f"it starts at {task.start_url}, outside of {scope.address}"
    if task.site != scope.site:
        return f"it is for the site {task.site!r}; this is {scope.site!r}"
    if task.login and task.login not in scope.accounts:
        known = ", ".join(scope.accounts) or "none"
        return f"nobody is called {task.login!r} there; accounts: {known}"
    return ""


def _find_excess_steps(task: Task, scope: SiteScope, steps: int) -> str:
    most = min(task.max_steps, scope.max_steps)
    if steps > most:
        return f"it is expected to take {steps} steps; there are {most}"
    repeated = [int(found[1]) for found in _REPEATED.finditer(task.goal)]
    if repeated and max(repeated) > most:
        return f"it asks for something {max(repeated)} times; there are {most} steps"
    return ""


def _find_missing_end(task: Task, scope: SiteScope) -> str:
    text = _IN_QUOTES.sub(" ", task.goal)
    if (found := _ENDLESS.search(text)) and not task.checks:
        return f"{found[0]!r} has no end that could be seen"
    if (dated := _DATED.search(text)) and not scope.is_reset:
        return f"{dated[0]!r} means another thing at another time or place"
    return ""


def _find_impossible_value(goal: str) -> str:
    if found := _NEGATIVE.search(goal):
        return f"{found[0]!r} cannot be"
    for year, month, day in _DATE.findall(goal):
        if not _is_date(int(year), int(month), int(day)):
            return f"{year}-{month}-{day} is no date"
    for first, month, other, second in _SPELT_DATE.findall(goal):
        number = _MONTHS.index((month or other).lower()) + 1
        # 2024 has a 29th of February.
        if not _is_date(2024, number, int(first or second)):
            return f"{month or other} has no day {first or second}"
    for hours, minutes in _CLOCK.findall(goal):
        if int(hours) > 24 or int(minutes) > 59:
            return f"{hours}:{minutes} is no time of day"
    for given, most, alone in _STARS.findall(goal):
        if int(given or alone) > int(most or 5):
            return f"{given or alone} stars are more than there are"
    return ""


def _is_date(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True
