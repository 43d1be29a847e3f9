"""The learner of a model whose weights cannot be trained: it is told what it has learnt."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean

from loop.folder import TRAINING
from loop.learners.state import ArmState, Purpose
from loop.measurement.settings import contestant
from loop.session import Session, play_episodes
from loop.stages import judge
from tasks.task import Task
from webagent.errors import StoreError
from webagent.models.spending import MeteredModel
from webagent.policy.knowledge import (
    Exemplars,
    Hints,
    Knowledge,
    RuleBook,
    exemplar_of,
    learn_rules,
    read_book,
    site_of,
    write_book,
)
from webagent.policy.policy import Policy
from webagent.rollout import PlannedEpisode

KEPT, BOOKS = "kept.json", "hints"
EXEMPLARS = "exemplars"
"""What the item of examples is called; the others are `rules on SITE`."""
_RULES = "rules on "
_FIRST_TRIED = 900_000
"""Training seeds from here on are those of trials; none is drawn to learn from."""
_APART = 10_000
"""Between the indices of one variant's trials and of the next one's."""
_MOST_SITES = 4
"""New rules that are tried in a round, of the sites that have most of them: each takes episodes."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a model did with an item and without it, on the same tasks."""

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
    """What a model is told after a round."""

    items: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """Ids of the successes that examples are chosen from."""
    trials: tuple[Trial, ...] = ()
    """By which items were kept or not in that round."""

    @classmethod
    def load(cls, folder: Path) -> "KeptKnowledge":
        """Return what lies in a folder. Raises `StoreError`."""
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_json((folder / KEPT).read_bytes())
        except (OSError, ValidationError) as error:
            raise StoreError(f"{folder} does not hold what was learnt: {error}") from error


@dataclass(frozen=True, slots=True)
class UsedKnowledge:
    """What there is to be told, kept or not."""

    examples: Exemplars
    books: dict[str, RuleBook]
    """By site."""

    def knowledge(self, items: Sequence[str], count: int) -> tuple[Knowledge, ...]:
        """Return these items, as a policy is told them."""
        sites = {item.removeprefix(_RULES) for item in items if item != EXEMPLARS}
        told: list[Knowledge] = []
        if EXEMPLARS in items:
            told.append(Exemplars(self.examples.exemplars, count=count))
        if sites:
            told.append(Hints({site: self.books[site] for site in sites if site in self.books}))
        return tuple(told)


class KnowledgeLearner:
    """Shows a model examples of what went well and rules on sites, each only while it does better
    with it on tasks that nothing was learnt from."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named = contestant(session.config.played)
        self._model = MeteredModel(self._named.language_model(), session.ledger)
        self._kept = KeptKnowledge()
        self._learnt = UsedKnowledge(Exemplars(()), {})

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Write rules from what failed beside what succeeded, try every item, keep what helps."""
        session = self._session
        folder = session.folder.weights(arm, session.repeat, round, "policy")
        if not folder.is_dir():
            books = await self._write_rules(state, arm, round)
            good = [t for t in state.experience if state.succeeded(t)]
            examples = tuple(t.id for t in (*state.demonstrations, *good) if t.steps)
            learnt = UsedKnowledge(self._read_examples(examples), books)
            kept = await self._try_items(state, learnt, examples, arm, round)
            session.folder.save(_Saved(kept, books), arm, session.repeat, round, "policy")
            shutil.rmtree(self._draft(arm, round), ignore_errors=True)
        self._kept = KeptKnowledge.load(folder)
        books = _read_books(folder / BOOKS)
        self._learnt = UsedKnowledge(self._read_examples(self._kept.examples), books)
        if told := "; ".join(trial.describe() for trial in self._kept.trials):
            key = f"{TRAINING}:{arm}:{session.repeat}"
            session.store.put_state(key, f"round {round}: {told}")
            session.say("knowledge", 1.0, told)

    def policy(self, purpose: Purpose) -> Policy:
        """Return the model with what it is told; it samples except when it is measured."""
        temperature = {"measure": 0.0, "vote": 1.0}.get(purpose, self._session.config.temperature)
        return self._told(self._learnt, self._kept.items, temperature)

    async def close(self) -> None:
        """Give back what the model holds."""
        await self._model.close()

    def _told(self, learnt: UsedKnowledge, items: Sequence[str], temperature: float) -> Policy:
        config = self._session.config
        return self._named.asking.policy(
            self._model,
            self._session.store.images if self._named.images else None,
            (*self._named.knowledge, *learnt.knowledge(items, config.exemplar_count)),
            temperature=temperature,
            max_tokens=self._named.max_tokens,
        )

    def _read_examples(self, episodes: Sequence[str]) -> Exemplars:
        found = (self._session.store.load(episode) for episode in episodes)
        return Exemplars(exemplar_of(each) for each in found if each is not None)

    async def _write_rules(self, state: ArmState, arm: str, round: int) -> dict[str, RuleBook]:
        """The books after this round's episodes; those that a killed session had finished are
        taken as they are."""
        if not round or self._session.arm.learns_from != "experience":
            return self._learnt.books
        draft = self._draft(arm, round)
        finished = draft / "finished"
        if not finished.exists():
            shutil.rmtree(draft, ignore_errors=True)
            for book in self._learnt.books.values():
                write_book(draft / BOOKS, book)
            judged = [
                (t, state.succeeded(t))
                for t in state.experience
                if t.provenance.round == round and state.success.get(t.id) is not None
            ]
            await learn_rules(self._model, draft / BOOKS, judged)
            draft.mkdir(parents=True, exist_ok=True)
            finished.touch()
        return _read_books(draft / BOOKS)

    async def _try_items(
        self,
        state: ArmState,
        learnt: UsedKnowledge,
        examples: tuple[str, ...],
        arm: str,
        round: int,
    ) -> KeptKnowledge:
        """Try what is kept without it, then what is new beside what is kept."""
        items, trials = list(self._kept.items), list[Trial]()
        sizes = {f"{_RULES}{site}": len(book.rules) for site, book in learnt.books.items()}
        new = [item for item in sizes if item not in items and sizes[item]]
        new = sorted(new, key=lambda item: -sizes[item])[:_MOST_SITES]
        if examples and EXEMPLARS not in items:
            new.insert(0, EXEMPLARS)
        played: dict[tuple[tuple[str, ...], str], list[float | None]] = {}
        for item in (*items, *new):
            others = [each for each in items if each != item]
            site = "" if item == EXEMPLARS else item.removeprefix(_RULES)
            tasks = _list_tried(self._session, site)
            sides = []
            for told in ((*others, item), tuple(others)):
                key = tuple(sorted(told)), site
                if key not in played:
                    policy, first = self._told(learnt, told, 0.0), len(played) * _APART
                    played[key] = await self._play(state, tasks, policy, arm, round, first)
                sides.append(played[key])
            pairs = [(a, b) for a, b in zip(*sides, strict=True) if a is not None and b is not None]
            better = fmean(a for a, _ in pairs) if pairs else 0.0
            worse = fmean(b for _, b in pairs) if pairs else 0.0
            was_kept = item in items
            # What is kept stays where nothing speaks against it; what is new has to help.
            is_kept = better >= worse if was_kept else better > worse
            trials.append(Trial(item, was_kept, is_kept, len(pairs), better, worse))
            items = [*others, item] if is_kept else others
        return KeptKnowledge(tuple(items), examples, tuple(trials))

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


@dataclass(frozen=True, slots=True)
class _Saved:
    """What is kept, with everything that was learnt of sites."""

    kept: KeptKnowledge
    books: dict[str, RuleBook]

    def save(self, folder: Path) -> None:
        """Write both."""
        text = json.dumps(asdict(self.kept), indent=1)
        (folder / KEPT).write_text(text + "\n", encoding="utf-8")
        for book in self.books.values():
            write_book(folder / BOOKS, book)


def _read_books(folder: Path) -> dict[str, RuleBook]:
    files = sorted(folder.glob("*.md")) if folder.is_dir() else []
    return {file.stem: read_book(folder, file.stem) for file in files}


def _list_tried(session: Session, site: str) -> list[Task]:
    """The tasks of a trial, on this site where one is named: seeds that are never drawn, or tasks
    that are set apart."""
    split = session.split
    # What is proposed is the same whatever the seed, so that a trial would be practised.
    names = split.trial or [name for name in split.learning if name not in split.proposed]
    count = session.config.trials
    tasks: list[Task] = []
    for index in range(count):
        for name in names:
            task = session.suite.task(name, _FIRST_TRIED + index)
            if not site or site_of(task.start_url) == site:
                tasks.append(task)
    return tasks[:count]
