"""Requests to a model for tasks of a site, and the proposals that are read from its replies."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from tasks.proposal import Proposal
from tasks.task import Check, Json, Task
from webagent.models.replies import UnusableError


@dataclass(frozen=True, slots=True)
class SiteScope:
    """A site as proposers and filters know it."""

    name: str
    """What people call it, as `Fossil`."""
    address: str
    """Where it begins; tasks stay below it: `http://fossil.test/`."""
    site: str = ""
    """Id of the application that is started for every episode; empty for a live site."""
    accounts: Mapping[str, str] = field(default_factory=dict)
    """Who can be logged in, by role, with what each can do."""
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tables of its database with their columns; empty where there is none to ask."""
    rules: tuple[str, ...] = ()
    """Names of the rules by which a check may compare."""
    is_reset: bool = False
    """Whether it is put back to how it was before each episode, so that nothing done there lasts
    and nobody is reached by it."""
    max_steps: int = 15
    """What an episode may take at most."""
    language: str = "en"
    """Of the goals."""

    def holds(self, url: str) -> bool:
        """Whether an address is the site's own."""
        try:
            page, root = urlsplit(url), urlsplit(self.address)
            ports = page.port, root.port
        except ValueError:
            return False
        above = root.path.rstrip("/")
        return (
            (page.scheme, page.hostname, ports[0]) == (root.scheme, root.hostname, ports[1])
            and not page.username
            and (page.path.rstrip("/") == above or page.path.startswith(f"{above}/"))
        )

    def whole(self, address: str) -> str:
        """An address that may be given from the site's root or from its first page, written out."""
        return urljoin(self.address, address.strip()) if address.strip() else self.address


PROPOSE = Path(__file__).parent / "prompts" / "propose.md"
"""The prompt of every source: a section for each."""
FILTER = Path(__file__).parent / "prompts" / "filter.md"
_MOST_KNOWN = 40
_LONGEST_GOAL = 300


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """One question to a model: a section of the prompt with what fills it."""

    source: str
    """One of `tasks.proposal.SOURCES`."""
    section: str
    count: int
    """How many tasks are asked for."""
    slots: Mapping[str, str]
    material: Mapping[str, str] = field(default_factory=dict)
    """Slots whose text comes from outside, to be fenced."""
    images: tuple[str, ...] = ()
    """References to screenshots, in the order of what is shown."""
    origins: tuple[str, ...] = ()
    """By number from 1, what a task may be made from: the name of a page, a chapter or a task."""
    parents: tuple[str, ...] = ()
    """By the same numbers, the ids of tasks; empty where what is shown are no tasks."""
    directions: tuple[str, ...] = ()
    """By the same numbers, how a task may differ; empty where it may be as it likes."""


def fill_system_slots(scope: SiteScope, section_of: Mapping[str, str]) -> dict[str, str]:
    """What fills the section `system`; `section_of` are the prompt's sections, unfilled."""
    checks = ""
    if scope.tables:
        tables = "\n".join(f"- {name}: {', '.join(cols)}" for name, cols in scope.tables.items())
        rules = "\n".join(f"- {name}" for name in scope.rules)
        checks = section_of["checks"].replace("{{rules}}", rules).replace("{{tables}}", tables)
    living = section_of["local" if scope.is_reset else "live"]
    return {"steps": str(scope.max_steps), "living": living, "checks": checks}


def fill_common_slots(scope: SiteScope, count: int, known: Sequence[Task]) -> dict[str, str]:
    """What every source's section has: the site, how many, who is there, what is there already."""
    accounts = "; ".join(f"{role} ({can})" for role, can in scope.accounts.items())
    return {
        "site": f"{scope.name}, at {scope.address}",
        "count": str(count),
        "accounts": accounts or "none",
        "known": format_known_goals(known),
    }


def format_known_goals(known: Sequence[Task]) -> str:
    """The goals there are already, the last ones where there are many."""
    goals = [task.goal for task in known if task.goal][-_MOST_KNOWN:]
    return "\n".join(f"- {' '.join(goal.split())[:_LONGEST_GOAL]}" for goal in goals) or "none yet"


def share_out(count: int, parts: int) -> list[int]:
    """The count shared between parts as evenly as it goes, the first ones getting more."""
    return [count // parts + (part < count % parts) for part in range(parts)] if parts else []


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
TASK_SCHEMA: dict[str, Any] = {
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
class WrittenTask:
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
class WrittenTasks:
    """What a reply holds."""

    written_tasks: tuple[WrittenTask, ...]
    problems: tuple[str, ...] = ()
    """Of tasks that are not of the schema; one for each."""


def parse_tasks(reply: Mapping[str, Any]) -> WrittenTasks:
    """The tasks of a reply, `{"tasks": [...]}`, and what is wrong with those that are none.

    Raises `UnusableError` where the reply itself is of another shape.
    """
    entries = reply.get("tasks")
    if set(reply) != {"tasks"} or not isinstance(entries, list):
        keys = ", ".join(map(repr, reply)) or "nothing"
        raise UnusableError(f'expected one key "tasks" with a list; found {keys}')
    read: list[WrittenTask] = []
    problems = []
    for number, entry in enumerate(entries, 1):
        problem = _find_problem(entry)
        if problem:
            problems.append(f"task {number}: {problem}")
        else:
            read.append(_parse_task(entry))
    return WrittenTasks(tuple(read), tuple(problems))


def build_task(written_task: WrittenTask, scope: SiteScope, source: str, parent: str = "") -> Task:
    """Return a written task on the site, under a name that its content decides.

    The limit of steps is the site's: how many it is said to take is for the filter to judge.
    """
    start = scope.whole(written_task.start)
    named = json.dumps([scope.site or scope.address, written_task.login, start, written_task.goal])
    digest = hashlib.sha256(named.encode()).hexdigest()[:10]
    return Task(
        id=f"proposed/{source}-{digest}@1",
        start_url=start,
        goal=written_task.goal.strip(),
        max_steps=scope.max_steps,
        checks=written_task.checks,
        parent=parent,
        records=("changes",) if scope.tables else (),
        site=scope.site,
        login=written_task.login,
        queries=dict(written_task.queries),
        skills=written_task.skills,
    )


def _find_problem(entry: Json) -> str:
    """What is wrong with a task by the schema; empty where nothing is."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    found = best_match(Draft202012Validator(TASK_SCHEMA).iter_errors(entry))
    if found is None:
        return ""
    place = ".".join(map(str, found.absolute_path))
    return f"{place}: {found.message}" if place else str(found.message)


def _parse_task(entry: Mapping[str, Any]) -> WrittenTask:
    checks = tuple(
        Check(each["evidence"], each["rule"], each["expected"]) for each in entry.get("checks", ())
    )
    return WrittenTask(
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


@dataclass(frozen=True, slots=True)
class EstimatedProposal:
    """A proposal with how many steps it is said to take."""

    proposal: Proposal
    steps: int = 0


def build_proposals(
    written_tasks: Sequence[WrittenTask], request: TaskRequest, scope: SiteScope
) -> tuple[list[EstimatedProposal], list[str]]:
    """Return as many proposals as were asked for, and why other tasks of the reply are none.

    They say they are made from something that was not shown, or differ in another direction than
    asked for.
    """
    made: list[EstimatedProposal] = []
    problems = []
    for written_task in written_tasks[: request.count]:
        problem = _find_misplaced(written_task, request)
        if problem:
            problems.append(problem)
        else:
            made.append(
                EstimatedProposal(_build_proposal(written_task, request, scope), written_task.steps)
            )
    return made, problems


def _find_misplaced(written_task: WrittenTask, request: TaskRequest) -> str:
    shown, number = len(request.origins), written_task.origin
    goal = f"{written_task.goal[:60]!r}"
    if number > shown:
        return f"{goal} is from number {number}; {shown or 'none'} were shown"
    if request.directions and not number:
        return f"{goal} does not say which task it is made from"
    wanted = request.directions[number - 1] if request.directions else ""
    if wanted and written_task.direction != wanted:
        found = written_task.direction or "none"
        return f"{goal} was to be {wanted}; its direction is {found}"
    return ""


def _build_proposal(written_task: WrittenTask, request: TaskRequest, scope: SiteScope) -> Proposal:
    parent = (
        request.parents[written_task.origin - 1] if written_task.origin and request.parents else ""
    )
    where = request.origins[written_task.origin - 1] if written_task.origin else ""
    way = f", {written_task.direction}" if request.directions else ""
    made_from = f" (from {where}{way})" if where else ""
    task = build_task(written_task, scope, request.source, parent)
    return Proposal(task, request.source, f"{written_task.why.strip()}{made_from}")
