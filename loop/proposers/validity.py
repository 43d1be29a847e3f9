"""Validity: whether a task is one that can be done on this site and seen to be done."""

import re
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from loop.proposers.requests import SiteScope
from tasks.task import Refusal, Task

LEXICON = tomllib.loads(Path(__file__).with_name("lexicon.toml").read_text(encoding="utf-8"))
"""The words and patterns by which goals are read."""
_STOP = frozenset(LEXICON["stop"].split())
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'([^']+)'(?!\w)|«([^»]+)»")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAME = re.compile(r"(?<![.?!:]\s)(?<!^)(?<![\"“'«])\b[A-Z][\w-]*(?:\s+[A-Z][\w-]*)*")
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


def check_validity(task: Task, scope: SiteScope, steps: int = 0) -> Refusal | None:
    """Return why a task is not well-formed; None where nothing is found against it.

    By rules alone, of which the first that finds something decides. `steps` is how many its author
    expects.
    """
    reason = next(_find_problems(task, scope, steps), "") or _find_wrong_check(task, scope)
    return Refusal("validity", reason) if reason else None


def _find_problems(task: Task, scope: SiteScope, steps: int) -> Iterator[str]:
    """Yield what is wrong with a goal, its place and its length."""
    goal, count = task.goal, len(words(task.goal))
    unquoted = _IN_QUOTES.sub('""', goal)
    if count < 2:
        yield f"the goal {goal!r} says too little"
    if count > _LONGEST:
        yield f"the goal has {count} words, more than {_LONGEST}"
    if slot := _SLOT.search(unquoted) or _SLOT_IN_QUOTES.search(goal):
        yield f"{slot[0]!r} was not filled in"
    if not scope.holds(task.start_url):
        yield f"it starts at {task.start_url}, outside of {scope.address}"
    if task.site != scope.site:
        yield f"it is for the site {task.site!r}; this is {scope.site!r}"
    if task.login and task.login not in scope.accounts:
        known = ", ".join(scope.accounts) or "none"
        yield f"nobody is called {task.login!r} there; accounts: {known}"
    most = min(task.max_steps, scope.max_steps)
    if steps > most:
        yield f"it is expected to take {steps} steps; there are {most}"
    if (found := _ENDLESS.search(unquoted)) and not task.checks:
        yield f"{found[0]!r} has no end that could be seen"
    if (dated := _DATED.search(unquoted)) and not scope.is_reset:
        yield f"{dated[0]!r} means another thing at another time or place"


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
    # A query may do no more than read these tables; it is compiled, never run on rows.
    with closing(sqlite3.connect(":memory:")) as database:
        for table, columns in scope.tables.items():
            listed = ", ".join(map(_quote, columns)) or '"rowid_only"'
            database.execute(f"CREATE TABLE {_quote(table)} ({listed})")
        database.set_authorizer(
            lambda action, *place: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
        )
        for name, query in task.queries.items():
            try:
                database.execute(f"EXPLAIN {query}")
            except (sqlite3.Error, sqlite3.Warning) as error:
                return f"the query {name!r} cannot be asked: {error}"
    return ""


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
