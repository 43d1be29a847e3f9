"""Safety: what is never asked for on a live site, and what is asked for nowhere."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from re import Pattern

from loop.proposers.requests import SiteScope
from tasks.proposal import Refusal
from tasks.task import Task


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """What the guard of an episode allows, as far as a task can go against it."""

    closed: Callable[[str], str] = lambda url: ""
    """Why an address may not be opened; empty where it may."""
    only_reads: bool = False
    """Whether requests that change something are refused."""


def _pattern(text: str) -> Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.VERBOSE)


NOWHERE: Mapping[str, Pattern[str]] = {
    "an attack on the site": _pattern(
        r"\b(?:sql[ -]?injection|brute[ -]?force|xss|cross-site\ scripting|denial[ -]of[ -]service"
        r"|ddos|exploit\ (?:a|the|any)|hack(?:\ into)?\b|bypass\ (?:the\ )?(?:login|captcha|paywall"
        r"|password|authentication)|steal|phish\w*|malware|guess\ (?:the|a|someone)[\w' ]*password)"
    ),
    "someone else's credentials": _pattern(
        r"\b(?:social\ security\ number|ssn\b|one[ -]time\ (?:code|password)|2fa\ code|api[ -]key"
        r"|private\ key|access\ token|session\ cookie|(?:reveal|extract|copy|tell\ me|export|find)"
        r"\ [\w' ]*(?:password|credential)s?)"
    ),
}
"""Refused on every site, a local one as well."""

LIVE: Mapping[str, Pattern[str]] = {
    "a payment": _pattern(
        r"\b(?:buy|purchase|pay(?:\ for)?|check\ ?out|donate|subscribe\ to|bid\ (?:on|for)"
        r"|(?:place|submit|complete|make)\ (?:an?|the|my|your)?\ ?(?:order|purchase|payment|booking"
        r"|reservation|donation)|book\ (?:an?|the|me)|order\ (?:an?|some|one|two|three|what|it|them"
        r"|this|these|those|\d{1,2})|transfer\ (?:money|funds|[$€£])|credit\ card|debit\ card|iban"
        r"|cvv|redeem|refund)(?!\w)"
    ),
    "the end of an account": _pattern(
        r"\b(?:delete|deactivate|close|remove|cancel|disable|terminate)\ (?:\w+\ ){0,3}"
        r"(?:account|profile|membership|subscription|user)s?\b"
    ),
    "what reaches real people": _pattern(
        r"(?:^|[.;:!?,]\ |\b(?:and|then|please|to|also|you)\ )(?:post|publish|tweet|retweet|reply"
        r"|comment|message|email|e-mail|mail|invite|dm|report|follow|vote|upvote|downvote|review"
        r"|rate|contact|call)\ (?!of\b|is\b|was\b|count\b|that\ began)"
        r"|\b(?:send|write|leave|submit|add|create|start|open|make|share|upload)\ (?:\w+\ ){0,4}?"
        r"(?:comment|review|message|e?-?mail|reply|post|question|thread|topic|issue|ticket|feedback"
        r"|rating|invitation|request|form|photo|video|listing|ad)s?\b"
    ),
    "credentials": _pattern(
        r"\b(?:password|passphrase|log\ in(?:to)?|sign\ (?:in|up)|login\ (?:as|to|with)|register"
        r"|create\ (?:an?|my|your|new|\ )+\ ?account|two-factor|passport\ number)\b"
    ),
    "what cannot be undone": _pattern(
        r"\b(?:delete|erase|wipe|purge|destroy|permanently\ remove|remove\ all"
        r"|reset\ (?:the|my|all)|ban|block\ (?:the|this|a)\ (?:user|account|person))\b"
    ),
}
"""Refused on a live site; a local one that is put back afterwards may be asked for all of it."""

_CHANGES = _pattern(
    r"(?:^|[.;:!?,\"”]\ |\b(?:and|then|please|also)\ )(?:add|append|approve|archive|assign"
    r"|attach|change|close|correct|create|delete|disable|edit|enable|enter|extend|grant|insert|lock|make"
    r"|mark|merge|move|pin|post|put|raise|lower|remove|rename|reopen|replace|reply|restore|revoke"
    r"|save|send|set|submit|take|turn|undo|update|upload|use\ (?:the|a|my)\ (?:voucher|coupon|code)"
    r"|withdraw|write|get\ (?:\w+\ ){0,3}?into|want\ (?:a|the\ same)|ask\ (?:the|a)|moderate"
    r"|give\ (?!me|just|only|its|the\ (?:first|number|value|name|login|title|date|hash))"
    r"|require|report\ a|start\ a|begin\ a"
    r"|answer\ (?:the|this|that)\ (?:\w+\ )?(?:post|thread|message|ticket))\b"
    r"|\b(?:should|must|needs?\ to|has\ to|have\ to)\ (?:\w+\ ){0,2}?"
    r"(?:be|become|begin|end|get|have|say|show|start|read|go|lose|no\ longer)\b"
)
"""Asks for a change; beside what is told apart above, what is left over on a live site."""
_DOMAIN = re.compile(
    r"(?:https?://)?((?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|co|dev|ai|app|info|test|de|uk|fr))\b",
    re.IGNORECASE,
)
_KNOWN_SITES = _pattern(
    r"\b(?:on|in|at|to|from|via|with|using|into)\ (?:the\ )?(google(?:\ maps|\ search)?|amazon|ebay"
    r"|facebook|twitter|instagram|youtube|wikipedia|reddit|linkedin|github|gitlab|booking\.com"
    r"|whatsapp|gmail|tiktok|bing|yelp|airbnb|paypal)\b"
)


def check_safety(task: Task, scope: SiteScope, limits: GuardLimits | None = None) -> Refusal | None:
    """Return why a task may not be asked for on this site; None where nothing is against it."""
    held = limits or GuardLimits()
    goal = task.goal
    reason = (
        _find_kind(NOWHERE, goal)
        or _find_other_site(goal, scope)
        or held.closed(task.start_url)
        or ("" if scope.is_reset else _find_kind(LIVE, goal))
        or _find_change(goal, held, scope)
    )
    return Refusal("safety", reason) if reason else None


def _find_kind(kinds: Mapping[str, Pattern[str]], goal: str) -> str:
    for kind, pattern in kinds.items():
        if match := pattern.search(goal):
            return f"{kind}: {match[0]!r}"
    return ""


def _find_other_site(goal: str, scope: SiteScope) -> str:
    scheme = scope.address.split(":")[0]
    for match in _DOMAIN.finditer(goal):
        host = match[1].lower()
        is_mail = match.start() and goal[match.start() - 1] == "@"
        is_own = scope.holds(f"{scheme}://{match[1]}") or host in scope.address.lower()
        if not is_mail and not is_own:
            return f"another site: {host}"
    named = _KNOWN_SITES.search(goal)
    if named and named[1].lower() not in f"{scope.name} {scope.address}".lower():
        return f"another site: {named[1]}"
    return ""


def _find_change(goal: str, limits: GuardLimits, scope: SiteScope) -> str:
    match = _CHANGES.search(goal)
    if match is None:
        return ""
    if limits.only_reads:
        return f"the guard lets nothing be changed there: {match[0].strip(' ,.;:')!r}"
    return "" if scope.is_reset else f"a change that stays: {match[0].strip(' ,.;:')!r}"
