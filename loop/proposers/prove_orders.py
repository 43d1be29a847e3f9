"""The goals of the built-in writer read back: what is wanted, of what, with which values."""

import re
from dataclasses import dataclass

_QUESTION = re.compile(
    r'^(?:What (?:is|are) (?:the )?(?P<label>[^"]+?)|(?:How many|Which) (?P<many>[^"]+?) does)'
    r'(?: (?:of )?"(?P<subject>[^"]+)")?(?: have)? on the page "(?P<page>[^"]+)"\?$'
)
_GO = re.compile(r'^Go to the page "(?P<page>[^"]+)"\.?$')
_SEARCH = re.compile(
    r'^(?P<button>Search[^"]*?|Find[^"]*?) for "(?P<text>[^"]+)"(?: with (?P<pairs>.+?))?'
    r'(?: on the page "(?P<page>[^"]+)")?\.?$',
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r'^Change (?P<pairs>.+) (?:for "(?P<subject>[^"]+)"|on the page "(?P<page>[^"]+)")\.?$',
    re.IGNORECASE,
)
_MAKE = re.compile(
    r'^(?P<what>[^"]*?(?:press "[^"]+")?)(?: titled "(?P<title>[^"]+)")?'
    r'(?: for "(?P<subject>[^"]+)")?(?: with (?P<pairs>.+?))?'
    r'(?: on the page "(?P<page>[^"]+)")?\.?$',
    re.IGNORECASE,
)
_PAIR = re.compile(r'(?:^|, | and )(.+?) (?:to )?("[^"]*"|\S+?)(?=, | and |$)')


@dataclass(frozen=True, slots=True)
class Order:
    """One thing that a goal asks for."""

    kind: str
    """`ask`, `go`, `search` or `send`."""
    what: str = ""
    """The label that is asked for, or the words for the form."""
    page: str = ""
    subject: str = ""
    title: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    """Labels with their values."""


def read_orders(goal: str) -> list[Order]:
    """What a goal asks for, in order; empty where it is not of the built-in writer's making."""
    orders = []
    for part in re.split(r", then (?=[a-z])", goal):
        order = _order(part[:1].upper() + part[1:])
        if order is None:
            return []
        orders.append(order)
    return orders


def _order(text: str) -> Order | None:
    if found := _QUESTION.match(text):
        label = found["label"] or found["many"] or ""
        return Order("ask", label, found["page"], found["subject"] or "")
    if found := _GO.match(text):
        return Order("go", page=found["page"])
    if found := _SEARCH.match(text):
        pairs = _pairs(found["pairs"])
        return Order("search", found["button"], found["page"] or "", "", found["text"], pairs)
    if found := _CHANGE.match(text):
        pairs = tuple(
            (re.sub(r"^the ", "", label), value) for label, value in _pairs(found["pairs"])
        )
        return Order("send", "", found["page"] or "", found["subject"] or "", "", pairs)
    found = _MAKE.match(text)
    if found and any(found[name] for name in ("title", "pairs", "subject", "page")):
        subject, title, page = (found[name] or "" for name in ("subject", "title", "page"))
        return Order("send", found["what"], page, subject, title, _pairs(found["pairs"]))
    return None


def _pairs(text: str | None) -> tuple[tuple[str, str], ...]:
    return tuple((label, value.strip('"')) for label, value in _PAIR.findall(text or ""))
