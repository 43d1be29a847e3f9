"""Sites for whoever plays tasks: found, built, started as often as needed, and ended."""

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar, cast
from urllib.parse import SplitResult, urlsplit

from benchmarks.sites.changes import UnreadableChanges, find_changes, run_queries
from benchmarks.sites.described import AnySite, Remote, RemoteSite, described_sites, find_site
from benchmarks.sites.instance import Instance, first_state
from benchmarks.sites.lease import Lease, Pool, Running
from benchmarks.sites.site import SiteError
from benchmarks.sites.state import Build, ensure_built
from tasks.task import Json, Task
from webagent.action import Action
from webagent.errors import GuardError, ServerError, SetupError, WorldError
from webagent.records import Observation
from webagent.rollout.world import OpenWorld, PreparingWorld, VisibleWorld, World
from webagent.timing import uncounted

Value = TypeVar("Value")

_COLON = r"(?::|%(?:25)?3[Aa])"
_SLASHES = r"(?://|\\/\\/|%(?:25)?2[Ff]%(?:25)?2[Ff])"
_BEGINNING = r"(?:(?<![\w.-])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
_END = rf"(?![\w-]|\.\w|{_COLON}\d)"


class Translation:
    """Between the address of a site in tasks, as `http://fossil.test`, and that of its server.

    Outward every mention of the server is replaced, with `http://` or without, percent-encoded or
    not, under each of its names; inward only whole addresses, so that what merely ends like one,
    as `ann@fossil.test`, stays.
    """

    def __init__(self, address: str = "", base: str = "") -> None:
        """Without addresses nothing is translated. Raises `ValueError` for one with a path."""
        self._is_needed = address.rstrip("/") != base.rstrip("/")
        if not self._is_needed:
            return
        for given in (address, base):
            if urlsplit(given).path not in ("", "/"):
                raise ValueError(f"a site's address is scheme and host, found {given!r}")
        ours, theirs = urlsplit(address), urlsplit(base)
        names = [theirs.netloc]
        if theirs.hostname in ("127.0.0.1", "localhost"):
            names = [f"127.0.0.1:{theirs.port}", f"localhost:{theirs.port}"]
        hint = f"{theirs.port}" if theirs.port else theirs.netloc
        self._out = _replacer(theirs.scheme, names, hint, ours, is_whole=False)
        self._in = _replacer(ours.scheme, [ours.netloc], ours.netloc, theirs, is_whole=True)

    def outward(self, value: Value) -> Value:
        """Return the value with the site's own address in each of its strings."""
        return cast(Value, _map_strings(value, self._out)) if self._is_needed else value

    def inward(self, value: Value) -> Value:
        """Return the value with the server's address in each of its strings."""
        return cast(Value, _map_strings(value, self._in)) if self._is_needed else value


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, tuple | list):
        return type(value)([_map_strings(item, change) for item in value])
    if isinstance(value, Mapping):
        pairs = value.items()
        return {_map_strings(key, change): _map_strings(item, change) for key, item in pairs}
    changed = {}
    for name in _fields(cast(Any, type(value))):
        before = getattr(value, name)
        after = _map_strings(before, change)
        if after is not before and after != before:
            changed[name] = after
    return replace(value, **changed) if changed else value


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    """Return the fields of a record that can be given; none for anything else."""
    return tuple(each.name for each in fields(kind) if each.init) if is_dataclass(kind) else ()


def _replacer(
    scheme: str, names: list[str], hint: str, new: SplitResult, *, is_whole: bool
) -> Callable[[str], str]:
    """Return what puts the new address in place of hosts of these names, in the way in which each
    is encoded; `hint` stands in every text that has one, and is faster to look for."""
    hosts = "|".join(re.escape(name).replace(":", _COLON) for name in names)
    head = rf"(?:(?P<scheme>{scheme})(?P<after>{_COLON}{_SLASHES})){'' if is_whole else '?'}"
    pattern = re.compile(rf"{_BEGINNING}{head}(?:{hosts}){_END}", re.IGNORECASE)
    hint = hint.casefold()

    def put(found: re.Match[str]) -> str:
        colon = next((code for code in ("%253A", "%3A") if code in found[0].upper()), ":")
        before = f"{new.scheme}{found['after']}" if found["scheme"] else ""
        return before + new.netloc.replace(":", colon)

    return lambda text: pattern.sub(put, text) if hint in text.casefold() else text


CHANGES = "changes"
_DYING_SECONDS = 0.1
"""Until a process that has let go of its connections is seen to be gone."""
Object: TypeAlias = dict[str, Json]


class Host(Protocol):
    """Where a world gets its sites from."""

    async def lease(self, site: str) -> Lease:
        """Return a running site of one's own. Raises `SiteError`."""
        ...

    async def give_back(self, lease: Lease) -> None:
        """It is not needed any more."""
        ...

    def address(self, site: str) -> str:
        """Return its address in tasks and trajectories. Raises `SiteError`."""
        ...

    def passing(self, site: str) -> Mapping[str, tuple[str, ...]]:
        """Return what is not reported as a change."""
        ...


class HostedWorld:
    """The worlds that `open_world` makes, with the sites that tasks name started and reset for each
    episode. A task without a site is played as it would be without this.

    The agent, the record and the checks see a site's own address, whatever port it is served on.
    What goes wrong with a site is a `WorldError`, and the next reset gets another instance.
    """

    def __init__(self, open_world: OpenWorld, host: Host) -> None:
        self._open_world = open_world
        self._host = host
        self._inner: World | None = None
        self._lease: Lease | None = None
        self._site = ""
        """The site that the inner world's pages are on."""
        self._translation = Translation()
        self._password_pages: set[str] = set()
        """Start pages that ask for a password of those, too, who have just logged in."""

    async def reset(self, task: Task) -> Observation:
        """Put the site into its first state and start the task. Raises `WorldError`."""
        if task.site or self._site:
            await self._leave_pages()
        with self._translating_errors():
            if task.site != self._site or self._lease is None or self._lease.has_failed:
                await self._give_back()
            if task.site:
                try:
                    lease = await self._reset(task)
                except SiteError:
                    if self._lease is None:
                        raise
                    self._mark_doubtful()
                    await self._give_back()
                    lease = await self._reset(task)
                self._translation = Translation(self._host.address(task.site), lease.running.base)
            seen = await self._begin(task)
            has_run_out = task.login and _asks_for_password(seen)
            is_elsewhere = urlsplit(seen.url).path != urlsplit(task.start_url).path
            # Not anew where the first page did so after a new login.
            if has_run_out and task.site and task.start_url not in self._password_pages:
                self._password_pages.add(task.start_url)
                logger.warning(
                    "the login %r of %s had run out; logged in anew", task.login, task.site
                )
                await self._leave_pages()
                await asyncio.to_thread(lease.running.renew_login, task.login)
                await self._reset(task)
                seen = await self._begin(task)
                if not _asks_for_password(seen):
                    self._password_pages.discard(task.start_url)
            elif has_run_out and not task.site and is_elsewhere:
                raise WorldError(
                    f"{task.id} begins at {seen.url[:200]}, which asks for a password: the login"
                    f" {task.login!r} has run out; save it anew, as with: webagent login"
                    f" {task.start_url} --site {task.login}"
                )
            return self._translation.outward(seen)

    async def _begin(self, task: Task) -> Observation:
        self._inner = self._inner or await self._open_world()
        return await self._inner.reset(self._inward(task))

    async def step(self, action: Action) -> Observation:
        """As the inner world's. Raises `WorldError`, also when the site has died."""
        inner = self._require_world()
        with self._translating_errors():
            self._renew()
            try:
                seen = await inner.step(self._translation.inward(action))
            except WorldError:
                if self._lease is not None:  # the browser's error does not name the site
                    await asyncio.sleep(_DYING_SECONDS)
                    self._lease.running.check()
                raise
            self._renew()
            return self._translation.outward(seen)

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """Return the inner world's, then what the site's database says. Raises `WorldError`."""
        inner = self._require_world()
        with self._translating_errors():
            self._renew()
            found = dict(await inner.evidence(self._inward(task)))
            if self._lease is not None:
                running = self._lease.running
                more = await asyncio.to_thread(self._query_database, running, task)
                reasons = [each.pop("uncaptured", {}) for each in (found, more)]
                found |= more
                if together := {k: v for each in reasons for k, v in cast(Object, each).items()}:
                    found["uncaptured"] = together
                if not await asyncio.to_thread(running.is_healthy):
                    await asyncio.sleep(_DYING_SECONDS)
                    running.check()
                    raise SiteError(f"{task.site} no longer responds")
            return self._translation.outward(found)

    async def prepare(self, task: Task) -> None:
        """Only for tasks without a site: others begin with a site that is reset first."""
        if not task.site and not self._site and isinstance(self._inner, PreparingWorld):
            await self._inner.prepare(task)

    async def screenshot(self) -> bytes:
        """Return the inner world's picture. Raises `WorldError`, also where it has none."""
        inner = self._require_world()
        if not isinstance(inner, VisibleWorld):
            raise WorldError("this world has no picture of its page")
        with self._translating_errors():
            return await inner.screenshot()

    async def close(self) -> None:
        """Close the inner world and give the site back. Safe to call twice."""
        try:
            await self._leave_pages()
        finally:
            await self._give_back()

    async def _reset(self, task: Task) -> Lease:
        if self._lease is None:
            with uncounted():
                self._lease = await self._host.lease(task.site)
        self._site = task.site
        lease = self._lease
        lease.renew()
        await asyncio.to_thread(lease.running.reset)
        if task.login:
            await asyncio.to_thread(lease.running.login, task.login)
        return lease

    async def _leave_pages(self) -> None:
        """Pages of the episode before could still be writing to its site."""
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.close()

    async def _give_back(self) -> None:
        lease, self._lease, self._site = self._lease, None, ""
        self._translation = Translation()
        if lease is not None:
            await self._host.give_back(lease)

    def _inward(self, task: Task) -> Task:
        """Return the task as the inner world is to see it."""
        if not task.site:
            return task
        records = tuple(name for name in task.records if name != CHANGES)
        return self._translation.inward(replace(task, records=records, checks=(), queries={}))

    def _query_database(self, running: Running, task: Task) -> Object:
        """Return what the task asks of the database, with reasons for what could not be read."""
        wanted = [*task.queries, *([CHANGES] if CHANGES in task.records else [])]
        database, saved = running.database, running.saved_database
        if not wanted:
            return {}
        if database is None or saved is None:
            reason = f"{task.site} has no database that can be read from here"
            return {"uncaptured": dict.fromkeys(wanted, cast(Json, reason))}
        found, unread = run_queries(database, task.queries)
        if CHANGES in wanted:
            try:
                changes = find_changes(saved, database, self._host.passing(task.site))
                found[CHANGES] = cast(Json, changes)
            except UnreadableChanges as reason:
                unread[CHANGES] = str(reason)
        return {**found, "uncaptured": unread} if unread else found

    def _renew(self) -> None:
        if self._lease is not None:
            self._lease.renew()

    def _mark_doubtful(self) -> None:
        if self._lease is not None:
            self._lease.is_doubtful = True

    def _require_world(self) -> World:
        if self._inner is None:
            raise WorldError("no episode is being played; call reset first")
        return self._inner

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Report errors with the site's own address; its health is looked at later."""
        try:
            yield
        except asyncio.CancelledError:
            self._mark_doubtful()
            raise
        except (SiteError, WorldError) as error:
            self._mark_doubtful()
            if isinstance(error, ServerError) and self._lease is not None:
                self._lease.has_failed = True
            kind = type(error) if isinstance(error, WorldError) else WorldError
            raise kind(self._translation.outward(str(error))) from error
        except GuardError as error:
            raise GuardError(self._translation.outward(str(error))) from error


def _asks_for_password(page: Observation) -> bool:
    return any(node.kind == "input:password" for node in page.nodes)


logger = logging.getLogger(__name__)

if TYPE_CHECKING:
    from webagent.browser.sessions.login import StorageState


class Hosting:
    """What plays tasks on sites and tasks without alike:

        async with Hosting(concurrency) as hosting:
            await hosting.prepare(tasks)
            open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))

    Sites are started when a task first names them and all ended with the block; where no task has a
    site nothing is started.
    """

    def __init__(
        self,
        concurrency: int = 1,
        files: Sequence[Path] = (),
        saved: "Callable[[Task], StorageState | None] | None" = None,
    ) -> None:
        """`concurrency` is how many worlds are open at once, so how many instances of a site;
        `files` describe more sites; `saved` has the logins of tasks without a site. A hosted site
        has one instance, and worlds wait for it."""
        self._concurrency = concurrency
        self._files = tuple(files)
        self._saved = saved
        self._sites: dict[str, AnySite] = {}
        self._builds: dict[str, Build | Remote] = {}
        self._pools: dict[str, Pool] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self.close()

    def check(self, tasks: Iterable[Task]) -> None:
        """Look for the tasks' files and sites before anything is spent. Raises `SetupError`."""
        try:
            described_sites(self._files)
        except SiteError as error:
            raise SetupError(str(error)) from error
        for name in {task.site for task in tasks if task.site}:
            try:
                site = self._site(name)
            except SiteError as error:
                raise SetupError(str(error)) from error
            if missing := site.missing():
                raise SetupError(f"{name} cannot be started here: {missing}")
        for task in tasks:
            if task.site and task.login and task.login not in self._site(task.site).accounts:
                known = ", ".join(sorted(self._site(task.site).accounts)) or "none"
                raise SetupError(
                    f"{task.id} logs in as {task.login!r}; {task.site} has the accounts {known}"
                )

    async def prepare(self, tasks: Iterable[Task]) -> None:
        """Check and build what the tasks name, so no episode waits for it. Raises `SetupError`."""
        tasks = list(tasks)
        self.check(tasks)
        try:
            for name in sorted({task.site for task in tasks if task.site}):
                if not self.is_reset(name):
                    logger.warning(
                        "%s is never reset: each episode sees the changes of earlier ones", name
                    )
                await asyncio.to_thread(self._known, name)
        except SiteError as error:
            raise SetupError(str(error)) from error

    def is_reset(self, name: str) -> bool:
        """Return whether each episode finds the site in its first state. Raises `SiteError`."""
        site = self._site(name)
        return not isinstance(site, RemoteSite) or site.is_reset

    def worlds(self, open_world: OpenWorld) -> OpenWorld:
        """Return the same worlds, which can now play tasks on sites."""

        async def open_hosted() -> World:
            return HostedWorld(open_world, self)

        return open_hosted

    def logins(self, task: Task) -> "StorageState | None":
        """Return what the task's browser is to know from the beginning, for `Browser.world`; None
        where nobody is logged in. Raises `WorldError` for a login that cannot be had."""
        if not task.site or not task.login:
            return self._saved(task) if self._saved and task.login else None
        try:
            return self._known(task.site).login(task.login)
        except SiteError as error:
            raise WorldError(f"{task.id} needs a login: {error}") from error

    async def lease(self, site: str) -> Lease:
        """Lease a running instance. Raises `SiteError`."""

        def start() -> Running:
            known = self._known(site)
            return Instance.of(known) if isinstance(known, Build) else known

        if site not in self._pools:
            most = 1 if isinstance(self._site(site), RemoteSite) else self._concurrency
            self._pools[site] = Pool(site, start, most)
        return await self._pools[site].lease()

    async def give_back(self, lease: Lease) -> None:
        """An instance that is not needed any more."""
        await self._pools[lease.name].give_back(lease)

    def address(self, site: str) -> str:
        """As the site's."""
        return self._site(site).address

    def passing(self, site: str) -> Mapping[str, tuple[str, ...]]:
        """As the site's."""
        return self._site(site).passing

    @property
    def starts(self) -> int:
        """How many instances were started."""
        return sum(pool.starts for pool in self._pools.values())

    async def close(self) -> None:
        """End all instances. Safe to call twice."""
        await asyncio.gather(*(pool.close() for pool in self._pools.values()))

    def _site(self, name: str) -> AnySite:
        if name not in self._sites:
            self._sites[name] = find_site(name, self._files)
        return self._sites[name]

    def _known(self, name: str) -> Build | Remote:
        """Return what instances of the site are made from, built where it is not yet."""
        if name not in self._builds:
            site = self._site(name)
            self._builds[name] = (
                site.start() if isinstance(site, RemoteSite) else ensure_built(site, first_state)
            )
        return self._builds[name]
