"""Requests to a model for tasks of a site, and the proposals that are read from its replies."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from loop.proposers.records import ProposalRecord
from tasks.task import Task, TaskCheck, TaskProposal
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
        """Return whether an address is the site's own."""
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


PROPOSE = Path(__file__).parent / "prompts" / "propose.md"
"""The prompt of every source: a section for each."""
FILTER = Path(__file__).parent / "prompts" / "filter.md"


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """One question to a model: a section of the prompt with what fills it."""

    source: str
    """One of `tasks.task.SOURCES`."""
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
    """Return what fills the section `system`; `section_of` are the prompt's sections, unfilled."""
    checks = ""
    if scope.tables:
        tables = "\n".join(f"- {name}: {', '.join(cols)}" for name, cols in scope.tables.items())
        rules = "\n".join(f"- {name}" for name in scope.rules)
        checks = section_of["checks"].replace("{{rules}}", rules).replace("{{tables}}", tables)
    living = section_of["local" if scope.is_reset else "live"]
    return {"steps": str(scope.max_steps), "living": living, "checks": checks}


def fill_common_slots(scope: SiteScope, count: int, known: Sequence[Task]) -> dict[str, str]:
    """Return what fills every source's section: the site, how many, accounts, known goals."""
    accounts = "; ".join(f"{role} ({can})" for role, can in scope.accounts.items())
    # The last goals, which are the likeliest to be repeated, in the room that a prompt has.
    goals = [" ".join(task.goal.split())[:300] for task in known if task.goal][-40:]
    return {
        "site": f"{scope.name}, at {scope.address}",
        "count": str(count),
        "accounts": accounts or "none",
        "known": "\n".join(f"- {goal}" for goal in goals) or "none yet",
    }


@dataclass(frozen=True, slots=True)
class ShownItem:
    """Something that tasks may be made from, as a model is shown it."""

    text: str
    origin: str
    """Its name, as `the page http://fossil.test/`."""
    parent: str = ""
    """Id of the task that it is; empty for what is no task."""
    direction: str = ""
    """How a task made from it is to differ: `easier`, `harder` or `sideways`; empty where it may
    differ as it likes."""
    image: str = ""
    """Reference to a screenshot."""


_SLOTS = {
    "pages": "pages",
    "demonstrations": "demonstrations",
    "manual": "chapters",
    "failures": "attempts",
}
"""Section of the prompt, which is the source's name, to the slot for what is shown."""


def divide_requests(
    scope: SiteScope,
    source: str,
    shown: Sequence[ShownItem],
    count: int,
    known: Sequence[Task],
    at_once: int = 4,
) -> list[TaskRequest]:
    """Return a request for each group of `at_once` things that are shown, `count` tasks in all."""
    groups = [shown[start : start + at_once] for start in range(0, len(shown), at_once)]
    requests = []
    for place, group in enumerate(groups):
        share = count // len(groups) + (place < count % len(groups))
        if share:
            text = "\n\n".join(f"{number}. {item.text}" for number, item in enumerate(group, 1))
            requests.append(
                TaskRequest(
                    source,
                    source,
                    share,
                    fill_common_slots(scope, share, known),
                    {_SLOTS[source]: text},
                    tuple(item.image for item in group if item.image),
                    tuple(item.origin for item in group),
                    tuple(item.parent for item in group if item.parent),
                    tuple(item.direction for item in group if item.direction),
                )
            )
    return requests


TASK_SCHEMA: dict[str, Any] = json.loads(
    Path(__file__).with_name("task.schema.json").read_text(encoding="utf-8")
)
"""JSON Schema (2020-12) of one task in a reply; its `direction` is how a task may differ from the
one it is made from."""


def parse_tasks(reply: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the tasks of a reply, `{"tasks": [...]}`, and what is wrong with those that are none.

    Raises `UnusableError` where the reply itself is of another shape.
    """
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    entries = reply.get("tasks")
    if set(reply) != {"tasks"} or not isinstance(entries, list):
        keys = ", ".join(map(repr, reply)) or "nothing"
        raise UnusableError(f'expected one key "tasks" with a list; found {keys}')
    validator = Draft202012Validator(TASK_SCHEMA)
    tasks, problems = [], []
    for number, entry in enumerate(entries, 1):
        error = best_match(validator.iter_errors(entry))
        if error is None:
            tasks.append(entry)
        else:
            place = ".".join(map(str, error.absolute_path))
            problems.append(f"task {number}: {f'{place}: ' if place else ''}{error.message}")
    return tasks, problems


def build_task(entry: Mapping[str, Any], scope: SiteScope, source: str, parent: str = "") -> Task:
    """Return a written task on the site, under a name that its content decides.

    The limit of steps is the site's: how many it is said to take is for the filter to judge.
    """
    # An address may be given from the site's root or from its first page.
    address = entry.get("start", "").strip()
    start = urljoin(scope.address, address) if address else scope.address
    login, goal = entry.get("login", ""), entry["goal"]
    named = json.dumps([scope.site or scope.address, login, start, goal])
    digest = hashlib.sha256(named.encode()).hexdigest()[:10]
    return Task(
        id=f"proposed/{source}-{digest}@1",
        start_url=start,
        goal=goal.strip(),
        max_steps=scope.max_steps,
        checks=tuple(TaskCheck(**check) for check in entry.get("checks", ())),
        parent=parent,
        records=("changes",) if scope.tables else (),
        site=scope.site,
        login=login,
        queries=dict(entry.get("queries", {})),
        skills=tuple(entry.get("skills", ())),
    )


def build_proposals(
    entries: Sequence[Mapping[str, Any]], request: TaskRequest, scope: SiteScope
) -> tuple[list[ProposalRecord], list[str]]:
    """Return as many proposals as were asked for, and why other tasks of the reply are none.

    They say they are made from something that was not shown, or differ in another direction than
    asked for.
    """
    records, problems = [], []
    for entry in entries[: request.count]:
        if problem := _find_misplaced(entry, request):
            problems.append(problem)
            continue
        reason, number, parent = entry["why"].strip(), entry.get("from", 0), ""
        if number:
            direction = f", {entry.get('direction', '')}" if request.directions else ""
            reason += f" (from {request.origins[number - 1]}{direction})"
            parent = request.parents[number - 1] if request.parents else ""
        task = build_task(entry, scope, request.source, parent)
        proposal = TaskProposal(task, request.source, reason)
        records.append(ProposalRecord(proposal, steps=entry["steps"]))
    return records, problems


def _find_misplaced(entry: Mapping[str, Any], request: TaskRequest) -> str:
    shown, number = len(request.origins), entry.get("from", 0)
    goal = f"{entry['goal'][:60]!r}"
    if number > shown:
        return f"{goal} is from number {number}; {shown or 'none'} were shown"
    if request.directions and not number:
        return f"{goal} does not say which task it is made from"
    wanted = request.directions[number - 1] if request.directions else ""
    found = entry.get("direction", "")
    if wanted and found != wanted:
        return f"{goal} was to be {wanted}; its direction is {found or 'none'}"
    return ""
