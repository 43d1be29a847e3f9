"""The ground: the site that is proposed for, with the worlds to visit it in."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from evaluators.rules import RULES
from recipes.proposing.settings import ProposeConfig
from recipes.proposing.visit import OpenWorld
from tasks.proposers.scope import Scope
from tasks.task import Task
from webagent.errors import SetupError
from webagent.guard import Guard

KeepImage = Callable[[bytes], str]


@dataclass(frozen=True, slots=True)
class Ground:
    """A site with the way to its pages."""

    scope: Scope
    start: Task
    """Begins where visits do."""
    open_world: OpenWorld


@asynccontextmanager
async def open_ground(
    config: ProposeConfig, keep_image: KeepImage | None = None
) -> AsyncIterator[Ground]:
    """The site that the settings name, ready to be visited. Raises `SetupError`."""
    if urlsplit(config.site).scheme not in ("http", "https"):
        raise SetupError(f"--site {config.site}: give the address of a live site")
    from webagent.browser import Browser

    scope = live_scope(config)
    start = Task("proposed/visit@1", scope.address, clock="real", login=config.login)
    browser = Browser(guard=guard_of(config))  # started by its first world
    try:
        yield Ground(scope, start, partial(browser.world, keep_image))
    finally:
        await browser.close()


def live_scope(config: ProposeConfig) -> Scope:
    """What is known of a site by its address alone."""
    host = urlsplit(config.site).hostname or config.site
    rules = tuple(sorted(RULES))
    return Scope(
        host, config.site, rules=rules, max_steps=config.max_steps, language=config.language
    )


def guard_of(config: ProposeConfig) -> Guard | None:
    """The limits of visits and of solving. Raises `SetupError`."""
    return Guard.read(config.guard) if config.guard else None
