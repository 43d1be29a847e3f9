"""Where a measurement is played: one browser with all that its tasks need from it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from benchmarks.sites.hosting import Hosting
from loop.executors.executor import BrowserSetup, open_executor
from loop.executors.worker import OpenWorlds
from loop.measurement.selection import TaskSelection, list_page_folders
from loop.measurement.settings import BenchmarkConfig, contestant, judge_of, judging
from loop.world_models import check_world
from tasks.task import Task
from webagent.browser.pictures import GoalPictures
from webagent.browser.sessions.login import Logins
from webagent.browser.sessions.traffic import read_replay
from webagent.browser.world import ViewerPictures
from webagent.errors import SetupError, UsageError
from webagent.guard import Guard
from webagent.guard.decide import decide_request
from webagent.models import EndpointModel
from webagent.observation.variants import ObservationVariant
from webagent.policy.knowledge import SiteMemory
from webagent.records import Observation
from webagent.rollout import OpenWorld, PreparingWorld, World
from webagent.store import Store
from webagent.store.database import ImageStore

_ABOVE = 3
"""How many folders above the task file pictures are looked for in: paths count from the top of the
benchmark's repository."""


@dataclass(frozen=True, slots=True)
class WorldFactory:
    """Opens worlds for one policy."""

    open_worlds: OpenWorlds
    store: Store
    variant: ObservationVariant | None = None
    is_judged_by_sight: bool = False
    """Whether screenshots are kept for the judge."""
    images: ImageStore | None = None
    """What a policy that looks finds images by; None where it does not look."""
    needed: GoalPictures | None = None
    """Without these an episode is not begun."""
    shown: ViewerPictures | None = None
    """What screenshots go to that nobody but people looks at."""

    @property
    def open_world(self) -> OpenWorld:
        """Makes worlds, each with sites of its own where tasks need them."""
        add = self.store.images.add
        shown = add if self.images or self.is_judged_by_sight else self.shown
        opening, pictures = self.open_worlds(add, shown, self.variant), self.needed
        if pictures is None:
            return opening

        async def open_pictured() -> World:
            return PicturedWorld(await opening(), pictures)

        return open_pictured

    def plain(self) -> "WorldFactory":
        """The same for scripts, which look at nothing but the lines."""
        return replace(self, variant=None, images=None, needed=None, shown=None)


class PicturedWorld:
    """A world in which no task begins without the pictures of its goal."""

    def __init__(self, world: World, pictures: GoalPictures) -> None:
        self._world, self._pictures = world, pictures
        self.step, self.evidence, self.close = world.step, world.evidence, world.close

    async def reset(self, task: Task) -> Observation:
        """As the world's. Raises `WorldError` where a picture is missing, too."""
        self._pictures.need(task)
        return await self._world.reset(task)

    async def prepare(self, task: Task) -> None:
        """As the world's, where it can."""
        if isinstance(self._world, PreparingWorld):
            await self._world.prepare(task)


@asynccontextmanager
async def open_worlds(
    config: BenchmarkConfig, chosen: TaskSelection, store: Store
) -> AsyncIterator[WorldFactory]:
    """A browser for the tasks, and what is to be ready before the first. Raises `SetupError`."""
    played, guard = contestant(config), load_guard(config, chosen)
    pictures = None

    def refuse(address: str) -> str:
        verdict = decide_request(guard.policy, address) if guard else None
        return "" if verdict is None or verdict.is_allowed else verdict.reason

    if played.images:
        place = config.selection.files.resolve() if config.selection.files else None
        folders = [place, *list(place.parents)[:_ABOVE]] if place else []
        pictures = GoalPictures(store.images, folders, config.har, refuse)
        await pictures.fetch(chosen.tasks(1))
    tasks = tuple(chosen.tasks(1))
    setup = BrowserSetup(
        tasks,
        config.run.concurrency,
        config.selection.sites,
        config.selection.logins,
        guard,
        config.har,
    )
    async with open_executor(setup, config.run.executor, config.run.workers) as opening:
        yield WorldFactory(
            opening,
            store,
            played.asking.variant,
            judge_of(config).asks_a_model and judging(config).images,
            pictures,
            pictures,
            ViewerPictures(store.images.add, config.pictures) if config.pictures > 0 else None,
        )


def check_memory(config: BenchmarkConfig, chosen: TaskSelection) -> None:
    """Raise `SetupError` where the site memory is about other sites than the tasks."""
    for knowledge in contestant(config).knowledge:
        if isinstance(knowledge, SiteMemory):
            knowledge.check_sites([task.start_url for task in chosen.tasks(1)])


def check_environment(config: BenchmarkConfig, chosen: TaskSelection) -> None:
    """What the tasks need is there, or `SetupError` or `StoreError` before anything is spent."""
    chosen.check()
    load_guard(config, chosen)
    if config.player.model.policy == "endpoint":
        model = contestant(config, knows=False).language_model()
        if isinstance(model, EndpointModel):
            model.check()
    check_world(config.player.lookahead, starts=[task.start_url for task in chosen.tasks(1)])
    if sites := find_missing_sites(config, chosen):
        raise SetupError(sites)
    if missing := find_missing_logins(config, chosen):
        raise SetupError(f"logins are missing: {'; '.join(missing.values())}")
    if config.replay is not None:
        Store.open(config.replay).close()
    if config.har is not None:
        read_replay(config.har)


def load_guard(config: BenchmarkConfig, chosen: TaskSelection) -> Guard | None:
    """The settings' guard, with the benchmark's own pages open. Raises `SetupError`."""
    guard = Guard.chosen(config.selection.guard, config.selection.confirm)
    if guard is None:
        return None
    if config.har is not None:
        raise UsageError("--har replaces the network; leave out --guard and --confirm")
    return guard.opening(*list_page_folders(chosen.tasks(1)))


def find_missing_sites(config: BenchmarkConfig, chosen: TaskSelection) -> str:
    """Why the sites of the tasks cannot be started here; empty where they can."""
    try:
        Hosting(files=config.selection.sites).check(chosen.tasks(1))
    except SetupError as error:
        return str(error)
    return ""


def find_missing_logins(config: BenchmarkConfig, chosen: TaskSelection) -> dict[str, str]:
    """Logins that tasks begin with and that are not saved, each with what to do about it."""
    logins, missing = Logins(config.selection.logins), {}
    wanted = {task.login: task for task in chosen.tasks(1) if task.login and not task.site}
    for name, task in sorted(wanted.items()):
        try:
            logins.named(name)
        except SetupError as error:
            missing[name] = f"{error} (as for {task.id}, at {task.start_url})"
    return missing
