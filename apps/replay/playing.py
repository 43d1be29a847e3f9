"""The playing of recordings in a real browser, and the scoring of what came of them."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from apps.replay.recordings import Replayed, ReplayedTask, read_values
from apps.replay.settings import ReplayConfig, values_of
from benchmarks.sites.hosting import Hosting
from loop.measurement.scoring import HEADLINE, has_checks
from loop.measurement.selection import list_page_folders
from loop.proposers.verification import EpisodePlayer, PlannedPlay
from tasks.task import Task
from webagent.action.actions import AnswerDialog
from webagent.browser import Browser
from webagent.browser.sessions.login import Logins
from webagent.browser.sessions.profile import Profile, read_profile
from webagent.guard import Guard
from webagent.policy.replay import ReplayPolicy
from webagent.records import Provenance, Trajectory
from webagent.rollout import OpenWorld
from webagent.store import Store

ARM, PHASE = "replay", "evaluate"


async def replay_all(
    config: ReplayConfig, chosen: Sequence[ReplayedTask], store: Store
) -> list[Replayed]:
    """Play them all; each is stored with its scores and with what was made of its steps.

    Raises `SetupError` where there is no browser or no site.
    """
    guard = guard_of(config, [each.task for each in chosen])
    values = values_of(config)
    known = frozenset(guard.policy.secrets) if guard else frozenset[str]()
    policies = [
        ReplayPolicy(each.episode, read_values(each.episode, values), config.strict, known)
        for each in chosen
    ]
    last: dict[int, Trajectory] = {}

    def keep(played: Trajectory) -> None:
        last[played.provenance.index] = played
        if len(chosen) > 1:
            print(
                f"{len(last)}/{len(chosen)}  {played.task.name}: {played.ending}", file=sys.stderr
            )

    async with worlds(config, chosen, guard) as open_world:
        player = EpisodePlayer(
            open_world,
            store,
            Provenance(run=store.folder.name, arm=ARM),
            config.concurrency,
            on_episode=keep,
        )
        playing = [PlannedPlay(e.task, p) for e, p in zip(chosen, policies, strict=True)]
        await player.play(playing, PHASE)
    found = []
    for index, (each, policy) in enumerate(zip(chosen, policies, strict=True)):
        played, score = last[index], None
        is_judged = played.ending is not None and not played.ending.is_infrastructure
        if is_judged and has_checks(played.task):
            score = await HEADLINE(played)
            store.score(played.id, score)
        done = Replayed(each.episode.id, played, tuple(policy.accounts), score)
        store.put_state(f"replay:{played.id}", dict(done.content()))
        found.append(done)
    return found


@asynccontextmanager
async def worlds(
    config: ReplayConfig, chosen: Sequence[ReplayedTask], guard: Guard | None
) -> AsyncIterator[OpenWorld]:
    """Open worlds, each with sites of its own where tasks need them; dialogs wait where some were
    answered. Raises `SetupError`."""
    profile = read_profile(Path(config.profiles), config.site) if config.profiles else Profile()
    if any(
        any(isinstance(step.decision.action, AnswerDialog) for step in each.episode.steps)
        for each in chosen
    ):
        profile = replace(profile, dialogs="ask")
    hosted = Hosting(config.concurrency, config.sites, Logins(config.logins))
    headless = not config.headed
    async with hosted as hosting, Browser(headless=headless, guard=guard) as browser:
        await hosting.prepare([each.task for each in chosen])
        yield hosting.worlds(partial(browser.world, profile=profile, logins=hosting.logins))


def guard_of(config: ReplayConfig, tasks: Sequence[Task]) -> Guard | None:
    """Return the guard that was asked for, with the tasks' own pages open. Raises `SetupError`."""
    if config.guard is None:
        return None
    return Guard.read(config.guard).opening(*list_page_folders(list(tasks)))
