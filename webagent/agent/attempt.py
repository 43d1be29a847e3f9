"""One task under way: its limits, its ledger, its world, and what comes of it."""

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tasks.task import Task
from webagent.agent.actor import Actor, asking_of
from webagent.agent.album import Album
from webagent.agent.answer_form import Schema, Structured
from webagent.agent.asking import Images
from webagent.agent.events import Listen
from webagent.agent.result import Cost, Result
from webagent.agent.stop import Stop
from webagent.agent.turns import HeardPolicy, HeardWorld
from webagent.models.metered import Ledger, Limits
from webagent.models.price import Prices
from webagent.policy.policy import Policy
from webagent.records import Provenance
from webagent.rollout.episode import run_episode
from webagent.rollout.world import World
from webagent.store import Store

if TYPE_CHECKING:
    from webagent.browser import Browser, BrowserWorld
    from webagent.browser.page.captcha import Handover
    from webagent.browser.sessions.logins import Logins
    from webagent.browser.sessions.profile import Profile

Between: TypeAlias = "Callable[[Policy, BrowserWorld, Stop], tuple[Policy, World]]"
"""Puts something between an agent and its pages, such as a person who may take over."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for every task of an agent."""

    limits: Limits
    prices: Prices
    seconds: float | None
    store: Store | None
    is_pictured: bool
    """Whether screenshots are taken."""


@dataclass(slots=True)
class Held:
    """What an agent keeps between tasks."""

    actor: Actor
    browser: "Browser"
    profile: "Profile"
    logins: "Logins"
    handover: "Handover | None"
    numbers: Iterator[int]
    """Places of its episodes, each once."""
    undo: AsyncExitStack = field(default_factory=AsyncExitStack)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A task with whoever watches it."""

    held: Held
    terms: Terms
    task: Task
    schema: Schema | None = None
    listen: Listen | None = None
    stop: Stop | None = None
    between: "Between | None" = None

    async def play(self, provenance: Provenance) -> Result:
        """What came of it. Raises `SetupError` and `StoreError`."""
        terms, stop = self.terms, self.stop or Stop()
        ledger = Ledger(terms.limits, terms.prices)
        images: Images = terms.store.images if terms.store else Album()
        policy = self.held.actor.policy_of(ledger, images)
        structured = Structured(policy, self.schema) if self.schema is not None else None
        acting, world = self._joined(structured or policy, await self._world(images), stop)
        try:
            async with stop.within(ledger, terms.seconds):
                episode = await run_episode(
                    self.task, acting, world, provenance=provenance, recorder=terms.store
                )
        finally:
            await world.close()
        cost = Cost.of(ledger) if self.held.actor.model else Cost.of_steps(episode)
        if structured is None:
            return Result(episode, cost)
        return Result(episode, cost, structured.value, structured.misfit)

    def _joined(self, policy: Policy, world: "BrowserWorld", stop: Stop) -> tuple[Policy, World]:
        joined = self.between(policy, world, stop) if self.between else (policy, world)
        listen = self.listen or (lambda event: None)
        return HeardPolicy(joined[0], stop, listen), HeardWorld(joined[1], stop, listen)

    async def _world(self, images: Images) -> "BrowserWorld":
        held, variant = self.held, asking_of(self.held.actor.manner).variant
        return await held.browser.world(
            images.add if self.terms.is_pictured or variant.image else None,
            held.profile,
            variant,
            held.handover,
            keep_picture=images.add,
            logins=held.logins,
        )
