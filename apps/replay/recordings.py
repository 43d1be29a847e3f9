"""Recordings that are played again: which there are, and what came of playing them."""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tyro.conf import OmitArgPrefixes, Positional

from benchmarks.catalogue import BENCHMARKS, Options
from benchmarks.sites.hosting import Hosting
from loop.flat import Important
from loop.measurement.scoring import HEADLINE, has_checks
from loop.measurement.selection import list_page_folders
from loop.proposers.verification import EpisodePlayer, PlannedPlay
from tasks.task import Json, Task
from webagent.action.actions import AnswerDialog
from webagent.browser import Browser
from webagent.browser.sessions.login import Logins
from webagent.browser.sessions.profile import named_profile
from webagent.errors import SetupError, StoreError
from webagent.guard import Guard
from webagent.observation.variants import ObservationVariant
from webagent.policy.replay import ReplayedStep, ReplayPolicy
from webagent.records import Ending, Provenance, Score, Trajectory
from webagent.rollout import OpenWorld
from webagent.store import Store


@dataclass(frozen=True)
class PlaceSettings:
    """The browser and the sites on which recordings are played."""

    headed: Important[bool] = False
    """Show the browser's window."""
    profiles: str = ""
    """TOML file whose table [sites.<site>] says how the browser presents itself (docs/sites.md)."""
    site: str = ""
    """Name of the table in --profiles."""
    logins: Path | None = None
    """Folder with the logins that tasks start with."""
    sites: tuple[Path, ...] = ()
    """TOML files that describe additional sites."""


@dataclass(frozen=True)
class ReplayConfig:
    """Replay stored episodes without a model."""

    run: Important[Positional[Path]] = Path()
    """The run folder."""
    episodes: Important[Positional[tuple[str, ...]]] = ()
    """Ids of episodes, or their first characters. Default: all played in a real browser."""
    url: Important[str] = ""
    """URL to start at instead of the recorded one; other URLs of the same site are adapted."""
    strict: bool = False
    """Only act on elements found with confidence 0.9 or more; accept only the recorded effect."""
    guard: Important[Path | None] = None
    """File with the limits enforced in every episode, and the secrets to type (docs/guard.md)."""
    places: OmitArgPrefixes[PlaceSettings] = field(default_factory=PlaceSettings)
    """The browser and the sites."""
    concurrency: int = 1
    """Episodes played in parallel."""
    name: Important[str] = ""
    """Name of the run's folder under `runs`; derived from the date if empty."""
    runs: Path = Path("runs")
    """Where run folders are made."""


WAITS = 3
"""Steps that a page on the real clock may take for waiting, for every recorded step."""


def load_recordings(config: ReplayConfig) -> list[tuple[Trajectory, Task]]:
    """Return the chosen recordings, each with the task it is played as.

    Raises `StoreError`, `SetupError` or `UsageError` saying what is wrong.
    """
    found = []
    with Store.open(config.run) as store:
        names = config.episodes or store.ids("played", world="browser")
        if not names:
            raise StoreError(f"{config.run} holds no episode that was played in a real browser")
        for episode in map(store.find, names):
            if episode.provenance.imagined:
                source = episode.provenance.seeded_from.partition(":")[0]
                real = f"; it began from the real episode {source}" if source else ""
                raise SetupError(
                    f"{episode.id} was imagined by a world model: there is no page to replay it"
                    f" on{real}"
                )
            if not episode.steps:
                raise SetupError(f"{episode.id} has no steps: there is nothing to replay")
            task = episode.task
            if config.url:
                task = replace(task, start_url=config.url)
            elif _is_file_missing(task.start_url):
                task = replace(task, start_url=_find_start(task))
            if any(isinstance(step.decision.action, AnswerDialog) for step in episode.steps):
                task = replace(task, dialogs="ask")
            needed = len(episode.steps) + 1
            # Steps to spare for waiting where its clock is the real one.
            waits = WAITS * needed if task.clock == "real" else 0
            steps = max(task.max_steps, needed + waits)
            found.append((episode, replace(task, max_steps=steps)))
    for episode, task in found:
        if _is_file_missing(task.start_url):
            raise SetupError(
                f"{episode.id} begins at {task.start_url}, which is not there; say where it is now"
                " with --url"
            )
    return found


def _find_start(task: Task) -> str:
    """Return where the task begins on this machine, if its benchmark is one of this program's."""
    name = task.id.partition("/")[0]
    if name not in BENCHMARKS:
        return task.start_url
    try:
        suite = BENCHMARKS[name].load(Options())
    except (LookupError, ValueError, OSError) as error:
        raise SetupError(f"{task.id}: {error}") from error
    made = suite.make(task.name, task.seed, {}) if task.name in suite.names else None
    if made is None or made.id.partition("+")[0] != task.id.partition("+")[0]:
        raise SetupError(
            f"the episode is of {task.id}, and {suite.id} is another version, whose pages are not"
            " the recorded ones"
        )
    return made.start_url


def _is_file_missing(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "file" and not Path(unquote(parts.path)).exists()


@dataclass(frozen=True, slots=True)
class Replayed:
    """One replayed episode."""

    recorded: str
    """Id of the episode that was replayed."""
    played: Trajectory
    accounts: tuple[ReplayedStep, ...]
    score: Score | None = None
    """What the task's rules say; None where it has none."""

    @property
    def refusal(self) -> str:
        """Why it was not played to its end; empty where it was."""
        refused = next((each.describe() for each in self.accounts if each.refusal), "")
        if refused or self.played.ending in (Ending.ANSWERED, Ending.TASK_OVER, Ending.GAVE_UP):
            return refused
        return f"{self.played.ending}: {self.played.error}".rstrip(": ")

    @property
    def is_good(self) -> bool:
        """Whether it was played to its end and the rules, where there are some, hold."""
        return not self.refusal and (self.score is None or self.score.value == 1.0)

    @property
    def healed(self) -> int:
        """How many steps found their element elsewhere."""
        return sum(account.is_healed for account in self.accounts)

    def lines(self) -> list[str]:
        """For people: the outcome, then what is to be known of steps."""
        steps = f"{len(self.accounts) - bool(self.refusal)} steps, {self.healed} healed"
        lines = [f"{self.recorded}  {self.played.task.name}  {self._outcome()}  ({steps})"]
        lines += [
            f"  {each.describe()}"
            for each in self.accounts
            if bool(each.refusal or each.is_healed or each.notes)
        ]
        if self.refusal and not any(each.refusal for each in self.accounts):
            lines.append(f"  {self.refusal}")
        if self.score is not None and not self.refusal and self.score.value != 1.0:
            lines.append(f"  {self.score.reason}")
        return lines

    def content(self) -> Mapping[str, Json]:
        """As JSON."""
        return {
            "episode": self.recorded,
            "replay": self.played.id,
            "task": self.played.task.id,
            "seed": self.played.task.seed,
            "outcome": self._outcome(),
            "refusal": self.refusal,
            "healed": self.healed,
            "ending": str(self.played.ending),
            "score": None if self.score is None else self.score.value,
            "score_reason": "" if self.score is None else self.score.reason,
            "steps": [
                {**asdict(each), "notes": list(each.notes), "healed": each.is_healed}
                for each in self.accounts
            ],
        }

    def _outcome(self) -> str:
        if self.refusal:
            return "refused" if any(each.refusal for each in self.accounts) else "failed"
        if self.score is None:
            return "completed"
        return "completed, checks hold" if self.score.value == 1.0 else "completed, checks fail"


ARM, PHASE = "replay", "evaluate"


async def replay_all(
    config: ReplayConfig, chosen: Sequence[tuple[Trajectory, Task]], store: Store
) -> list[Replayed]:
    """Play them all; each is stored with its scores and with what was made of its steps.

    Raises `SetupError` where there is no browser or no site.
    """
    guard, tasks = None, [task for _, task in chosen]
    if config.guard is not None:  # the tasks' own pages are open
        guard = Guard.read(config.guard).opening(*list_page_folders(tasks))
    known = frozenset(guard.policy.secrets) if guard else frozenset[str]()
    policies = [ReplayPolicy(episode, config.strict, known) for episode, _ in chosen]
    last: dict[int, Trajectory] = {}

    def keep(played: Trajectory) -> None:
        last[played.provenance.index] = played
        if len(chosen) > 1:
            print(
                f"{len(last)}/{len(chosen)}  {played.task.name}: {played.ending}", file=sys.stderr
            )

    async with worlds(config.places, tasks, guard, config.concurrency) as open_world:
        player = EpisodePlayer(
            open_world,
            store,
            Provenance(run=store.folder.name, arm=ARM),
            config.concurrency,
            on_episode=keep,
        )
        await player.play(list(map(PlannedPlay, tasks, policies)), PHASE)
    found = []
    for index, policy in enumerate(policies):
        played, score = last[index], None
        is_judged = played.ending is not None and not played.ending.is_infrastructure
        if is_judged and has_checks(played.task):
            score = await HEADLINE(played)
            store.score(played.id, score)
        done = Replayed(policy.recording.id, played, tuple(policy.accounts), score)
        store.put_state(f"replay:{played.id}", dict(done.content()))
        found.append(done)
    return found


@asynccontextmanager
async def worlds(
    config: PlaceSettings,
    tasks: Sequence[Task],
    guard: Guard | None,
    pages: int = 1,
    variant: ObservationVariant | None = None,
) -> AsyncIterator[OpenWorld]:
    """Open worlds, each with sites of its own where tasks need them; `variant` says what else they
    capture. Raises `SetupError`."""
    profile = named_profile(config.profiles, config.site)
    hosted = Hosting(pages, config.sites, Logins(config.logins))
    browser = Browser(headless=not config.headed, guard=guard, pages=pages)
    async with hosted as hosting, browser:
        await hosting.prepare(tasks)
        world = partial(browser.world, profile=profile, logins=hosting.logins, variant=variant)
        yield hosting.worlds(world)
