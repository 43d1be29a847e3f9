"""Requests to a model for tasks of a site: repeated once, stored, read into proposals."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from loop.proposers.records import ProposalRecord, SourceResult
from tasks.task import Task, TaskCheck, TaskProposal
from webagent.errors import StoreError
from webagent.models.model import Message, Model
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError, find_objects, follow_up


@dataclass(frozen=True, slots=True)
class SiteScope:
    """A site as proposers and filters know it."""

    name: str
    """What people call it."""
    address: str
    """Where it begins; tasks stay below it: `http://shop.test/`."""
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
class ShownItem:
    """Something that tasks may be made from, as a model is shown it."""

    text: str
    origin: str
    """Its name, as `the page http://shop.test/`."""
    parent: str = ""
    """Id of the task that it is; empty for what is no task."""
    direction: str = ""
    """How a task made from it is to differ: `easier`, `harder` or `sideways`; empty where it may
    differ as it likes."""
    image: str = ""
    """Reference to a screenshot."""
    address: str = ""
    """Of the page that it is; empty for what is no page."""


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """One question to a model: a section of the prompt with what fills it."""

    source: str
    """One of `tasks.task.SOURCES`."""
    section: str
    count: int
    """How many tasks are asked for."""
    slots: Mapping[str, str]
    shown: tuple[ShownItem, ...] = ()
    """By number from 1, what a task may be made from; empty where only the site is named."""


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


_SLOTS = {"pages": "pages", "failures": "attempts"}
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
    groups = [tuple(shown[start : start + at_once]) for start in range(0, len(shown), at_once)]
    requests = []
    for place, group in enumerate(groups):
        if share := count // len(groups) + (place < count % len(groups)):
            slots = fill_common_slots(scope, share, known)
            requests.append(TaskRequest(source, source, share, slots, group))
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

    The limit of steps is the site's: how many its author expects is for the filter to judge.
    """
    # An address may be given from the site's root or from its first page.
    address = entry.get("start", "").strip()
    start = urljoin(scope.address, address) if address else scope.address
    login, goal = entry.get("login", "") if scope.accounts else "", entry["goal"]
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
    """Return as many proposals as were requested, and why other tasks of the reply are none.

    They do not say which of the tasks that were shown they are made from, or differ in another
    direction than requested. Where pages were shown and a task begins on none of them, as small
    models make addresses up, it begins on the page that it is made from.
    """
    pages = {item.address for item in request.shown} - {""}
    records, problems = [], []
    for entry in entries[: request.count]:
        reason, number, parent = entry["why"].strip(), entry.get("from", 0), ""
        if any(item.direction for item in request.shown):
            goal, count = f"{entry['goal'][:60]!r}", len(request.shown)
            if not 0 < number <= count:
                problem = f"does not say which task it is made from; {count} were shown"
                problems.append(f"{goal} {problem}")
                continue
            wanted, given = request.shown[number - 1].direction, entry.get("direction", "")
            if wanted and given != wanted:
                problems.append(f"{goal} was to be {wanted}; its direction is {given or 'none'}")
                continue
        number = number if number <= len(request.shown) else 0
        if number:
            item = request.shown[number - 1]
            direction = f", {entry.get('direction', '')}" if item.direction else ""
            reason, parent = f"{reason} (from {item.origin}{direction})", item.parent
        address = entry.get("start", "").strip()
        if address and pages and urljoin(scope.address, address) not in pages:
            address = request.shown[number - 1].address if number else ""
        task = build_task({**entry, "start": address}, scope, request.source, parent)
        proposal = TaskProposal(task, request.source, reason)
        records.append(ProposalRecord(proposal, steps=entry["steps"]))
    return records, problems


Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with the reply to it, as it is kept."""

    key: str
    """Hash of the model, the request and the sampling."""
    model: str
    """The weights that replied."""
    prompt: str
    """Hash of the prompt's file."""
    reply: str


@dataclass(slots=True)
class ExchangeLog:
    """Earlier requests with their replies, in a file of JSON lines; None where nothing is kept."""

    path: Path | None = None
    exchanges: dict[str, AskedQuestion] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "ExchangeLog":
        """Return what a file holds; a line that a kill cut off is dropped. Raises `StoreError`."""
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        found: dict[str, AskedQuestion] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                exchange = AskedQuestion(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise StoreError(f"{path}, line {number}: not as requested: {error}") from error
            found[exchange.key] = exchange
        return cls(path, found)

    def add(self, exchange: AskedQuestion) -> None:
        """Keep an exchange, in the file as well."""
        self.exchanges[exchange.key] = exchange
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(exchange)) + "\n")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is sampled when it invents."""

    temperature: float = 0.7
    max_tokens: int = 4096
    seed: int = 0


@dataclass(slots=True)
class ProposerModel:
    """Asks one model, for whatever source."""

    model: Model
    kept: ExchangeLog = field(default_factory=ExchangeLog)
    images: Callable[[str], bytes] | None = None
    """A screenshot by its reference; None where the model is to be shown none."""
    sampling: Sampling = field(default_factory=Sampling)

    async def tasks(self, request: TaskRequest, scope: SiteScope, number: int = 0) -> SourceResult:
        """Return the tasks a model invents; `number` tells apart requests that are the same.

        A reply that is not of the schema is asked for once more. What is then still none is
        counted as unreadable, and never mended. Raises `ModelError`.
        """
        prompt = load_prompt(PROPOSE)
        system = prompt.fill("system", **fill_system_slots(scope, prompt.sections))
        material: dict[str, str] = {}
        if request.shown:
            name = _SLOTS[request.section]
            text = "\n\n".join(f"{n}. {item.text}" for n, item in enumerate(request.shown, 1))
            material = {name: fence(name, text)}
        user = prompt.fill(request.section, **request.slots, **material)
        images: tuple[bytes, ...] = ()
        if self.images is not None and self.model.capabilities.images:
            images = tuple(self.images(item.image) for item in request.shown if item.image)
        messages = [Message("system", system), Message("user", user, images)]
        used = await self.reply(messages, prompt, number)
        entries, problems = _read_tasks(used.reply)
        if problems:
            messages += follow_up(used.reply, prompt.fill("again", problem=problems[0]))
            second = await self.reply(messages, prompt, number)
            found, its_problems = _read_tasks(second.reply)
            # The reply of which more tasks can be read counts, of two alike the later.
            if entries is None or (found is not None and len(found) >= len(entries)):
                used, entries, problems = second, found, its_problems
        records, misplaced = build_proposals(entries or [], request, scope)
        return SourceResult(
            tuple(
                replace(record, model=used.model, prompt=prompt.hash, request=used.key)
                for record in records
            ),
            (*problems, *misplaced),
            requests=1,
        )

    async def reply(
        self, messages: Sequence[Message], prompt: Prompt, number: int = 0
    ) -> AskedQuestion:
        """Return the kept reply to a question, or the model's, which is kept then."""
        content = [
            [each.role, each.text, [hashlib.sha256(image).hexdigest() for image in each.images]]
            for each in messages
        ]
        named = [self.model.name, prompt.hash, asdict(self.sampling), number, content]
        text = json.dumps(named, sort_keys=True).encode("utf-8", "surrogatepass")
        key = hashlib.sha256(text).hexdigest()[:16]
        if key not in self.kept.exchanges:
            completion = await self.model.complete(
                messages,
                temperature=self.sampling.temperature,
                seed=self.sampling.seed + number,
                max_tokens=self.sampling.max_tokens,
            )
            reply = completion.replies[0].text
            self.kept.add(AskedQuestion(key, completion.model, prompt.hash, reply))
        return self.kept.exchanges[key]


def read_object(text: str, read: Callable[[Mapping[str, Any]], Read]) -> Read:
    """Return what a reply's one JSON object says. Raises `UnusableError` for none or several."""
    objects = list(find_objects(text))
    if len(objects) != 1:
        found = f"{len(objects)} of them" if objects else f"none in {text.strip()[:60]!r}"
        raise UnusableError(f"expected one JSON object; found {found}")
    return read(objects[0])


def _read_tasks(text: str) -> tuple[list[dict[str, Any]] | None, list[str]]:
    """Return the tasks of a reply with what is wrong; None where the reply is of another shape."""
    try:
        return read_object(text, parse_tasks)
    except UnusableError as error:
        return None, [str(error)]
