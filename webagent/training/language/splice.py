"""Episodes that turn from a mistake to what was right, made of a failed one and a good one."""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from webagent.action import Action
from webagent.records import Decision, Step, Trajectory
from webagent.training.language.advantages import page_key
from webagent.training.language.rows import Encode, TokenRow, step_rows
from webagent.training.rows import observation_after


@dataclass(frozen=True, slots=True)
class Splice:
    """A made episode and where it turns."""

    trajectory: Trajectory
    error: int
    """Index of the first wrong step."""
    turn: int
    """Index of the step whose thought begins with the revision."""

    def rows(self, encode: Encode) -> list[TokenRow]:
        """Rows of what was right before the error, of the revision and of what follows.

        The steps from the error to the revision are masked. Stored ids are kept where the steps
        are the failed episode's own. All rows are without behaviour: for supervised training only.
        Raises `SetupError` as `step_rows` does.
        """
        wrong = dict.fromkeys(range(self.error, self.turn), 0.0)
        rows = step_rows(self.trajectory, weights=wrong, encode=encode)
        return [replace(row, log_probs=()) for row in rows]


def splice(
    failed: Trajectory,
    good: Trajectory,
    *,
    error: int,
    revision: str,
    back: Action | None = None,
) -> Splice | None:
    """The failed episode up to its first error, the revision, and the rest of the good one
    (Agent-R, arXiv 2501.11425).

    `error` is the index of the first wrong step. The two are joined on the first page after it
    that the good episode had, too: there the revision becomes the beginning of the thought. Where
    there is none, `back` leads from the page after the error to the page it was made on, as a step
    whose thought is the revision, and the good episode goes on from there. None when they share no
    such page.

    Deviation: Agent-R joins at the parent node of a search tree, as if the world had gone back by
    itself; a browser does not, so the way back is a page both had or a step.

    Pages count as the same when they look the same at one address; steps of the good episode keep
    their own pages, so that their actions name marks that are there. The decisions that are to be
    learnt have no ids and count as demonstrated, since their prompts now tell of the error; they
    are written out anew.
    """
    if not 0 <= error < len(failed.steps):
        raise ValueError(f"step {error} is none of the {len(failed.steps)} of {failed.id}")
    found = _joined(failed, good, error, revision) or _returned(failed, good, error, revision, back)
    if found is None:
        return None
    steps, turn = found
    trajectory = replace(
        failed,
        id=f"{failed.id}+{good.id}",
        steps=steps,
        last=good.last,
        ending=good.ending,
        evidence=good.evidence,
        provenance=good.provenance if good.provenance.imagined else failed.provenance,
    )
    return Splice(trajectory, error, turn)


def _joined(
    failed: Trajectory, good: Trajectory, error: int, revision: str
) -> tuple[tuple[Step, ...], int] | None:
    """The steps, joined on a page that both had, and where they turn."""
    places = _places(good)
    for index in range(error + 1, len(failed.steps) + 1):
        page = observation_after(failed, index - 1)
        here = None if page is None else places.get(page_key(page))
        if here is None:
            continue
        first = _shown(good.steps[here], revision)
        return (*failed.steps[:index], first, *map(_shown, good.steps[here + 1 :])), index
    return None


def _returned(
    failed: Trajectory, good: Trajectory, error: int, revision: str, back: Action | None
) -> tuple[tuple[Step, ...], int] | None:
    """The steps, joined on the page of the error by a step back to it, and where they turn."""
    here = _places(good).get(page_key(failed.steps[error].observation))
    page = observation_after(failed, error)
    if back is None or here is None or page is None or page.over:
        return None
    turn = Step(page, Decision(back, thought=revision, source="demonstration"))
    return (*failed.steps[: error + 1], turn, *map(_shown, good.steps[here:])), error + 1


def _places(good: Trajectory) -> dict[Hashable, int]:
    """Where the good episode was last on each page."""
    return {page_key(step.observation): index for index, step in enumerate(good.steps)}


def _shown(step: Step, revision: str = "") -> Step:
    """The step as a demonstration, without the ids of its own prompt."""
    thought = " ".join(part for part in (revision, step.decision.thought) if part)
    decision = Decision(step.decision.action, thought=thought, source="demonstration")
    return replace(step, decision=decision)
