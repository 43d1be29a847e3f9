"""Asking a model for tasks: strictly read, asked again once, and kept so that nobody pays twice."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from loop.proposers.requests import (
    PROPOSE,
    EstimatedProposal,
    SiteScope,
    TaskRequest,
    WrittenTasks,
    build_proposals,
    fill_system_slots,
    parse_tasks,
)
from webagent.errors import StoreError
from webagent.models.model import Message, Model
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError, find_objects, follow_up

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with the reply to it, as it is kept."""

    key: str
    """Hash of who was asked what, the sampling included."""
    model: str
    """The weights that replied."""
    prompt: str
    """Hash of the prompt's file."""
    reply: str


@dataclass(slots=True)
class ExchangeLog:
    """What was asked already, in a file of JSON lines; None where nothing is kept."""

    path: Path | None = None
    exchanges: dict[str, Exchange] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> "ExchangeLog":
        """What the file holds; a last line that a kill cut off is dropped. Raises `StoreError`."""
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        found: dict[str, Exchange] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                exchange = Exchange(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise StoreError(f"{path}, line {number}: not what was asked: {error}") from error
            found[exchange.key] = exchange
        return cls(path, found)

    def add(self, exchange: Exchange) -> None:
        """Keep it."""
        self.exchanges[exchange.key] = exchange
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(exchange)) + "\n")


@dataclass(frozen=True, slots=True)
class ModelProposals:
    """What came of one request for tasks."""

    drafted: tuple[EstimatedProposal, ...]
    model: str
    prompt: str
    """Hash of the prompt's file."""
    key: str
    """Of the exchange the tasks are from."""
    unreadable: tuple[str, ...] = ()
    """Why a reply, or a task in it, could not be read; nothing was made of those."""


@dataclass(frozen=True, slots=True)
class LoggedReply:
    """A reply with where it is kept."""

    text: str
    model: str
    key: str


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

    async def tasks(
        self, request: TaskRequest, scope: SiteScope, number: int = 0
    ) -> ModelProposals:
        """The tasks a model invents; `number` tells requests apart that are otherwise the same.

        A reply that is not of the schema is asked for once more. What is then still none is
        counted as unreadable, and never mended. Raises `ModelError`.
        """
        prompt = load_prompt(PROPOSE)
        system = prompt.fill("system", **fill_system_slots(scope, prompt.sections))
        material = {name: fence(name, text) for name, text in request.material.items()}
        user = prompt.fill(request.section, **request.slots, **material)
        messages = [Message("system", system), Message("user", user, self._shown(request))]
        first = await self.reply(messages, prompt, number)
        found, problem = _tried(first.text, parse_tasks)
        problem = problem or (found.problems[0] if found and found.problems else "")
        used, last = (found, first), first
        if problem:
            again = prompt.fill("again", problem=problem)
            messages += follow_up(first.text, again)
            last = await self.reply(messages, prompt, number)
            second, problem = _tried(last.text, parse_tasks)
            used = _choose_better((found, first), (second, last))
        return _collect_proposals(used, problem, request, scope, prompt)

    async def reply(
        self, messages: Sequence[Message], prompt: Prompt, number: int = 0
    ) -> LoggedReply:
        """The reply to a question: the kept one, or the model's, which is kept then."""
        key = self._key(messages, prompt, number)
        known = self.kept.exchanges.get(key)
        if known is None:
            completion = await self.model.complete(
                messages,
                temperature=self.sampling.temperature,
                seed=self.sampling.seed + number,
                max_tokens=self.sampling.max_tokens,
            )
            known = Exchange(key, completion.model, prompt.hash, completion.replies[0].text)
            self.kept.add(known)
        return LoggedReply(known.reply, known.model, key)

    def _shown(self, request: TaskRequest) -> tuple[bytes, ...]:
        if self.images is None or not self.model.capabilities.images:
            return ()
        return tuple(map(self.images, request.images))

    def _key(self, messages: Sequence[Message], prompt: Prompt, number: int) -> str:
        said = [
            [each.role, each.text, [hashlib.sha256(image).hexdigest() for image in each.images]]
            for each in messages
        ]
        named = [self.model.name, prompt.hash, asdict(self.sampling), number, said]
        text = json.dumps(named, sort_keys=True).encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()[:16]


def read_object(text: str, read: Callable[[Mapping[str, Any]], Read]) -> Read:
    """What the one JSON object in a reply says. Raises `UnusableError` for none or several."""
    objects = list(find_objects(text))
    if len(objects) != 1:
        found = f"{len(objects)} of them" if objects else f"none in {text.strip()[:60]!r}"
        raise UnusableError(f"expected one JSON object; found {found}")
    return read(objects[0])


def _tried(
    text: str, read: Callable[[Mapping[str, Any]], WrittenTasks]
) -> tuple[WrittenTasks | None, str]:
    try:
        return read_object(text, read), ""
    except UnusableError as error:
        return None, str(error)


def _choose_better(
    one: tuple[WrittenTasks | None, LoggedReply], other: tuple[WrittenTasks | None, LoggedReply]
) -> tuple[WrittenTasks | None, LoggedReply]:
    """The reply of which more tasks can be read; of two alike the later."""
    counts = [len(found.written_tasks) if found else -1 for found, _ in (one, other)]
    return one if counts[0] > counts[1] else other


def _collect_proposals(
    used: tuple[WrittenTasks | None, LoggedReply],
    problem: str,
    request: TaskRequest,
    scope: SiteScope,
    prompt: Prompt,
) -> ModelProposals:
    found, reply = used
    if found is None:
        return ModelProposals((), reply.model, prompt.hash, reply.key, (problem,))
    drafted, misplaced = build_proposals(found.written_tasks, request, scope)
    unreadable = (*found.problems, *misplaced)
    return ModelProposals(tuple(drafted), reply.model, prompt.hash, reply.key, unreadable)
