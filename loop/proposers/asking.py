"""Asking a model for tasks: strictly read, asked again once, and kept so that nobody pays twice."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from loop.proposers.records import SourceResult
from loop.proposers.requests import (
    PROPOSE,
    SiteScope,
    TaskRequest,
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
class AskedQuestion:
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
                raise StoreError(f"{path}, line {number}: not what was asked: {error}") from error
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
        material = {name: fence(name, text) for name, text in request.material.items()}
        user = prompt.fill(request.section, **request.slots, **material)
        images: tuple[bytes, ...] = ()
        if self.images is not None and self.model.capabilities.images:
            images = tuple(map(self.images, request.images))
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
