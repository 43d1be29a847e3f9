"""The language learner: the weights of a language model, trained every round on what it did."""

import asyncio
import threading
from pathlib import Path

from loop.learners.language_training import RoundTraining
from loop.learners.state import ArmState, Purpose
from loop.measurement.settings import contestant
from loop.session import Session
from webagent.models.local.source import Dtype
from webagent.models.model import Model
from webagent.models.served import ServedModel
from webagent.models.spending import MeteredModel
from webagent.models.weight_notes import resolve_unchanged
from webagent.policy.policy import Policy


class LanguageLearner:
    """Trains a local language model, its weights or an adapter, and acts with what came of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named = contestant(session.config.played)
        given = Path(self._named.place)
        self._place = resolve_unchanged(given.resolve() if given.is_dir() else str(given))
        """Folder or hub name of the weights that act."""
        self._acting = 0
        """The round after which they were trained."""
        self._model: Model | None = None

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Train on what the arm may learn from, or find what that gave, and take up the weights."""
        session, loop = self._session, asyncio.get_running_loop()
        folder = session.folder.weights(arm, session.repeat, round, "policy")
        if not folder.is_dir():
            await self._release()  # the training may take its memory
            stage = "policy" if round else "first training"
            session.report(stage, 0.0, "loading the weights")
            show = session.report_loss(stage)
            is_cancelled = threading.Event()

            def progress(done: float, loss: float) -> None:
                if is_cancelled.is_set():
                    raise asyncio.CancelledError
                loop.call_soon_threadsafe(show, done, loss)

            training = RoundTraining(session, self._named, self._place, arm, round, progress)
            try:
                report, reason = await asyncio.to_thread(training.run, state)
            finally:
                is_cancelled.set()
            if reason:
                session.report("policy", 1.0, reason)
            if report is not None:
                session.charge(round, report)
        place, self._acting = resolve_unchanged(folder), round
        if place != self._place:
            await self._release()
            self._place = place
        if self._named.server and self._model is None:
            served = self.language_model()
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
        """Return the latest weights, loaded where they are not yet, in half precision where they
        are trained in it, so that what acts is what is trained."""
        if self._model is None:
            config = self._session.config
            is_half = config.fit.course(config.weights.lora).held_in == "bfloat16"
            dtype: Dtype = "bfloat16" if is_half else "auto"
            self._model = self._named.held_weights(self._place, dtype)
        return self._model

    async def close(self) -> None:
        """Give back the memory of the loaded model."""
        await self._release()

    async def _release(self) -> None:
        model, self._model = self._model, None
        if model is not None:
            await model.close()
