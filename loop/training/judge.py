"""Training a learned judge: its members, their calibration, and the report on it."""

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from evaluators.frozen import FrozenJudge, read_frozen
from evaluators.reward.builtin import EnsembleMember, RewardModel, calibrate_judge
from evaluators.reward.calibration import JudgeRate, Quality, measure_quality
from evaluators.reward.examples import build_examples
from loop.folder import Origin
from loop.training.settings import TrainJudgeSettings
from tasks.suite import SPLITS, split_of
from tasks.task import Task
from webagent.errors import SetupError
from webagent.models.builtin.model import BuiltinModel
from webagent.models.builtin.targets import ActionGrammar, Codec
from webagent.models.weight_notes import write_role
from webagent.records import Ending, Trajectory
from webagent.store import Store
from webagent.training.fit import FitConfig, FitReport, fit
from webagent.training.rows import grow_vocabulary, make_policy_rows

FROZEN = "frozen*.json"
"""Files of a run folder that name the judges no training may change, those of its repeats too."""
_FIFTHS = 5


@dataclass(frozen=True, slots=True)
class LabelledEpisode:
    """An episode with whether it succeeded."""

    trajectory: Trajectory
    success: bool

    @property
    def task(self) -> str:
        """The task's name."""
        return self.trajectory.task.name


@dataclass(frozen=True, slots=True)
class EpisodeSplit:
    """Episodes by what they are for; no seed of a task stands in two of the first three."""

    taught: tuple[LabelledEpisode, ...]
    calibrated: tuple[LabelledEpisode, ...]
    seeds: tuple[LabelledEpisode, ...]
    """Held-out seeds of tasks that are taught."""
    tasks: tuple[LabelledEpisode, ...]
    """All episodes of held-out tasks."""


def read_episodes(runs: Iterable[Path], labels: Path | None, score: str) -> list[LabelledEpisode]:
    """All finished real episodes with a label. Raises `SetupError` where there is none."""
    named = _read_label_file(labels) if labels else None
    found: dict[str, LabelledEpisode] = {}
    for number, run in enumerate(runs):
        for episode in _read_labelled(run, named, score):
            key = episode.trajectory.id
            if key in found:
                key = f"{key}@{number}"
                renamed = replace(episode.trajectory, id=key)
                episode = LabelledEpisode(renamed, episode.success)
            found[key] = episode
    if not found:
        source = f"labels in {labels}" if labels else f"score {score!r}"
        raise SetupError(f"no finished episode of these runs has a {source}; score them first")
    return list(found.values())


def _read_labelled(
    run: Path, named: Mapping[str, bool] | None, score: str
) -> Iterator[LabelledEpisode]:
    with Store.open(run) as store:
        scores = store.scores()
        for trajectory in store.trajectories():
            ending = trajectory.ending
            is_real = not trajectory.provenance.imagined
            if ending is None or ending.is_infrastructure or not is_real or not trajectory.steps:
                continue
            if named is not None:
                label = named.get(trajectory.id)
            else:
                values = [s.value for s in scores.get(trajectory.id, ()) if s.name == score]
                label = values[0] >= 0.5 if values and values[0] is not None else None
            if label is not None:
                yield LabelledEpisode(trajectory, label)


def _read_label_file(path: Path) -> dict[str, bool]:
    """Raises `SetupError` when the file is not ids with zeros and ones."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SetupError(f"{path} cannot be read as labels: {error}") from error
    if not isinstance(found, dict) or not all(v in (0, 1) for v in found.values()):
        raise SetupError(f"{path}: expected an object of episode ids, each with 0 or 1")
    return {str(id): bool(value) for id, value in found.items()}


def split_episodes(episodes: Sequence[LabelledEpisode], hold_out: float) -> EpisodeSplit:
    """By split where episodes of several splits are there (development seeds calibrate, test seeds
    are held out), else a fifth of the seeds each; families of tasks by a hash of their name.

    Raises `SetupError` when a part that is needed is empty or knows one outcome only.
    """
    families = sorted({find_family(e.trajectory.task) for e in episodes}, key=_hash)
    kept_back = frozenset(families[: round(hold_out * len(families))])
    known = [e for e in episodes if find_family(e.trajectory.task) not in kept_back]
    has_splits = {"train", "development", "test"} <= {_split(e) for e in known}
    roles = [_split(e) if has_splits else _fifth(e) for e in known]
    parts = [tuple(e for e, r in zip(known, roles, strict=True) if r == role) for role in SPLITS]
    for name, found in zip(("training", "calibration"), parts, strict=False):
        outcomes = {e.success for e in found}
        if len(outcomes) < 2:
            raise SetupError(
                f"{name} needs successes and failures, found {len(found)} episodes"
                f" {'all of one kind' if found else ''}; play more seeds, or a weaker policy too"
            )
    tasks = tuple(e for e in episodes if find_family(e.trajectory.task) in kept_back)
    return EpisodeSplit(parts[0], parts[1], parts[2], tasks)


def find_family(task: Task) -> str:
    """What variants of a task have in common: their template, where the benchmark names one, else
    the beginning of their names, `click-tab` of `click-tab-2-hard`; on one site alone."""
    words = re.sub(r"-\d+.*$", "", task.name).split("-")
    return f"{task.site} {task.template or '-'.join(words[:2])}".strip()


def read_frozen_judges(runs: Iterable[Path]) -> tuple[FrozenJudge, ...]:
    """The frozen judges that the runs name. Raises `SetupError` when they cannot be read."""
    files = [file for run in runs for file in sorted(run.glob(FROZEN))]
    return tuple(judge for file in files for judge in read_frozen(file))


def _hash(text: str) -> int:
    return zlib.crc32(f"{text}#".encode())


def _split(episode: LabelledEpisode) -> str:
    return split_of(episode.trajectory.task.seed)


def _fifth(episode: LabelledEpisode) -> str:
    place = _hash(f"{episode.task} {episode.trajectory.task.seed}") % _FIFTHS
    return {0: "development", 1: "test"}.get(place, "train")


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
            # The folder appears whole or not at all.
            draft = folder.with_name(f".{folder.name}")
            draft.mkdir(parents=True, exist_ok=True)
            member.save(draft)
            draft.rename(folder)
            reports.extend(spent)
        members.append(EnsembleMember.load(folder))
    known = [e.trajectory for e in parts.calibrated]
    labels = [e.success for e in parts.calibrated]
    judge = calibrate_judge(RewardModel.of(members), known, labels, settings.target)
    judge.save(settings.out / "judge")
    write_role(settings.out / "judge", "judge")
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
    RewardModel(model).encode_examples(())
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
    rows = RewardModel(model).encode_examples(chosen)
    return fit(model.network, rows, config, _told(say, f"member {number}: judging {turn + 1}"))


def _told(say: Say, stage: str) -> Callable[[float, float], None]:
    return lambda done, loss: say(stage, done, loss)


PARTS = ("calibration", "held-out seeds", "held-out tasks")


class JudgeTrainingReport(TypedDict):
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


def format_report(report: JudgeTrainingReport) -> str:
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
