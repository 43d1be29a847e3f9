"""A run that proposes: source after source, then the filters, each step kept."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from evaluators.evaluator import FunctionEvaluator
from loop.costs import load_prices, open_ledger, run_within_caps
from loop.folder import RunFolder
from loop.judging.specification import EvaluatorBuilder, parse_evaluator
from loop.proposers.filters import ProposalFilter, Prove, read_guard_limits
from loop.proposers.records import FILE, ProposalRecord, SolveResult, read_records, write_records
from loop.proposers.requests import ExchangeLog, ProposerModel, Sampling
from loop.proposers.settings import NOBODY, ProposeConfig
from loop.proposers.site import ProposalSite, open_site, read_guard
from loop.proposers.sources import Material, propose_from
from loop.proposers.verification import EpisodePlayer, ProposalSolver
from tasks.task import Refusal, Task, TaskProposal
from webagent.models.spending import Ledger, MeteredModel
from webagent.policy.policy import Policy
from webagent.records import Provenance, Trajectory
from webagent.store import Store


@dataclass(frozen=True, slots=True)
class BorrowedParts:
    """What a run that proposes is lent by the loop it is a part of."""

    site: ProposalSite
    ledger: Ledger
    judged: Sequence[tuple[Trajectory, bool]]
    """The loop's own episodes, with whether each succeeded."""
    known: Sequence[Task]
    """Tasks there are already."""
    refuse: Callable[[Task], Refusal | None]
    """Why the loop cannot use a task."""
    solver: Policy | None = None
    """In place of the one of the settings."""
    judge: FunctionEvaluator | None = None


@dataclass(slots=True)
class ProposalRun:
    """What has been proposed so far, with where it is kept."""

    config: ProposeConfig
    folder: RunFolder
    store: Store
    borrowed: BorrowedParts | None = None
    """None for a run that stands for itself."""
    steps: int = 0
    """Real ones that solving took."""
    lines: list[ProposalRecord] = field(default_factory=list)
    requests: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Source, and what could not be read of its replies."""
    ledger: Ledger = field(init=False)

    def __post_init__(self) -> None:
        config = self.config
        if self.borrowed is not None:
            self.ledger = self.borrowed.ledger
        else:
            self.ledger = open_ledger(self.store, config.caps, load_prices())
        self.lines = read_records(self.path)

    @property
    def path(self) -> Path:
        """The file of proposals."""
        return self.folder.path / FILE

    async def propose(self) -> None:
        """Propose and filter, as far as the caps allow."""
        left = self.config.caps.seconds_left()
        await run_within_caps(self.work(), self.ledger, self.store, left)

    async def work(self) -> None:
        """Propose and filter, whatever it takes."""
        config, lent = self.config, self.borrowed
        images = self.store.images.add if config.images else None
        async with AsyncExitStack() as ends:
            opening = nullcontext(lent.site) if lent else open_site(config, images)
            site = await ends.enter_async_context(opening)
            player = EpisodePlayer(site.open_world, self.store, concurrency=config.concurrency)
            sampling = Sampling(config.temperature, config.max_tokens, config.seed)
            kept = ExchangeLog.open(self.folder.path / "requests.jsonl")
            shown = self.store.images.get if config.images else None
            asker = ProposerModel(self._open_model(ends, "proposer"), kept, shown, sampling)
            known = list(lent.known) if lent else []
            proposed: list[ProposalRecord] = []
            for source in config.source:
                tasks = [*known, *(line.proposal.task for line in proposed)]
                proposed += await self._propose_from(source, site, asker, tasks)
            prove = await self._open_solver(ends, player)
            earlier = {line.proposal.task.id: line for line in self.lines}
            self.lines = []

            def keep(line: ProposalRecord) -> None:
                self.lines.append(line)
                # What an earlier session had settled and this one has not come to yet.
                done = {each.proposal.task.id for each in self.lines}
                left = [each for name, each in earlier.items() if name not in done]
                write_records(self.path, [*self.lines, *left])

            proposal_filter = ProposalFilter(
                site.scope,
                known,
                read_guard_limits(read_guard(config)),
                config.alike,
                asker=asker if config.second_look else None,
                prove=_reuse_proofs(earlier, prove),
                on_line=keep,
            )
            if lent is not None:
                proposal_filter.refuse = lent.refuse
            await proposal_filter.filter_records(proposed)
            self.steps = self.store.count_real_steps()

    async def _propose_from(
        self, source: str, site: ProposalSite, asker: ProposerModel, known: list[Task]
    ) -> list[ProposalRecord]:
        """Return what a source gives, or what it gave in an earlier session."""
        config = self.config
        path = self.folder.path / f"made-{source}.jsonl"
        stored = self.store.get_state(f"made:{source}")
        if not isinstance(stored, dict):
            judged = self.borrowed.judged if self.borrowed else None
            found = await propose_from(source, Material(config, site, known, judged), asker)
            write_records(path, found.lines)
            stored = {"requests": found.requests, "unreadable": list(found.unreadable)}
            self.store.put_state(f"made:{source}", stored)
        count, problems = stored["requests"], stored["unreadable"]
        self.requests[source] = count if isinstance(count, int) else 0
        if isinstance(problems, list):
            self.problems += [(source, str(problem)) for problem in problems]
        return read_records(path)

    async def _open_solver(self, ends: AsyncExitStack, player: EpisodePlayer) -> Prove | None:
        """Return what tries to solve what has passed; None for nobody."""
        config, lent = self.config, self.borrowed
        policy, name = lent.solver if lent else None, "policy"
        if policy is None:
            if config.solver == NOBODY:
                return None
            metered = partial(MeteredModel, ledger=self.ledger, role="solver")
            policy = await ends.enter_async_context(config.solving.ready(None, metered))
            name = config.solving.label()
        player = replace(player, provenance=Provenance(arm="solver"))
        judge = lent.judge if lent else None
        if config.judge:
            spec = parse_evaluator(config.judge)
            model = self._open_model(ends, "judge") if spec.asks_a_model else None
            images = self.store.images.get if config.images else None
            judge = EvaluatorBuilder(model, images).evaluator(spec)
        return ProposalSolver(policy, name, player, config.tries, judge)

    def _open_model(self, ends: AsyncExitStack, role: str) -> MeteredModel:
        model = MeteredModel(self.config.contestant.language_model(), self.ledger, role)
        ends.push_async_callback(model.close)
        return model


def _reuse_proofs(earlier: dict[str, ProposalRecord], prove: Prove | None) -> Prove | None:
    """Return a prover that proves only what was not proven in an earlier session."""
    if prove is None and not any(line.proof for line in earlier.values()):
        return None

    async def prove_once(proposal: TaskProposal) -> SolveResult | None:
        line = earlier.get(proposal.task.id)
        if line is not None and line.proof is not None:
            return line.proof
        return await prove(proposal) if prove else None

    return prove_once
