"""The curriculum: tasks that are not mastered, by their judged success rate, some of them variants
of tasks that were tried."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tasks.suite import Suite
from tasks.task import Task

BAND = (0.05, 0.75)
"""Success rates between which a task has most to teach: those of WebRL's generated tasks (Qi et
al. 2024, arXiv 2411.02337, section 2.2), by verdicts in place of a critic's estimate."""
RECENT = 20
"""Latest episodes of a task that count. With 20 failures in a row its rate is below the band; with
fewer than 19 it could never be."""
UNSOLVED, MASTERED = 0.5, 0.2
"""Weights of a task below and above the band, beside 1 inside it. They bound every share: a task
gets at most 1 / MASTERED times, and at least MASTERED times, the even one."""
VARIED = 4
"""Every so many episodes of a task, one is a variant of an earlier one where there is any."""
PATIENCE = 3
"""Tries at one seed after which a task that was never solved is not tried there again."""
SOLVED, ENOUGH = 0.9, 5
"""Success rate from which a task is made harder, after at least so many tries."""
EASIER_SHARE, HARDER_SHARE = 0.5, 0.1
"""Largest shares of the variants that are easier and harder."""


@dataclass(frozen=True, slots=True)
class TriedTask:
    """A task that was tried, and how often it was solved."""

    task: Task
    tries: int
    successes: int


def estimate_rate(outcomes: Sequence[bool]) -> float:
    """Return the success rate by the latest outcomes, oldest first: the mean of Beta(1, 1) after
    them, 0.5 without any."""
    latest = outcomes[-RECENT:]
    return (sum(latest) + 1) / (len(latest) + 2)


def weigh_task(outcomes: Sequence[bool]) -> float:
    """Return how often a task is sampled, beside 1 for a task inside the band."""
    low, high = BAND
    rate = estimate_rate(outcomes)
    return UNSOLVED if rate < low else MASTERED if rate > high else 1.0


def share_episodes(outcomes: Mapping[str, Sequence[bool]]) -> dict[str, float]:
    """Return the share of the episodes of each task, summing to 1, by its judged outcomes."""
    weights = {name: weigh_task(known) for name, known in outcomes.items()}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def sample_tasks(
    suite: Suite,
    outcomes: Mapping[str, Sequence[bool]],
    count: int,
    used: Mapping[str, int],
    variants: Sequence[Task],
    rng: np.random.Generator,
) -> list[Task]:
    """Return `count` training tasks in order, every stretch of which has its tasks by their shares.

    `outcomes` has the verdicts on each task to sample, oldest first. Fresh seeds in order: `used`
    counts the seeds of each name taken already. The same arguments give the same tasks.
    """
    names = list(outcomes)
    if not names:
        return []
    shares = share_episodes(outcomes)
    waiting = {name: [each for each in variants if each.name == name] for name in names}
    following = {name: used.get(name, 0) for name in names}
    sampled = dict.fromkeys(names, 0)
    tasks = []
    credit = rng.random(len(names))
    for _ in range(count):
        credit += [shares[name] for name in names]
        place = int(np.argmax(credit))
        credit[place] -= 1
        name = names[place]
        sampled[name] += 1
        if waiting[name] and sampled[name] % VARIED == 0:
            tasks.append(waiting[name].pop(0))
        else:
            tasks.append(suite.task(name, following[name]))
            following[name] += 1
    return tasks


def make_variants(
    suite: Suite, attempts: Sequence[TriedTask], count: int, rng: np.random.Generator
) -> list[Task]:
    """Return at most `count` tasks made from attempts, each naming in `parent` the task it was made
    from: where the benchmark has such settings, failed ones easier and solved ones harder, on the
    same seed; then failed ones as they were, in random order."""
    tries, successes = Counter[str](), Counter[str]()
    for attempt in attempts:
        tries[attempt.task.name] += attempt.tries
        successes[attempt.task.name] += attempt.successes
    is_solved = {name: n >= ENOUGH and successes[name] >= SOLVED * n for name, n in tries.items()}
    tried = {(a.task.id, a.task.seed) for a in attempts}

    def change(chosen: list[TriedTask], settings: Callable[[str], Mapping[str, Any]]) -> list[Task]:
        changed = []
        for task in (attempt.task for attempt in chosen):
            if found := settings(task.name):
                made = suite.make(task.name, task.seed, found)
                if (made.id, made.seed) not in tried:
                    changed.append(replace(made, parent=task.id))
        return changed

    failed = [a for a in attempts if not a.successes]
    solved = [a for a in attempts if a.successes and is_solved[a.task.name]]
    made = change(failed, suite.easier)[: int(count * EASIER_SHARE)]
    made += change(solved, suite.harder)[: int(count * HARDER_SHARE)]
    again = [a.task for a in failed if a.tries < PATIENCE]
    order = rng.permutation(len(again))[: count - len(made)]
    tasks = [again[int(i)] for i in order]
    return [*made, *(replace(t, parent=t.parent or f"{t.id}:{t.seed}") for t in tasks)]
