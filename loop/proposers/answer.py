"""The answer to a request: its drafts, each held against what was asked for, as proposals."""

from collections.abc import Sequence
from dataclasses import dataclass

from loop.proposers.draft import Draft, task_of
from loop.proposers.request import Request
from loop.proposers.scope import Scope
from tasks.proposal import Proposal


@dataclass(frozen=True, slots=True)
class Drafted:
    """A proposal with how many steps it is said to take."""

    proposal: Proposal
    steps: int = 0


def proposals_of(
    drafts: Sequence[Draft], request: Request, scope: Scope
) -> tuple[list[Drafted], list[str]]:
    """As many proposals as were asked for, and why other drafts are none: they say they are made
    from something that was not shown, or go another way than they were to."""
    made: list[Drafted] = []
    problems = []
    for draft in drafts[: request.count]:
        problem = _misplaced(draft, request)
        if problem:
            problems.append(problem)
        else:
            made.append(Drafted(_proposal(draft, request, scope), draft.steps))
    return made, problems


def _misplaced(draft: Draft, request: Request) -> str:
    shown = len(request.origins)
    if draft.origin > shown:
        return f"{draft.goal[:60]!r} is from number {draft.origin}; {shown or 'none'} were shown"
    if request.directions and not draft.origin:
        return f"{draft.goal[:60]!r} does not say which task it is made from"
    wanted = request.directions[draft.origin - 1] if request.directions else ""
    if wanted and draft.direction != wanted:
        found = draft.direction or "none"
        return f"{draft.goal[:60]!r} was to go {wanted}; its direction is {found}"
    return ""


def _proposal(draft: Draft, request: Request, scope: Scope) -> Proposal:
    parent = request.parents[draft.origin - 1] if draft.origin and request.parents else ""
    where = request.origins[draft.origin - 1] if draft.origin else ""
    way = f", {draft.direction}" if request.directions else ""
    made_from = f" (from {where}{way})" if where else ""
    task = task_of(draft, scope, request.source, parent)
    return Proposal(task, request.source, f"{draft.why.strip()}{made_from}")
