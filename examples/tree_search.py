"""Best-first tree search around any policy, on one task of a benchmark.

    python examples/tree_search.py miniwob click-test-2 --policy model:FOLDER
    python examples/tree_search.py fossil wiki-edit --policy endpoint --model NAME --nodes 40

After "Tree Search for Language Model Agents" (Koh et al. 2024, arXiv 2407.01476). The policy
proposes several actions in a state; the most valuable state is expanded next, its likeliest action
first. A state is reached again by a fresh start and a replay of its actions, so only sites that
every episode finds in their first state are searched. The best path is then played as an ordinary
episode. States are valued by the share of the task's own checks that hold, which is right for
making demonstrations and says nothing about an agent: change `value_state` to search by a judge.
"""

import argparse
import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from benchmarks.catalogue import find_benchmark
from benchmarks.sites.hosting import Hosting
from evaluators.rules import checks_hold
from evaluators.rules.checks import run_each_check
from loop.policies import NamedPolicy
from tasks.task import Task
from webagent.action import Answer, GiveUp, format_action, is_final
from webagent.browser import Browser
from webagent.errors import GuardError, PolicyError, SetupError, WorldError
from webagent.policy import Policy, ScriptedPolicy, replay_recording
from webagent.records import Decision, Ending, Step, Trajectory
from webagent.rollout import World, run_episode


@dataclass(frozen=True, slots=True)
class Limits:
    """How large the tree may grow."""

    nodes: int
    """States to reach, besides the first."""
    branch: int
    """Actions to try in a state."""
    steps: int
    """Real steps of the whole search, including replayed ones."""


@dataclass(frozen=True, slots=True)
class State:
    """A state of the site, with what led to it."""

    trajectory: Trajectory
    """The steps from the first page on; `last` is the page now."""
    value: float
    """How good it would be to stop here, 0 to 1."""
    is_over: bool = False
    """Whether no action can follow."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """An action that is still to be tried."""

    state: State
    """The state in which to try it."""
    decision: Decision
    log_prob: float
    """Sum of the log-probabilities of all actions up to this one, each among its siblings."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search."""

    best: State
    nodes: int
    """States reached, besides the first."""
    calls: int
    """Requests for proposals to the policy."""
    steps: int
    """Real steps taken, including replayed ones."""


class SearchedSite:
    """The site of one task, in which any known state can be reached again."""

    def __init__(self, world: World, task: Task) -> None:
        self.world, self.task, self.steps = world, task, 0
        self._here: tuple[Step, ...] | None = None
        """Steps that led to the present state of the world; None where it is unknown."""

    async def start(self) -> State:
        """Return the first state. Raises `WorldError`."""
        page = await self.world.reset(self.task)
        self._here = ()
        begun = Trajectory(f"{self.task.id}-search", self.task, goal=page.goal, last=page)
        return await self._value(begun)

    def cost(self, state: State) -> int:
        """Return the real steps that one action in this state takes."""
        return 1 + (0 if self._here == state.trajectory.steps else len(state.trajectory.steps))

    async def try_action(self, state: State, decision: Decision) -> State:
        """Return the state after an action. One that the guard refuses, or that breaks the world,
        leads to a state that is over and worth nothing."""
        before = state.trajectory
        assert before.last is not None
        after = replace(before, steps=(*before.steps, Step(before.last, decision)))
        if is_final(decision.action):
            return await self._value(after, before)
        try:
            await self._reach(before)
            self._here, self.steps = None, self.steps + 1
            after = replace(after, last=await self.world.step(decision.action))
            self._here = after.steps
            return await self._value(after)
        except (GuardError, WorldError):
            self._here = None
            return State(after, 0.0, is_over=True)

    async def _reach(self, wanted: Trajectory) -> None:
        if self._here == wanted.steps:
            return
        self._here = None
        page = await self.world.reset(self.task)
        now, script = replace(wanted, steps=(), last=page), replay_recording(wanted)
        for step in wanted.steps:
            assert now.last is not None
            # Marks may differ in the new copy of the page.
            action = script(now, now.last) or step.decision.action
            done = Step(now.last, replace(step.decision, action=action))
            self.steps += 1
            now = replace(now, steps=(*now.steps, done), last=await self.world.step(action))
        self._here = wanted.steps

    async def _value(self, done: Trajectory, at: Trajectory | None = None) -> State:
        """Return the state with the value of stopping there; `at` is the state to look at where
        the last action is an answer, which changes no page."""
        await self._reach(at or done)
        ending = find_ending(done)
        stopped = done
        if ending is None:
            assert done.last is not None
            stopped = replace(done, steps=(*done.steps, Step(done.last, Decision(Answer("")))))
        evidence = await self.world.evidence(self.task)
        if self.task.probes or self.task.evidence:
            self._here = None  # looking may have moved the pages
        stopped = replace(stopped, ending=ending or Ending.ANSWERED, evidence=evidence)
        return State(done, value_state(stopped), ending is not None)


def find_ending(done: Trajectory) -> Ending | None:
    """Return how an episode has ended; None where it goes on."""
    match done.steps[-1].decision.action if done.steps else None:
        case Answer():
            return Ending.ANSWERED
        case GiveUp():
            return Ending.GAVE_UP
    if done.last is not None and done.last.over:
        return Ending.TASK_OVER
    return Ending.STEP_LIMIT if len(done.steps) >= done.task.max_steps else None


def value_state(stopped: Trajectory) -> float:
    """Return the share of the task's checks for success that hold, 0 to 1."""
    checks = [verdict for check, verdict in run_each_check(stopped) if check.score == "success"]
    return sum(verdict.value or 0.0 for verdict in checks) / max(1, len(checks))


async def search(site: SearchedSite, policy: Policy, limits: Limits) -> Found:
    """Grow a tree until its best value is 1 or a limit is reached. Raises `WorldError` where the
    site does not start, and `ModelError` where the policy's model fails."""
    best = await site.start()
    leaves = await propose(policy, Leaf(best, Decision(Answer("")), 0.0), best, limits.branch)
    nodes, calls = 0, 1
    while leaves and nodes < limits.nodes and best.value < 1.0:
        leaf = max(leaves, key=lambda each: (each.state.value, each.log_prob))
        leaves.remove(leaf)
        if site.steps + site.cost(leaf.state) > limits.steps:
            break
        reached = await site.try_action(leaf.state, leaf.decision)
        nodes += 1
        # Of two equally good states the one that is reached sooner.
        best = max(best, reached, key=lambda s: (s.value, -len(s.trajectory.steps)))
        page = reached.trajectory.last
        # What can be done after an action without effect can be done before it.
        if not reached.is_over and page is not None and page.outcome != "no effect":
            leaves += await propose(policy, leaf, reached, limits.branch)
            calls += 1
    return Found(best, nodes, calls, site.steps)


async def propose(policy: Policy, leaf: Leaf, state: State, branch: int) -> list[Leaf]:
    """Return what the policy would try in a state that was reached through a leaf."""
    page = state.trajectory.last
    assert page is not None
    try:
        proposed = await policy.propose(state.trajectory, page, branch)
    except PolicyError:
        return []
    scores = [
        each.candidates[0].log_prob if each.candidates else sum(each.log_probs) for each in proposed
    ]
    total = math.log(sum(math.exp(score - max(scores)) for score in scores)) if scores else 0.0
    return [
        Leaf(state, each, leaf.log_prob + score - max(scores) - total)
        for each, score in zip(proposed, scores, strict=True)
    ]


async def play(task: Task, named: NamedPolicy, limits: Limits) -> tuple[Found, Trajectory]:
    """Search, then play the best path as an episode of its own. Raises `SetupError` for a site that
    keeps what is tried in it."""
    async with Hosting() as hosting, Browser() as browser, named.ready(None) as policy:
        is_live = not task.site and task.start_url.startswith("http")
        if is_live or (task.site and not hosting.is_reset(task.site)):
            raise SetupError(f"{task.id} is played on a site that keeps what a search tries")
        await hosting.prepare([task])
        world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
        try:
            found = await search(SearchedSite(world, task), policy, limits)
            script = ScriptedPolicy(replay_recording(_stop(found.best)), source="search")
            return found, await run_episode(task, script, world)
        finally:
            await world.close()


def _stop(state: State) -> Trajectory:
    path = state.trajectory
    if state.is_over or path.last is None:
        return path
    return replace(path, steps=(*path.steps, Step(path.last, Decision(Answer("")))))


def main(argv: Sequence[str] | None = None) -> None:
    """Search on one task and print the path that was found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("benchmark")
    parser.add_argument("task")
    parser.add_argument("--policy", required=True, help="as of `webagent benchmark`")
    parser.add_argument("--model", default="", help="name of the model with --policy endpoint")
    parser.add_argument("--seed", type=int, default=0, help="number of the training seed")
    parser.add_argument("--nodes", type=int, default=20, help="states to reach")
    parser.add_argument("--branch", type=int, default=3, help="actions per state")
    parser.add_argument("--steps", type=int, default=200, help="real steps")
    given = parser.parse_args(argv)
    suite = find_benchmark(given.benchmark).load()
    task = suite.task(given.task, given.seed)
    limits = Limits(given.nodes, given.branch, given.steps)
    found, episode = asyncio.run(play(task, NamedPolicy(given.policy, given.model), limits))
    verdict = asyncio.run(checks_hold()(episode))
    print(
        f"{found.nodes} states, {found.calls} calls of the policy, {found.steps} real steps;"
        f" the best state has the value {found.best.value:.2f}"
    )
    for step in episode.steps:
        print(f"  {format_action(step.decision.action)}")
    print(f"played again: {'no verdict' if verdict.value is None else f'{verdict.value:.0f}'}")


if __name__ == "__main__":
    main()
