"""Drafts: tasks as a model writes them, read strictly and made into tasks of a site."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loop.proposers.scope import Scope
from tasks.task import Check, Json, Task
from webagent.models.replies import UnusableError

DIRECTIONS = ("easier", "harder", "sideways")
"""How a task may differ from the one it is made from."""

_CHECK = {
    "type": "object",
    "properties": {
        "evidence": {"type": "string", "minLength": 1},
        "rule": {"type": "string", "minLength": 1},
        "expected": {},
    },
    "required": ["evidence", "rule", "expected"],
    "additionalProperties": False,
}
DRAFT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "goal": {"type": "string", "minLength": 1},
        "why": {"type": "string", "minLength": 1},
        "steps": {"type": "integer", "minimum": 1},
        "start": {"type": "string"},
        "login": {"type": "string"},
        "skills": {"type": "array", "items": {"type": "string"}},
        "from": {"type": "integer", "minimum": 1},
        "direction": {"enum": list(DIRECTIONS)},
        "queries": {"type": "object", "additionalProperties": {"type": "string"}},
        "checks": {"type": "array", "items": _CHECK},
    },
    "required": ["goal", "why", "steps"],
    "additionalProperties": False,
}
"""JSON Schema (2020-12) of one task in a reply."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A task as it was written; nothing in it has been proven."""

    goal: str
    why: str
    steps: int
    """How many actions it is said to take."""
    start: str = ""
    """An address on the site; empty: its first page."""
    login: str = ""
    skills: tuple[str, ...] = ()
    origin: int = 0
    """Number of the task, page or chapter it was made from, as it was shown; 0: none."""
    direction: str = ""
    queries: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Drafts:
    """What a reply holds."""

    drafts: tuple[Draft, ...]
    problems: tuple[str, ...] = ()
    """Of tasks that are not of the schema; one for each."""


def read_drafts(reply: Mapping[str, Any]) -> Drafts:
    """The tasks of a reply, `{"tasks": [...]}`, and what is wrong with those that are none.

    Raises `UnusableError` where the reply itself is of another shape.
    """
    entries = reply.get("tasks")
    if set(reply) != {"tasks"} or not isinstance(entries, list):
        keys = ", ".join(map(repr, reply)) or "nothing"
        raise UnusableError(f'expected one key "tasks" with a list; found {keys}')
    read: list[Draft] = []
    problems = []
    for number, entry in enumerate(entries, 1):
        problem = _problem(entry)
        if problem:
            problems.append(f"task {number}: {problem}")
        else:
            read.append(_draft(entry))
    return Drafts(tuple(read), tuple(problems))


def task_of(draft: Draft, scope: Scope, source: str, parent: str = "") -> Task:
    """The task of a draft on the site, under a name that its content decides.

    The limit of steps is the site's: how many it is said to take is for the filter to judge.
    """
    start = scope.whole(draft.start)
    named = json.dumps([scope.site or scope.address, draft.login, start, draft.goal])
    digest = hashlib.sha256(named.encode()).hexdigest()[:10]
    return Task(
        id=f"proposed/{source}-{digest}@1",
        start_url=start,
        goal=draft.goal.strip(),
        max_steps=scope.max_steps,
        checks=draft.checks,
        parent=parent,
        records=("changes",) if scope.tables else (),
        site=scope.site,
        login=draft.login,
        queries=dict(draft.queries),
        skills=draft.skills,
    )


def _problem(entry: Json) -> str:
    """What is wrong with a task by the schema; empty where nothing is."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    found = best_match(Draft202012Validator(DRAFT_SCHEMA).iter_errors(entry))
    if found is None:
        return ""
    place = ".".join(map(str, found.absolute_path))
    return f"{place}: {found.message}" if place else str(found.message)


def _draft(entry: Mapping[str, Any]) -> Draft:
    checks = tuple(
        Check(each["evidence"], each["rule"], each["expected"]) for each in entry.get("checks", ())
    )
    return Draft(
        goal=entry["goal"],
        why=entry["why"],
        steps=entry["steps"],
        start=entry.get("start", ""),
        login=entry.get("login", ""),
        skills=tuple(entry.get("skills", ())),
        origin=entry.get("from", 0),
        direction=entry.get("direction", ""),
        queries=entry.get("queries", {}),
        checks=checks,
    )
