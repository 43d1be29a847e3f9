"""What a judge says it found, read strictly and held against what it was shown."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

_WHERE = re.compile(r"(page|screenshot) (\d+)|actions")


class UnusableError(ValueError):
    """A judgement that cannot be read, contradicts itself, or quotes what is not there."""


@dataclass(frozen=True, slots=True)
class Exhibits:
    """What a judge was shown as evidence, for its quotes to be looked up in."""

    pages: tuple[str, ...]
    screenshots: int
    """How many were attached."""
    actions: str


class Point(BaseModel):
    """One condition of the task, with what shows it."""

    point: str
    where: str = "nowhere"
    quote: str = ""
    verdict: Literal["met", "not met", "cannot tell"]

    def __str__(self) -> str:
        return f"{self.verdict}: {self.point} ({self.where}: {self.quote!r})"


class Findings(BaseModel):
    """A judgement: the points, then what follows from them."""

    points: list[Point] = Field(min_length=1)
    outcome: Literal["success", "failure", "cannot tell"]
    reason: str = ""

    def __str__(self) -> str:
        return "; ".join([self.reason, *map(str, self.points)])


def read_findings(text: str, exhibits: Exhibits) -> Findings:
    """The findings of a reply, whose outcome follows from points whose evidence is there.

    Quotes from pages and actions are looked up, whatever their case, spacing and quotation marks;
    `…` stands for words left out. Quotes from screenshots are taken on trust. Raises
    `UnusableError` with what is wrong.
    """
    findings = _parsed(text)
    verdicts = {point.verdict for point in findings.points}
    follows = (
        "failure" if "not met" in verdicts else "success" if verdicts == {"met"} else "cannot tell"
    )
    if findings.outcome != follows:
        found = ", ".join(point.verdict for point in findings.points)
        raise UnusableError(
            f"the outcome is {findings.outcome!r}, while points that are {found} make {follows!r}"
        )
    for point in findings.points:
        if point.verdict == "met":
            _look_up(point, exhibits)
    return findings


def _parsed(text: str) -> Findings:
    """The first JSON object of the reply that has the right form."""
    problem = "there is no JSON object in the reply"
    for value in _objects(text.rpartition("</think>")[2]):
        try:
            return Findings.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    raise UnusableError(problem)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, none of them inside another."""
    decoder, position = json.JSONDecoder(), text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)


def _look_up(point: Point, exhibits: Exhibits) -> None:
    where = _WHERE.fullmatch(point.where.strip().lower())
    if where is None:
        raise UnusableError(
            f"{point.point!r} is met, but {point.where!r} is no page, screenshot or action to see"
            " it on"
        )
    kind, number = where[1] or "actions", int(where[2] or 1)
    available = {"page": len(exhibits.pages), "screenshot": exhibits.screenshots, "actions": 1}
    if not 1 <= number <= available[kind]:
        raise UnusableError(f"there is no {point.where}; {available[kind]} were shown")
    if kind == "screenshot":
        return
    shown = exhibits.actions if kind == "actions" else exhibits.pages[number - 1]
    if not _stands_in(point.quote, shown):
        raise UnusableError(f"the quote {point.quote!r} does not stand on {point.where}")


def _stands_in(quote: str, shown: str) -> bool:
    """Whether the parts of the quote follow each other in what was shown."""
    parts = [part for part in map(_plain, re.split(r"…|\.\.\.", quote)) if part]
    text, position = _plain(shown), 0
    for part in parts:
        found = text.find(part, position)
        if found < 0:
            return False
        position = found + len(part)
    return bool(parts)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[\"'“”‘’`]", "", text).casefold().split())
