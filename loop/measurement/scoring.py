"""Scoring: each episode is judged once it is over, and never again once somebody has spoken."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from benchmarks.rules import checks_hold
from evaluators.combine import ask
from evaluators.evaluator import FunctionEvaluator
from loop.judging.specification import EvaluatorBuilder, EvaluatorSpec, open_judge_model
from loop.notes import JUDGE
from loop.policies import NamedPolicy
from tasks.task import Task
from webagent.models.spending import Ledger
from webagent.records import Trajectory
from webagent.store import Store

HEADLINE, LENIENT = checks_hold(), checks_hold("raw_positive")
"""The frozen judge: rules over evidence."""
AT_ONCE = 8
"""Judgements that are under way at the same time."""
SECONDS = 600.0
"""After which a judge abstains."""


@dataclass(slots=True)
class EpisodeScorer:
    """The verdicts on the episodes of a run."""

    store: Store
    headline: FunctionEvaluator
    is_paid: bool
    """Whether a model is asked, so that nothing is judged twice."""
    ledger: Ledger
    _spoken: dict[str, float] = field(default_factory=dict)
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def __post_init__(self) -> None:
        self.store.put_state(JUDGE, self.headline.id)
        if self.is_paid:
            self._spoken = {
                episode: score.value
                for episode, scores in self.store.scores("any").items()
                for score in scores
                if (score.name, score.evaluator) == ("success", self.headline.id)
                and score.value is not None
            }

    async def give(self, trajectory: Trajectory) -> float | None:
        """Score an episode; its success, None where nobody can say."""
        if trajectory.id in self._spoken:
            return self._spoken[trajectory.id]
        async with self._places:
            limit = SECONDS if self.is_paid else None
            answer = await ask(self.headline, trajectory, seconds=limit)
        if answer.was_in_vain and self.ledger.reason:
            return None
        scores = [answer.score]
        if has_checks(trajectory.task, "raw_positive"):
            scores.append(await LENIENT(trajectory))
        if self.headline.id != HEADLINE.id and has_checks(trajectory.task):
            scores.append(await HEADLINE(trajectory))
        self.store.score(trajectory.id, *scores)
        return answer.score.value


@asynccontextmanager
async def open_scorer(
    store: Store, spec: EvaluatorSpec, contestant: NamedPolicy | None, ledger: Ledger
) -> AsyncIterator[EpisodeScorer]:
    """Whoever scores, ready; `contestant` has the model of one that asks. Raises `SetupError`."""
    async with open_judge_model(contestant, ledger) as model:
        made = EvaluatorBuilder(model, store.images.get, SECONDS).evaluator(spec)
        yield EpisodeScorer(store, made, model is not None, ledger)


def has_checks(task: Task, score: str = "success") -> bool:
    """Whether rules can say anything of this score."""
    return any(check.score == score for check in task.checks)
