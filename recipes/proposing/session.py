"""A run that proposes: source after source, then the filters, each step kept."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from recipes.folder import RunFolder
from recipes.proposing.ask import Asker, Kept, Sampling
from recipes.proposing.filter import Prove, Sieve, limits_of
from recipes.proposing.line import FILE, Line, read_lines, write_lines
from recipes.proposing.place import Place, guard_of, open_place
from recipes.proposing.settings import ProposeConfig
from recipes.proposing.sources import ASKING, Material, Proposed
from recipes.spending import open_ledger, prices_in, within
from tasks.proposal import Proposal
from tasks.proposers.filters import Alike, Solving
from tasks.task import Task
from webagent.errors import SetupError
from webagent.models.metered import Ledger, MeteredModel
from webagent.store import Store

_ROLE = "proposer"


@dataclass(slots=True)
class Session:
    """What has been proposed so far, with where it is kept."""

    config: ProposeConfig
    folder: RunFolder
    store: Store
    lines: list[Line] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Source, and what could not be read of its replies."""
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        config = self.config
        self.ledger = open_ledger(self.store, config.caps, prices_in(config.prices))
        self.lines = read_lines(self.path)

    @property
    def path(self) -> Path:
        """The file of proposals."""
        return self.folder.path / FILE

    @property
    def unreadable(self) -> Counter[str]:
        """By source, how much could not be read."""
        return Counter(source for source, _ in self.problems)

    async def propose(self) -> None:
        """All of it, as far as the caps allow."""
        minutes = self.config.max_minutes
        seconds = None if minutes is None else 60 * minutes
        await within(self._work(), self.ledger, self.store, seconds)

    async def _work(self) -> None:
        images = self.store.images.add if self.config.images else None
        async with open_place(self.config, images) as place, self._asker() as asker:
            known = _known(self.config)
            made: list[Line] = []
            for source in self.config.source:
                made += await self._made(source, place, asker, [*known, *_tasks(made)])
            await self._sift(made, place, asker, known)

    async def _made(
        self, source: str, place: Place, asker: Asker | None, known: list[Task]
    ) -> list[Line]:
        """What a source gives; what it gave in an earlier session where there was one."""
        path = self.folder.path / f"made-{source}.jsonl"
        noted = self.store.get_state(f"made:{source}")
        if not isinstance(noted, dict):
            found = await self._of_source(source, place, asker, known)
            write_lines(path, found.lines)
            noted = {"requests": found.requests, "unreadable": list(found.unreadable)}
            self.store.put_state(f"made:{source}", noted)
        count, problems = noted["requests"], noted["unreadable"]
        self.requests[source] = count if isinstance(count, int) else 0
        if isinstance(problems, list):
            self.problems += [(source, str(problem)) for problem in problems]
        return read_lines(path)

    async def _of_source(
        self, source: str, place: Place, asker: Asker | None, known: list[Task]
    ) -> Proposed:
        config = self.config
        if asker is None or source not in ASKING:
            raise SetupError(f"--source {source} cannot be asked of a model")
        material = Material(
            place.scope,
            place.start,
            place.open_world,
            known,
            config.run,
            config.manual,
            config.pages,
            config.way,
            seed=config.seed,
        )
        return await ASKING[source](material, asker, config.count)

    async def _sift(
        self, made: list[Line], place: Place, asker: Asker | None, known: list[Task]
    ) -> None:
        earlier = {line.proposal.task.id: line for line in self.lines}
        self.lines = []

        def keep(line: Line) -> None:
            self.lines.append(line)
            write_lines(self.path, [*self.lines, *_later(earlier, self.lines)])

        sieve = Sieve(
            place.scope,
            known,
            limits_of(guard_of(self.config)),
            Alike(self.config.alike),
            asker=asker if self.config.second_look else None,
            prove=remembering(earlier, None),
            on_line=keep,
        )
        await sieve.sift(made)

    @asynccontextmanager
    async def _asker(self) -> AsyncIterator[Asker | None]:
        """Whoever invents tasks; nobody where no source needs it."""
        if not self.config.asks:
            yield None
            return
        model = MeteredModel(self.config.contestant.language_model(), self.ledger, _ROLE)
        config = self.config
        sampling = Sampling(config.temperature, config.max_tokens, config.seed)
        kept = Kept.open(self.folder.path / "requests.jsonl")
        images = self.store.images.get if config.images else None
        try:
            yield Asker(model, kept, images, sampling)
        finally:
            await model.close()


def remembering(earlier: dict[str, Line], prove: Prove | None) -> Prove | None:
    """Has proven only what was not proven in an earlier session."""
    if prove is None and not any(line.proof for line in earlier.values()):
        return None

    async def proven(proposal: Proposal) -> Solving | None:
        line = earlier.get(proposal.task.id)
        if line is not None and line.proof is not None:
            return line.proof
        return await prove(proposal) if prove else None

    return proven


def _later(earlier: dict[str, Line], settled: list[Line]) -> list[Line]:
    """What an earlier session had settled and this one has not come to yet."""
    done = {line.proposal.task.id for line in settled}
    return [line for name, line in earlier.items() if name not in done]


def _known(config: ProposeConfig) -> list[Task]:
    """Tasks that proposals are not to repeat. Raises `StoreError`."""
    lines = [line for path in config.known for line in read_lines(path)]
    return _tasks([line for line in lines if line.is_taken])


def _tasks(lines: list[Line]) -> list[Task]:
    return [line.proposal.task for line in lines]
