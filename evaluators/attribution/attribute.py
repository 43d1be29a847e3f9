"""From the signs in a failed episode to the one cause it is put down to."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from evaluators.attribution import agent
from evaluators.attribution.case import Case
from evaluators.attribution.cause import Attribution, Cause, Finding, attribution
from evaluators.attribution.outside import (
    ended_by_failure,
    kept_out,
    refused_by_guard,
    site_failed,
    verdict_in_doubt,
)
from evaluators.attribution.values import wrong_value
from evaluators.steps.judgement import StepJudgement
from webagent.observation import render
from webagent.records import Ending, Observation, Score, Trajectory

SOURCE = "rules@1"
_HALF = 0.5


def has_failed(trajectory: Trajectory, scores: Sequence[Score], trusted: str = "") -> bool:
    """Whether there is a failure to explain: the world's or the model's, or a headline score that
    says so, contradicts another, or could not be made. Not so where nothing was scored.

    Where evaluators whose ids begin with `trusted` have spoken, nobody else is heard.
    """
    if trajectory.ending is None or trajectory.ending is Ending.STOPPED:
        return False
    if trajectory.ending.is_infrastructure:
        return True
    heard = headlines(scores)
    final = [score for score in heard if trusted and score.evaluator.startswith(trusted)]
    told = [score.value for score in final or heard]
    return bool(told) and not all(value is not None and value >= _HALF for value in told)


def headlines(scores: Sequence[Score]) -> list[Score]:
    """The scores named `success`."""
    return [score for score in scores if score.name == "success"]


def attribute(
    trajectory: Trajectory,
    scores: Sequence[Score],
    judgement: StepJudgement | None = None,
    *,
    trusted: str = "",
    shown: Callable[[Observation], str] = render,
) -> Attribution:
    """What the failure is put down to, by rules that quote what they go by.

    Faults that are not the agent's come first: the world, the site, the verdict, the guard. Then
    what ended the episode decides: where it was ended, the earliest mistake that was not put right;
    where it ran out of steps or was given up, what it was stuck at. `scores` are the episode's;
    evaluators that contradict each other are a fault of the judge unless one whose id begins with
    `trusted` has spoken. `judgement` names the step where the rules name none. `shown` is what the
    agent was shown of a page. Raises `ValueError` for an episode that has not failed.
    """
    told = headlines(scores)
    if not has_failed(trajectory, told, trusted):
        raise ValueError(f"episode {trajectory.id} has not failed; there is nothing to attribute")
    finding = (
        ended_by_failure(trajectory)
        or kept_out(trajectory)
        or site_failed(trajectory)
        or verdict_in_doubt(trajectory, told, trusted)
        or refused_by_guard(trajectory)
        or _agents(Case(trajectory, shown))
        or Finding(Cause.UNKNOWN, "", None, "no rule found what went wrong")
    )
    if finding.step is None and judgement is not None and judgement.first_error is not None:
        error = judgement.steps[judgement.first_error]
        said = f"{judgement.source}: {error.reason}" if error.reason else ""
        evidence = (*finding.evidence, said) if said else finding.evidence
        finding = replace(finding, step=judgement.first_error, evidence=evidence)
    return attribution(trajectory, finding, SOURCE)


def _agents(case: Case) -> Finding | None:
    """The agent's own fault, by how the episode ended."""
    if not case.trajectory.steps:
        return None
    if unseen := agent.not_shown(case):
        return unseen
    value, element = wrong_value(case), agent.wrong_element(case)
    if case.trajectory.ending in (Ending.TASK_OVER, Ending.ANSWERED):
        mistakes = [finding for finding in (value, element) if finding is not None]
        if mistakes:
            return min(mistakes, key=lambda finding: finding.step or 0)
        return agent.left_out(case)
    stuck = agent.could_not_be_done(case) or agent.loop(case)
    if value is not None and (stuck is None or (value.step or 0) <= (stuck.step or 0)):
        return value
    return stuck or element or agent.stopped(case)
