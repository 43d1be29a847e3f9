"""Training a learned judge: its members, their calibration, and the report on it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

from evaluators.reward.builtin import EnsembleMember, RewardModel, calibrate_judge
from evaluators.reward.calibration import JudgeRate, Quality, measure_quality
from evaluators.reward.examples import build_examples
from loop.folder import Origin
from loop.judge_training.episodes import EpisodeSplit, LabelledEpisode
from loop.judge_training.settings import TrainJudgeSettings
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.records import Ending
from webagent.training.fit import FitConfig, FitReport, fit
from webagent.training.rows import grow_vocabulary, make_policy_rows

Say = Callable[[str, float, float], None]
"""Told the stage, how far it is and the loss."""


@dataclass(frozen=True, slots=True)
class TrainedJudge:
    """A trained judge with what it took."""

    judge: RewardModel
    seconds: float
    cpu_seconds: float
    tokens: int


def train_judge(settings: TrainJudgeSettings, parts: EpisodeSplit, say: Say) -> TrainedJudge:
    """Train every member that is not there yet, average them and fit the calibration."""
    members, reports = list[EnsembleMember](), list[FitReport]()
    for number in range(settings.members):
        folder = settings.out / "members" / str(number)
        if not (folder / "config.json").exists():
            member, spent = _train_member(settings, parts.taught, number, say)
            _save_member(member, folder)
            reports.extend(spent)
        members.append(EnsembleMember.load(folder))
    known = [e.trajectory for e in parts.calibrated]
    labels = [e.success for e in parts.calibrated]
    judge = calibrate_judge(RewardModel.of(members), known, labels, settings.target)
    judge.save(settings.out / "judge")
    return TrainedJudge(
        judge,
        seconds=sum(report.seconds for report in reports),
        cpu_seconds=sum(report.cpu_seconds for report in reports),
        tokens=sum(report.tokens for report in reports),
    )


def _train_member(
    settings: TrainJudgeSettings, taught: Sequence[LabelledEpisode], number: int, say: Say
) -> tuple[EnsembleMember, list[FitReport]]:
    """One network: first what successes did, then how episodes are judged."""
    seed = 100 * settings.seed + number
    model, actor = BuiltinModel.create(seed), None
    grow_vocabulary(model.vocabulary, [e.trajectory for e in taught])
    RewardModel(model).taught(())
    reports = []
    if settings.acting_tokens:
        grammar = ActionGrammar(Codec(model.vocabulary))
        rows = [row for e in taught if e.success for row in make_policy_rows(grammar, e.trajectory)]
        config = FitConfig(
            tokens=settings.acting_tokens, learning_rate=settings.learning_rate, seed=seed
        )
        reports.append(fit(model.network, rows, config, _told(say, f"member {number}: acting")))
        actor = model.copy()
    for turn in range(settings.rounds):
        reports.append(train_judging(settings, model, taught, (number, turn), say))
    return EnsembleMember(model, actor), reports


def train_judging(
    settings: TrainJudgeSettings,
    model: BuiltinModel,
    taught: Sequence[LabelledEpisode],
    place: tuple[int, int],
    say: Say,
) -> FitReport:
    """A member's turn at judging, with failures of its own made of the successes."""
    number, turn = place
    seed = 100 * settings.seed + number + 1000 * turn
    success = {e.trajectory.id: float(e.success) for e in taught}
    chosen = build_examples([e.trajectory for e in taught], success, settings.negatives, seed)
    config = FitConfig(tokens=settings.tokens, learning_rate=settings.learning_rate, seed=seed)
    rows = RewardModel(model).taught(chosen)
    return fit(model.network, rows, config, _told(say, f"member {number}: judging {turn + 1}"))


def _told(say: Say, stage: str) -> Callable[[float, float], None]:
    return lambda done, loss: say(stage, done, loss)


def _save_member(member: EnsembleMember, folder: Path) -> None:
    """Whole or not at all."""
    draft = folder.with_name(f".{folder.name}")
    draft.mkdir(parents=True, exist_ok=True)
    member.save(draft)
    draft.rename(folder)


PARTS = ("calibration", "held-out seeds", "held-out tasks")


class JudgeReport(TypedDict):
    """What `report.json` holds."""

    command: list[str]
    settings: dict[str, Any]
    origin: Origin
    """The commit and versions it was made with."""
    judge: str
    """Id of the reward model; its weights lie in the folder `judge` of OUT."""
    episodes: dict[str, dict[str, int]]
    """Of each part: how many episodes, successes and tasks."""
    cost: dict[str, float]
    """Tokens, seconds and processor seconds."""
    calibration: dict[str, Any]
    parts: dict[str, Any]
    """How good it is on each part that was not taught: over all, and by task."""


def measure_judge(judge: RewardModel, parts: EpisodeSplit) -> dict[str, Any]:
    """For each part that was not taught: quality over all, over episodes that the page itself
    ended, which are hard to tell apart, and by task."""
    chosen = dict(zip(PARTS, (parts.calibrated, parts.seeds, parts.tasks), strict=True))
    return {name: _measure_part(judge, episodes) for name, episodes in chosen.items() if episodes}


def _measure_part(judge: RewardModel, episodes: Sequence[LabelledEpisode]) -> dict[str, Any]:
    chances = judge.probabilities([e.trajectory for e in episodes])
    told = list(zip(episodes, chances, strict=True))
    by_task: defaultdict[str, list[tuple[LabelledEpisode, float]]] = defaultdict(list)
    for episode, chance in told:
        by_task[episode.task].append((episode, chance))
    ended = [each for each in told if each[0].trajectory.ending is Ending.TASK_OVER]
    line = judge.calibration.threshold
    return {
        "all": asdict(_measure_quality(told, line)),
        "ended by the page": asdict(_measure_quality(ended, line)),
        "tasks": {name: asdict(_measure_quality(by_task[name], line)) for name in sorted(by_task)},
    }


def _measure_quality(told: Sequence[tuple[LabelledEpisode, float]], line: float) -> Quality:
    return measure_quality([chance for _, chance in told], [e.success for e, _ in told], line)


def format_report(report: JudgeReport) -> str:
    """The report as text: a line for each part, then one for each task."""
    head = f"{'':<32}{'episodes':>9}  {'precision':<20}{'recall':<20}{'false positives':<20}"
    lines = [f"{head}{'Brier':>6}{'ECE':>7}"]
    for name, found in report["parts"].items():
        lines.append(_format_row(name, found["all"]))
        lines.append(_format_row(f"{name}, page ended it", found["ended by the page"]))
    for name, found in report["parts"].items():
        if name != PARTS[0]:
            lines.extend(["", f"{name}, by task"])
            lines.extend(_format_row(f"  {task}", row) for task, row in found["tasks"].items())
    return "\n".join(lines)


def _format_row(name: str, row: dict[str, Any]) -> str:
    rates = "".join(
        f"{_format_rate(JudgeRate(*row[key])):<20}"
        for key in ("precision", "recall", "false_positives")
    )
    return f"{name:<32}{row['episodes']:>9}  {rates}{row['brier']:>6.3f}{row['ece']:>7.3f}"


def _format_rate(rate: JudgeRate) -> str:
    if rate.value is None:
        return "-"
    return f"{rate.value:6.1%} ({rate.low:.0%}-{rate.high:.0%})"
