"""The writer that asks a model: the story in, one task out, the reply read strictly."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from loop.proposers.backward import Deed, Opened, Read, Story, Submitted, Written
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read

PROMPT = load_prompt(Path(__file__).parent / "prompts" / "label.md")
_LONGEST = 400
_MAX_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Has a model write the task that a story is the solution of."""

    model: Model

    @property
    def name(self) -> str:
        """The model's, with the hash of what it is asked."""
        return f"{self.model.name}, label#{PROMPT.hash}"

    async def write(self, story: Story) -> Written | None:
        """The task in the model's words, asked once more where its reply cannot be read; None where
        it finds none or cannot be read again. Raises `ModelError`.

        What was typed or read has to stand in what it writes: a task without it would be another.
        """
        user = PROMPT.fill("user", story=fence("story", _told(story)))
        messages = [Message("system", PROMPT.fill("system")), Message("user", user)]

        async def ask(asked: tuple[Message, ...]) -> Reply:
            return (await self.model.complete(asked, max_tokens=_MAX_TOKENS)).replies[0]

        try:
            return await ask_and_read(
                ask,
                messages,
                lambda text: read(text, story),
                lambda problem: PROMPT.fill("again", problem=problem),
            )
        except UnusableError:
            return None


def read(text: str, story: Story) -> Written | None:
    """Return the task in a reply, None where it says that there is none. Raises `UnusableError`."""
    try:
        said = json.loads(re.sub(r"^```(?:json)?\s*|\s*```$", "", text))
    except json.JSONDecodeError:
        raise UnusableError("it is not one JSON object") from None
    if not isinstance(said, dict) or said.keys() != {"task"}:
        raise UnusableError("expected an object with the key task and no other")
    goal = said["task"]
    if goal is None:
        return None
    if not isinstance(goal, str) or not 0 < len(goal.strip()) <= _LONGEST:
        raise UnusableError(f"the task has to be a text of 1 to {_LONGEST} characters, or null")
    last = story.deeds[-1]
    answer = last.value if isinstance(last, Read) else ""
    if answer and answer.casefold() in goal.casefold():
        raise UnusableError("the question gives its answer away")
    missing = [value for value in _wanted(story) if value.casefold() not in goal.casefold()]
    if missing:
        raise UnusableError(f"the task does not say {missing[0]!r}")
    return Written(" ".join(goal.split()), answer)


def _wanted(story: Story) -> list[str]:
    """What a task has to name for it to be this one."""
    last = story.deeds[-1]
    if isinstance(last, Read):
        return [last.subject] if last.subject else []
    told = [deed for deed in story.deeds if isinstance(deed, Submitted)]
    values = [f.value for deed in told for f in deed.fields if f.kind in ("textbox", "combobox")]
    return [*values, *(deed.subject for deed in told if deed.subject)]


def _told(story: Story) -> str:
    lines = [_line(deed) for deed in story.deeds]
    if story.changes:
        lines.append(f"In the site's database changed: {', '.join(sorted(story.changes))}")
    return "\n".join(lines)


def _line(deed: Deed) -> str:
    match deed:
        case Read(subject, label, value, page):
            of = f" of {subject!r}" if subject else ""
            return f"Read on the page {page!r}: the {label!r}{of} is {value!r}"
        case Opened(link, title):
            return f"Followed {link!r} to the page {title!r}"
        case Submitted(button, heading, fields, subject):
            entered = "; ".join(f"{f.label!r} ({f.kind}): {f.value!r}" for f in fields)
            about = f", for {subject!r}" if subject else ""
            return f"On {heading!r}{about} pressed {button!r} with {entered or 'nothing entered'}"
