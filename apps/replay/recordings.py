"""The episodes that are to be replayed, read from a run and made ready to be played."""

from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from apps.replay.settings import ReplayConfig
from benchmarks.catalogue import BENCHMARKS, Options
from tasks.suite import Suite
from tasks.task import Task
from webagent.errors import SetupError, StoreError
from webagent.records import Trajectory
from webagent.store import Store

WAITS = 3
"""Steps that a page on the real clock may take for waiting, for every recorded step."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An episode with the task it is played as."""

    episode: Trajectory
    task: Task


def recordings(config: ReplayConfig) -> list[Recording]:
    """What was asked for. Raises `StoreError` or `SetupError` saying what is wrong with it."""
    with Store.open(config.run) as store:
        episodes = [_loaded(store, name, config.run) for name in _chosen(store, config)]
    found = [Recording(each, _task(each, config)) for each in episodes]
    for each in found:
        if _is_file_missing(each.task.start_url):
            raise SetupError(
                f"{each.episode.id} begins at {each.task.start_url}, which is not there; say"
                " where it is now with --url"
            )
    return found


def _chosen(store: Store, config: ReplayConfig) -> list[str]:
    if not config.episodes:
        found = store.ids("played", world="browser")
        if not found:
            raise StoreError(f"{config.run} holds no episode that was played in a real browser")
        return found
    known = store.ids("any")
    chosen = []
    for name in config.episodes:
        fitting = [each for each in known if each.startswith(name)]
        if len(fitting) != 1 and name not in known:
            raise StoreError(_not_one(name, fitting, known, config.run))
        chosen.append(name if name in known else fitting[0])
    return chosen


def _not_one(name: str, fitting: list[str], known: list[str], run: Path) -> str:
    if fitting:
        return f"{len(fitting)} episodes of {run} begin with {name!r}: {', '.join(fitting[:5])}"
    shown = ", ".join(known[:5]) + f" and {len(known) - 5} more" * (len(known) > 5)
    return f"{run} has no episode {name!r}; it has {shown or 'none'}"


def _loaded(store: Store, name: str, run: Path) -> Trajectory:
    episode = store.load(name)
    if episode is None:
        raise StoreError(f"{run} has no episode {name!r}")
    if episode.provenance.imagined:
        source = episode.provenance.seeded_from.partition(":")[0]
        real = f"; it began from the real episode {source}" if source else ""
        raise SetupError(
            f"{name} was imagined by a world model: there is no page to replay it on{real}"
        )
    if not episode.steps:
        raise SetupError(f"{name} has no steps: there is nothing to replay")
    return episode


def _task(episode: Trajectory, config: ReplayConfig) -> Task:
    task = episode.task
    if config.seed is not None:
        task = _on_seed(task, config.seed)
    elif _is_file_missing(task.start_url) and (suite := _suite(task)) is not None:
        task = replace(task, start_url=_made(suite, task, task.seed).start_url)
    if config.url:
        task = replace(task, start_url=config.url)
    needed = len(episode.steps) + 1
    waits = WAITS * needed if task.clock == "real" else 0
    return replace(task, max_steps=max(task.max_steps, needed + waits))


def _on_seed(task: Task, seed: int) -> Task:
    suite = _suite(task)
    if suite is None:
        raise SetupError(
            f"{task.id} is of no benchmark that makes tasks from seeds; leave --seed out, and set"
            " other values with --values"
        )
    if not suite.is_seeded:
        raise SetupError(f"the tasks of {suite.id} are the same whatever the seed; leave it out")
    return _made(suite, task, seed)


def _made(suite: Suite, task: Task, seed: int) -> Task:
    made = suite.make(task.name, seed, {})
    if made.id.partition("+")[0] != task.id.partition("+")[0]:
        raise SetupError(
            f"the episode is of {task.id} and this program plays {made.id}: another version, whose"
            " pages are not the recorded ones"
        )
    return made


def _suite(task: Task) -> Suite | None:
    """The benchmark that the task is of, where there is one of its name here."""
    name = task.id.partition("/")[0]
    if name not in BENCHMARKS:
        return None
    try:
        suite = BENCHMARKS[name].load(Options())
    except (LookupError, ValueError, OSError) as error:
        raise SetupError(f"{task.id}: {error}") from error
    if task.name not in suite.names:
        raise SetupError(f"{suite.id} has no task {task.name!r}: the episode is of another version")
    return suite


def _is_file_missing(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "file" and not Path(unquote(parts.path)).exists()
