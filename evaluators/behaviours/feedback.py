"""People's feedback on episodes, split into remarks and grounded in steps."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, Field

from evaluators.judge.pages import format_targeted_action
from evaluators.labels import read_csv, read_text
from webagent.errors import ModelError, SetupError
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read, read_form
from webagent.records import Trajectory

_SIGNS = {
    **dict.fromkeys(("good", "+", "+1", "1", "positive"), True),
    **dict.fromkeys(("bad", "-", "-1", "negative"), False),
}


@dataclass(frozen=True, slots=True)
class Feedback:
    """What one person wrote of one episode."""

    episode: str
    text: str
    annotator: str = ""
    behaviour: str = ""
    """What the agent did, where the person said so apart."""
    is_positive: bool | None = None
    """None where it was not said apart."""
    group: str = ""
    """To which of known groups it belongs, where that is to be compared."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One remark on one behaviour: Zhu et al., "AutoLibra" (ICLR 2026, arXiv 2505.02820)."""

    feedback: str
    """The person's words."""
    behaviour: str
    """What the agent did that they are about."""
    is_positive: bool | None
    """None where nobody said, and no model told it from the words."""
    episode: str
    step: int = 0
    """From 1; 0 for the whole episode."""
    group: str = ""

    @property
    def text(self) -> str:
        """All words of it."""
        if self.behaviour == self.feedback:
            return self.feedback
        return f"{self.behaviour} {self.feedback}"


def read_feedback(path: Path) -> tuple[Feedback, ...]:
    """Return the rows of a CSV with the columns `episode` and `feedback`.

    Where wanted also `annotator`, `behaviour`, `sign` (good or bad) and `group`. Raises
    `SetupError` naming what is missing or cannot be read.
    """
    rows = read_csv(path, read_text(path))
    if not rows:
        raise SetupError(f"{path} holds no feedback: there is no row below the header")
    missing = [name for name in ("episode", "feedback") if name not in rows[0][1]]
    if missing:
        raise SetupError(
            f"{path} has no column {' and no '.join(map(repr, missing))}; found"
            f" {', '.join(rows[0][1])}; expected episode and feedback"
        )
    found = []
    for line, row in rows:
        place = f"{path}, line {line}"
        if not row["episode"] or not row["feedback"]:
            raise SetupError(
                f"{place}: an episode and what was said of it are needed; one is empty"
            )
        sign = row.get("sign", "").lower()
        if sign and sign not in _SIGNS:
            raise SetupError(f"{place}: sign is {row['sign']!r}; expected good, bad or nothing")
        annotator, behaviour = row.get("annotator", ""), row.get("behaviour", "")
        rest = (annotator, behaviour, _SIGNS.get(sign), row.get("group", ""))
        found.append(Feedback(row["episode"], row["feedback"], *rest))
    return tuple(found)


def split_remarks(feedback: Feedback) -> tuple[Aspect, ...]:
    """Return the remarks as people wrote them, without a model.

    One for each sentence, or the row where behaviour or sign is said apart.
    """
    sentences = [part.strip() for part in re.split(r"(?<=[.!?;])\s+|\n+", feedback.text)]
    if feedback.behaviour or feedback.is_positive is not None:
        sentences = [feedback.text]
    return tuple(
        Aspect(
            part,
            feedback.behaviour or part,
            feedback.is_positive,
            feedback.episode,
            group=feedback.group,
        )
        for part in sentences
        if part
    )


PROMPTS = Path(__file__).parent / "prompts"
Read = TypeVar("Read")


def prompt(name: str) -> Prompt:
    """Return the prompt of this name."""
    return load_prompt(PROMPTS / f"{name}.md")


async def ask_for(
    model: Model,
    asking: Prompt,
    slots: Mapping[str, Mapping[str, str]],
    read: Callable[[str], Read],
    max_tokens: int = 4096,
) -> Read:
    """Return what `read` makes of the reply, or of the second one.

    `slots` fill the sections `system` and `user`. Raises `UnusableError` when neither reply can be
    used, `ModelError` when the model failed.
    """
    messages = tuple(
        Message(role, asking.fill(role, **slots.get(role, {}))) for role in ("system", "user")
    )

    async def ask(conversation: tuple[Message, ...]) -> Reply:
        return (await model.complete(conversation, max_tokens=max_tokens)).replies[0]

    return await ask_and_read(
        ask, messages, read, lambda problem: asking.fill("again", problem=problem)
    )


@dataclass(frozen=True, slots=True)
class Grounded:
    """The aspects of one person's feedback on one episode."""

    feedback: Feedback
    aspects: tuple[Aspect, ...] = ()
    problem: str = ""
    """Why the feedback could not be grounded; empty where it was."""


class _Remark(BaseModel):
    feedback: str = Field(min_length=1)
    behaviour: str = Field(min_length=1)
    sign: Literal["good", "bad"]
    step: int = Field(ge=0)


class _Remarks(BaseModel):
    aspects: list[_Remark]


async def ground(model: Model, trajectory: Trajectory, feedback: Feedback) -> Grounded:
    """Return the aspects that a model finds, or the problem with its replies.

    Each has to quote the feedback and to name a step that there is.
    """
    slots = {
        "user": {**fill_episode_slots(trajectory), "feedback": fence("comment", feedback.text)}
    }

    def read(text: str) -> tuple[Aspect, ...]:
        aspects = []
        for remark in read_form(text, _Remarks).aspects:
            if _plain(remark.feedback) not in _plain(feedback.text):
                raise UnusableError(f"the comment does not say {remark.feedback!r}; copy its words")
            if remark.step > len(trajectory.steps):
                raise UnusableError(f"there is no step {remark.step}, only {len(trajectory.steps)}")
            aspects.append(
                Aspect(
                    remark.feedback,
                    remark.behaviour,
                    remark.sign == "good",
                    feedback.episode,
                    remark.step,
                    feedback.group,
                )
            )
        return tuple(aspects)

    try:
        return Grounded(feedback, await ask_for(model, prompt("ground"), slots, read))
    except UnusableError as error:
        return Grounded(feedback, problem=f"no usable reply: {error}")
    except ModelError as error:
        return Grounded(feedback, problem=f"the model failed: {error}")


def fill_episode_slots(trajectory: Trajectory) -> dict[str, str]:
    """Return goal, steps and ending of an episode as slots of a prompt."""
    lines = []
    for number, step in enumerate(trajectory.steps, start=1):
        page = step.observation
        before = f" [the step before: {page.outcome}]" if page.outcome else ""
        thought = f" (thought: {step.decision.thought})" if step.decision.thought else ""
        done = format_targeted_action(step)
        lines.append(f"{number}. {page.title} {page.url}{before}: {done}{thought}")
    return {
        "goal": trajectory.goal or trajectory.task.goal,
        "steps": fence("steps", "\n".join(lines) or "nothing"),
        "ending": str(trajectory.ending),
    }


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
