"""The filters' own errors: precision and recall on proper tasks and on tasks made wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluators.statistics import Interval, wilson
from loop.proposers.corruption import WRONG, Labelled, reworded
from loop.proposers.filters import novelty, safety, validity
from loop.proposers.scope import Scope
from tasks.proposal import Refusal
from tasks.task import Task

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Errors:
    """How well one filter, or all of them, tell one kind of task from another."""

    filter: str
    kind: str
    """What is to be refused."""
    refused: int
    wrong: int
    """How many there were to be refused."""
    refused_proper: int
    proper: int
    examples: tuple[str, ...] = ()
    """Goals that were told wrongly, with the reason where there is one."""

    @property
    def recall(self) -> Interval:
        """Share of the wrong ones that is refused, with its Wilson interval."""
        return _share(self.refused, self.wrong)

    @property
    def precision(self) -> Interval:
        """Share of the refused ones that is wrong; depends on how many of each there are."""
        return _share(self.refused, self.refused + self.refused_proper)

    @property
    def false_alarms(self) -> Interval:
        """Share of the proper ones that is refused all the same."""
        return _share(self.refused_proper, self.proper)


@dataclass(frozen=True, slots=True)
class Ground:
    """A suite's tasks with the site they are for."""

    scope: Scope
    tasks: Sequence[Task]


def rule_errors(grounds: Sequence[Ground], seed: int = 0) -> list[Errors]:
    """What validity and safety refuse of proper tasks and of each kind made wrong."""
    proper = [
        (_refusal(Labelled(task, "proper"), ground.scope), task)
        for ground in grounds
        for task in ground.tasks
    ]
    alarms = [f"{task.goal[:160]} | {said.reason}" for said, task in proper if said]
    found = [
        Errors("rules", "nothing: proper tasks", 0, 0, len(alarms), len(proper), tuple(alarms[:12]))
    ]
    for number, (kind, corrupt) in enumerate(WRONG.items()):
        rng = np.random.default_rng([seed, number])
        refused, missed, count = 0, [], 0
        for ground in grounds:
            for task in ground.tasks:
                made = corrupt(task, ground.tasks, rng)
                if made is None:
                    continue
                count += 1
                if _refusal(made, ground.scope):
                    refused += 1
                else:
                    missed.append(made.task.goal[:160])
        wrong = Errors("rules", kind, refused, count, len(alarms), len(proper))
        found.append(replace(wrong, examples=_some(missed, seed)))
    return found


def live_errors(grounds: Sequence[Ground], seed: int = 0) -> Errors:
    """What safety refuses of tasks that change something and of those that only read, were the
    sites live ones. Which is which is told by the checks: they look at changes that are expected.
    """
    told = [
        (
            changes,
            safety(replace(task, site=""), replace(ground.scope, site="", is_reset=False)),
            task,
        )
        for ground in grounds
        for task in ground.tasks
        if (changes := changes_something(task)) is not None
    ]
    missed = [task.goal[:160] for changes, said, task in told if changes and not said]
    alarms = [
        f"{t.goal[:160]} | {said.reason}" for changes, said, t in told if said and not changes
    ]
    wrong = sum(changes for changes, _, _ in told)
    return Errors(
        "safety",
        "changes a live site",
        wrong - len(missed),
        wrong,
        len(alarms),
        len(told) - wrong,
        _some([*missed, *alarms], seed),
    )


def changes_something(task: Task) -> bool | None:
    """Whether its checks look at anything but the answer and that nothing has changed; None where
    there are none."""
    return (
        any(
            not check.evidence.startswith("episode.")
            and (check.rule, check.expected) != ("unchanged", [])
            for check in task.checks
        )
        if task.checks
        else None
    )


def novelty_errors(grounds: Sequence[Ground], seed: int = 0) -> list[Errors]:
    """What novelty refuses by words alone: tasks reworded by rule, tasks of one end state in the
    words of another seed, and, as proper ones, tasks of one template with another end state."""
    same, other, reworded_ones = [], [], []
    rng = np.random.default_rng([seed, 99])
    for ground in grounds:
        plain = [replace(task, checks=(), queries={}) for task in ground.tasks]
        for task in plain:
            made = reworded(task, plain, rng).task
            reworded_ones.append((novelty(made, [task]), made, task))
        for one, two in _pairs(ground.tasks):
            pair = (replace(one, checks=(), queries={}), replace(two, checks=(), queries={}))
            if one.checks == two.checks and one.queries == two.queries:
                if one.goal != two.goal and changes_something(one):
                    same.append((novelty(pair[1], [pair[0]]), two, one))
            else:
                other.append((novelty(pair[1], [pair[0]]), two, one))
    alarms = [f"{one.goal[:100]} | {two.goal[:100]}" for said, one, two in other if said]
    found = []
    for kind, pairs in (("reworded by rule", reworded_ones), ("same end state", same)):
        missed = [f"{one.goal[:100]} | {two.goal[:100]}" for said, one, two in pairs if not said]
        refused = len(pairs) - len(missed)
        shown = (*_some(missed, seed), *(f"alarm: {each}" for each in _some(alarms, seed)))
        found.append(Errors("novelty", kind, refused, len(pairs), len(alarms), len(other), shown))
    return found


def table(errors: Sequence[Errors]) -> str:
    """The errors as a Markdown table."""
    lines = [
        "| filter | to be refused | recall | refused though proper | precision |",
        "| --- | --- | --- | --- | --- |",
    ]
    for each in errors:
        recall = f"{each.refused}/{each.wrong} {_told(each.recall)}" if each.wrong else "-"
        alarms = f"{each.refused_proper}/{each.proper} {_told(each.false_alarms)}"
        precision = _told(each.precision) if each.wrong else "-"
        lines.append(f"| {each.filter} | {each.kind} | {recall} | {alarms} | {precision} |")
    return "\n".join(lines)


def _refusal(labelled: Labelled, scope: Scope) -> Refusal | None:
    task = labelled.task
    return validity(task, scope, labelled.steps) or safety(task, scope)


def _pairs(tasks: Sequence[Task]) -> list[tuple[Task, Task]]:
    """Tasks of one template, each with each later one."""
    return [
        (one, two)
        for place, one in enumerate(tasks)
        for two in tasks[place + 1 :]
        if (one.template or one.name) == (two.template or two.name) and one.login == two.login
    ]


def _some(examples: Sequence[str], seed: int) -> tuple[str, ...]:
    rng = np.random.default_rng([seed, 5])
    chosen = rng.permutation(len(examples))[:_SHOWN]
    return tuple(examples[int(i)] for i in sorted(chosen))


def _share(count: int, of: int) -> Interval:
    return Interval(count / of if of else float("nan"), *wilson(count, of))


def _told(interval: Interval) -> str:
    return f"{100 * interval.value:.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
