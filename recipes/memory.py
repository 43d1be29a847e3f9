"""`webagent memory`: what a run remembers, why memory would act as it does, and what the run
teaches about its sites."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tyro.conf import OmitArgPrefixes, Positional

from loop.console.output import CommandResult
from recipes.settings import resolve
from recipes.site_memory import SiteMemoryChoice, write_site_memory
from tasks.suite import split_of
from webagent.action import format_action
from webagent.errors import StoreError, UsageError
from webagent.memory import Memory, MemoryMismatch
from webagent.memory.explain import explain
from webagent.policy.remembering import MEMORY, remember_judged
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True)
class MemoryConfig:
    """Show what a run remembers or, for an episode, why memory would act as it does; or write down
    what the run teaches about its sites."""

    run: Positional[Path] = Path()
    """The run folder. Default: the current folder."""
    episode: Positional[str] = ""
    """Id of an episode, or its first characters: explains each of its steps, using all cases except
    the episode's own."""
    step: int = 0
    """Number of a single step to explain, from 1; 0 for all."""
    rebuild: bool = False
    """Rebuild the memory from the run's successful episodes; save it as `memory` in the folder."""
    sites: OmitArgPrefixes[SiteMemoryChoice] = field(default_factory=SiteMemoryChoice)
    """What is written about the sites, for a model that is shown it."""


@dataclass(frozen=True, slots=True)
class Explained:
    """One step, with the action that memory proposes."""

    step: int
    taken: str
    proposed: str
    confidence: float
    why: list[str]


@dataclass(frozen=True, slots=True)
class Remembered:
    """The content of a run's memory."""

    folder: str
    """Folder of the memory."""
    version: str
    cases: int
    episodes: int
    sources: dict[str, int] = field(default_factory=dict)
    """Number of cases by source: demonstrations, successes, failures."""
    tasks: dict[str, int] = field(default_factory=dict)
    """Number of cases by task."""
    steps: list[Explained] = field(default_factory=list)
    """The explained steps of the given episode."""


def main(argv: Sequence[str]) -> CommandResult:
    """Show or rebuild the memory, and explain an episode with it, or write a site memory."""
    config = resolve(MemoryConfig, "memory", argv)
    if config.sites.site_memory is not None:
        if config.rebuild or config.episode:
            raise UsageError("--site-memory writes a folder; leave --rebuild and the episode out")
        return write_site_memory(config.run, config.sites.site_memory, config.sites)
    with Store.look(config.run) as store:
        episode = store.find(config.episode) if config.episode else None
        if episode is not None and not episode.steps:
            raise UsageError(f"episode {episode.id} has no steps to explain")
        folder, memory = _memory(store, config, episode)
        if memory is None:
            memory = _build(store, folder)
            print(f"{len(memory.episodes)} episodes are remembered: {folder}")
    steps = list(_explained(memory, episode, config.step)) if episode else []
    cases = [*memory.index.cases, *memory.avoided.cases]
    shown = Remembered(
        folder=str(folder),
        version=memory.version,
        cases=len(cases),
        episodes=len(memory.episodes),
        sources=dict(Counter(case.source for case in cases)),
        tasks=dict(Counter(case.task for case in cases)),
        steps=steps,
    )
    sources = ", ".join(
        f"{n} of {s}{'es' if s[-1] == 's' else 's'}" for s, n in shown.sources.items()
    )
    print(f"{shown.folder}: {shown.cases} steps of {shown.episodes} episodes ({sources})")
    if not shown.steps:
        for task, n in sorted(shown.tasks.items()):
            print(f"  {task}: {n}")
    for each in shown.steps:
        agrees = "the same" if each.taken == each.proposed else "memory would not"
        print(f"\nstep {each.step}: {each.taken} was taken; {agrees}")
        for line in each.why:
            print(f"  {line}")
    return CommandResult(shown)


def _memory(
    store: Store, config: MemoryConfig, episode: Trajectory | None
) -> tuple[Path, Memory | None]:
    """The folder of the memory and what it holds; None where it is to be built again.

    Of several the one that the episode's arm, repeat and round acted by, or the last.
    """
    own = store.folder / MEMORY
    if config.rebuild:
        return own, None
    saved = sorted(store.folder.glob(f"weights/*/*/{MEMORY}"), key=_age)
    if episode is not None:
        source = episode.provenance
        arm = store.folder / "weights" / f"{source.arm}-{source.repeat}"
        before = source.round - (source.phase == "collect")
        saved = [
            each for each in saved if _age(each)[1] <= before and each.is_relative_to(arm)
        ] or [each for each in saved if each.is_relative_to(arm.with_name(f"none-{source.repeat}"))]
    folder = own if own.is_dir() or not saved else saved[-1]
    if not folder.is_dir():
        raise StoreError(
            f"{store.folder} holds no memory; build one from its successful episodes:"
            f" webagent memory {store.folder} --rebuild"
        )
    try:
        return folder, Memory.load(folder)
    except MemoryMismatch as error:
        raise MemoryMismatch(str(error).replace("RUN", str(store.folder))) from error


def _age(folder: Path) -> tuple[str, int]:
    """Whose memory it is and after which round."""
    return folder.parents[1].name, int(folder.parent.name)


def _build(store: Store, folder: Path) -> Memory:
    """Return a memory of the run's successful episodes on training seeds, saved in the folder."""
    memory = Memory()
    scores = store.scores()
    episodes = [t for t in store.trajectories() if split_of(t.task.seed) == "train"]
    shown: list[Trajectory] = []
    judged: list[tuple[Trajectory, float | None]] = []
    for episode in episodes:
        values = [s.value for s in scores.get(episode.id, ()) if s.name == "success"]
        value = values[0] if values else None
        if episode.provenance.phase == "collect":
            judged.append((episode, value))
        elif episode.provenance.phase in ("demonstrate", "evaluate") and value:
            shown.append(episode)
    memory.remember_all(shown)
    remember_judged(memory, judged)
    if not memory.index.cases:
        raise StoreError(
            f"{store.folder} holds no success on training seeds to remember; webagent improve and"
            " webagent collect make some"
        )
    memory.learn(episode for episode in episodes if memory.episodes.get(episode.id, 0) > 0)
    memory.save(folder)
    return memory


def _explained(memory: Memory, episode: Trajectory, only: int) -> Iterator[Explained]:
    if only > len(episode.steps):
        raise UsageError(f"episode {episode.id} has {len(episode.steps)} steps, not {only}")
    for number, step in enumerate(episode.steps, 1):
        if only in (0, number):
            before = episode.steps[: number - 1]
            scene = memory.scene(step.observation, before)
            found = memory.propose(step.observation, before, without=episode.id)
            taken = format_action(step.decision.action)
            if found:
                why = explain(found[0], scene)
                proposed = format_action(found[0].action)
                yield Explained(number, taken, proposed, found[0].confidence, why)
            else:
                yield Explained(number, taken, "", 0.0, ["nothing like it is remembered"])
