"""One demonstration as an episode: steps are kept as they are done, and closed in the end."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import replace

from apps.record.draft import Draft
from apps.record.privacy import private, private_action
from apps.record.translator import Translator
from tasks.task import Task
from webagent.action import Answer, format_action
from webagent.browser.watching import UserEvent
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

SOURCE, WHO = "demonstration", PERSON
SPARE = 2
"""An agent may take so many times the person's steps."""
LEAST_STEPS = 10
MOST_PICTURES = 50

Say = Callable[[str], None]


class Pictures:
    """Screenshots until it is known which of them are kept: only those of steps are."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}

    def take(self, image: bytes) -> str:
        """A reference for the time being."""
        name = hashlib.blake2b(image, digest_size=16).hexdigest()
        self._waiting[name] = image
        while len(self._waiting) > MOST_PICTURES:
            self._waiting.pop(next(iter(self._waiting)))
        return name

    def kept(self, page: Observation, store: Store) -> Observation:
        """The page with its picture in the store."""
        image = self._waiting.get(page.screenshot)
        return replace(page, screenshot=store.images.add(image) if image else "")


class Demonstration:
    """What a person does, as it is put into the store."""

    def __init__(self, task: Task, provenance: Provenance, store: Store, say: Say) -> None:
        self.pictures = Pictures()
        self.steps: list[Step] = []
        self._translator = Translator(self._keep, self._left_out)
        self._store = store
        self._say = say
        self._began = self._last = time.monotonic()
        self._left: list[str] = []
        name = episode_id(task, provenance)
        self._trajectory = Trajectory(name, task, task.goal, provenance=provenance)
        store.begin(self._trajectory)

    def hear(self, told: UserEvent) -> None:
        """Take in one thing that the person did."""
        self._translator.hear(told)

    def finish(self, last: Observation, goal: str, answer: str) -> Trajectory:
        """Close the record: the person is done, with this answer."""
        translator = self._translator
        translator.finish(last)
        self._keep(Draft(last, Answer(answer)))
        task = replace(
            self._trajectory.task,
            goal=goal,
            max_steps=max(LEAST_STEPS, SPARE * len(self.steps)),
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

    def _keep(self, draft: Draft) -> None:
        now = time.monotonic()
        action = private_action(draft.action, self._translator.secrets)
        decision = Decision(action, source=SOURCE, weights=WHO, seconds=now - self._last)
        step = Step(self._kept(draft.seen), decision)
        self._last = now
        self._store.add_step(self._trajectory.id, len(self.steps), step)
        self.steps.append(step)
        on = f"  # {draft.called}" if draft.called else ""
        self._say(f"{len(self.steps):3} {format_action(action)}{on}")

    def _kept(self, page: Observation) -> Observation:
        goal = self._trajectory.goal
        translator = self._translator
        hidden = private(page, translator.secrets, translator.secret_marks)
        return self.pictures.kept(replace(hidden, goal=goal), self._store)

    def _left_out(self, what: str) -> None:
        self._left.append(what)
        self._say(f"  ! {what}")
