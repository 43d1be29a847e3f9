"""An agent in five lines: a model or policy, a browser, and the tasks it is given."""

import itertools
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from anyio.from_thread import start_blocking_portal

from tasks.task import Task
from webagent.action.custom import names_of
from webagent.agent.actor import (
    Acting,
    Actor,
    ModelOptions,
    actor_of,
    check_actor,
    check_price,
    default_asking,
)
from webagent.agent.answer_form import (
    Schema,
    StructuredPolicy,
    add_schema,
    check_schema,
    read_form_type,
)
from webagent.agent.asking import Asking
from webagent.agent.events import Listen, ReportingPolicy, ReportingWorld
from webagent.agent.result import Cost, Result
from webagent.agent.stop import Stop
from webagent.errors import UsageError
from webagent.guard import Approve, Guard, GuardPolicy
from webagent.models.spending import Ledger, Prices, SpendingLimits, default_prices, read_prices
from webagent.policy.policy import Knowledge, Policy, WrapPolicy
from webagent.records import Provenance
from webagent.rollout.episode import run_episode
from webagent.rollout.world import World
from webagent.store import Store
from webagent.store.database import ImageStore, MemoryImages

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

    from webagent.browser import Browser, BrowserWorld
    from webagent.browser.sessions.login import Logins
    from webagent.browser.sessions.profile import Profile
    from webagent.browser.tabs import Handover
    from webagent.policy.student import Student

Between: TypeAlias = "Callable[[Policy, BrowserWorld, Stop], tuple[Policy, World]]"
"""Puts something between an agent and its pages, such as a person who may take over."""


@dataclass(slots=True)
class AgentResources:
    """What an agent keeps between tasks."""

    actor: Actor
    browser: "Browser"
    profile: "Profile"
    logins: "Logins"
    student: "Student | None"
    restater: Actor | None
    numbers: Iterator[int]
    """Places of its episodes, each once."""
    page: "BrowserWorld | None" = None
    """Where the task that ended last left off, for one that goes on from there."""
    past: tuple["Result", ...] = ()
    """What came of the tasks that led to that page."""
    undo: AsyncExitStack = field(default_factory=AsyncExitStack)


PHASE = "run"
_DAY = 86_400.0
_REMEMBERED = 5
"""Earlier tasks of a session that the model reads of."""
_NAMED = 40
"""Characters of a task that its id shows."""


@dataclass(slots=True, eq=False)
class Agent:
    """Does tasks in a browser:

        agent = Agent("NAME")
        result = await agent.run("What does the blue kayak cost?", url="https://shop.example/")
        print(result.answer)

    `async with Agent(...) as agent:` keeps one browser and one model for any number of tasks, at
    the same time too; without it every task opens its own. Each task gets a fresh session, but one
    without a `url` goes on where the task that ended last left off. `with Agent(...) as agent:`
    does the same for `run_sync`, in a thread of its own, so also in a notebook.
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
    keep_login: bool = False
    """Save under the name `login`, after every task, what the browser knows then; a task begins
    without where nothing is saved yet."""
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
    """What the model reads of earlier episodes, such as `SiteMemory.read(folder)`."""
    actions: Sequence[Callable[..., Any] | str] = ()
    """Functions of one's own, decorated with `custom_action`, that the model may call."""
    student: "Student | Path | str | None" = None
    """A small model that acts where it is sure and learns from every answer of `model`, or the
    folder in which it is kept, made where there is none (docs/howto/student.md)."""
    lookahead: WrapPolicy | None = None
    """Has a world model asked before acting: `LookAhead(world)` (docs/worldmodel.md)."""
    restater: Acting | None = None
    """A language model that puts each task in words that the memory of `model:FOLDER` knows
    (docs/memory.md)."""
    temperature: float = 0.0
    max_tokens: int = 1024
    """Of a reply, at most."""
    headed: bool = False
    """Show the browser's window."""
    handover: "Handover | None" = None
    """Who is asked to pass a captcha in the window; without anybody the task ends there."""
    cdp: str = ""
    """DevTools address of a browser that runs already, such as `http://127.0.0.1:9222`."""
    browser: "Browser | None" = None
    """A browser of yours to use, with its own guard; it stays open."""
    store: Store | None = None
    """Keeps every episode as runs do, with its screenshots; without one nothing is kept."""
    screenshots: bool = False
    """Take a screenshot of every page even where the model does not look."""
    _held: AgentResources | None = field(default=None, init=False, repr=False)
    _thread: "tuple[BlockingPortal, ExitStack] | None" = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        check_actor(self.model, self._manner())
        check_price(self.model, self._prices(), self.max_cost)
        if self.restater is not None:
            check_actor(self.restater, self._manner())
            check_price(self.restater, self._prices(), self.max_cost)
        for name in ("max_steps", "max_cost", "max_tokens_total", "max_minutes"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UsageError(f"{name}={value:g} leaves nothing to do; give more, or no limit")
        if self.browser is not None and (self.guard is not None or self.headed or self.cdp):
            raise UsageError("guard, headed and cdp belong to the browser; give them to yours")
        if self.cdp and self.guard is not None:
            raise UsageError("a guard needs a browser of its own, and cdp names one that runs")

    async def __aenter__(self) -> Self:
        """Raise `SetupError` where there is no browser, or what was asked for is not there."""
        from webagent.browser.sessions.login import Logins
        from webagent.browser.sessions.profile import Profile

        if self._held is not None:
            raise UsageError("this agent is open already; use one `async with` for all its tasks")
        async with AsyncExitStack() as undo:
            actor = await undo.enter_async_context(actor_of(self.model, self._manner()))
            restater = None
            if self.restater is not None:
                restater = await undo.enter_async_context(actor_of(self.restater, self._manner()))
            browser = self.browser
            if browser is None:
                from webagent.browser import Browser, BrowserLimits

                guard = self.guard
                if isinstance(guard, Path | str):
                    guard = Guard.read(Path(guard), self.approver)
                elif isinstance(guard, GuardPolicy):
                    guard = Guard.of(guard, self.approver)
                elif guard is not None and self.approver is not None:
                    guard = replace(guard, approver=self.approver)
                # A person may take their time with a window; nothing is taken back from under them.
                limits = (
                    BrowserLimits(lease_seconds=_DAY, browser_seconds=_DAY) if self.headed else None
                )
                browser = await undo.enter_async_context(
                    Browser(headless=not self.headed, guard=guard, limits=limits, connect=self.cdp)
                )
            profile = self.profile or Profile(dialogs="ask")
            if self.downloads:
                profile = replace(profile, downloads=self.downloads)
            logins = Logins(self.logins)
            if self.login and not self.keep_login:
                logins.named(self.login)
            numbers = itertools.count(len(self.store.ids("any")) if self.store else 0)
            student = self.student
            if isinstance(student, Path | str):
                from webagent.policy.student import Student

                student = Student.at(Path(student))
            self._held = AgentResources(actor, browser, profile, logins, student, restater, numbers)
            self._held.undo = undo.pop_all()
        return self

    async def __aexit__(self, *failure: object) -> None:
        held, self._held = self._held, None
        if held is not None:
            if held.page is not None:
                await held.page.close()
            await held.undo.aclose()

    def __enter__(self) -> Self:
        """Raise as `async with` does."""
        with ExitStack() as undo:
            portal = undo.enter_context(start_blocking_portal())
            undo.enter_context(portal.wrap_async_context_manager(self))
            self._thread = portal, undo.pop_all()
        return self

    def __exit__(self, *failure: object) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            thread[1].close()

    def run_sync(
        self,
        task: str | Task,
        *,
        url: str = "",
        schema: Schema | type[Any] | None = None,
        listen: Listen | None = None,
    ) -> Result:
        """As `run`, for programs without an event loop, and for notebooks, which have one."""
        doing = partial(self.run, task, url=url, schema=schema, listen=listen)
        if self._thread is not None:
            return self._thread[0].call(doing)
        if self._held is not None or self.browser is not None:
            raise UsageError("its browser belongs to an event loop: await agent.run(...) instead")
        with start_blocking_portal() as portal:  # a notebook's own loop goes on in this thread
            return portal.call(doing)

    async def run(  # noqa: PLR0913 - the one call everything goes through
        self,
        task: str | Task,
        *,
        url: str = "",
        schema: Schema | type[Any] | None = None,
        listen: Listen | None = None,
        stop: Stop | None = None,
        between: "Between | None" = None,
        provenance: Provenance | None = None,
    ) -> Result:
        """Do a task, in words with the address where it begins, or any `Task` of a benchmark.

        Without an address a held agent goes on where the task that ended last left off, and the
        model reads the tasks and answers there.
        With `schema`, a JSON Schema, the answer is data that fits it: `result.value`; with a type,
        such as a pydantic model, an instance of it. `listen` is
        notified of every decision and its outcome; `stop.end(reason)` ends the task from outside.
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
        form, structure = None, None
        if schema is not None:
            form, convert = read_form_type(schema)
            check_schema(form)
            structure = partial(StructuredPolicy, schema=form, convert=convert)
        provenance = provenance or Provenance(phase=PHASE, index=next(self._held.numbers))
        held = self._held
        page: BrowserWorld | None = None
        past: tuple[Result, ...] = ()
        if not url and not isinstance(task, Task) and held.page is not None:
            page, past, held.page = held.page, held.past, None
        asked = self._task(task, url, form, past)
        watch, stop = listen or (lambda event: None), stop or Stop()
        return await self._play(
            held, asked, (page, past), structure, provenance, watch, stop, between
        )

    async def _open_page(self, held: AgentResources, images: ImageStore) -> "BrowserWorld":
        variant = default_asking(held.actor.manner).variant
        page = await held.browser.world(
            images.add if self.vision or self.screenshots or variant.image else None,
            held.profile,
            variant,
            self.handover,
            keep_picture=images.add,
            logins=held.logins,
        )
        page.keeps_pages = True
        return page

    async def _play(  # noqa: PLR0913 - what `run` was given
        self,
        held: AgentResources,
        task: Task,
        before: "tuple[BrowserWorld | None, tuple[Result, ...]]",
        structure: Callable[[Policy], StructuredPolicy] | None,
        provenance: Provenance,
        listen: Listen,
        stop: Stop,
        between: "Between | None",
    ) -> Result:
        page, past = before
        ledger = Ledger(SpendingLimits(self.max_cost, self.max_tokens_total), self._prices())
        images: ImageStore = self.store.images if self.store else MemoryImages()
        if past and past[-1].images is not None:
            images = past[-1].images
        policy = held.actor.policy_of(ledger, images)
        if held.restater is not None:
            policy = held.restater.restate(policy, ledger)
        if self.lookahead is not None:
            policy = self.lookahead(policy, ledger)
        if held.student is not None:
            policy = held.student.in_front_of(policy)
        structured = structure(policy) if structure else None
        page = page or await self._open_page(held, images)
        joined: tuple[Policy, World] = (structured or policy, page)
        if between:
            joined = between(joined[0], page, stop)
        acting = ReportingPolicy(joined[0], stop, listen)
        world = ReportingWorld(joined[1], stop, listen)
        seconds = None if self.max_minutes is None else 60 * self.max_minutes
        async with AsyncExitStack() as leaving:
            leaving.push_async_callback(world.close)
            async with stop.within(ledger, seconds):
                episode = await run_episode(
                    task, acting, world, provenance=provenance, recorder=self.store
                )
            if held.student is not None and held.student.learn(episode, None):
                held.student.keep()
            if self.keep_login and episode.last is not None:
                from webagent.browser.sessions.login import Login, LoginStore

                storage = await page.tabs().context.storage_state(indexed_db=True)
                known = Login(self.login, task.start_url, cast(Any, storage), time.time())
                LoginStore.default().save(known)
            is_booked = held.actor.model is not None or ledger.entries
            cost = Cost.of(ledger, episode.ending) if is_booked else Cost.of_steps(episode)
            value, misfit = (structured.value, structured.misfit) if structured else (None, "")
            result = Result(episode, cost, value, misfit, images)
            if between is None and episode.last is not None:
                leaving.pop_all()
                left, held.page, held.past = held.page, page, (*past, result)
                if left is not None:
                    await left.close()
        return result

    def _task(
        self, task: str | Task, url: str, schema: Schema | None, past: Sequence[Result]
    ) -> Task:
        if isinstance(task, Task):
            goal = add_schema(task.goal, schema) if schema is not None else task.goal
            return replace(task, goal=goal)
        if not task.strip():
            raise UsageError("the task is empty; say in a sentence what is to be done")
        if past:
            url = past[-1].url
        check_address(url)
        words = re.sub(r"[^a-z0-9]+", "-", task.lower()[: 2 * _NAMED]).strip("-")
        goal = add_schema(task, schema) if schema is not None else task
        if past:
            earlier = [
                f"- {each.asked}\n  {each.ending}: {each.answer or each.reason}" for each in past
            ]
            before = "\n".join(earlier[-_REMEMBERED:])
            goal += f"\n\nThis goes on from earlier tasks on this page:\n{before}"
        is_missing = False
        if self.keep_login:
            from webagent.browser.sessions.login import LoginStore

            is_missing = self.login not in LoginStore.default().sites()
        return Task(
            id=f"live/{words[:_NAMED].strip('-') or 'task'}@1",
            start_url=url,
            goal=goal,
            max_steps=self.max_steps,
            clock="real",
            login="" if is_missing else self.login,
        )

    def _manner(self) -> ModelOptions:
        return ModelOptions(
            self.asking,
            self.vision,
            self.knowledge,
            self.temperature,
            self.max_tokens,
            names_of(tuple(self.actions)),
        )

    def _prices(self) -> Prices:
        prices = self.prices
        return read_prices(prices) if isinstance(prices, Path) else prices or default_prices()


def check_address(url: str) -> None:
    """Raise `SetupError` where no task can begin at the address."""
    if url.startswith(("http://", "https://", "file://", "about:")):
        return
    if not url:
        raise UsageError("where does the task begin? Give an address: url='https://…'")
    host, _, port = url.partition("/")[0].partition(":")
    is_near = host == "localhost" or port.isdigit() or re.fullmatch(r"[\d.]+", host)
    scheme = "http" if is_near else "https"
    raise UsageError(f"url={url!r} is no address; did you mean {scheme}://{url}?")
