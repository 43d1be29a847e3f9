"""The learner of a model whose weights cannot be trained: it is told what it has learnt."""

import json
import shutil
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from loop.folder import TRAINING
from loop.learners.state import ArmState, Purpose
from loop.measurement.settings import contestant
from loop.session import Session, play_episodes
from loop.stages import judge
from tasks.task import Task
from webagent.errors import StoreError
from webagent.models.spending import MeteredModel
from webagent.policy.knowledge import (
    InductionSettings,
    SiteEntry,
    SiteFile,
    SiteMemory,
    learn_entries,
    read_files,
    site_of,
    write_file,
)
from webagent.policy.policy import Policy
from webagent.rollout import PlannedEpisode

TRIALS, FILES = "trials.json", "site-memory"
_FIRST_TRIED = 900_000
"""Training seeds from here on are those of trials; none is drawn to learn from."""
_APART = 10_000
"""Between the indices of one variant's trials and of the next one's."""
_MOST_SITES = 4
"""Sites whose new entries are tried in a round, those that have most of them: each takes
episodes."""
_EXAMPLES = "examples"
Files: TypeAlias = dict[str, SiteFile]
"""By site."""
Key: TypeAlias = tuple[str, str]
"""An entry: its site and its number there."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model did with an item, which is some entries, and without it, on the same tasks."""

    item: str
    was_kept: bool
    is_kept: bool
    tasks: int
    """Decided on both sides."""
    with_it: float
    without_it: float
    """Success rates."""

    def describe(self) -> str:
        """Return it in words."""
        became = {
            (False, True): "taken up",
            (False, False): "not taken up",
            (True, True): "kept",
            (True, False): "retired",
        }[self.was_kept, self.is_kept]
        return (
            f"{self.item} {became}: on {self.tasks} tasks apart {self.with_it:.0%} with and"
            f" {self.without_it:.0%} without"
        )


@dataclass(frozen=True, slots=True)
class KeptKnowledge:
    """What a model has learnt after a round, and the trials of that round."""

    files: Files
    trials: tuple[Trial, ...] = ()

    @classmethod
    def load(cls, folder: Path) -> "KeptKnowledge":
        """Return what lies in a folder. Raises `StoreError`, and `SetupError` for a file of a site
        that makes no sense."""
        from pydantic import TypeAdapter, ValidationError

        try:
            read = TypeAdapter(tuple[Trial, ...]).validate_json((folder / TRIALS).read_bytes())
        except (OSError, ValidationError) as error:
            raise StoreError(f"{folder} does not hold what was learnt: {error}") from error
        return cls(_read(folder / FILES), read)

    def save(self, folder: Path) -> None:
        """Write both."""
        text = json.dumps([asdict(trial) for trial in self.trials], indent=1)
        (folder / TRIALS).write_text(text + "\n", encoding="utf-8")
        for file in self.files.values():
            write_file(folder / FILES, file)


class KnowledgeLearner:
    """Keeps a memory of sites and shows a model its entries, each only while it does better with
    them on tasks that nothing was learnt from.

    It begins with the run's `--site-memory`. Entries of one kind on one site are tried together,
    new ones apart from those that are kept; examples, which are shown on any site, all together.
    What a trial gave is written into the entries, and those that do not help are retired.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named = contestant(session.config.played, knows=False)
        self._model = MeteredModel(self._named.language_model(), session.ledger)
        given = session.config.site_memory
        self._files: Files = read_files(given) if given is not None else {}

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Take in the round's episodes, try every item, keep what helps."""
        session = self._session
        folder = session.folder.weights(arm, session.repeat, round, "policy")
        if not folder.is_dir():
            files = await self._write_entries(state, arm, round)
            learnt = await self._try_items(state, files, arm, round)
            session.folder.save(learnt, arm, session.repeat, round, "policy")
            shutil.rmtree(self._draft(arm, round), ignore_errors=True)
        learnt = KeptKnowledge.load(folder)
        self._files = learnt.files
        if told := "; ".join(trial.describe() for trial in learnt.trials):
            key = f"{TRAINING}:{arm}:{session.repeat}"
            session.store.put_state(key, f"round {round}: {told}")
            session.say("knowledge", 1.0, told)

    def policy(self, purpose: Purpose) -> Policy:
        """Return the model with what it is told; it samples except when it is measured."""
        temperature = {"measure": 0.0, "vote": 1.0}.get(purpose, self._session.config.temperature)
        kept = frozenset[Key]().union(*_list_items(self._files, new=False).values())
        return self._told(self._files, kept, temperature)

    async def close(self) -> None:
        """Give back what the model holds."""
        await self._model.close()

    def _told(self, files: Files, told: AbstractSet[Key], temperature: float) -> Policy:
        """The model with these entries and those that a person wrote."""
        shown = {
            site: file.without(
                *(e.id for e in file.entries if e.is_learnt and (site, e.id) not in told)
            )
            for site, file in files.items()
        }
        return self._named.asking.policy(
            self._model,
            self._session.store.images if self._named.images else None,
            (SiteMemory(shown),),
            temperature=temperature,
            max_tokens=self._named.max_tokens,
        )

    async def _write_entries(self, state: ArmState, arm: str, round: int) -> Files:
        """The files after this round's episodes, the demonstrations at first; those that a killed
        session had finished are taken as they are."""
        if round and self._session.arm.learns_from != "experience":
            return self._files
        draft = self._draft(arm, round)
        finished = draft / "finished"
        if not finished.exists():
            shutil.rmtree(draft, ignore_errors=True)
            for file in self._files.values():
                write_file(draft / FILES, file)
            judged = [
                (t, state.succeeded(t))
                for t in state.experience
                if t.provenance.round == round and state.success.get(t.id) is not None
            ]
            if not round:
                judged = [(t, True) for t in state.demonstrations]
            settings = InductionSettings(self._session.config.entries)
            await learn_entries(self._model, draft / FILES, judged, settings)
            draft.mkdir(parents=True, exist_ok=True)
            finished.touch()
        return _read(draft / FILES)

    async def _try_items(
        self, state: ArmState, files: Files, arm: str, round: int
    ) -> KeptKnowledge:
        """Try what is kept without it, then what is new beside what is kept."""
        items, trials = _list_items(files, new=False), list[Trial]()
        new = _list_items(files, new=True)
        order = sorted(new, key=lambda item: (item != f"new {_EXAMPLES}", -len(new[item])))
        tried = {name: (True, items[name]) for name in items}
        tried |= {name: (False, new[name]) for name in order[: _MOST_SITES + 1]}
        told = set[Key]().union(*items.values())
        played: dict[tuple[tuple[Key, ...], str], list[float | None]] = {}
        for item, (was_kept, keys) in tried.items():
            site = item.partition(" on ")[2]
            split = self._session.split
            # What is proposed is the same whatever the seed, so that a trial would be practised.
            names = split.trial or [name for name in split.learning if name not in split.proposed]
            count = self._session.config.trials
            found: list[Task] = []
            for index in range(count):
                for name in names:
                    task = self._session.suite.task(name, _FIRST_TRIED + index)
                    if not site or site_of(task.start_url) == site:
                        found.append(task)
            tasks = found[:count]
            sides = []
            for shown in (told | keys, told - keys):
                key = tuple(sorted(shown)), site
                if key not in played:
                    policy, first = self._told(files, shown, 0.0), len(played) * _APART
                    played[key] = await self._play(state, tasks, policy, arm, round, first)
                sides.append(played[key])
            pairs = [(a, b) for a, b in zip(*sides, strict=True) if a is not None and b is not None]
            if not pairs:
                continue  # nothing was decided, or nothing is played on that site: as it was
            better, worse = fmean(a for a, _ in pairs), fmean(b for _, b in pairs)
            # What is kept stays where nothing speaks against it; what is new has to help.
            is_kept = better >= worse if was_kept else better > worse
            trial = Trial(item.removeprefix("new "), was_kept, is_kept, len(pairs), better, worse)
            trials.append(trial)
            told = told | keys if is_kept else told - keys
            files = _note(files, keys, trial)
        return KeptKnowledge(files, tuple(trials))

    async def _play(
        self,
        state: ArmState,
        tasks: Sequence[Task],
        policy: Policy,
        arm: str,
        round: int,
        first: int,
    ) -> list[float | None]:
        """What the loop's judge says of each task; None where an episode was lost."""
        session = self._session
        place = session.provenance("trial", round, arm)
        plan = [
            PlannedEpisode(task, replace(place, index=first + number))
            for number, task in enumerate(tasks)
        ]
        episodes = await play_episodes(session, plan, policy, "trials")
        await judge(session, state, episodes)
        found = {one.provenance.index: state.success.get(one.id) for one in episodes}
        return [found.get(first + number) for number in range(len(tasks))]

    def _draft(self, arm: str, round: int) -> Path:
        session = self._session
        return session.folder.path / "training" / f"{arm}-{session.repeat}" / str(round)


def _read(folder: Path) -> Files:
    return read_files(folder) if folder.is_dir() else {}


def _list_items(files: Files, *, new: bool) -> dict[str, frozenset[Key]]:
    """The entries that are tried together: those without a trial so far, or those that have been
    kept."""
    items: dict[str, set[Key]] = {}
    for site, file in files.items():
        for entry in file.entries:
            if entry.is_learnt and not entry.is_retired and (entry.gain is None) is new:
                name = _EXAMPLES if entry.kind == _EXAMPLES else f"{entry.kind} on {site}"
                items.setdefault("new " * new + name, set()).add((site, entry.id))
    return {name: frozenset(keys) for name, keys in items.items()}


def _note(files: Files, keys: AbstractSet[Key], trial: Trial) -> Files:
    """The files with what a trial gave in each of its entries."""

    def noted(entry: SiteEntry) -> SiteEntry:
        return entry.changed(
            gain=round(trial.with_it - trial.without_it, 2),
            trials=trial.tasks,
            tried=time.strftime("%Y-%m-%d"),
            is_retired=not trial.is_kept,
        )

    changed = dict(files)
    for site, id in sorted(keys):
        entry = changed[site].entry(id)
        assert entry is not None
        changed[site] = changed[site].changed(noted(entry))
    return changed
