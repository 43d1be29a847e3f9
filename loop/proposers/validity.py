"""Validity: whether a task is one, on this site, that can be done and told to be done."""

import re
import sqlite3
from calendar import month_name
from contextlib import closing
from datetime import date

from loop.proposers.requests import SiteScope
from loop.proposers.wording import find_second_goal, words
from tasks.proposal import Refusal
from tasks.task import Task

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
_QUOTED_SLOT = re.compile(
    r"[\"“]\s*(?:\{\{?[^{}\"]*\}?\}|<[\w .'-]+>|\[[\w .'-]+\]|_{3,}|\$\{?[A-Z_]{3,}\}?)\s*[\"”]"
)
"""A quoted text that is a slot from end to end; others may hold brackets of their own."""
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
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
_COMMON = {
    "en": "the a an of to and in is for on with that which from by at as it what how your my",
    "de": "der die das und ein eine einen nicht ist mit für auf den dem zu von im wie welche",
    "fr": "le la les un une des et est dans pour avec que qui sur du au ce cette quel quelle",
    "es": "el la los las un una y es en para con que por del al se su cuál qué como",
    "it": "il lo la gli le un una e è in per con che di del della quale come si",
}
"""Frequent words by language: the share of a text's words found here says which it is."""


def check_validity(task: Task, scope: SiteScope, steps: int = 0) -> Refusal | None:
    """Return why a task is not well-formed; None where nothing is found against it.

    By rules alone, of which the first that finds something decides. `steps` is how many it is said
    to take.
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
    slot = _SLOT.search(_QUOTED.sub('""', goal)) or _QUOTED_SLOT.search(goal)
    return f"{slot[0]!r} was not filled in" if slot else ""


def _find_foreign_language(goal: str, scope: SiteScope) -> str:
    text = _QUOTED.sub(" ", goal)
    letters = [letter for letter in text if letter.isalpha()]
    # Latin letters end at U+024F.
    foreign = sum(ord(letter) > 0x24F for letter in letters)
    if scope.language in _COMMON and letters and foreign > 0.3 * len(letters):
        return f"the goal is not in {scope.language!r}: it is in another script"
    found = words(text)
    shares = {name: sum(w in common.split() for w in found) for name, common in _COMMON.items()}
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
        return f"it is said to take {steps} steps; there are {most}"
    repeated = [int(found[1]) for found in _REPEATED.finditer(task.goal)]
    if repeated and max(repeated) > most:
        return f"it asks for something {max(repeated)} times; there are {most} steps"
    return ""


def _find_missing_end(task: Task, scope: SiteScope) -> str:
    text = _QUOTED.sub(" ", task.goal)
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
