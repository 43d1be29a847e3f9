"""Pause an episode, take it over in the browser window, and hand it back to the agent."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, TypeAlias

from apps.record.session import SOURCE, KeptPictures, hide_secrets, hide_secrets_in_action
from apps.record.translator import PendingStep, Translator
from tasks.task import Json, Task
from webagent.action import Action, Wait
from webagent.agent import Stop
from webagent.browser import BrowserWorld
from webagent.browser.watching import SessionWatch
from webagent.errors import WorldError
from webagent.policy.policy import Policy
from webagent.records import PERSON, Decision, Observation, Trajectory
from webagent.store import Store
from webagent.timing import uncounted

Worker: TypeAlias = Literal["agent", "nobody", "person"]
HELP = "p pauses, t takes over in the window, Enter goes on or hands back, q stops"
HELP_UNSEEN = "p pauses, Enter goes on, q stops"
_AWAITED: dict[Worker, str] = {
    "agent": "the model is thinking",
    "nobody": "paused",
    "person": "the page is yours",
}


class Control:
    """Where the agent is paused, taken over from, and set to work again."""

    def __init__(self, *, has_window: bool, say: Callable[[str], object]) -> None:
        self.worker: Worker = "agent"
        self.has_window = has_window
        self._say = say
        self._changed = asyncio.Event()

    def awaited(self) -> str:
        """Return what is waited for from one step to the next."""
        return _AWAITED[self.worker]

    def pause(self) -> None:
        """Stop the agent: nothing is done until somebody is set to work again."""
        if self.worker == "agent":
            self._set("nobody", "paused: Enter goes on" + ", t takes over" * self.has_window)

    def take_over(self) -> None:
        """Let the person work in the window."""
        if not self.has_window:
            self._say("there is no window to take over in; start it with --headed")
        elif self.worker != "person":
            self._set("person", "taking over")

    def go_on(self) -> None:
        """Let the agent work again."""
        if self.worker == "person":
            self._set("agent", "handed back to the agent")
        elif self.worker == "nobody":
            self._set("agent", "going on")

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        self.pause() if self.worker == "agent" else self.go_on()

    def toggle_person(self) -> None:
        """Take over, or hand back."""
        self.go_on() if self.worker == "person" else self.take_over()

    async def leaves(self, worker: Worker) -> None:
        """Wait until somebody else is at work than this one."""
        while self.worker == worker:
            await self._changed.wait()

    async def reaches(self, worker: Worker) -> None:
        """Wait until this one is at work."""
        while self.worker != worker:
            await self._changed.wait()

    def _set(self, worker: Worker, message: str) -> None:
        self.worker = worker
        self._say(message)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


_LAST_LOOK_SECONDS = 3.0


class PersonActions:
    """What a person does in one world, whenever they are at work there."""

    def __init__(self, world: BrowserWorld, store: Store, say: Callable[[str], object]) -> None:
        self.watch: SessionWatch | None = None
        """Where the person is being watched; None while the agent is at work."""
        self._world = world
        self._store = store
        self._say = say
        self._pictures = KeptPictures()
        self._done_steps: asyncio.Queue[PendingStep | None] = asyncio.Queue()
        self._translator: Translator | None = None
        self._watching: asyncio.Future[None] | None = None

    async def take(self) -> None:
        """Let the person begin, with the page before them. Raises `WorldError`."""
        tabs = self._world.tabs()
        await tabs.focus(tabs.active_index)
        self._world.keep_images(self._pictures.take)
        known = self._translator
        self._translator = Translator(
            self._done_steps.put_nowait, lambda what: self._say(f"not kept as a step: {what}")
        )
        if known is not None:
            self._translator.secrets |= known.secrets
            self._translator.secret_marks |= known.secret_marks
        watch = SessionWatch(self._world, await self._world.look(), self._translator.hear)
        await watch.begin()
        self.watch, self._watching = watch, asyncio.ensure_future(watch.run())
        self._say("you have control; your actions are recorded. Press Enter to hand back")

    async def let_go(self, *, is_patient: bool = True) -> None:
        """Take note that the person is done: their remaining steps are delivered, then the end.

        Patience waits for the page to come to rest.
        """
        watch, watching, translator = self.watch, self._watching, self._translator
        if watch is None or watching is None or translator is None:
            return
        self.watch = self._watching = None
        if is_patient and not watching.done():
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_LOOK_SECONDS):
                    await watch.is_resting.wait()
        watch.ended.set()
        with suppress(WorldError):
            await watching
        translator.finish(watch.seen)
        self._done_steps.put_nowait(None)

    async def next_step(self) -> PendingStep | None:
        """Return the next thing the person did, with secrets left out; None once they are done."""
        step = await self._done_steps.get()
        if step is None or self._translator is None:
            return None
        hidden = hide_secrets_in_action(step.action, self._translator.secrets)
        return replace(step, action=hidden, seen=self.shown(step.seen))

    async def look(self) -> Observation:
        """Return the page as it is now. Raises `WorldError`."""
        return self.shown(await self._world.look())

    def shown(self, page: Observation) -> Observation:
        """Return the page without what the person has typed in secret, its picture kept."""
        if self._translator is None:
            return page
        secrets, marks = self._translator.secrets, self._translator.secret_marks
        return self._pictures.kept(hide_secrets(page, secrets, marks), self._store)


NOTHING = Wait(0)
"""Done by a person who has changed the page by nothing that is an action."""


class SteeredEpisode:
    """The agent's policy and its world in one: the agent or the person acts.

    What a person does is done already when it is decided on; their step waits for the next one, or
    for the page to be handed back, and gives the page as it was then.
    """

    def __init__(
        self,
        policy: Policy,
        world: BrowserWorld,
        stop: Stop,
        control: Control,
        person: PersonActions,
    ) -> None:
        self._policy, self._world, self._stop = policy, world, stop
        self._control, self._person = control, person
        self._at_work = False
        """Whether the person has begun and some of their actions are still to come."""
        self._pending: list[Decision] = []
        """What the person did and is still to be kept as steps."""
        self._page: Observation | None = None
        """What was before them when they did the last of these."""
        self._handing: asyncio.Future[None] | None = None

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the agent's next action, or what the person did. Raises as policy and world do."""

        async def hand_back() -> None:
            assert self._person.watch is not None
            leaving = asyncio.ensure_future(self._control.leaves("person"))
            closing = asyncio.ensure_future(self._person.watch.ended.wait())
            try:
                await asyncio.wait({leaving, closing}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                leaving.cancel()
                closing.cancel()
            self._control.go_on()
            await self._person.let_go()

        while True:
            if self._pending:
                return self._pending[0]
            if self._control.worker == "person":
                await self._person.take()
                self._at_work = True
                self._handing = asyncio.ensure_future(hand_back())
                page = self._page = await self._next_step()
                if (page.url, page.nodes) != (observation.url, observation.nodes):
                    self._pending.insert(
                        0, _decided(NOTHING, "the page had changed by the time of this")
                    )
            elif self._control.worker == "nobody":
                with self._stop.held():
                    await self._control.leaves("nobody")
            elif decision := await self._think(trajectory, observation):
                return decision

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the policy's."""
        return await self._policy.propose(trajectory, observation, n)

    async def reset(self, task: Task) -> Observation:
        """Return the world's."""
        return await self._world.reset(task)

    async def step(self, action: Action) -> Observation:
        """Return the world's; what a person did is not done again. Raises `WorldError`."""
        if not self._pending:
            return self._person.shown(await self._world.step(action))
        self._pending.pop(0)
        if self._pending and self._page is not None:
            return self._page
        return await self._next_step() if self._at_work else await self._person.look()

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Return the world's."""
        return await self._world.evidence(task)

    async def close(self) -> None:
        """Let go of the page, and close the world."""
        if self._handing is not None:
            self._handing.cancel()
            await asyncio.gather(self._handing, return_exceptions=True)
        await self._person.let_go(is_patient=False)
        await self._world.close()

    async def _think(self, trajectory: Trajectory, page: Observation) -> Decision | None:
        """Return the policy's decision; None where the person took over meanwhile."""
        thinking = asyncio.ensure_future(self._policy.act(trajectory, page))
        taking = asyncio.ensure_future(self._control.reaches("person"))
        try:
            await asyncio.wait({thinking, taking}, return_when=asyncio.FIRST_COMPLETED)
            if not taking.done() and self._control.worker == "nobody" and not thinking.exception():
                with self._stop.held():
                    await self._control.leaves("nobody")
            return None if self._control.worker == "person" else await thinking
        finally:
            for each in (thinking, taking):
                each.cancel()
            await asyncio.gather(thinking, taking, return_exceptions=True)

    async def _next_step(self) -> Observation:
        """Return the page on which the person did the next thing, or which they handed back."""
        with uncounted(), self._stop.held():
            step = await self._person.next_step()
        if step is None:
            self._at_work = False
            return await self._person.look()
        self._pending.append(_decided(step.action, f"on {step.called}" if step.called else ""))
        return step.seen


def _decided(action: Action, thought: str) -> Decision:
    return Decision(action, thought=thought, source=SOURCE, weights=PERSON)
