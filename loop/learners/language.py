"""The language learner: the weights of a language model, trained every round on what it did."""

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from loop.learners.state import ArmState, Purpose
from loop.measurement.settings import contestant
from loop.session import Session
from loop.training.encoding import PromptEncoder, RunImages, build_reading
from loop.training.lessons import build_units, make_objective
from loop.training.settings import TrainSettings, WeightSettings
from webagent.agent.asking import Asking
from webagent.errors import SetupError
from webagent.models.local.loading import load_weights
from webagent.models.local.source import ModelSource
from webagent.models.model import Model
from webagent.models.served import ServedModel
from webagent.models.weight_notes import resolve_unchanged, write_unchanged
from webagent.policy.policy import Policy
from webagent.records import Trajectory
from webagent.training.fit import FitReport
from webagent.training.language.run import train
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit, balance_units

if TYPE_CHECKING:
    from webagent.models.local.weights import LoadedWeights

_EPOCHS = 10_000
"""A training goes over what there is until its tokens are spent, as the control's does."""
_ON_POLICY = ("dpo", "webrl", "grpo", "gspo")
"""Objectives that compare what one policy did with each other: the latest round alone."""


class LanguageLearner:
    """Trains a local language model, its weights or an adapter, and acts with what came of it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named = contestant(session.config.played)
        given = Path(self._named.place)
        self._place = resolve_unchanged(given.resolve() if given.is_dir() else str(given))
        """Folder or hub name of the latest weights."""
        self._model: Model | None = None

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Train on what the arm may learn from, or take up the weights that gave."""
        session = self._session
        folder = session.folder.weights(arm, session.repeat, round, "policy")
        if not folder.is_dir():
            await self.close()
            self._train(state, arm, round)
        target = resolve_unchanged(folder)
        if target != self._place:
            await self.close()
            self._place = target
        if self._named.server and self._model is None:
            self._model = served = self._named.held_weights(self._place)
            assert isinstance(served, ServedModel)
            await served.start()

    def policy(self, purpose: Purpose) -> Policy:
        """Return the model asked as it is trained to be; it samples except when it is measured."""
        if self._model is None:
            self._model = self._named.held_weights(self._place)
        temperature = {"measure": 0.0, "vote": 1.0}.get(purpose, self._session.exploration[0])
        return self._named.asking.policy(
            self._model,
            self._session.store.images if self._named.images else None,
            self._named.knowledge,
            temperature=temperature,
            max_tokens=self._named.max_tokens,
        )

    async def close(self) -> None:
        """Give back memory and thread of the loaded model."""
        model, self._model = self._model, None
        if model is not None:
            await model.close()

    def _train(self, state: ArmState, arm: str, round: int) -> None:
        session = self._session
        is_own = round > 0 and session.arm.learns_from == "experience"
        # Without experience of their own the weights are changed by imitation alone.
        how = session.config.how
        settings = TrainSettings(how=how if is_own else WeightSettings(lora=how.lora))
        # The weights that an adapter lies on; a folder without an adapter is its own.
        noted = Path(self._place, "adapter_config.json")
        if not noted.is_file():
            base = self._place
        else:
            base = str(json.loads(noted.read_text(encoding="utf-8"))["base_model_name_or_path"])
        weights = load_weights(ModelSource(base, dtype="float32"))
        asking, images = self._named.asking, RunImages([session.folder.path])
        encoder = PromptEncoder(weights, asking, images)
        episodes = [*state.demonstrations, *_own_episodes(state, settings, round if is_own else 0)]
        scores = {
            one.id: value for one in episodes if (value := state.success.get(one.id)) is not None
        }
        saved: _Trained | _Unchanged
        try:
            units = build_units(settings, episodes, scores, encoder.write, encoder.encode)
            if settings.objective == "sft":
                units = balance_units(units, {one.id: one.task.name for one in episodes})
        except SetupError as error:
            session.say("policy", 1.0, f"round {round} changes nothing: {error}")
            saved = _Unchanged(self._place, asking)
        else:
            saved = self._fit(weights, units, settings, arm, round)
        session.folder.save(saved, arm, session.repeat, round, "policy")
        shutil.rmtree(self._course_folder(arm, round), ignore_errors=True)

    def _fit(
        self,
        weights: "LoadedWeights",
        units: Sequence[TrainingUnit],
        settings: TrainSettings,
        arm: str,
        round: int,
    ) -> "_Trained":
        """Go over the units until the round's tokens are spent; a killed training goes on."""
        session, config = self._session, self._session.config
        course = replace(
            settings.how.adapted(config.train),
            tokens=config.round_tokens if round else config.base_tokens,
            epochs=_EPOCHS,
            imagined=config.imagined_share,
            seed=1000 * session.repeat + round,
        )
        adapter = Path(self._place)
        trainer = Trainer(
            weights.module,
            make_objective(settings.how),
            course,
            reading=build_reading(weights, [session.folder.path]),
            adapter=adapter if (adapter / "adapter_config.json").is_file() else None,
        )
        tell, started = (
            session.progress("policy" if round else "first training"),
            time.process_time(),
        )

        def progress(done: float, figures: Mapping[str, float]) -> None:
            tell(done, figures["loss"])

        report = train(trainer, units, self._course_folder(arm, round), progress=progress)
        spent = time.process_time() - started
        tokens = sum(unit.tokens for unit in units)
        passes = report.tokens / tokens if tokens else 0.0
        session.charge(
            round,
            FitReport(report.tokens, report.updates, report.seconds, spent, passes, report.loss),
        )
        return _Trained(trainer, weights, self._named.asking)

    def _course_folder(self, arm: str, round: int) -> Path:
        """Where checkpoints of a training under way lie."""
        session = self._session
        return session.folder.path / "training" / f"{arm}-{session.repeat}" / str(round)


@dataclass(frozen=True, slots=True)
class _Trained:
    """Weights or an adapter with how they are asked."""

    trainer: Trainer
    weights: "LoadedWeights"
    asking: Asking

    def save(self, folder: Path) -> None:
        """Write what acting with them takes."""
        self.trainer.save(folder)
        self.weights.save_reading(folder)
        self.asking.save(folder)


@dataclass(frozen=True, slots=True)
class _Unchanged:
    """The weights of before."""

    place: str
    asking: Asking

    def save(self, folder: Path) -> None:
        """Write where they are."""
        write_unchanged(folder, self.place)
        self.asking.save(folder)


def _own_episodes(state: ArmState, settings: TrainSettings, round: int) -> list[Trajectory]:
    """What was done so far and dreamt now, where imitation or single verdicts teach; of this round
    alone, where episodes are compared."""
    if not round:
        return []
    if settings.objective in _ON_POLICY:
        return [one for one in state.experience if one.provenance.round == round]
    return [*state.experience, *state.dreams]
