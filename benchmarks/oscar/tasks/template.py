"""The set of the shop's templates, and what is true once a task of one is done."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import TypeAlias, cast

from benchmarks.oscar.site.catalogue import DISCOUNTED, Product, decimal, pounds, products
from benchmarks.templates import EndState, TemplateSet
from tasks.task import Json, TaskCheck

Row: TypeAlias = Mapping[str, Json]
"""Columns that matter, or the changes of a table."""


TEMPLATES = TemplateSet(
    "oscar@1",
    "http://shop.test",
    Path(__file__).with_name("wordings.toml"),
    start=lambda login: "/dashboard/" if login == "staff" else "/catalogue/",
    spare_steps=4,
)
template = TEMPLATES.template
CHOICES = TEMPLATES.choices


def sold(draw: Random, count: int = 1) -> list[Product]:
    """Different products that are in stock at their price, without sizes, in sampled order."""
    fit = [
        each
        for each in products()
        if each.stock and not each.sizes and each.category not in DISCOUNTED
    ]
    return draw.sample(fit, count)


def says(*answers: str) -> EndState:
    """One of these is answered and nothing has changed."""
    answer = TaskCheck("episode.answer", "one_of", list(answers))
    return EndState((answer, TaskCheck("changes", "unchanged", [])))


def does(changes: Mapping[str, Row | list[str]]) -> EndState:
    """Exactly this has changed, and the agent says that it is done."""
    ending = TaskCheck("episode.ending", "equals", "answered")
    return EndState((ending, TaskCheck("changes", "changes_are", cast(Json, dict(changes)))))


def money(pence: int) -> tuple[str, ...]:
    """Return the ways to write an amount."""
    plain = decimal(pence)
    short = plain.removesuffix("0") if not plain.endswith("00") else plain[:-3]
    return tuple(dict.fromkeys((pounds(pence), f"£{plain}", plain, f"£{short}", short)))


def amount(pence: int) -> float:
    """As the database gives it."""
    return pence / 100


def number(count: int) -> tuple[str, ...]:
    """Return the ways to write a small number."""
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight")
    return (str(count), *(words[count : count + 1]))


def added(*rows: Row) -> Row:
    """Return a table that has these rows more, and no other change."""
    return {"added": cast(Json, [dict(row) for row in rows])}


def removed(*rows: Row) -> Row:
    """Return a table that lacks these rows, with no other change."""
    return {"removed": cast(Json, [dict(row) for row in rows])}


def changed(*pairs: tuple[Row, Row]) -> Row:
    """Return a table in which these rows, as they were, became as they are, and no others."""
    return {"changed": [{"before": dict(was), "after": dict(now)} for was, now in pairs]}
