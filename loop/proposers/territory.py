"""Exploration of a site: where it begins, what it may touch, what it types into which field."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loop.proposers.lexicon import find_listed
from tasks.task import Task

if TYPE_CHECKING:
    import numpy as np

_DESTRUCTIVE = re.compile(
    r"\b(delete|remove|erase|purge|destroy|drop|shun|scrub|close account|deactivate|disable"
    r"|unsubscribe|cancel|revoke|ban|wipe|reset|clear|empty)\b",
    re.IGNORECASE,
)
_LEAVING = re.compile(r"\b(log ?out|sign ?out|shut ?down|self.?destruct)\b", re.IGNORECASE)
_PREVIEW = re.compile(r"\b(preview|cancel|back|close|reset)\b", re.IGNORECASE)
_FORM = re.compile(r"\b(new|add|create|edit|reply|write|post|change|comment)\b", re.IGNORECASE)
_LEADING = re.compile(r"^(new|edit|reply|create|write)\b", re.IGNORECASE)
_PAYING = re.compile(r"\b(pay|purchase|buy now|place order|donate|transfer)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_COMMON = find_listed("page")


@dataclass(frozen=True, slots=True)
class Territory:
    """What is explored: a site from its start page, as somebody."""

    name: str
    """For the ids of the tasks that come of it: `fossil`."""
    start_url: str
    site: str = ""
    """As `Task.site`; empty for a site that is not ours to reset."""
    login: str = ""
    has_database: bool = False
    """Whether the record `changes` tells what was done to it."""
    clock: str = "virtual"
    settle_ms: int = 5000

    @property
    def may_destroy(self) -> bool:
        """Whether what is destroyed comes back: only where an instance of ours is reset."""
        return bool(self.site)

    def task(self, name: str, goal: str, seed: int, max_steps: int) -> Task:
        """Return a task that begins where exploration does."""
        return Task(
            id=f"{self.name}/{name}@1",
            start_url=self.start_url,
            goal=goal,
            seed=seed,
            max_steps=max_steps,
            clock=self.clock,
            settle_ms=self.settle_ms,
            site=self.site,
            login=self.login,
            records=("changes",) if self.has_database else (),
        )


def is_avoided(name: str, may_destroy: bool) -> bool:
    """Return whether an explorer leaves something alone that is called so.

    What ends the session always, what destroys or pays wherever it cannot be undone.
    """
    if _LEAVING.search(name):
        return True
    return not may_destroy and bool(_DESTRUCTIVE.search(name) or _PAYING.search(name))


def is_preview(name: str) -> bool:
    """Return whether a button of this name leaves everything as it was."""
    return bool(_PREVIEW.search(name))


def is_form_promised(link: str) -> bool:
    """Return whether a link of this name probably leads to where something can be changed."""
    return bool(_FORM.search(link))


def is_form_link(name: str) -> bool:
    """Return whether a link or button of this name only opens a form of the page's subject."""
    return bool(_LEADING.search(name.strip()))


def find_words(texts: Sequence[str]) -> list[str]:
    """Return the telling words of a page, in order, each once."""
    found = (word for text in texts for word in _WORD.findall(text))
    return list(dict.fromkeys(word for word in found if word.lower() not in _COMMON))


def make_plausible_value(
    label: str, kind: str, words: Sequence[str], rng: "np.random.Generator"
) -> str:
    """Return what somebody might type into a field, in the page's own words.

    `label` and `kind` are the field's; a kind is `input:email` or `textarea`.
    """
    name = f"{label} {kind}".lower()
    draw = _WordSampler(words, rng)
    for pattern, make in _VALUES:
        if re.search(pattern, name):
            return make(draw)
    title = dict.fromkeys(draw.one() for _ in range(2))
    return " ".join([*(word.capitalize() for word in title), draw.number(98)])


@dataclass(frozen=True, slots=True)
class _WordSampler:
    """Samples from a page's words."""

    words: Sequence[str]
    rng: "np.random.Generator"

    def one(self) -> str:
        pool = self.words or ("Harbour", "Lantern", "Meadow", "Copper")
        return pool[int(self.rng.integers(len(pool)))]

    def number(self, most: int) -> str:
        return str(int(self.rng.integers(2, most)))

    def of(self, options: Sequence[str]) -> str:
        return options[int(self.rng.integers(len(options)))]


_VALUES = (
    (r"input:email|e-?mail", lambda draw: f"{draw.one().lower()}{draw.number(99)}@example.com"),
    (r"input:password|password", lambda draw: f"Quiet-{draw.one()}-{draw.number(99)}x"),
    (
        r"input:date\b|\bdate\b",
        lambda draw: draw.of(("2024-03-14", "2024-05-02", "2023-11-20", "2025-01-09")),
    ),
    (r"input:time", lambda draw: f"{int(draw.number(20)):02}:30"),
    (r"input:color", lambda draw: draw.of(("#336699", "#cc3300", "#009966"))),
    (
        r"input:url|\burl\b|website|homepage",
        lambda draw: f"http://example.com/{draw.one().lower()}",
    ),
    (r"input:tel|phone", lambda draw: f"+4930123{draw.number(90)}45"),
    (r"post ?code|zip", lambda draw: draw.of(("10115", "20095", "50667"))),
    (r"quantity|amount of", lambda draw: draw.number(5)),
    (r"input:number|spinbutton|price|year|number of", lambda draw: draw.number(30)),
    (r"searchbox|search|query|input:search", lambda draw: draw.one().lower()),
    (r"first name|last name|full name|\bauthor|user ?name", lambda draw: draw.one().capitalize()),
    (r"\bversion\b", lambda draw: f"{draw.number(9)}.{draw.number(20)}"),
    (
        r"textarea|description|comment|body|message|details|remark",
        lambda draw: (
            f"The {draw.one().lower()} beside the {draw.one().lower()} needs work {draw.number(90)}"
        ),
    ),
)
