"""A run that was never played: its store is filled with episodes of known outcomes."""

import random
from collections.abc import Sequence
from dataclasses import replace

from tasks.task import Task
from webagent.action.actions import Click, Fill
from webagent.records import (
    Decision,
    Ending,
    Node,
    Observation,
    Provenance,
    Score,
    Step,
    Trajectory,
)
from webagent.rollout import episode_id
from webagent.store import Store

TASKS = ("click-link", "enter-text", "login-user", "read-table")
JUDGE = "checks_hold@2"
HELD_OUT = 2_000_000


def fill(
    store: Store,
    rates: dict[tuple[str, int], float],
    *,
    repeats: int = 2,
    seeds: int = 5,
    tasks: Sequence[str] = TASKS,
) -> None:
    """Measure each (arm, round) at about its rate.

    Every round but 0 is noted, and all arms but the control collect four episodes in it.
    """
    for (arm, number), rate in rates.items():
        for repeat in range(repeats):
            place = Provenance(arm=arm, repeat=repeat, round=number, phase="evaluate")
            for index, (task, seed) in enumerate((t, s) for t in tasks for s in range(seeds)):
                dice = random.Random(f"{repeat} {task} {seed}")
                measure(store, replace(place, index=index), task, seed, dice.random() < rate)
            if number:
                store.put_state(f"round:{arm}:{repeat}:{number}", {"seconds": 60.0 + repeat})
                if arm != "control":
                    collect(store, replace(place, phase="collect"), 4)


def measure(store: Store, place: Provenance, task: str, seed: int, success: bool) -> str:
    """One held-out episode with both scores of the frozen judge; its id."""
    whole = episode(place, task, HELD_OUT + seed, success)
    store.add(whole)
    store.score(
        whole.id,
        Score("success", float(success), "raw_reward is as it is", JUDGE),
        Score("raw_positive", float(success or seed == 0), "raw_reward", JUDGE),
        Score("success", 1.0 - success, "a judge that is not frozen", "guess@1"),
    )
    return whole.id


def collect(store: Store, place: Provenance, count: int) -> None:
    """Real experience of two steps each, and a dream of one step from the first of it."""
    for index in range(count):
        store.add(episode(replace(place, index=index), "click-link", index, False))
    dream = replace(place, phase="imagine", world="imagined", seeded_from="somewhere:0")
    whole = episode(dream, "click-link", 0, True)
    store.add(replace(whole, steps=whole.steps[:1]))


def episode(place: Provenance, task: str, seed: int, success: bool) -> Trajectory:
    """Two steps on a small form; a failure presses the wrong button."""
    made = Task(f"miniwob/{task}@1", "about:blank", seed=seed)
    goal = f"Type <b>{task} {seed}</b> & press “Submit”"
    before = page(goal, "")
    typed = page(goal, f"{task} {seed}")
    steps = (
        Step(before, Decision(Fill(2, f"{task} {seed}"))),
        Step(typed, Decision(Click(3 if success else 4))),
    )
    return Trajectory(
        id=episode_id(made, place),
        task=made,
        goal=goal,
        steps=steps,
        last=replace(typed, over=True),
        ending=Ending.TASK_OVER,
        provenance=place,
        seconds=1.5,
    )


def page(goal: str, value: str) -> Observation:
    """A text field between a heading and two buttons."""
    nodes = (
        Node(0, "text", "Order & more <script>alert(1)</script>"),
        Node(2, "textbox", "What", value),
        Node(3, "button", "Submit"),
        Node(4, "button", "Cancel", depth=1),
    )
    return Observation(goal, "http://page/", "Form", nodes)
