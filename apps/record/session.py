"""Record a person's session in a browser as a demonstration, without their secrets."""

import asyncio
import hashlib
import sys
import threading
import time
from collections.abc import Callable, Mapping, Set
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, cast

from apps.record.translator import PendingStep, Translator
from tasks.task import Task
from webagent.action import Action, Answer, format_action
from webagent.browser import Browser
from webagent.browser.pool import BrowserLimits
from webagent.browser.sessions.profile import Profile
from webagent.browser.watching import SessionWatch, UserEvent
from webagent.guard.secret import SHORTEST, Secrets, placeholder
from webagent.records import (
    PERSON,
    Decision,
    Ending,
    Observation,
    Provenance,
    Score,
    Step,
    Trajectory,
)
from webagent.rollout.episode import episode_id
from webagent.store import Store

UNKNOWN = "•••"
"""Stands in a field for a secret that was not typed whole, or by nobody."""
_SECRET_KIND = "input:password"


def hide_secrets(page: Observation, secrets: Mapping[str, str], marks: Set[int]) -> Observation:
    """Return the observation without the secrets, whose names are given by value; with no picture
    where one of them stands outside its field. `marks` are of fields that hold secrets."""
    nodes = []
    for node in page.nodes:
        if node.value and (node.kind == _SECRET_KIND or node.mark in marks):
            name = secrets.get(node.value)
            node = replace(node, value=placeholder(name) if name else UNKNOWN)
        nodes.append(node)
    hidden = replace(page, nodes=tuple(nodes))
    masked = _mask_of(secrets).masked_page(hidden)
    return masked if masked == hidden else replace(masked, screenshot="", captured="")


def hide_secrets_in_action(action: Action, secrets: Mapping[str, str]) -> Action:
    """Return the action without the secrets in its texts."""
    texts = {each.name: getattr(action, each.name) for each in fields(action)}
    mask = _mask_of(secrets)
    changes = {name: mask.masked(text) for name, text in texts.items() if isinstance(text, str)}
    return replace(action, **cast(dict[str, Any], changes))


def _mask_of(secrets: Mapping[str, str]) -> Secrets:
    return Secrets({name: value for value, name in secrets.items() if len(value) >= SHORTEST})


SOURCE, WHO = "demonstration", PERSON
SPARE = 2
"""An agent may take so many times the person's steps."""
LEAST_STEPS = 10
MOST_PICTURES = 50

Say = Callable[[str], None]


class KeptPictures:
    """Screenshots until it is known which of them are kept: only those of steps are."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}

    def take(self, image: bytes) -> str:
        """Return a reference for the time being."""
        name = hashlib.blake2b(image, digest_size=16).hexdigest()
        self._waiting[name] = image
        while len(self._waiting) > MOST_PICTURES:
            self._waiting.pop(next(iter(self._waiting)))
        return name

    def kept(self, page: Observation, store: Store) -> Observation:
        """Return the page with its picture in the store."""
        image = self._waiting.get(page.screenshot)
        return replace(page, screenshot=store.images.add(image) if image else "")


class DemonstrationEpisode:
    """What a person does, as it is put into the store."""

    def __init__(self, task: Task, provenance: Provenance, store: Store, say: Say) -> None:
        def leave_out(what: str) -> None:
            self._left.append(what)
            say(f"  ! {what}")

        self.pictures = KeptPictures()
        self.steps: list[Step] = []
        self._translator = Translator(self._keep, leave_out)
        self._store = store
        self._say = say
        self._began = self._last = time.monotonic()
        self._left: list[str] = []
        name = episode_id(task, provenance)
        self._trajectory = Trajectory(name, task, task.goal, provenance=provenance)
        store.begin(self._trajectory)

    def hear(self, event: UserEvent) -> None:
        """Take in one thing that the person did."""
        self._translator.hear(event)

    def finish(self, last: Observation, goal: str, answer: str) -> Trajectory:
        """Close the record: the person is done, with this answer."""
        self._translator.finish(last)
        self._keep(PendingStep(last, Answer(answer)))
        task = replace(
            self._trajectory.task, goal=goal, max_steps=max(LEAST_STEPS, SPARE * len(self.steps))
        )
        done = replace(
            self._trajectory,
            task=task,
            goal=goal,
            steps=tuple(self.steps),
            last=self._kept(last),
            ending=Ending.ANSWERED,
            evidence={"left_out": list(self._left)},
            seconds=time.monotonic() - self._began,
        )
        self._store.finish(done)
        reason = "a person did it, and said so by ending the recording"
        self._store.score(done.id, Score("success", 1.0, reason, WHO))
        return done

    def _keep(self, draft: PendingStep) -> None:
        now = time.monotonic()
        action = hide_secrets_in_action(draft.action, self._translator.secrets)
        decision = Decision(action, source=SOURCE, weights=WHO, seconds=now - self._last)
        step = Step(self._kept(draft.seen), decision)
        self._last = now
        self._store.add_step(self._trajectory.id, len(self.steps), step)
        self.steps.append(step)
        on = f"  # {draft.called}" if draft.called else ""
        self._say(f"{len(self.steps):3} {format_action(action)}{on}")

    def _kept(self, page: Observation) -> Observation:
        hidden = hide_secrets(page, self._translator.secrets, self._translator.secret_marks)
        return self.pictures.kept(replace(hidden, goal=self._trajectory.goal), self._store)


_DAY = 86_400.0
_LIMITS = BrowserLimits(lease_seconds=_DAY, browser_seconds=_DAY)
"""A person may take their time."""
_LAST_LOOK_SECONDS = 3.0


class RecordingSession:
    """What is under way; `done` is set by whoever ends it."""

    def __init__(
        self,
        demonstration: DemonstrationEpisode,
        say: Callable[[str], None],
        *,
        headless: bool,
        is_pictured: bool,
    ) -> None:
        self.done = asyncio.Event()
        """To be set when the person says that they are done."""
        self.watch: SessionWatch | None = None
        """Where the person is being watched; None before the first page is there."""
        self._demonstration = demonstration
        self._say = say
        self._headless = headless
        self._is_pictured = is_pictured

    async def run(self, task: Task, profile: Profile) -> Observation:
        """Open the task's page and keep what is done until the end; the page as it was left.

        Raises `SetupError` where there is no browser, and `WorldError` where it fails.
        """
        keep = self._demonstration.pictures.take if self._is_pictured else None
        async with Browser(headless=self._headless, limits=_LIMITS) as browser:
            world = await browser.world(keep_image=keep, profile=profile)
            first = await world.reset(task)
            watch = self.watch = SessionWatch(world, first, self._demonstration.hear)
            await watch.begin()
            self._say("Actions in the window are now recorded.")
            watching = asyncio.ensure_future(watch.run())
            ending = asyncio.ensure_future(self.done.wait())
            await asyncio.wait({watching, ending}, return_when=asyncio.FIRST_COMPLETED)
            if not watching.done():
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LAST_LOOK_SECONDS):
                        await watch.is_resting.wait()
            ending.cancel()
            watch.ended.set()
            await watching
        return watch.seen


def answer_typed(answered: Callable[[str], None]) -> None:
    """Call back in this loop with the next line that is typed at the terminal."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        line = sys.stdin.readline().rstrip("\n")
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(answered, line)

    threading.Thread(target=read, daemon=True).start()
