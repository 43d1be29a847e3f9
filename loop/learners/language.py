"""The language learner: the weights of a language model, trained every round on what it did."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from loop.learners.language_training import RoundTraining
from loop.learners.state import ArmState, Purpose
from loop.measurement.settings import contestant
from loop.session import Session
from webagent.models.model import Model
from webagent.models.served import ServedModel
from webagent.models.spending import MeteredModel
from webagent.models.weight_notes import resolve_unchanged
from webagent.policy.policy import Policy


class LanguageLearner:
    """Trains a local language model, its weights or an adapter, and acts with what came of it.

    Trainings run in a thread, one after the other. With `--async-rounds` later rounds are collected
    meanwhile, with weights that the settings name and not the time a training takes, so that a
    resumed run goes on as it would have.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named = contestant(session.config.played)
        given = Path(self._named.place)
        self._first = resolve_unchanged(given.resolve() if given.is_dir() else str(given))
        """Folder or hub name of the weights that everything begins with."""
        self._place = self._first
        """Of the weights that act."""
        self._acting = 0
        """The round after which they were trained."""
        self._model: Model | None = None
        self._trainings: dict[int, asyncio.Task[str]] = {}
        """By round; each returns the place of its weights."""
        self._thread = ThreadPoolExecutor(1, "training")
        self._is_closing = threading.Event()

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Begin to train on what the arm may learn from, or find what that gave; take up the newest
        weights that the next round or the evaluation waits for."""
        session, config = self._session, self._session.config
        wanted = round if round == config.rounds else config.acting_round(round + 1)
        if wanted == round and not session.folder.has_weights(arm, session.repeat, round):
            await self._release()  # the training may take its memory
        known = replace(  # the next round may be collected while a training reads it
            state,
            experience=[*state.experience],
            success=dict(state.success),
            dreams=[*state.dreams],
        )
        self._trainings[round] = asyncio.create_task(self._train(known, arm, round))
        place = await self._trainings[wanted]
        self._acting = wanted
        if place != self._place:
            await self._release()
            self._place = place
        if self._named.server and self._model is None:
            self._model = served = self._named.held_weights(self._place)
            assert isinstance(served, ServedModel)
            await served.start()

    def policy(self, purpose: Purpose) -> Policy:
        """Return the model, prompted as in training; it samples except when it is measured. What it
        replies is stored beside the steps, unreadable replies included."""
        model = MeteredModel(self.language_model(), self._session.ledger)
        temperature = {"measure": 0.0, "vote": 1.0}.get(
            purpose, self._session.config.exploring_temperature
        )
        return self._named.asking.policy(
            model,
            self._session.store.images if self._named.images else None,
            self._named.knowledge,
            temperature=temperature,
            max_tokens=self._named.max_tokens,
        )

    @property
    def knows_pages(self) -> bool:
        """Return whether its weights were trained to predict pages: in each round, not before."""
        return self._acting > 0 and self._session.config.weights.world_modelling

    def language_model(self) -> Model:
        """Return the latest weights, loaded where they are not yet."""
        if self._model is None:
            self._model = self._named.held_weights(self._place)
        return self._model

    async def close(self) -> None:
        """Give back memory and thread of the loaded model, and leave trainings where they are."""
        self._is_closing.set()
        for training in self._trainings.values():
            training.cancel()
        await asyncio.gather(*self._trainings.values(), return_exceptions=True)
        await asyncio.to_thread(self._thread.shutdown)
        await self._release()

    async def _release(self) -> None:
        model, self._model = self._model, None
        if model is not None:
            await model.close()

    async def _train(self, state: ArmState, arm: str, round: int) -> str:
        """Train after the round before, unless that was done, and return the weights' place."""
        before = self._trainings.get(round - 1)
        start = await before if before is not None else self._first
        session, loop = self._session, asyncio.get_running_loop()
        folder = session.folder.weights(arm, session.repeat, round, "policy")
        if not folder.is_dir():
            tell = session.report_loss("policy" if round else "first training")

            def progress(done: float, loss: float) -> None:
                if self._is_closing.is_set():
                    raise asyncio.CancelledError
                loop.call_soon_threadsafe(tell, done, loss)

            training = RoundTraining(session, self._named, start, arm, round, progress)
            report, reason = await loop.run_in_executor(self._thread, training.run, state)
            if reason:
                session.report("policy", 1.0, reason)
            if report is not None:
                session.charge(round, report)
        return resolve_unchanged(folder)
