"""A job: one arm of one repeat, with the browser, sites, judges, learner and limits it uses."""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from loop.arms import Arm
from loop.costs import check_cost_cap, load_prices, open_ledger, read_stop_reason, run_within_caps
from loop.executors.executor import BrowserSetup, open_executor
from loop.folder import RunFolder
from loop.jobs import Say
from loop.judges import open_judges
from loop.learners.choice import make_learner
from loop.learners.state import Learner
from loop.measurement.selection import TaskSelection
from loop.measurement.worlds import load_guard
from loop.session import Session
from loop.settings import ImproveConfig
from loop.task_split import load_suite, read_split
from webagent.errors import WebAgentError
from webagent.models.spending import Ledger
from webagent.store import Store

Circle: TypeAlias = Callable[[Session, Learner], Awaitable[None]]
"""Runs a session with its learner."""
_CLOCK = "clock"
"""`clock:JOB` stores the seconds that a job has taken in all sessions."""


class CapReached(WebAgentError):
    """A run reached a limit before its end."""


async def run_job(
    say: Say, config: ImproveConfig, folder: RunFolder, arm: Arm, repeat: int, circle: Circle
) -> None:
    """Open what the arm needs, run the loop, and record that it is done.

    Raises `CapReached` if a cap was reached first; everything done until then is stored.
    """
    job = name_job(arm.name, repeat)
    with folder.store() as store:
        if config.is_metered:
            ledger = open_ledger(store, config.run.caps, load_prices())
        else:
            ledger = Ledger()
        suite, split = load_suite(config), read_split(folder, config)
        names = dict.fromkeys((*split.learning, *split.measured))
        setup = BrowserSetup(
            tuple(suite.task(name, 0) for name in names),
            config.run.concurrency,
            config.selection.sites,
            config.selection.logins,
            load_guard(config.played, TaskSelection.of(config.played)),
        )
        async with (
            open_executor(setup, config.run.executor, config.browsers) as open_worlds,
            open_judges(config, folder, store, ledger) as judges,
        ):
            session = Session(
                *(config, folder, store, open_worlds, arm, repeat, say, judges, ledger)
            )
            with _timed(store, job) as spent:
                minutes = config.run.caps.max_minutes
                left = None if minutes is None else 60 * minutes - spent
                await run_within_caps(_go_round(session, circle), ledger, store, left)
        if config.is_metered and (reason := read_stop_reason(store)):
            raise CapReached(f"stopped before its end: {reason}")
        store.put_state(done_key(job), True)
    say("done", 1.0, "")


def name_job(arm: str, repeat: int) -> str:
    """Return the name of a job."""
    return f"{arm} {repeat}"


def done_key(job: str) -> str:
    """Return the key under which the store records that a job is finished."""
    return f"done:{job}"


def check_caps(config: ImproveConfig) -> None:
    """Raise `SetupError` for caps that leave nothing to do, or that cannot be enforced."""
    config.run.caps.check()
    prices = load_prices()
    for model in config.paid or ("",):
        check_cost_cap(config.run.caps, model, prices)


async def _go_round(session: Session, circle: Circle) -> None:
    learner = make_learner(session)
    try:
        await circle(session, learner)
    finally:
        await learner.close()


@contextmanager
def _timed(store: Store, job: str) -> Iterator[float]:
    """Yield the seconds that all jobs have taken, and add those of this session."""
    before = {
        key: float(value)
        for key, value in store.states(f"{_CLOCK}:").items()
        if isinstance(value, int | float)
    }
    started, key = time.monotonic(), f"{_CLOCK}:{job}"
    try:
        yield sum(before.values())
    finally:
        store.put_state(key, before.get(key, 0.0) + time.monotonic() - started)
