"""What the shop's tasks are made of: templates, and what is true once one of them is done."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias, cast

from benchmarks.oscar.site.catalogue import DISCOUNTED, Product, decimal, pounds, products
from tasks.task import Check, Json

Row: TypeAlias = Mapping[str, Json]
"""Columns that matter, or the changes of a table."""
CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class ShopTask:
    """One task of a template: what is asked, and how anyone can tell that it was done."""

    goal: str
    checks: tuple[Check, ...]
    queries: Mapping[str, str] = field(default_factory=dict)
    """Asked of the database for the checks."""


Write: TypeAlias = Callable[[Random], ShopTask]
"""Draws the values of a task, and writes it down."""


@dataclass(frozen=True, slots=True)
class ShopTemplate:
    """Tasks that differ in their values only."""

    name: str
    login: str
    steps: int
    """What the scripted solution takes, at most; the agent is given twice that."""
    skills: tuple[str, ...]
    write: Write
    start: str
    """Path of the page that it begins on."""


TEMPLATES: dict[str, ShopTemplate] = {}


def template(
    name: str, login: str, steps: int, *skills: str, start: str = ""
) -> Callable[[Write], Write]:
    """Register the function that writes the tasks of this name."""

    def register(write: Write) -> Write:
        begin = start or ("/dashboard/" if login == "staff" else "/catalogue/")
        TEMPLATES[name] = ShopTemplate(name, login, steps, skills, write, begin)
        return write

    return register


def one(draw: Random, *wordings: str) -> str:
    """One of several ways to say a thing."""
    return draw.choice(wordings)


def sold(draw: Random, count: int = 1) -> list[Product]:
    """Different products that are in stock at their price, without sizes, in drawn order."""
    fit = [
        each
        for each in products()
        if each.stock and not each.sizes and each.category not in DISCOUNTED
    ]
    return draw.sample(fit, count)


def says(goal: str, *answers: str) -> ShopTask:
    """It is done when one of these is answered and nothing has changed."""
    answer = Check("episode.answer", "one_of", list(answers))
    return ShopTask(goal, (answer, Check(CHANGES, "unchanged", [])))


def does(goal: str, changes: Mapping[str, Row | list[str]]) -> ShopTask:
    """It is done when exactly this has changed, and the agent says that it is done."""
    ending = Check("episode.ending", "equals", "answered")
    return ShopTask(goal, (ending, Check(CHANGES, "changes_are", _plain(changes))))


def cannot(goal: str) -> ShopTask:
    """It cannot be done: right is to give up, with nothing changed."""
    ending = Check("episode.ending", "equals", "gave up")
    return ShopTask(goal, (ending, Check(CHANGES, "unchanged", [])))


def money(pence: int) -> tuple[str, ...]:
    """The ways to write an amount."""
    plain = decimal(pence)
    short = plain.removesuffix("0") if not plain.endswith("00") else plain[:-3]
    return tuple(dict.fromkeys((pounds(pence), f"£{plain}", plain, f"£{short}", short)))


def amount(pence: int) -> float:
    """As the database gives it."""
    return pence / 100


def number(count: int) -> tuple[str, ...]:
    """The ways to write a small number."""
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
    return (str(count), *(words[count : count + 1]))


def added(*rows: Row) -> Row:
    """A table that has these rows more, and no other change."""
    return {"added": [_plain(row) for row in rows]}


def removed(*rows: Row) -> Row:
    """A table that lacks these rows, with no other change."""
    return {"removed": [_plain(row) for row in rows]}


def changed(*pairs: tuple[Row, Row]) -> Row:
    """A table in which these rows, as they were, became as they are; with no other change."""
    return {"changed": [{"before": _plain(was), "after": _plain(now)} for was, now in pairs]}


def _plain(value: Mapping[str, Json] | Mapping[str, Row | list[str]]) -> dict[str, Json]:
    return cast(dict[str, Json], dict(value))
