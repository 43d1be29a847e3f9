"""Novelty: whether a task is another than those there are already."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from loop.proposers.wording import likeness, values, words
from tasks.proposal import Refusal
from tasks.task import Task

_HERE = re.compile(r"\b(?:this|these|here)\b", re.IGNORECASE)


def check_novelty(task: Task, known: Sequence[Task], alike: float = 0.6) -> Refusal | None:
    """Return why a task is not new beside the known ones; None where it is.

    Tasks are the same from the likeness `alike` on (`wording.likeness`, 0 to 1). Those that name
    other values (quoted words, numbers, names) are other tasks, however alike their words are;
    tasks whose checks ask the same of the same state are the same, however different. On another
    site, or as somebody else, everything is new.
    """
    rivals = [each for each in known if _place(each) == _place(task)]
    if _asks_of_a_state(task):
        for rival in rivals:
            if _end_state(task) == _end_state(rival):
                return Refusal("novelty", f"its checks are those of {rival.id}: the same end state")
    for rival in rivals:
        share = likeness(task.goal, rival.goal) if _may_be_same(task, rival) else 0.0
        if share >= alike:
            reason = f"as {rival.id}, {rival.goal[:80]!r}: {share:.2f} alike in words"
            return Refusal("novelty", reason)
    return None


def _place(task: Task) -> tuple[str, str]:
    """Return the site and who is logged in there."""
    return task.site or "/".join(task.start_url.split("/", 3)[:3]), task.login


def _end_state(task: Task) -> list[tuple[str, str, str]]:
    """Return the checks in one order, the evidence by its query where it has one."""
    return sorted(
        (
            " ".join(task.queries.get(check.evidence, "").split()) or check.evidence,
            check.rule,
            repr(check.expected),
        )
        for check in task.checks
    )


def _asks_of_a_state(task: Task) -> bool:
    """Return whether a check asks what has become of the site.

    Two questions may have one answer, and to change nothing is no state of its own.
    """
    return any(
        not check.evidence.startswith("episode.")
        and (check.rule, check.expected) != ("unchanged", [])
        for check in task.checks
    )


def _may_be_same(task: Task, rival: Task) -> bool:
    """Return whether neither names a thing that the other does not mention, or another page.

    One sentence with other things in it is another task: `the status of this ticket`, `the type of
    this ticket`. What is asked first, the verb, is no such thing.
    """
    one, other = task.goal, rival.goal
    if _HERE.search(one) and task.start_url != rival.start_url:
        return False
    if any(value not in other.casefold() for value in values(one)):
        return False
    if any(value not in one.casefold() for value in values(other)):
        return False
    matcher = SequenceMatcher(None, words(one), words(other), autojunk=False)
    blocks = [block for block in matcher.get_opcodes() if block[0] != "equal"]
    is_same_frame = bool(blocks) and all(
        kind == "replace" and i1 > 0 and j1 > 0 and i2 - i1 <= 2 and j2 - j1 <= 2
        for kind, i1, i2, j1, j2 in blocks
    )
    return not is_same_frame
