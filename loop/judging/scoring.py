"""Scoring stored episodes: each is asked about once, and a kill loses only what is in flight."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluators.combine import EvaluatorTally, ask
from evaluators.evaluator import FunctionEvaluator
from loop.console.progress import EpisodeCounter
from loop.judging.specification import name_evaluator
from webagent.errors import ModelError
from webagent.models.spending import Ledger
from webagent.records import Trajectory
from webagent.store import Store

_TALLIES, _FAILED = "judging:tallies", "judging:failed"
OUTAGE = 12
"""Failures in a row after which no further request is made: the model is not there."""


@dataclass(slots=True)
class ScoringRun:
    """Judgeds on their way through the episodes of a run."""

    store: Store
    evaluators: Sequence[FunctionEvaluator]
    combined: dict[str, EvaluatorTally]
    """The tallies of votes and cascades, by their ids."""
    ledger: Ledger
    seconds: float | None = None
    tallies: dict[str, EvaluatorTally] = field(default_factory=dict)
    """Of all evaluators, by their ids."""
    failed: dict[str, set[str]] = field(default_factory=dict)
    """Episodes, by evaluator, on which it abstained as its model failed or its time was up."""
    others: dict[str, Any] = field(default_factory=dict)
    """Tallies of evaluators that are not used now, as they were kept."""
    in_a_row: Counter[str] = field(default_factory=Counter)
    """Latest failures of each evaluator without a judgement between them."""

    def __post_init__(self) -> None:
        kept = read_tallies(self.store)
        for each in self.evaluators:
            found = self.combined.get(each.id) or kept.get(name_evaluator(each))
            self.tallies[name_evaluator(each)] = found or EvaluatorTally()
        self.others = {
            name: tally.state() for name, tally in kept.items() if name not in self.tallies
        }
        noted = self.store.get_state(_FAILED)
        rows = noted if isinstance(noted, dict) else {}
        self.failed = {
            name: {str(episode) for episode in episodes}
            for name, episodes in rows.items()
            if isinstance(episodes, list)
        }

    def open_work(
        self, episodes: Sequence[str], *, retry: bool
    ) -> list[tuple[FunctionEvaluator, str]]:
        """What is to be asked: what was not yet, or failed; with `retry` every abstention.

        Episode by episode, so that any part of it compares the evaluators fairly.
        """
        stored = self.store.scores("finished")
        done = {
            (score.name, score.evaluator, episode)
            for episode, scores in stored.items()
            for score in scores
            if not (retry and score.value is None)
        }
        return [
            (each, episode)
            for episode in episodes
            for each in self.evaluators
            if (each.score, each.id, episode) not in done
            or episode in self.failed.get(name_evaluator(each), ())
        ]

    async def score(
        self,
        work: Sequence[tuple[FunctionEvaluator, str]],
        concurrency: int,
        counter: EpisodeCounter,
    ) -> None:
        """Ask them all, so many at a time. Raises `ModelError` for a model that is not there."""
        queue = iter(work)

        async def ask_next() -> None:
            for each, episode in queue:
                if (trajectory := self.store.load(episode)) is not None:
                    await self._ask(each, trajectory, counter)

        workers = [asyncio.ensure_future(ask_next()) for _ in range(concurrency)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _ask(
        self, each: FunctionEvaluator, trajectory: Trajectory, counter: EpisodeCounter
    ) -> None:
        is_combined = each.id in self.combined
        answer = await ask(each, trajectory, seconds=None if is_combined else self.seconds)
        score = answer.score
        if answer.was_in_vain and self.ledger.reason:
            return
        if not is_combined:
            self.tallies[name_evaluator(each)].note([name_evaluator(each)], [answer], score.value)
        self.store.score(trajectory.id, score)
        name = name_evaluator(each)
        before = self.failed.setdefault(name, set())
        if answer.was_in_vain != (trajectory.id in before):
            before.symmetric_difference_update({trajectory.id})
            rows: Any = {name: sorted(episodes) for name, episodes in self.failed.items()}
            self.store.put_state(_FAILED, rows)
        states = {name: tally.state() for name, tally in self.tallies.items()}
        self.store.put_state(_TALLIES, {**self.others, **states})
        counter.count(trajectory, score.value, is_new=False)
        self.in_a_row[name_evaluator(each)] = (
            self.in_a_row[name_evaluator(each)] + 1 if answer.was_in_vain else 0
        )
        if self.in_a_row[name_evaluator(each)] >= OUTAGE:
            raise ModelError(
                f"the last {OUTAGE} judgements of {each.id} failed, the latest: {score.reason};"
                " earlier judgements are kept; run the same command again to continue"
            )


def read_tallies(store: Store) -> dict[str, EvaluatorTally]:
    """The tallies of earlier sessions, by evaluator."""
    kept = store.get_state(_TALLIES)
    rows = kept if isinstance(kept, dict) else {}
    return {
        name: EvaluatorTally.restored(row) for name, row in rows.items() if isinstance(row, dict)
    }
