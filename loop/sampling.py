"""Sampling the tasks of a round by the verdicts on what an arm has played."""

from collections import Counter
from dataclasses import replace

import numpy as np

from loop.learners import ArmState
from loop.session import Session
from tasks import curriculum
from tasks.task import Task
from tasks.variants import Retry, TriedTask, Variation
from worldmodel.simulate import start_key

FIRST_FRESH = 100_000
"""Training seeds below this one are reserved for demonstrations."""


def sample_tasks(session: Session, state: ArmState, round: int) -> list[Task]:
    """Return the tasks of a round, as many as it has steps: those that are not mastered, on fresh
    training seeds, some derived from earlier attempts."""
    rng = np.random.default_rng([session.repeat, round])
    used = Counter({name: FIRST_FRESH for name in session.names})
    outcomes: dict[str, list[bool]] = {name: [] for name in session.names}
    attempts: dict[str, TriedTask] = {}
    for trajectory in state.experience:
        task, success = trajectory.task, state.succeeded(trajectory)
        used[task.name] = max(used[task.name], task.seed + 1)
        is_judged = state.success.get(trajectory.id) is not None
        # Variants are easier or harder than the task, so that they say nothing of it.
        if is_judged and not task.parent and task.name in outcomes:
            outcomes[task.name].append(success)
        key = start_key(task)
        old = attempts.get(key, TriedTask(task, 0, 0))
        attempts[key] = replace(old, tries=old.tries + 1, successes=old.successes + success)
    steps = session.config.steps
    variation = Variation(session.suite, Retry())
    variants = variation.propose(list(attempts.values()), steps, rng)
    return curriculum.sample_tasks(session.suite, outcomes, steps, used, variants, rng)
