"""A run that proposes: source after source, then the filters, each step kept."""

from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from evaluators.evaluator import FunctionEvaluator
from loop.costs import load_prices, open_ledger, run_within_caps
from loop.folder import RunFolder
from loop.judging.specification import EvaluatorBuilder, parse_evaluator
from loop.proposers.asking import ExchangeLog, ProposerModel, Sampling
from loop.proposers.exploration import EXPLORING, explore_for_proposals
from loop.proposers.filters import ProposalFilter, Prove, read_guard_limits
from loop.proposers.novelty import SimilarityLimits
from loop.proposers.records import FILE, ProposalRecord, SolveResult, read_records, write_records
from loop.proposers.settings import NOBODY, ProposeConfig
from loop.proposers.site import ProposalSite, open_site, read_guard
from loop.proposers.sources import ASKING, Material, SourceResult
from loop.proposers.verification import EpisodePlayer, ParentSolutions, ProposalSolver
from tasks.proposal import Proposal
from tasks.task import Task
from webagent.errors import UsageError
from webagent.models.spending import Ledger, MeteredModel
from webagent.records import Provenance
from webagent.store import Store


@dataclass(slots=True)
class ProposalRun:
    """What has been proposed so far, with where it is kept."""

    config: ProposeConfig
    folder: RunFolder
    store: Store
    lines: list[ProposalRecord] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Source, and what could not be read of its replies."""
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        config = self.config
        self.ledger = open_ledger(self.store, config.caps, load_prices(config.caps.prices))
        self.lines = read_records(self.path)

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
        minutes = self.config.caps.max_minutes
        seconds = None if minutes is None else 60 * minutes
        await run_within_caps(self._work(), self.ledger, self.store, seconds)

    async def _work(self) -> None:
        images = self.store.images.add if self.config.images else None
        async with AsyncExitStack() as ends:
            place = await ends.enter_async_context(open_site(self.config, images))
            player = EpisodePlayer(
                place.open_world, self.store, concurrency=self.config.concurrency
            )
            asker = self._asker(ends)
            lines = [line for path in self.config.known for line in read_records(path)]
            known = _list_tasks([line for line in lines if line.is_taken])
            made: list[ProposalRecord] = []
            for source in self.config.source:
                at = _SourceInputs(place, player, asker, [*known, *_list_tasks(made)])
                made += await self._made(source, at)
            prove = await self._solver(ends, player)
            earlier = {line.proposal.task.id: line for line in self.lines}
            self.lines = []

            def keep(line: ProposalRecord) -> None:
                self.lines.append(line)
                write_records(self.path, [*self.lines, *_list_unsettled(earlier, self.lines)])

            proposal_filter = ProposalFilter(
                place.scope,
                known,
                read_guard_limits(read_guard(self.config)),
                SimilarityLimits(self.config.alike),
                asker=asker if self.config.second_look else None,
                prove=reuse_proofs(earlier, prove),
                on_line=keep,
            )
            await proposal_filter.filter_records(made)

    async def _made(self, source: str, at: "_SourceInputs") -> list[ProposalRecord]:
        """What a source gives; what it gave in an earlier session where there was one."""
        path = self.folder.path / f"made-{source}.jsonl"
        noted = self.store.get_state(f"made:{source}")
        if not isinstance(noted, dict):
            found = await self._of_source(source, at)
            write_records(path, found.lines)
            noted = {"requests": found.requests, "unreadable": list(found.unreadable)}
            self.store.put_state(f"made:{source}", noted)
        count, problems = noted["requests"], noted["unreadable"]
        self.requests[source] = count if isinstance(count, int) else 0
        if isinstance(problems, list):
            self.problems += [(source, str(problem)) for problem in problems]
        return read_records(path)

    async def _of_source(self, source: str, at: "_SourceInputs") -> SourceResult:
        config = self.config
        if source in EXPLORING:
            model = at.asker.model if at.asker and config.writer == "model" else None
            return await explore_for_proposals(source, at.place, at.player, config, model)
        if at.asker is None:
            raise UsageError(f"--source {source} asks a model; name it with --model")
        material = Material(
            at.place.scope,
            at.place.start,
            at.place.open_world,
            at.known,
            config.run,
            config.manual,
            config.pages,
            config.way,
            seed=config.seed,
        )
        return await ASKING[source](material, at.asker, config.count)

    def _asker(self, ends: AsyncExitStack) -> ProposerModel | None:
        """Whoever invents tasks; nobody where no source needs it."""
        config = self.config
        if not config.asks:
            return None
        model = MeteredModel(config.contestant.language_model(), self.ledger, "proposer")
        ends.push_async_callback(model.close)
        sampling = Sampling(config.temperature, config.max_tokens, config.seed)
        kept = ExchangeLog.open(self.folder.path / "requests.jsonl")
        images = self.store.images.get if config.images else None
        return ProposerModel(model, kept, images, sampling)

    async def _solver(self, ends: AsyncExitStack, player: EpisodePlayer) -> Prove | None:
        """Whoever tries to solve what has passed; None for nobody."""
        config = self.config
        if config.solver == NOBODY:
            return None
        metered = partial(MeteredModel, ledger=self.ledger, role="solver")
        policy = await ends.enter_async_context(config.solving.ready(None, metered))
        if config.solver == "oracle":
            policy = ParentSolutions()
        player = replace(player, provenance=Provenance(arm="solver"))
        return ProposalSolver(
            policy, config.solving.label(), player, config.tries, self._judge(ends)
        )

    def _judge(self, ends: AsyncExitStack) -> FunctionEvaluator | None:
        """Whoever says of a task without checks whether it was solved."""
        config = self.config
        if not config.judge:
            return None
        spec, model = parse_evaluator(config.judge), None
        if spec.asks_a_model:
            model = MeteredModel(config.contestant.language_model(), self.ledger, "judge")
            ends.push_async_callback(model.close)
        return EvaluatorBuilder(model, self.store.images.get if config.images else None).evaluator(
            spec
        )


@dataclass(frozen=True, slots=True)
class _SourceInputs:
    """Where and by whom a source's tasks are made."""

    place: ProposalSite
    player: EpisodePlayer
    asker: ProposerModel | None
    known: list[Task]


def reuse_proofs(earlier: dict[str, ProposalRecord], prove: Prove | None) -> Prove | None:
    """Has proven only what was not proven in an earlier session."""
    if prove is None and not any(line.proof for line in earlier.values()):
        return None

    async def proven(proposal: Proposal) -> SolveResult | None:
        line = earlier.get(proposal.task.id)
        if line is not None and line.proof is not None:
            return line.proof
        return await prove(proposal) if prove else None

    return proven


def _list_unsettled(
    earlier: dict[str, ProposalRecord], settled: list[ProposalRecord]
) -> list[ProposalRecord]:
    """What an earlier session had settled and this one has not come to yet."""
    done = {line.proposal.task.id for line in settled}
    return [line for name, line in earlier.items() if name not in done]


def _list_tasks(lines: list[ProposalRecord]) -> list[Task]:
    return [line.proposal.task for line in lines]
