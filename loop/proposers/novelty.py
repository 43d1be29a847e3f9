"""Novelty: whether a task is another than those there are already."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from loop.proposers.wording import likeness, values, words
from tasks.proposal import Refusal
from tasks.task import Task

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Texts to vectors of one length."""
_HERE = re.compile(r"\b(?:this|these|here)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SimilarityLimits:
    """From where on two goals are the same one."""

    words: float = 0.6
    """Of `wording.likeness`."""
    embedding: float = 0.92
    """Of the cosine, where there are embeddings."""


def check_novelty(
    task: Task,
    known: Sequence[Task],
    alike: SimilarityLimits | None = None,
    embed: Embed | None = None,
) -> Refusal | None:
    """Why a task is not new beside the known ones; None where it is.

    Tasks that name other values (quoted words, numbers, names) are other tasks, however alike
    their words are; tasks whose checks ask the same of the same state are the same, however
    different. On another site, or as somebody else, everything is new.
    """
    terms = alike or SimilarityLimits()
    rivals = [each for each in known if _where(each) == _where(task)]
    for rival in rivals:
        if _asks_of_a_state(task) and _end_state(task) == _end_state(rival):
            return Refusal("novelty", f"its checks are those of {rival.id}: the same end state")
    close = [each for each in rivals if _may_be_same(task, each)]
    for rival in close:
        share = likeness(task.goal, rival.goal)
        if share >= terms.words:
            return Refusal("novelty", _describe_rival(rival, f"{share:.2f} alike in words"))
    return _by_meaning(task, close, terms.embedding, embed) if embed and close else None


def _by_meaning(task: Task, close: Sequence[Task], least: float, embed: Embed) -> Refusal | None:
    first, *others = embed([task.goal, *(each.goal for each in close)])
    for rival, vector in zip(close, others, strict=True):
        lengths = math.hypot(*first) * math.hypot(*vector)
        cosine = (
            sum(a * b for a, b in zip(first, vector, strict=True)) / lengths if lengths else 0.0
        )
        if cosine >= least:
            return Refusal("novelty", _describe_rival(rival, f"{cosine:.2f} alike in meaning"))
    return None


def _describe_rival(rival: Task, how: str) -> str:
    return f"as {rival.id}, {rival.goal[:80]!r}: {how}"


def _where(task: Task) -> tuple[str, str]:
    """The site and who is logged in there."""
    return task.site or "/".join(task.start_url.split("/", 3)[:3]), task.login


def _end_state(task: Task) -> tuple[object, ...]:
    asked = {check.evidence: task.queries.get(check.evidence, "") for check in task.checks}
    checks = sorted(
        (
            " ".join(asked[check.evidence].split()) or check.evidence,
            check.rule,
            repr(check.expected),
        )
        for check in task.checks
    )
    return tuple(checks)


def _asks_of_a_state(task: Task) -> bool:
    """Whether a check asks what has become of the site; questions may have one answer and be two,
    and to change nothing is no state of its own."""
    return any(
        not check.evidence.startswith("episode.")
        and (check.rule, check.expected) != ("unchanged", [])
        for check in task.checks
    )


def _may_be_same(task: Task, rival: Task) -> bool:
    """Whether neither names a thing that the other does not mention, or speaks of another page."""
    one, other = task.goal, rival.goal
    if _HERE.search(one) and task.start_url != rival.start_url:
        return False
    first, second = values(one), values(other)
    named = all(value in other.casefold() for value in first) and all(
        value in one.casefold() for value in second
    )
    return named and not _fill_one_frame(one, other)


def _fill_one_frame(one: str, other: str) -> bool:
    """Whether the two are one sentence with other things in it: `the status of this ticket`, `the
    type of this ticket`. What is asked first, the verb, is no such thing."""
    first, second = words(one), words(other)
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    blocks = [block for block in matcher.get_opcodes() if block[0] != "equal"]
    return bool(blocks) and all(
        kind == "replace" and i1 > 0 and j1 > 0 and i2 - i1 <= 2 and j2 - j1 <= 2
        for kind, i1, i2, j1, j2 in blocks
    )
