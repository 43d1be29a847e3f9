"""The course: members taught one after another, then calibrated together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.reward.builtin import RewardModel
from evaluators.reward.calibration import calibrate
from evaluators.reward.lessons import lessons
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
    members, seconds, cpu, tokens = list[BuiltinModel](), 0.0, 0.0, 0
    for number in range(settings.members):
        folder = settings.out / "members" / str(number)
        if not (folder / "config.json").exists():
            member, spent = _member(settings, parts.taught, number, say)
            _save(member, folder)
            seconds, cpu, tokens = seconds + spent[0], cpu + spent[1], tokens + int(spent[2])
        members.append(BuiltinModel.load(folder))
    plain = RewardModel(members[0], others=members[1:])
    chances = plain.probabilities([e.trajectory for e in parts.calibrated])
    calibration = calibrate(chances, [e.success for e in parts.calibrated], settings.target)
    judge = RewardModel(members[0], calibration, members[1:])
    judge.save(settings.out / "judge")
    return Course(judge, seconds, cpu, tokens)


def _member(
    settings: TrainJudgeSettings, taught: Sequence[Labelled], number: int, say: Say
) -> tuple[BuiltinModel, tuple[float, float, float]]:
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
    spent = [0.0, 0.0, 0.0]
    for name, tokens, rows in stages:
        config = FitConfig(tokens=tokens, learning_rate=settings.learning_rate, seed=seed)
        stage = f"member {number}: {name}"

        def tell(done: float, loss: float, stage: str = stage) -> None:
            say(stage, done, loss)

        report = fit(model.network, rows, config, tell)
        for place, cost in enumerate((report.seconds, report.cpu_seconds, report.tokens)):
            spent[place] += cost
    return model, (spent[0], spent[1], spent[2])


def _save(model: BuiltinModel, folder: Path) -> None:
    """Whole or not at all."""
    draft = folder.with_name(f".{folder.name}")
    draft.mkdir(parents=True, exist_ok=True)
    model.save(draft)
    draft.rename(folder)
