"""Episodes that turn from a mistake to what was right, made of a failed one and a good one."""

from collections.abc import Hashable
from dataclasses import replace

from webagent.action import Action
from webagent.records import Decision, Observation, Step, Trajectory
from webagent.training.language.advantages import page_key
from webagent.training.language.rows import Encode, TokenRow, step_rows
from webagent.training.rows import observation_after


def splice(
    failed: Trajectory,
    good: Trajectory,
    *,
    error: int,
    revision: str,
    back: Action | None = None,
) -> Trajectory | None:
    """The failed episode up to its first error, the revision, and the rest of the good one
    (Agent-R, arXiv 2501.11425).

    `error` is the index of the first wrong step. The two are joined on the first page after it
    that the good episode had, too: there the revision becomes the beginning of the thought. Where
    there is none, `back` leads from the page after the error to the page it was made on, as a step
    whose thought is the revision, and the good episode goes on from there. None when they share no
    such page.

    Deviation: Agent-R joins at the parent node of a search tree, as if the world had gone back by
    itself; a browser does not, so the way back is a page both had or a step.

    The decisions that are to be learnt have no ids and count as demonstrated, since their prompts
    now tell of the error; `splice_rows` writes them out.
    """
    if not 0 <= error < len(failed.steps):
        raise ValueError(f"step {error} is none of the {len(failed.steps)} of {failed.id}")
    joined = _joined(failed, good, error, revision) or _returned(
        failed, good, error, revision, back
    )
    if joined is None:
        return None
    return replace(
        failed,
        id=f"{failed.id}+{good.id}",
        steps=joined,
        last=good.last,
        ending=good.ending,
        evidence=good.evidence,
    )


def splice_rows(
    spliced: Trajectory, failed: Trajectory, error: int, encode: Encode
) -> list[TokenRow]:
    """Rows of a spliced episode: what was right before the error, the revision and what follows.

    The steps from the error to the revision are masked. Stored ids are kept where the steps are
    the failed episode's own; their rows' behaviour is left out, for supervised training only.
    """
    turn = next(i for i, step in enumerate(spliced.steps) if i > error and _is_new(step, failed, i))
    weights = {index: 0.0 for index in range(error, turn)}
    rows = step_rows(spliced, weights=weights, encode=encode)
    return [replace(row, log_probs=()) for row in rows]


def _joined(
    failed: Trajectory, good: Trajectory, error: int, revision: str
) -> tuple[Step, ...] | None:
    """Joined on a page that both had."""
    places = _places(good)
    for index in range(error + 1, len(failed.steps) + 1):
        page = observation_after(failed, index - 1)
        here = None if page is None else places.get(page_key(page))
        if here is None or page is None:
            continue
        first = _shown(good.steps[here], revision, page)
        return (*failed.steps[:index], first, *map(_shown, good.steps[here + 1 :]))
    return None


def _returned(
    failed: Trajectory, good: Trajectory, error: int, revision: str, back: Action | None
) -> tuple[Step, ...] | None:
    """Joined on the page the error was made on, by a step back to it."""
    here = _places(good).get(page_key(failed.steps[error].observation))
    page = observation_after(failed, error)
    if back is None or here is None or page is None or page.over:
        return None
    turn = Step(page, Decision(back, thought=revision, source="demonstration"))
    return (*failed.steps[: error + 1], turn, *map(_shown, good.steps[here:]))


def _places(good: Trajectory) -> dict[Hashable, int]:
    """Where the good episode was last on each page."""
    return {page_key(step.observation): index for index, step in enumerate(good.steps)}


def _shown(step: Step, revision: str = "", page: Observation | None = None) -> Step:
    """The step as a demonstration, without the ids of its own prompt."""
    thought = " ".join(part for part in (revision, step.decision.thought) if part)
    decision = Decision(step.decision.action, thought=thought, source="demonstration")
    return replace(step, decision=decision, observation=page or step.observation)


def _is_new(step: Step, failed: Trajectory, index: int) -> bool:
    return index >= len(failed.steps) or step is not failed.steps[index]
