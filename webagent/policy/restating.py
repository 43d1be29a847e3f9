"""Goals in words that memory knows: a language model says which remembered request is meant.

Memory compares goals by their words, and people put the same wish in words that no demonstration
has. A model is asked once for each such goal, and never for one that is put as a demonstration was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel, Field

from webagent.errors import UsageError
from webagent.memory.goals import compare_goals, read_goal
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read, read_form
from webagent.policy.builtin import BuiltinPolicy
from webagent.policy.policy import Policy
from webagent.records import RESTATED, Decision, Observation, Trajectory

RESTATE = load_prompt(Path(__file__).parent / "prompts" / "restate.md")
_SHOWN = 100
"""Remembered requests that are shown, the likest of as many tasks."""
_ALIKE = 0.8
"""Likeness of a restated goal to the request that is meant, at least: 1 where only values differ,
a little less where a value is of another kind, a number in place of a name."""


class _Restated(BaseModel):
    request: int = Field(ge=0)
    """Number of the remembered request that is meant; 0 for none."""
    goal: str = ""


@dataclass(frozen=True, slots=True)
class RestatingPolicy:
    """A policy with a memory, given each goal in words that it knows where a model finds them."""

    policy: BuiltinPolicy
    model: Model
    known: dict[str, str] = field(default_factory=dict)
    """What goals were put as."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the policy's action for the goal in known words. Raises what it raises, and
        `ModelError` where the model fails."""
        goal = await self._restate(observation.goal)
        decision = await self.policy.act(*_put(trajectory, observation, goal))
        return _note(decision, trajectory, goal, observation.goal)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return at most n of the policy's actions for the goal in known words."""
        goal = await self._restate(observation.goal)
        found = await self.policy.propose(*_put(trajectory, observation, goal), n)
        return [_note(decision, trajectory, goal, observation.goal) for decision in found]

    async def _restate(self, goal: str) -> str:
        if goal not in self.known:
            memory = self.policy.memory
            requests = list_requests(goal, memory.examples() if memory else ())
            if any(read_goal(each).template == read_goal(goal).template for each in requests):
                self.known[goal] = goal
            else:
                self.known[goal] = await restate(self.model, goal, requests)
        return self.known[goal]


def list_requests(goal: str, examples: Iterable[tuple[str, str]]) -> list[str]:
    """Return the remembered goals that a goal could mean, the likest first: of every task the one
    that is put most like it. `examples` are tasks with their goals."""
    wanted = read_goal(goal)
    likest: dict[str, tuple[float, str]] = {}
    for task, text in examples:
        likest[task] = max(
            likest.get(task, (-1.0, "")), (compare_goals(read_goal(text), wanted), text)
        )
    ranked = sorted(likest.values(), key=lambda each: (-each[0], each[1]))
    return [text for _, text in ranked[:_SHOWN]]


async def restate(model: Model, goal: str, requests: Sequence[str]) -> str:
    """Return the goal as the request that means the same is put, with the goal's own values; the
    goal as it is where there is none, or where two replies cannot be used. Raises `ModelError`."""
    listed = "\n".join(f"{number}. {' '.join(r.split())}" for number, r in enumerate(requests, 1))
    fenced = fence("goal", goal)
    messages = (
        Message("system", RESTATE.fill("system")),
        Message("user", RESTATE.fill("user", known=fence("known", listed), goal=fenced)),
    )

    async def ask(conversation: tuple[Message, ...]) -> Reply:
        return (await model.complete(conversation, temperature=0.0)).replies[0]

    def read(text: str) -> str:
        found = read_form(text, _Restated)
        if found.request == 0:
            return goal
        if found.request > len(requests):
            raise UnusableError(f"there is no request {found.request}; the last is {len(requests)}")
        meant = read_goal(requests[found.request - 1])
        if compare_goals(meant, read_goal(found.goal)) < _ALIKE:
            raise UnusableError(
                f"the goal {found.goal!r} is not put as request {found.request} is: {meant.text!r};"
                " keep each of its words, quotation marks too, and change its values alone"
            )
        return found.goal

    def again(problem: str) -> str:
        return RESTATE.fill("again", problem=problem)

    try:
        return await ask_and_read(ask, messages, read, again)
    except UnusableError:
        return goal


def _put(
    trajectory: Trajectory, observation: Observation, goal: str
) -> tuple[Trajectory, Observation]:
    if goal == observation.goal:
        return trajectory, observation
    steps = tuple(
        replace(step, observation=replace(step.observation, goal=goal)) for step in trajectory.steps
    )
    task = replace(trajectory.task, goal=goal)
    return replace(trajectory, task=task, goal=goal, steps=steps), replace(observation, goal=goal)


def _note(decision: Decision, trajectory: Trajectory, goal: str, original: str) -> Decision:
    """Say with the first action how its goal was understood."""
    if trajectory.steps or goal == original:
        return decision
    thought = f"{decision.thought}\nThe goal is taken as: {goal}".strip()
    return replace(decision, thought=thought, usage={**decision.usage, RESTATED: 1})


def put_in_front(policy: Policy, model: Model) -> RestatingPolicy:
    """Return the policy with a model that restates goals. Raises `UsageError` without a memory."""
    if not isinstance(policy, BuiltinPolicy) or policy.memory is None:
        raise UsageError(
            "goals are restated in words that a memory knows; name a policy that `webagent improve`"
            " saved, as model:runs/…/policy"
        )
    return RestatingPolicy(policy, model)
