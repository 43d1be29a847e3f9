"""The place that tasks are proposed for: a site, with what is known of it and worlds to visit."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.rules import RULES
from benchmarks.sites.described import AnySite, RemoteSite, find_site, read_sites
from benchmarks.sites.hosting import Hosting
from benchmarks.sites.instance import first_state
from benchmarks.sites.site import Site, SiteError, UnknownSiteError
from benchmarks.sites.state import ensure_built
from loop.proposers.material import OpenWorld
from loop.proposers.requests import SiteScope
from loop.proposers.settings import ProposeConfig
from tasks.task import Task
from webagent.errors import SetupError, UsageError
from webagent.guard import Guard

KeepImage = Callable[[bytes], str]

_RULES_FOR_CHECKS = tuple(
    name
    for name in (
        *("equals", "same_text", "contains", "matches", "one_of", "at_least", "above"),
        *("changes_are", "unchanged", "url_matches"),
    )
    if name in RULES
)
"""What a check written beside a proposal may compare by."""


@dataclass(frozen=True, slots=True)
class ProposalSite:
    """A site with the way to its pages."""

    scope: SiteScope
    start: Task
    """Begins where visits do."""
    open_world: OpenWorld


@asynccontextmanager
async def open_site(
    config: ProposeConfig, keep_image: KeepImage | None = None
) -> AsyncIterator[ProposalSite]:
    """Yield the site that the settings name. Raises `SetupError`.

    Browser and site are started by whoever first opens a world.
    """
    from webagent.browser import Browser

    async with AsyncExitStack() as ends:
        browser = Browser(guard=read_guard(config))
        ends.push_async_callback(browser.close)
        address = urlsplit(config.site)
        if address.scheme in ("http", "https"):
            scope = describe_address(config.site, config.max_steps)
            start = Task("proposed/visit@1", scope.address, clock="real")
            yield ProposalSite(scope, start, partial(browser.world, keep_image))
            return
        site, files = find_proposal_site(config)
        scope = await asyncio.to_thread(read_local_scope, config)
        start = Task("proposed/visit@1", scope.address, site=site.id, login=config.login)
        hosting = await ends.enter_async_context(Hosting(config.concurrency, files))
        await hosting.prepare([start])
        open_world = partial(browser.world, keep_image, logins=hosting.logins)
        yield ProposalSite(scope, start, hosting.worlds(open_world))


def find_proposal_site(config: ProposeConfig) -> tuple[AnySite, tuple[Path, ...]]:
    """Return the site that is named, by its id or as the one of a TOML file, and the file.

    Raises `SetupError`.
    """
    files = (Path(config.site),) if config.site.endswith(".toml") else ()
    try:
        named = read_sites(files[0]) if files else {config.site: None}
        if len(named) > 1:
            raise SetupError(
                f"--site {config.site} describes {', '.join(named)}; list the file in"
                " WEBAGENT_SITE_FILES and give --site one of these names"
            )
        return find_site(next(iter(named)), files), files
    except UnknownSiteError as error:
        raise UsageError(str(error)) from error
    except SiteError as error:
        raise SetupError(str(error)) from error


def read_local_scope(config: ProposeConfig) -> SiteScope:
    """Return what a site says of itself; one that starts here is built where it was not yet.

    Raises `SetupError`.
    """
    site, _ = find_proposal_site(config)
    if config.login and config.login not in site.accounts:
        known = ", ".join(site.accounts) or "none"
        raise UsageError(f"--login {config.login}: {site.id} has the accounts {known}")
    return describe_site(site, config.max_steps)


def describe_site(site: AnySite, max_steps: int) -> SiteScope:
    """Return what a site says of itself, built where it was not yet. Raises `SetupError`."""
    tables: dict[str, tuple[str, ...]] = {}
    try:
        if not isinstance(site, RemoteSite):
            if missing := site.missing():
                raise SetupError(f"{site.id} cannot be started here: {missing}")
            tables = list_tables(site, ensure_built(site, first_state).state)
    except SiteError as error:
        raise SetupError(str(error)) from error
    return SiteScope(
        site.id.partition("@")[0],
        f"{site.address.rstrip('/')}/",
        site.id,
        {role: account.can for role, account in site.accounts.items()},
        tables,
        _RULES_FOR_CHECKS,
        is_reset=not isinstance(site, RemoteSite) or site.is_reset,
        max_steps=max_steps,
    )


def describe_address(address: str, max_steps: int) -> SiteScope:
    """Return what is known of a live site: where it is."""
    name = urlsplit(address).hostname or address
    return SiteScope(name, address, rules=_RULES_FOR_CHECKS, max_steps=max_steps)


def list_tables(site: Site, state: Path) -> dict[str, tuple[str, ...]]:
    """Return the tables of its database that hold something, with their columns."""
    if not site.database:
        return {}
    path = (state / site.database).as_uri()
    found: dict[str, tuple[str, ...]] = {}
    with closing(sqlite3.connect(f"{path}?mode=ro", uri=True)) as database:
        names = database.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            " AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        ).fetchall()
        for (name,) in names:
            quoted = '"' + str(name).replace('"', '""') + '"'
            with suppress(sqlite3.Error):  # a view may need what only the application has
                if database.execute(f"SELECT 1 FROM {quoted} LIMIT 1").fetchone():
                    columns = database.execute(f"PRAGMA table_info({quoted})")
                    found[name] = tuple(str(row[1]) for row in columns)
    return found


def read_guard(config: ProposeConfig) -> Guard | None:
    """Return the limits of visits and of solving. Raises `SetupError`."""
    return Guard.chosen(config.guard, config.confirm)
