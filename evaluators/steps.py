"""Steps judged for nothing: what had no effect, could not be done, led in a circle or came late."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from evaluators.judge.pages import format_targeted_action
from webagent.action import is_final
from webagent.action.actions import Fill
from webagent.policy.past_actions import action_key, page_appearance
from webagent.records import Ending, Observation, Trajectory

StepLabel: TypeAlias = Literal["correct", "neutral", "incorrect"]
"""AgentProcessBench's three labels (arXiv 2603.14465): +1 brings the task nearer to being done, 0
explores, fails for the first time or cannot be decided, -1 misleads, fails again or repeats."""
_PAGES_FAULT = ("gone", "disabled", "hidden", "covered", "read-only", "outside the page")
"""Words of outcomes for which the page is to blame rather than the choice of the action."""


@dataclass(frozen=True, slots=True)
class JudgedStep:
    """What is thought of one step."""

    label: StepLabel | None = None
    """None abstains."""
    is_error: bool = False
    """Whether it was a mistake. A mere repetition is `incorrect` without being one."""
    is_redundant: bool = False
    """Whether the episode would have been the same without it."""
    reason: str = ""


def judge_by_rules(
    trajectory: Trajectory, *, succeeded: bool | None = None
) -> tuple[JudgedStep, ...]:
    """Return what is known of each step without a model.

    Rules see what went wrong, not what went right: a step that changed the page is left open,
    unless the episode is known to have succeeded; then steps without fault are `correct`. Abstains
    where infrastructure ended the episode, since its steps say nothing about the agent.
    """
    count = len(trajectory.steps)
    if trajectory.ending is not None and trajectory.ending.is_infrastructure:
        return (JudgedStep(),) * count
    history = ActionHistory(trajectory)
    return tuple(_judge_step(history, index, succeeded) for index in range(count))


def page_state(page: Observation) -> Hashable:
    """Return the same for pages on which everything is as it was, scrolling and focus included."""
    focus = next((index for index, node in enumerate(page.nodes) if node.mark == page.focus), -1)
    seen = tuple(page_appearance(page))
    return page.url, page.active_tab, len(page.tabs), page.scroll, focus if page.focus else -1, seen


@dataclass(frozen=True)
class ActionHistory:
    """An episode's pages with what was done on them, compared with each other."""

    trajectory: Trajectory

    @cached_property
    def pages(self) -> tuple[Observation | None, ...]:
        """The page of each step, and the last one, None where it was not seen."""
        seen = tuple(step.observation for step in self.trajectory.steps)
        return (*seen, self.trajectory.last)

    @cached_property
    def places(self) -> tuple[Hashable, ...]:
        """The place of each page, None for one that was not seen."""
        return tuple(page_state(page) if page is not None else None for page in self.pages)

    @cached_property
    def times(self) -> tuple[int, ...]:
        """How often each step's action had been done on such a page, the step included."""
        counts: dict[Hashable, int] = {}
        found = []
        for index, step in enumerate(self.trajectory.steps):
            key = self.places[index], action_key(step.decision.action, step.observation)
            counts[key] = counts.get(key, 0) + 1
            found.append(counts[key])
        return tuple(found)

    @cached_property
    def returns(self) -> dict[int, int]:
        """For each step on a way that led back: the last step whose page is as it was before."""
        found: dict[int, int] = {}
        count = len(self.trajectory.steps)
        for index in range(count):
            same = [j for j in range(index + 1, count) if self.places[j] == self.places[index]]
            if same:
                found |= {step: same[-1] for step in range(index, same[-1]) if step not in found}
        return found

    @cached_property
    def overwritten(self) -> dict[int, int]:
        """For each filling of a field that was filled anew later: the last step that did."""
        last: dict[int, int] = {}
        actions = [step.decision.action for step in self.trajectory.steps]
        for index, action in enumerate(actions):
            if isinstance(action, Fill):
                last[action.mark] = index
        return {
            index: last[action.mark]
            for index, action in enumerate(actions)
            if isinstance(action, Fill) and last[action.mark] > index
        }

    def find_objection(self, index: int) -> str:
        """Return what the world said against a step that changed and ended nothing; else empty."""
        after = self.pages[index + 1]
        if after is None or after.over or not after.outcome:
            return ""
        return after.outcome if self.places[index + 1] == self.places[index] else ""

    def format_step(self, index: int) -> str:
        """Return the step in words."""
        return format_targeted_action(self.trajectory.steps[index])


def is_pages_fault(outcome: str) -> bool:
    """Return whether an element was there and could not be reached, which nobody could know."""
    return any(word in outcome for word in _PAGES_FAULT)


def _judge_step(history: ActionHistory, index: int, succeeded: bool | None) -> JudgedStep:
    steps = history.trajectory.steps
    step, objection, times = steps[index], history.find_objection(index), history.times[index]
    wasted: StepLabel = "incorrect" if times > 1 else "neutral"
    again = f", done {times} times on this page" if times > 1 else ""
    if is_final(step.decision.action):
        return _judge_end(succeeded, "the episode was ended")
    if objection == "no effect":
        return JudgedStep(wasted, is_redundant=True, reason=f"it had no effect{again}")
    if objection:
        excused = is_pages_fault(objection) and times == 1
        return JudgedStep(
            "neutral" if excused else "incorrect",
            is_error=not excused,
            reason=f"it could not be done: {objection}{again}",
        )
    if step.decision.source != "demonstration":
        why = ""
        if index in history.returns:
            why = f"the page was the same again before step {history.returns[index] + 1}"
        elif index in history.overwritten:
            why = f"the field was filled anew in step {history.overwritten[index] + 1}"
        if why:
            return JudgedStep(wasted, is_redundant=True, reason=why + again)
    if history.trajectory.ending is Ending.TASK_OVER and index + 1 == len(steps):
        return _judge_end(succeeded, "the page ended the episode")
    return JudgedStep("correct", reason="it led to a success") if succeeded else JudgedStep()


def _judge_end(succeeded: bool | None, how: str) -> JudgedStep:
    if succeeded is None:
        return JudgedStep()
    if succeeded:
        return JudgedStep("correct", reason=f"{how}, and it had succeeded")
    return JudgedStep("incorrect", is_error=True, reason=f"{how}, and it had failed")
