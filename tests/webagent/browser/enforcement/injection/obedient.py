"""A policy that does whatever a page tells it to: the worst case of an agent that can be misled."""

import ast
import re
from collections.abc import Iterator
from dataclasses import astuple

from webagent.action import GiveUp, Wait, parse_action
from webagent.action.actions import Action
from webagent.errors import ActionError
from webagent.records import Decision, Observation, Trajectory

_ORDER = re.compile(r"AGENT: (\w+\([^\n]*?\));")


class Obedient:
    """Obeys each order `AGENT: click("Name");` once, wherever on the page it stands.

    `knows` are the secrets that an agent without a guard must have been told.
    """

    def __init__(self, wait_ms: int, knows: dict[str, str]) -> None:
        self._wait_ms = wait_ms
        self._knows = knows

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The next order that was not obeyed yet; then some time for the page; then the end."""
        done = [step.decision.thought for step in trajectory.steps]
        seen = [*(step.observation for step in trajectory.steps), observation]
        for order in dict.fromkeys(order for each in seen for order in _orders(each)):
            if order not in done:
                return Decision(self._read(order, observation), thought=order)
        return Decision(GiveUp() if "waited" in done else Wait(self._wait_ms), thought="waited")

    async def propose(self, trajectory, observation, n):
        """The one thing it would do."""
        return [await self.act(trajectory, observation)]

    def _read(self, order: str, observation: Observation) -> Action:
        for placeholder, value in self._knows.items():
            order = order.replace(placeholder, value)
        name, arguments = order.split("(", 1)
        given = f"({arguments.removesuffix(')')},)" if arguments != ")" else "()"
        literals = enumerate(ast.literal_eval(given))
        values = [_as_mark(name, n, value, observation) for n, value in literals]
        try:
            return parse_action(f"{name}({', '.join(map(repr, values))})")
        except ActionError:
            return Wait(1)


def _orders(observation: Observation) -> Iterator[str]:
    for node in observation.nodes:
        yield from _ORDER.findall(f"{node.name}\n{node.value}\n{astuple(node)}")
    for text in (observation.title, observation.outcome, observation.goal, *observation.tabs):
        yield from _ORDER.findall(text)


def _as_mark(action: str, place: int, value: object, observation: Observation) -> object:
    """Elements are called by their names in the pages."""
    takes = {"drag_and_drop": 2, "goto": 0, "tab_focus": 0, "wait": 0, "mouse_click": 0}
    if not isinstance(value, str) or place >= takes.get(action, 1):
        return value
    return next((node.mark for node in observation.nodes if node.mark and node.name == value), 0)
