"""What the agent did and what it says of it, kept apart."""

from collections.abc import Iterator
from dataclasses import dataclass

from webagent.action import Action, Answer, GiveUp, format_action, is_final
from webagent.records import Observation, Step, Trajectory


@dataclass(frozen=True, slots=True)
class Claim:
    """What the agent says of its own work: never evidence, compared with it afterwards."""

    stance: str = "none"
    """`done`, `gave up` or `none`."""
    answer: str = ""


def claim_of(trajectory: Trajectory) -> Claim:
    """The claim that the last action makes."""
    action = trajectory.steps[-1].decision.action if trajectory.steps else None
    if isinstance(action, Answer):
        return Claim("done", action.text)
    return Claim("gave up", action.reason) if isinstance(action, GiveUp) else Claim()


def actions_of(trajectory: Trajectory) -> str:
    """What was done, a numbered line each, without the agent's words about it."""
    lines = [
        f"{number}. {_done(step)}{_consequence(after)}"
        for number, (step, after) in enumerate(_with_next(trajectory), start=1)
    ]
    return "\n".join(lines) or "nothing"


def has_acted(trajectory: Trajectory) -> bool:
    """Whether anything was done but to end the episode."""
    return any(not is_final(step.decision.action) for step in trajectory.steps)


def reasoned_actions_of(trajectory: Trajectory) -> str:
    """Each step with its address, its action and the agent's reasoning; the last page at the end.

    The answer stands in the last action: this is for judges that were published with it.
    """
    steps = [
        (step.observation.url, _targeted(step), step.decision.thought) for step in trajectory.steps
    ]
    if trajectory.last is not None:
        steps.append((trajectory.last.url, "none, the episode is over", ""))
    return "\n".join(
        f"Step {number}\nURL: {url or 'not recorded'}\nAction: {action}\n"
        f"Reasoning: {thought or '-'}"
        for number, (url, action, thought) in enumerate(steps, start=1)
    )


def _with_next(trajectory: Trajectory) -> Iterator[tuple[Step, Observation | None]]:
    pages = [step.observation for step in trajectory.steps[1:]]
    yield from zip(trajectory.steps, [*pages, trajectory.last], strict=True)


def _done(step: Step) -> str:
    action = step.decision.action
    if isinstance(action, Answer):
        return "said that it had finished"
    return "gave up" if isinstance(action, GiveUp) else _targeted(step)


def _targeted(step: Step) -> str:
    action: Action = step.decision.action
    target = step.observation.node(getattr(action, "mark", 0))
    return format_action(action) + (f' on {target.role} "{target.name}"' if target else "")


def _consequence(after: Observation | None) -> str:
    return f" ({after.outcome})" if after is not None and after.outcome else ""
