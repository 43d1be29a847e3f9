"""Feedback of people on episodes: split into remarks, grounded in steps, grouped to metrics."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
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
            raise SetupError(f"{place}: the episode or the comment is empty; both are needed")
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
                raise UnusableError(f"{remark.feedback!r} is not in the comment; copy its words")
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


_WORDS = """
a about after again all also an and any are as at be been before but by can could did do does doing
done for from get got had has have he her his how i if in into is it its itself just me more most my
no not of on once one only or other our out over own really same she should so some still such than
that the their them then there these they this those through to too up very was we were what when
where which while who why will with would you your agent bot didn't don't doesn't wasn't even though
because instead
"""
_COMMON = frozenset(_WORDS.split())
_ENDINGS = ("ingly", "edly", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s")


def split_terms(text: str) -> list[str]:
    """Return the words that say something, without their endings."""
    words = re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.casefold().replace("’", "'"))
    return [stem(word) for word in words if word not in _COMMON]


def stem(word: str) -> str:
    """Return the word without an English ending, where enough of it is left."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            rest = word[: -len(ending)]
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def group_texts(texts: Sequence[str], sizes: Sequence[int]) -> dict[int, list[int]]:
    """Return for each number of groups the group of each text, numbered in the order of the texts.

    Average linkage (Sokal and Michener, 1958) over the cosine of term vectors, in which terms that
    keep company with the same others stand for each other (Deerwester et al., "Indexing by latent
    semantic analysis", JASIS 1990). Sizes above the number of texts give as many groups as there
    are texts.
    """
    if len(texts) < 2:
        return {size: [0] * len(texts) for size in sizes}
    import numpy as np
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    from webagent.similarity import TermVectors, normalize_rows

    vectors = TermVectors(texts, split_terms).transform(texts)
    near = vectors @ vectors.T
    context = normalize_rows(near)
    distance = 1 - (near + context @ context.T) / 2
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    # From many groups to few: `cut_tree` returns zeros for as many groups as texts elsewhere.
    counts = sorted({max(1, min(size, len(texts))) for size in sizes}, reverse=True)
    cuts = dict(zip(counts, cut_tree(tree, counts).T.tolist(), strict=True))
    found = {}
    for size in sizes:
        groups = cuts[max(1, min(size, len(texts)))]
        numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
        found[size] = [numbers[group] for group in groups]
    return found


def compare_groupings(one: Sequence[object], other: Sequence[object]) -> float:
    """Return the adjusted Rand index (Hubert and Arabie 1985): 1 for the same groups, 0 for chance.

    Raises `ValueError` for groupings of different lengths.
    """
    if len(one) != len(other):
        raise ValueError(f"groupings of {len(one)} and of {len(other)} cannot be compared")
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(list(one), list(other)))


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure by which agents can be judged, as people's feedback has it."""

    name: str
    definition: str
    aspects: tuple[Aspect, ...]
    """The remarks it was made of."""

    @property
    def positive(self) -> tuple[str, ...]:
        """Behaviours that people approved of."""
        return _list_examples(self.aspects, True)

    @property
    def negative(self) -> tuple[str, ...]:
        """Behaviours that people did not."""
        return _list_examples(self.aspects, False)

    @property
    def unsigned(self) -> tuple[str, ...]:
        """Behaviours of which nobody said whether they were good."""
        return _list_examples(self.aspects, None)


class _Measure(BaseModel):
    name: str = Field(min_length=1)
    definition: str = Field(min_length=1)
    remarks: list[int] = Field(min_length=1)


class _Measures(BaseModel):
    measures: list[_Measure]


def make_by_words(aspects: Sequence[Aspect], sizes: Sequence[int]) -> dict[int, tuple[Metric, ...]]:
    """Return for each number of metrics those that the words of the remarks make, without a model.

    A metric is named by the words that set it apart, and its definition is the remark in its
    middle: a person or a model has to put it better.
    """
    from webagent.similarity import TermVectors, normalize_rows

    texts = [aspect.text for aspect in aspects]
    vectors = TermVectors(texts, split_terms).transform(texts)
    made = {}
    for size, groups in group_texts(texts, sizes).items():
        metrics = []
        for number in sorted({*groups}):
            places = [i for i, group in enumerate(groups) if group == number]
            theirs = [aspects[place] for place in places]
            middle = normalize_rows(vectors[places].mean(axis=0))
            central = theirs[int((vectors[places] @ middle).argmax())]
            metrics.append(
                Metric(_name_by_words(aspects, theirs), central.behaviour, tuple(theirs))
            )
        made[size] = tuple(metrics)
    return made


async def make_by_model(model: Model, aspects: Sequence[Aspect], size: int) -> tuple[Metric, ...]:
    """Return so many metrics, sorted, named and defined by a model.

    Every remark has to be in exactly one. Raises `UnusableError` when no reply can be used,
    `ModelError` when the model failed.
    """
    size = min(size, len(aspects))
    listed = "\n".join(f"{n}. {format_remark(aspect)}" for n, aspect in enumerate(aspects, start=1))
    slots = {"system": {"count": str(size)}, "user": {"remarks": fence("remarks", listed)}}

    def read(text: str) -> tuple[Metric, ...]:
        measures = read_form(text, _Measures).measures
        count = len(aspects)
        if len(measures) != size:
            raise UnusableError(f"there are {len(measures)} measures, not {size}")
        named = [number for each in measures for number in each.remarks]
        twice = sorted({number for number in named if named.count(number) > 1})
        missing = sorted({*range(1, count + 1)} - {*named})
        unknown = sorted({*named} - {*range(1, count + 1)})
        for problem, numbers in (
            ("in no measure", missing),
            ("in several", twice),
            ("not among the remarks", unknown),
        ):
            if numbers:
                raise UnusableError(f"remarks {', '.join(map(str, numbers[:10]))} are {problem}")
        return tuple(
            Metric(each.name, each.definition, tuple(aspects[n - 1] for n in sorted(each.remarks)))
            for each in measures
        )

    return await ask_for(model, prompt("cluster"), slots, read, max_tokens=16384)


def format_remark(aspect: Aspect) -> str:
    """Return an aspect in one line: its sign, the behaviour, the person's words."""
    sign = {True: "good", False: "bad", None: "unsaid"}[aspect.is_positive]
    words = "" if aspect.behaviour == aspect.feedback else f" (“{aspect.feedback}”)"
    return f"{sign}: {' '.join((aspect.behaviour + words).split())}"


def _name_by_words(aspects: Sequence[Aspect], theirs: Sequence[Aspect]) -> str:
    """Return the words that are frequent in these remarks and rare in all, as people wrote them."""
    own, every = _shares(theirs), _shares(aspects)
    best = sorted(own, key=lambda term: (-own[term] * log(1 + own[term] / every[term]), term))
    written: dict[str, str] = {}
    for aspect in theirs:
        for word in aspect.text.casefold().replace("’", "'").split():
            plain = word.strip(".,;:!?()“”\"'")
            for term in split_terms(plain):
                written.setdefault(term, plain)
    return ", ".join(written[term] for term in best[:3] if term in written) or "unnamed"


def _shares(aspects: Sequence[Aspect]) -> dict[str, float]:
    held = [set(split_terms(aspect.text)) for aspect in aspects]
    return {
        term: sum(term in theirs for theirs in held) / len(held)
        for theirs in held
        for term in theirs
    }


def _list_examples(aspects: Sequence[Aspect], sign: bool | None) -> tuple[str, ...]:
    """Return the first three behaviours of this sign."""
    behaviours = [aspect.behaviour for aspect in aspects if aspect.is_positive is sign]
    return tuple(dict.fromkeys(behaviours))[:3]
