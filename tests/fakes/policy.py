"""A model with given replies; policies that need none: a script, and `fake_task` solved."""

import re

from tests.fakes.world import FIELD, SUBMIT
from webagent.action import Action
from webagent.action.actions import Click, Fill
from webagent.errors import PolicyError
from webagent.models.canned import CannedModel
from webagent.records import Decision, Observation, Trajectory


def oracle(trajectory: Trajectory, observation: Observation) -> Action:
    """The next action of a perfect player of `fake_task`."""
    box, word = re.findall(r'"(.*?)"', observation.goal)
    wanted = next(node for node in observation.nodes if node.name == box)
    return (Click(wanted.mark), Fill(FIELD, word), Click(SUBMIT))[len(trajectory.steps)]


def says(*actions: str) -> CannedModel:
    """A model that replies with these actions in turn, and goes on with the last."""
    return CannedModel([f"Thought: so\nAction: {each}" for each in (*actions, *[actions[-1]] * 50)])


class ScriptedPolicy:
    """Does what the script says: a list with one entry a step, or a function of what is seen.

    An exception in the list is raised when its turn comes; a list that is used up is a
    `PolicyError`.
    """

    def __init__(self, script=oracle):
        self._script = script

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The entry for this step."""
        if callable(self._script):
            return Decision(self._script(trajectory, observation), source="script")
        turn = len(trajectory.steps)
        if turn >= len(self._script):
            raise PolicyError(f"the script has no step {turn}")
        entry = self._script[turn]
        if isinstance(entry, Exception):
            raise entry
        return Decision(entry, source="script")

    async def propose(self, trajectory, observation, n):
        """The one action there is."""
        return [await self.act(trajectory, observation)][:n]
