"""The course: members taught one after another, then calibrated together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.reward.builtin import RewardModel
from evaluators.reward.calibrated import calibrated
from evaluators.reward.lessons import lessons
from evaluators.reward.member import Member
from loop.judge_training.episodes import Labelled, Parts
from loop.judge_training.settings import TrainJudgeSettings
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.training.fit import FitConfig, FitReport, fit
from webagent.training.rows import grow_vocabulary, policy_rows

Say = Callable[[str, float, float], None]
"""Told the stage, how far it is and the loss."""


@dataclass(frozen=True, slots=True)
class Course:
    """A trained judge with what it took."""

    judge: RewardModel
    seconds: float
    cpu_seconds: float
    tokens: int


def teach(settings: TrainJudgeSettings, parts: Parts, say: Say) -> Course:
    """Train every member that is not there yet, average them and fit the calibration."""
    members, reports = list[Member](), list[FitReport]()
    for number in range(settings.members):
        folder = settings.out / "members" / str(number)
        if not (folder / "config.json").exists():
            member, spent = _member(settings, parts.taught, number, say)
            _save(member, folder)
            reports.extend(spent)
        members.append(Member.load(folder))
    known = [e.trajectory for e in parts.calibrated]
    labels = [e.success for e in parts.calibrated]
    judge = calibrated(RewardModel.of(members), known, labels, settings.target)
    judge.save(settings.out / "judge")
    return Course(
        judge,
        seconds=sum(report.seconds for report in reports),
        cpu_seconds=sum(report.cpu_seconds for report in reports),
        tokens=sum(report.tokens for report in reports),
    )


def _member(
    settings: TrainJudgeSettings, taught: Sequence[Labelled], number: int, say: Say
) -> tuple[Member, list[FitReport]]:
    """One network: first what successes did, then how episodes are judged."""
    seed = 100 * settings.seed + number
    model, actor = BuiltinModel.create(seed), None
    grow_vocabulary(model.vocabulary, [e.trajectory for e in taught])
    RewardModel(model).taught(())
    reports = []
    if settings.acting_tokens:
        grammar = ActionGrammar(Codec(model.vocabulary))
        rows = [row for e in taught if e.success for row in policy_rows(grammar, e.trajectory)]
        config = FitConfig(
            tokens=settings.acting_tokens, learning_rate=settings.learning_rate, seed=seed
        )
        reports.append(fit(model.network, rows, config, _told(say, f"member {number}: acting")))
        actor = model.copy()
    for turn in range(settings.rounds):
        reports.append(judging(settings, model, taught, (number, turn), say))
    return Member(model, actor), reports


def judging(
    settings: TrainJudgeSettings,
    model: BuiltinModel,
    taught: Sequence[Labelled],
    place: tuple[int, int],
    say: Say,
) -> FitReport:
    """A member's turn at judging, with failures of its own made of the successes."""
    number, turn = place
    seed = 100 * settings.seed + number + 1000 * turn
    success = {e.trajectory.id: float(e.success) for e in taught}
    chosen = lessons([e.trajectory for e in taught], success, settings.negatives, seed)
    config = FitConfig(tokens=settings.tokens, learning_rate=settings.learning_rate, seed=seed)
    rows = RewardModel(model).taught(chosen)
    return fit(model.network, rows, config, _told(say, f"member {number}: judging {turn + 1}"))


def _told(say: Say, stage: str) -> Callable[[float, float], None]:
    return lambda done, loss: say(stage, done, loss)


def _save(member: Member, folder: Path) -> None:
    """Whole or not at all."""
    draft = folder.with_name(f".{folder.name}")
    draft.mkdir(parents=True, exist_ok=True)
    member.save(draft)
    draft.rename(folder)
