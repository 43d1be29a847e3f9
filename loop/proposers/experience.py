"""A run's episodes as proposers are shown them: what was solved, and how often what was tried."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from benchmarks.rules import checks_hold
from loop.proposers.demonstrations import Demonstration
from loop.proposers.scope import Scope
from loop.proposers.visit import page_seen
from tasks.suite import split_of
from tasks.task import Task
from tasks.variants import Attempt
from webagent.action import format_action
from webagent.errors import SetupError
from webagent.records import Step, Trajectory
from webagent.store import Store

_MOST_PAGES = 6


def judged_episodes(run: Path, scope: Scope) -> list[tuple[Trajectory, bool]]:
    """The run's real episodes on this site with whether each succeeded: by its checks where these
    could tell, else by whoever judged it last.

    Those on seeds for measuring are left out. Raises `SetupError` where none is left.
    """
    frozen = checks_hold().id
    with Store.open(run) as store:
        said: dict[str, float] = {}
        for episode, scores in store.scores().items():
            found = [s for s in scores if s.name == "success" and s.value is not None]
            checked = [s for s in found if s.evaluator == frozen]
            if chosen := (checked or found)[-1:]:
                said[episode] = chosen[0].value or 0.0
        judged = [
            (trajectory, said[trajectory.id] >= 0.5)
            for trajectory in store.trajectories()
            if trajectory.id in said
            and not trajectory.provenance.imagined
            and split_of(trajectory.task.seed) != "test"
            and (
                trajectory.task.site == scope.site
                if scope.site
                else scope.holds(trajectory.task.start_url)
            )
        ]
    if not judged:
        raise SetupError(
            f"{run} holds no scored episode on {scope.name} ({scope.address}) on a seed that is not"
            " for measuring; play some there with webagent benchmark --split train"
        )
    return judged


def demonstrations_of(judged: list[tuple[Trajectory, bool]]) -> list[Demonstration]:
    """The solved tasks, each once, by its shortest episode."""
    best: dict[tuple[str, int], Trajectory] = {}
    for trajectory, success in judged:
        key = (trajectory.task.id, trajectory.task.seed)
        if success and (key not in best or len(trajectory.steps) < len(best[key].steps)):
            best[key] = trajectory
    return [_demonstration(trajectory) for trajectory in best.values()]


def attempts_of(judged: list[tuple[Trajectory, bool]]) -> list[Attempt]:
    """The tasks with how often each was tried and solved, under the goals that pages gave."""
    tries, successes = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    found: dict[tuple[str, int], Task] = {}
    for trajectory, success in judged:
        key = (trajectory.task.id, trajectory.task.seed)
        tries[key] += 1
        successes[key] += success
        found[key] = with_goal(trajectory)
    return [Attempt(task, tries[key], successes[key]) for key, task in found.items()]


def with_goal(trajectory: Trajectory) -> Task:
    """The task with its goal written out."""
    task = trajectory.task
    return task if task.goal else replace(task, goal=trajectory.goal)


def _demonstration(trajectory: Trajectory) -> Demonstration:
    pages = {step.observation.url: page_seen(step.observation) for step in trajectory.steps}
    return Demonstration(
        trajectory.task,
        trajectory.goal or trajectory.task.goal,
        tuple(map(_done, trajectory.steps)),
        tuple(pages.values())[:_MOST_PAGES],
        trajectory.id,
    )


def _done(step: Step) -> str:
    """An action in the agent's own words, with the element it was done to."""
    action = step.decision.action
    node = step.observation.node(getattr(action, "mark", 0))
    on = f' on the {node.role} "{" ".join(node.name.split())[:60]}"' if node else ""
    return f"{format_action(action)}{on}"
