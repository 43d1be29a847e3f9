"""The labelled episodes of runs, parted into taught, calibrated on and held out."""

import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evaluators.frozen import FrozenJudge, read_frozen
from tasks.suite import SPLITS, split_of
from tasks.task import Task
from webagent.errors import SetupError
from webagent.records import Trajectory
from webagent.store import Store

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
