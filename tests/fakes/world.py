"""A page with a text field, boxes to tick and a Submit button, made from the task's seed."""

import asyncio
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from tasks.task import Json, Task, TaskCheck
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.errors import GuardError, WorldError
from webagent.records import Node, Observation

FRUITS = ("apple", "banana", "cherry", "damson", "elderberry", "fig")
FIELD, SUBMIT = 1, 8
"""Marks; the boxes lie between them."""


def fake_task(seed: int = 0, max_steps: int = 5) -> Task:
    """Tick one box and type one word, both named in the goal, then submit."""
    return Task(
        id="fake/tick-and-type@1",
        start_url="about:blank",
        seed=seed,
        max_steps=max_steps,
        evidence={"reward": "reward"},
        checks=(TaskCheck("reward", "equals", 1.0),),
    )


def fake_plan(count: int, max_steps: int = 5) -> list[Task]:
    """Tasks with the seeds 0, 1, 2 and so on."""
    return [fake_task(seed, max_steps) for seed in range(count)]


class FakeWorld:
    """Plays `fake_task`; everything it does follows from the seed and the actions.

    `faults` names calls that go wrong: `reset`, `step`, `evidence`, `close`, or one of them by
    number as `step:2`, counted over the world's life from 1. An exception is raised, a number is
    so many seconds of delay.
    """

    def __init__(self, faults: Mapping[str, Exception | float] | None = None) -> None:
        self.faults = dict(faults or {})
        self.calls: Counter[str] = Counter()
        self.is_closed = False
        self._page = Observation(goal="", url="", title="", nodes=())
        self._boxes: list[str] = []
        self._wanted = ("", "")

    async def reset(self, task: Task) -> Observation:
        """A fresh page: which boxes there are, in which order, and what is wanted."""
        await self._call("reset")
        dice = random.Random(task.seed)
        self._boxes = dice.sample(FRUITS, 4)
        self._wanted = dice.choice(self._boxes), dice.choice(FRUITS)
        goal = f'Tick "{self._wanted[0]}", type "{self._wanted[1]}" and press Submit.'
        self._page = Observation(goal, task.start_url, "Fruit", self._nodes())
        return self._page

    async def step(self, action: Action) -> Observation:
        """Click ticks, unticks or submits; Fill types; anything else has no effect."""
        await self._call("step")
        before = replace(self._page, outcome="")
        after = self._after(action, before)
        self._page = after if after != before else replace(before, outcome="no effect")
        return self._page

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """The reward: 1 when exactly what was wanted has been submitted."""
        await self._call("evidence")
        ticked = [node.name for node in self._page.nodes if "checked" in node.states]
        typed = self._page.nodes[0].value
        is_right = self._page.over and (ticked, typed) == ([self._wanted[0]], self._wanted[1])
        return {"reward": float(is_right)}

    async def close(self) -> None:
        """Mark the world as closed, before any fault, so that tests see the attempt."""
        self.is_closed = True
        await self._call("close")

    def _nodes(self) -> tuple[Node, ...]:
        boxes = [
            Node(mark, "checkbox", name, states=("unchecked",), box=(8, 20 * mark, 100, 18))
            for mark, name in enumerate(self._boxes, start=FIELD + 1)
        ]
        field = Node(FIELD, "textbox", "Fruit", box=(8, 20, 100, 18), kind="input:text")
        return (field, *boxes, Node(SUBMIT, "button", "Submit", box=(8, 160, 60, 20)))

    def _after(self, action: Action, page: Observation) -> Observation:
        match action:
            case Fill(mark=mark, text="forbidden"):
                raise GuardError(f"typing that into {mark} is not allowed")
            case Fill(mark=mark, text=text) if mark == FIELD:
                return self._changed(page, replace(page.nodes[0], value=text))
            case Click(mark=mark) if mark == SUBMIT:
                return replace(page, over=True)
            case Click(mark=mark) if (node := page.node(mark)) and node.role == "checkbox":
                state = "unchecked" if "checked" in node.states else "checked"
                return self._changed(page, replace(node, states=(state,)))
        return page

    @staticmethod
    def _changed(page: Observation, node: Node) -> Observation:
        nodes = tuple(node if old.mark == node.mark else old for old in page.nodes)
        return replace(page, nodes=nodes, focus=node.mark)

    async def _call(self, verb: str) -> None:
        await asyncio.sleep(0)
        if self.is_closed and verb != "close":
            raise WorldError("the world has been closed")
        self.calls[verb] += 1
        fault = self.faults.get(f"{verb}:{self.calls[verb]}", self.faults.get(verb))
        if isinstance(fault, Exception):
            raise fault
        if fault is not None:
            await asyncio.sleep(fault)
