"""What stands between the agent and its pages: pauses, and the person who takes over."""

import asyncio
from collections.abc import Mapping, Sequence

from apps.live.desk import Desk
from apps.live.hands import Hands
from apps.record.demonstration import SOURCE
from tasks.task import Json, Task
from webagent.action import Action, Wait
from webagent.agent import Stop
from webagent.browser import BrowserWorld
from webagent.policy.policy import Policy
from webagent.records import PERSON, Decision, Observation, Trajectory
from webagent.timing import uncounted

NOTHING = Wait(0)
"""Done by a person who has changed the page by nothing that is an action."""


class Steering:
    """The agent's policy and its world in one: who acts is whoever is at the desk.

    What a person does is done already when it is decided on; their step waits for the next one, or
    for the page to be handed back, and gives the page as it was then.
    """

    def __init__(
        self, policy: Policy, world: BrowserWorld, stop: Stop, desk: Desk, hands: Hands
    ) -> None:
        self._policy, self._world, self._stop = policy, world, stop
        self._desk, self._hands = desk, hands
        self._at_work = False
        """Whether the person has begun and what they do was not all told yet."""
        self._told: list[Decision] = []
        """What the person did and is still to be kept as steps."""
        self._page: Observation | None = None
        """What was before them when they did the last of these."""
        self._handing: asyncio.Future[None] | None = None

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The agent's next action, or what the person did. Raises as policy and world do."""
        while True:
            if self._told:
                return self._told[0]
            if self._desk.worker == "person":
                await self._hands.take()
                self._at_work = True
                self._handing = asyncio.ensure_future(self._hand_back())
                page = self._page = await self._next_deed()
                if (page.url, page.nodes) != (observation.url, observation.nodes):
                    self._told.insert(
                        0, _decided(NOTHING, "the page had changed by the time of this")
                    )
            elif self._desk.worker == "nobody":
                with self._stop.held():
                    await self._desk.leaves("nobody")
            elif decision := await self._think(trajectory, observation):
                return decision

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """As the policy's."""
        return await self._policy.propose(trajectory, observation, n)

    async def reset(self, task: Task) -> Observation:
        """As the world's."""
        return await self._world.reset(task)

    async def step(self, action: Action) -> Observation:
        """As the world's; what a person did is not done again. Raises `WorldError`."""
        if not self._told:
            return self._hands.shown(await self._world.step(action))
        self._told.pop(0)
        if self._told and self._page is not None:
            return self._page
        return await self._next_deed() if self._at_work else await self._hands.look()

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """As the world's."""
        return await self._world.evidence(task)

    async def close(self) -> None:
        """Let go of the page, and close the world."""
        if self._handing is not None:
            self._handing.cancel()
            await asyncio.gather(self._handing, return_exceptions=True)
        await self._hands.let_go(is_patient=False)
        await self._world.close()

    async def _think(self, trajectory: Trajectory, page: Observation) -> Decision | None:
        """The policy's decision; None where the person took over meanwhile."""
        thinking = asyncio.ensure_future(self._policy.act(trajectory, page))
        taking = asyncio.ensure_future(self._taken_over())
        try:
            await asyncio.wait({thinking, taking}, return_when=asyncio.FIRST_COMPLETED)
            if not taking.done() and self._desk.worker == "nobody" and not thinking.exception():
                with self._stop.held():
                    await self._desk.leaves("nobody")
            return None if self._desk.worker == "person" else await thinking
        finally:
            for each in (thinking, taking):
                each.cancel()
            await asyncio.gather(thinking, taking, return_exceptions=True)

    async def _taken_over(self) -> None:
        while self._desk.worker != "person":
            await self._desk.leaves(self._desk.worker)

    async def _next_deed(self) -> Observation:
        """The page on which the person did the next thing, or which they handed back."""
        with uncounted(), self._stop.held():
            deed = await self._hands.next_deed()
        if deed is None:
            self._at_work = False
            return await self._hands.look()
        self._told.append(_decided(deed.action, f"on {deed.called}" if deed.called else ""))
        return deed.seen

    async def _hand_back(self) -> None:
        """Once the person says so, or has closed the window, let go of the page."""
        assert self._hands.watch is not None
        leaving = asyncio.ensure_future(self._desk.leaves("person"))
        closing = asyncio.ensure_future(self._hands.watch.ended.wait())
        try:
            await asyncio.wait({leaving, closing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            closing.cancel()
        self._desk.go_on()
        await self._hands.let_go()


def _decided(action: Action, thought: str) -> Decision:
    return Decision(action, thought=thought, source=SOURCE, weights=PERSON)
