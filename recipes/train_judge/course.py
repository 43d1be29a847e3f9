"""The course: members taught one after another, then calibrated together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.reward.builtin import RewardModel
from evaluators.reward.calibration import calibrate
from evaluators.reward.lessons import lessons
from evaluators.reward.member import Member
from recipes.train_judge.episodes import Labelled, Parts
from recipes.train_judge.settings import TrainJudgeSettings
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.training.fit import FitConfig, fit
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
    members, seconds, cpu, tokens = list[Member](), 0.0, 0.0, 0
    for number in range(settings.members):
        folder = settings.out / "members" / str(number)
        if not (folder / "config.json").exists():
            member, spent = _member(settings, parts.taught, number, say)
            _save(member, folder)
            seconds, cpu, tokens = seconds + spent[0], cpu + spent[1], tokens + int(spent[2])
        members.append(Member.load(folder))
    said, surprise = RewardModel.of(members).evidence([e.trajectory for e in parts.calibrated])
    labels = [e.success for e in parts.calibrated]
    judge = RewardModel.of(members, calibrate(said, labels, settings.target, surprise))
    judge.save(settings.out / "judge")
    return Course(judge, seconds, cpu, tokens)


def _member(
    settings: TrainJudgeSettings, taught: Sequence[Labelled], number: int, say: Say
) -> tuple[Member, tuple[float, float, float]]:
    """One network: first what successes did, then how episodes are judged."""
    seed = 100 * settings.seed + number
    model = BuiltinModel.create(seed)
    trajectories = [e.trajectory for e in taught]
    grow_vocabulary(model.vocabulary, trajectories)
    judge = RewardModel(model)
    success = {e.trajectory.id: float(e.success) for e in taught}
    judged = judge.taught(lessons(trajectories, success, settings.negatives, seed))
    stages = [("judging", settings.tokens, judged)]
    if settings.acting_tokens:
        grammar = ActionGrammar(Codec(model.vocabulary))
        acts = [row for e in taught if e.success for row in policy_rows(grammar, e.trajectory)]
        stages.insert(0, ("acting", settings.acting_tokens, acts))
    spent, actor = [0.0, 0.0, 0.0], None
    for name, tokens, rows in stages:
        config = FitConfig(tokens=tokens, learning_rate=settings.learning_rate, seed=seed)
        stage = f"member {number}: {name}"

        def tell(done: float, loss: float, stage: str = stage) -> None:
            say(stage, done, loss)

        report = fit(model.network, rows, config, tell)
        if name == "acting":
            actor = model.copy()
        for place, cost in enumerate((report.seconds, report.cpu_seconds, report.tokens)):
            spent[place] += cost
    return Member(model, actor), (spent[0], spent[1], spent[2])


def _save(member: Member, folder: Path) -> None:
    """Whole or not at all."""
    draft = folder.with_name(f".{folder.name}")
    draft.mkdir(parents=True, exist_ok=True)
    member.save(draft)
    draft.rename(folder)
