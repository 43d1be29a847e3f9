"""An agent in five lines: a model or policy, a browser, and the tasks it is given."""

import asyncio
import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias

from tasks.task import Task
from webagent.agent.actor import (
    Acting,
    Actor,
    ModelOptions,
    actor_of,
    check_actor,
    check_price,
    default_asking,
)
from webagent.agent.answer_form import Schema, StructuredPolicy, add_schema, check_schema
from webagent.agent.asking import Asking
from webagent.agent.events import Listen, ReportingPolicy, ReportingWorld
from webagent.agent.result import Cost, Result
from webagent.agent.stop import Stop
from webagent.errors import UsageError
from webagent.guard import Approve, Guard, GuardPolicy
from webagent.models.spending import Ledger, Prices, SpendingLimits, read_prices
from webagent.policy.policy import Knowledge, Policy
from webagent.records import Provenance
from webagent.rollout.episode import run_episode
from webagent.rollout.world import World
from webagent.store import Store
from webagent.store.images import ImageStore, MemoryImages

if TYPE_CHECKING:
    from webagent.browser import Browser, BrowserWorld
    from webagent.browser.page.captcha import Handover
    from webagent.browser.sessions.login import Logins
    from webagent.browser.sessions.profile import Profile

Between: TypeAlias = "Callable[[Policy, BrowserWorld, Stop], tuple[Policy, World]]"
"""Puts something between an agent and its pages, such as a person who may take over."""


@dataclass(slots=True)
class AgentResources:
    """What an agent keeps between tasks."""

    actor: Actor
    browser: "Browser"
    profile: "Profile"
    logins: "Logins"
    numbers: Iterator[int]
    """Places of its episodes, each once."""
    undo: AsyncExitStack = field(default_factory=AsyncExitStack)


PHASE = "run"
_DAY = 86_400.0
_NAMED = 40
"""Characters of a task that its id shows."""


@dataclass(slots=True, eq=False)
class Agent:
    """Does tasks in a browser:

        agent = Agent("NAME")
        result = await agent.run("What does the blue kayak cost?", url="https://shop.example/")
        print(result.answer)

    `async with Agent(...) as agent:` keeps one browser and one model for any number of tasks, at
    the same time too; without it every task opens its own. Each task gets a fresh session.
    """

    model: Acting
    """Who acts: the name of a model behind an OpenAI-compatible server (`OPENAI_BASE_URL`),
    `local:FOLDER`, `model:FOLDER`, or an `Endpoint`, `Model` or `Policy`."""
    _: KW_ONLY
    guard: Guard | GuardPolicy | Path | str | None = None
    """What every task is held to: a policy, or its file (docs/guard.md); None for no limits."""
    approver: Approve | None = None
    """Who is asked where the guard asks for a yes; nobody means no."""
    login: str = ""
    """Name of a login saved by `webagent login` that every task begins with."""
    logins: Path | None = None
    """Folder with logins, beside those of `webagent login`."""
    profile: "Profile | None" = None
    """How the browser presents itself and what it keeps (docs/sites.md)."""
    downloads: Path | None = None
    """Folder for files that pages hand out; None refuses them, unless the profile has one."""
    max_steps: int = 30
    """Actions a task may take."""
    max_cost: float | None = None
    """Money a task may cost, by `prices`; refused where that could not be kept."""
    max_tokens_total: int | None = None
    """Tokens a task may take, read and written."""
    max_minutes: float | None = None
    """Minutes a task may take, those left out in which a person is at work."""
    prices: Prices | Path | None = None
    """What models cost, or the file that says so (docs/cost.md)."""
    vision: bool = False
    """Show the model screenshots beside the page's text."""
    asking: Asking | None = None
    """How the model is asked: prompt, switches, form of the page."""
    knowledge: tuple[Knowledge, ...] = ()
    """What the model is told of earlier episodes: exemplars, hints."""
    temperature: float = 0.0
    max_tokens: int = 1024
    """Of a reply, at most."""
    headed: bool = False
    """Show the browser's window."""
    handover: "Handover | None" = None
    """Who is asked to pass a captcha in the window; without anybody the task ends there."""
    browser: "Browser | None" = None
    """A browser of yours to use, with its own guard; it stays open."""
    store: Store | None = None
    """Keeps every episode as runs do, with its screenshots; without one nothing is kept."""
    screenshots: bool = False
    """Take a screenshot of every page even where the model does not look."""
    _held: AgentResources | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        check_actor(self.model, self._manner())
        check_price(self.model, self._prices(), self.max_cost)
        for name in ("max_steps", "max_cost", "max_tokens_total", "max_minutes"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name}={value:g} leaves nothing to do; give more, or no limit")
        if self.browser is not None and (self.guard is not None or self.headed):
            raise UsageError("guard and headed belong to the browser; give them to yours")

    async def __aenter__(self) -> Self:
        """Raise `SetupError` where there is no browser, or what was asked for is not there."""
        from webagent.browser.sessions.login import Logins
        from webagent.browser.sessions.profile import Profile

        if self._held is not None:
            raise UsageError("this agent is open already; use one `async with` for all its tasks")
        async with AsyncExitStack() as undo:
            actor = await undo.enter_async_context(actor_of(self.model, self._manner()))
            browser = self.browser
            if browser is None:
                browser = await undo.enter_async_context(self._own_browser())
            profile = self.profile or Profile(dialogs="ask")
            if self.downloads:
                profile = replace(profile, downloads=self.downloads)
            logins = Logins(self.logins)
            if self.login:
                logins.named(self.login)
            numbers = itertools.count(len(self.store.ids("any")) if self.store else 0)
            self._held = AgentResources(actor, browser, profile, logins, numbers)
            self._held.undo = undo.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        held, self._held = self._held, None
        if held is not None:
            await held.undo.aclose()

    def run_sync(
        self,
        task: str | Task,
        *,
        url: str = "",
        schema: Schema | None = None,
        listen: Listen | None = None,
    ) -> Result:
        """As `run`, for programs without an event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.run(task, url=url, schema=schema, listen=listen))
        raise UsageError("an event loop is running here: await agent.run(...) instead")

    async def run(  # noqa: PLR0913 - the one call everything goes through
        self,
        task: str | Task,
        *,
        url: str = "",
        schema: Schema | None = None,
        listen: Listen | None = None,
        stop: Stop | None = None,
        between: "Between | None" = None,
        provenance: Provenance | None = None,
    ) -> Result:
        """Do a task, in words with the address where it begins, or any `Task` of a benchmark.

        With `schema`, a JSON Schema, the answer is data that fits it: `result.value`. `listen` is
        told of every decision and what came of it; `stop.end(reason)` ends the task from outside.
        Whatever becomes of the task is a `Result`; raises `SetupError` for what has to be mended
        before anything can be done, and `StoreError` where the store cannot be written.
        """
        if self._held is None:
            async with replace(self) as own:
                return await own.run(
                    task,
                    url=url,
                    schema=schema,
                    listen=listen,
                    stop=stop,
                    between=between,
                    provenance=provenance,
                )
        if schema is not None:
            check_schema(schema)
        provenance = provenance or Provenance(phase=PHASE, index=next(self._held.numbers))
        asked = self._task(task, url, schema)
        watch = listen or (lambda event: None)
        return await self._play(
            self._held, asked, schema, provenance, watch, stop or Stop(), between
        )

    async def _play(  # noqa: PLR0913 - what `run` was given
        self,
        held: AgentResources,
        task: Task,
        schema: Schema | None,
        provenance: Provenance,
        listen: Listen,
        stop: Stop,
        between: "Between | None",
    ) -> Result:
        ledger = Ledger(SpendingLimits(self.max_cost, self.max_tokens_total), self._prices())
        images: ImageStore = self.store.images if self.store else MemoryImages()
        policy = held.actor.policy_of(ledger, images)
        structured = StructuredPolicy(policy, schema) if schema is not None else None
        variant = default_asking(held.actor.manner).variant
        page_world = await held.browser.world(
            images.add if self.vision or self.screenshots or variant.image else None,
            held.profile,
            variant,
            self.handover,
            keep_picture=images.add,
            logins=held.logins,
        )
        joined: tuple[Policy, World] = (structured or policy, page_world)
        if between:
            joined = between(joined[0], page_world, stop)
        acting = ReportingPolicy(joined[0], stop, listen)
        world = ReportingWorld(joined[1], stop, listen)
        seconds = None if self.max_minutes is None else 60 * self.max_minutes
        try:
            async with stop.within(ledger, seconds):
                episode = await run_episode(
                    task, acting, world, provenance=provenance, recorder=self.store
                )
        finally:
            await world.close()
        cost = Cost.of(ledger) if held.actor.model else Cost.of_steps(episode)
        if structured is None:
            return Result(episode, cost)
        return Result(episode, cost, structured.value, structured.misfit)

    def _task(self, task: str | Task, url: str, schema: Schema | None) -> Task:
        if isinstance(task, Task):
            goal = add_schema(task.goal, schema) if schema is not None else task.goal
            return replace(task, goal=goal)
        if not task.strip():
            raise UsageError("the task is empty; say in a sentence what is to be done")
        check_address(url)
        words = re.sub(r"[^a-z0-9]+", "-", task.lower()[: 2 * _NAMED]).strip("-")
        return Task(
            id=f"live/{words[:_NAMED].strip('-') or 'task'}@1",
            start_url=url,
            goal=add_schema(task, schema) if schema is not None else task,
            max_steps=self.max_steps,
            clock="real",
            login=self.login,
        )

    def _manner(self) -> ModelOptions:
        return ModelOptions(
            self.asking, self.vision, self.knowledge, self.temperature, self.max_tokens
        )

    def _prices(self) -> Prices:
        prices = self.prices
        return read_prices(prices) if isinstance(prices, Path) else prices or Prices()

    def _own_browser(self) -> "Browser":
        from webagent.browser import Browser, BrowserLimits

        guard = self.guard
        if isinstance(guard, Path | str):
            guard = Guard.read(Path(guard), self.approver)
        elif isinstance(guard, GuardPolicy):
            guard = Guard.of(guard, self.approver)
        elif guard is not None and self.approver is not None:
            guard = replace(guard, approver=self.approver)
        # A person may take their time with a window; nothing is taken back from under them.
        limits = BrowserLimits(lease_seconds=_DAY, browser_seconds=_DAY) if self.headed else None
        return Browser(headless=not self.headed, guard=guard, limits=limits)


def check_address(url: str) -> None:
    """Raise `SetupError` where no task can begin at the address."""
    if url.startswith(("http://", "https://", "file://", "about:")):
        return
    if not url:
        raise UsageError("where does the task begin? Give an address: url='https://…'")
    raise UsageError(f"url={url!r} is no address; did you mean https://{url}?")
