"""The training of a language model on one round, away from the loop's other work."""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from loop.judging.own_reward import OWN_REWARD
from loop.learners.state import ArmState
from loop.measurement.scoring import has_checks
from loop.planning import PASSES, find_base
from loop.policies import NamedPolicy
from loop.session import Session, TrainingProgress
from loop.training.encoding import PromptEncoder, RunImages, build_reading
from loop.training.lessons import build_units, make_objective, replay_units
from loop.training.settings import TrainSettings, WeightSettings
from webagent.agent.asking import Asking
from webagent.errors import SetupError
from webagent.models.local.loading import load_weights
from webagent.models.local.source import ModelSource
from webagent.models.weight_notes import resolve_unchanged, write_unchanged
from webagent.training.fit import FitReport
from webagent.training.language.config import TrainConfig
from webagent.training.language.run import train
from webagent.training.language.trainer import Trainer
from webagent.training.language.units import TrainingUnit, balance_units

if TYPE_CHECKING:
    from webagent.models.local.weights import LoadedWeights

_EPOCHS = 10_000
"""A training goes over what there is until its tokens are spent, as the control's does."""
_ON_POLICY = ("dpo", "grpo")
"""Objectives that compare what one policy did with each other: the latest round alone."""


@dataclass(frozen=True, slots=True)
class RoundTraining:
    """The training of an arm after a round: from which weights it starts and whom it tells.

    It reads and writes files alone, never the store, so that it may run in a thread of its own.
    """

    session: Session
    named: NamedPolicy
    start: str
    """Folder or hub name of the weights of the round before."""
    arm: str
    round: int
    progress: TrainingProgress

    def run(self, state: ArmState) -> tuple[FitReport | None, str]:
        """Train and save; return what that took, or why nothing changes. A training that was killed
        goes on from its last checkpoint."""
        session, round = self.session, self.round
        is_own = round > 0 and session.arm.learns_from == "experience"
        # Without experience of their own the weights are changed by imitation alone.
        how = session.config.weights
        if is_own and session.config.judging.judge == OWN_REWARD:
            self._train_reward(state)  # before the policy, as two models need not fit at once
        settings = TrainSettings(weights=how if is_own else WeightSettings(lora=how.lora))
        weights = load_weights(
            ModelSource(find_base(self.start), dtype=self._plan_course(settings).held_in)
        )
        asking, images = self.named.asking, RunImages([session.folder.path])
        encoder = PromptEncoder(weights, asking, images)
        episodes = [*state.demonstrations]
        if is_own and round:
            # Where episodes are compared, those of this round alone.
            one_round = settings.objective in _ON_POLICY
            played = [x for x in state.experience if not one_round or x.provenance.round == round]
            episodes += played if one_round else [*played, *state.dreams]
        scores = {
            one.id: value for one in episodes if (value := state.success.get(one.id)) is not None
        }
        saved: _Trained | _Unchanged = _Unchanged(self.start, asking)
        report, reason, units = None, "", list[TrainingUnit]()
        try:
            units = build_units(settings, episodes, scores, encoder.write, encoder.encode)
            if settings.objective == "sft":
                units = balance_units(units, {one.id: one.task.name for one in episodes})
        except SetupError as error:
            reason = f"round {round} changes nothing: {error}"
        earlier = [
            one
            for one in state.experience
            if is_own and session.config.replay
            if one.provenance.round < round and state.succeeded(one)
        ]
        if units or earlier:
            trainer = self._make_trainer(weights, settings, Path(self.start))
            passed = {one.id: state.success[one.id] or 0.0 for one in earlier}
            units += replay_units(earlier, passed, trainer.log_probs)
        if units:
            try:
                report, reason = self._fit(trainer, units, self._course_folder()), ""
                saved = _Trained(trainer, weights, asking)
            except SetupError as error:
                if not (earlier and reason):
                    raise
                reason = f"round {round} changes nothing: {error}"  # nor does what is replayed
        session.folder.save(saved, self.arm, session.repeat, round, "policy")
        shutil.rmtree(self._course_folder(), ignore_errors=True)
        return report, reason

    def _train_reward(self, state: ArmState) -> None:
        """Train the run's reward model anew, from the weights that everything began with, on what
        checks decided so far; with nothing decided there is none yet."""
        session, lora = self.session, self.session.config.weights.lora
        key = (self.arm, session.repeat, self.round, OWN_REWARD)
        judged = [
            one
            for one in (*state.demonstrations, *state.experience)
            if has_checks(one.task) and state.success.get(one.id) is not None
        ]
        if not judged or session.folder.has_weights(*key):
            return
        settings = TrainSettings(role="reward", weights=WeightSettings(lora=lora))
        first = resolve_unchanged(self.named.place)
        weights = load_weights(
            ModelSource(find_base(first), dtype=self._plan_course(settings).held_in)
        )
        encoder = PromptEncoder(weights, Asking(), RunImages([session.folder.path]))
        scores = {one.id: state.success[one.id] or 0.0 for one in judged}
        try:
            units = build_units(settings, judged, scores, encoder.write, encoder.encode)
        except SetupError:
            return  # no judged episode has a step
        trainer = self._make_trainer(weights, settings, None)
        course = self._course_folder(OWN_REWARD)
        self._fit(trainer, units, course)
        session.folder.save(_Trained(trainer, weights, Asking()), *key)
        shutil.rmtree(course, ignore_errors=True)

    def _plan_course(self, settings: TrainSettings) -> TrainConfig:
        """Return the configuration of this training: tokens where they are given, else passes. The
        rounds together follow one schedule of the learning rate."""
        session, config = self.session, self.session.config
        tokens = config.round_tokens if self.round else config.base_tokens
        passes = 1 if settings.objective in _ON_POLICY else PASSES
        course = config.fit.course(
            settings.weights.lora,
            tokens=tokens or 0,
            epochs=passes if tokens is None else _EPOCHS,
            imagined=config.imagination.imagined_share,
            seed=1000 * session.repeat + self.round,
        )
        part = (self.round - 1) / config.rounds, self.round / config.rounds
        return replace(course, span=part) if self.round else course

    def _make_trainer(
        self, weights: "LoadedWeights", settings: TrainSettings, adapter: Path | None
    ) -> Trainer:
        session, course = self.session, self._plan_course(settings)
        return Trainer(
            weights.module,
            make_objective(settings.weights),
            course,
            reading=build_reading(weights, [session.folder.path]),
            adapter=adapter if adapter and (adapter / "adapter_config.json").is_file() else None,
        )

    def _fit(self, trainer: Trainer, units: Sequence[TrainingUnit], course: Path) -> FitReport:
        """Go over the units until the round's tokens are spent; checkpoints lie in `course`."""
        started = time.thread_time()

        def progress(done: float, figures: Mapping[str, float]) -> None:
            self.progress(done, figures["loss"])

        report = train(trainer, units, course, progress=progress)
        spent = time.thread_time() - started
        tokens = sum(unit.tokens for unit in units)
        passes = report.tokens / tokens if tokens else 0.0
        made = report.tokens, report.updates, report.seconds, spent, passes, report.loss
        return FitReport(*made, report.imagined)

    def _course_folder(self, part: str = "") -> Path:
        """Return where checkpoints of a training under way lie."""
        session = self.session
        course = session.folder.path / "training" / f"{self.arm}-{session.repeat}"
        return course / f"{self.round}{part}"


@dataclass(frozen=True, slots=True)
class _Trained:
    """Weights or an adapter with how they are prompted."""

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
