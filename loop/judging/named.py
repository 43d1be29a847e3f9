"""The judges of the loop and of its evaluations, if they are not the tasks' checks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from evaluators.combine import ask
from evaluators.evaluator import FunctionEvaluator
from loop.folder import RunFolder
from loop.judging.own_reward import OWN_REWARD, OwnReward
from loop.judging.scoring import OUTAGE
from loop.judging.specification import (
    FILE,
    EvaluatorBuilder,
    EvaluatorSpec,
    freeze_judge,
    open_judge_model,
    parse_evaluator,
    verify_judges,
)
from loop.measurement.scoring import AT_ONCE, SECONDS, EpisodeScorer
from loop.measurement.settings import judging
from loop.settings import ImproveConfig
from loop.summary.comparisons import BELIEVED
from webagent.errors import ModelError, UsageError
from webagent.models.spending import Ledger
from webagent.records import Trajectory
from webagent.store import Store

CHECKS = ("checks", "rules")
"""Names of the tasks' own checks."""
CALIBRATING = 12
"""Real episodes from which on a judge is one that does not tell successes from failures if it
passes all or none: a policy that is right half of the time ends so in one run of 2,000."""
BELIEFS = "beliefs"
"""`beliefs:ARM:REPEAT:ROUND` stores how many judgements failed, and their cost."""


@dataclass(slots=True)
class LearningJudge:
    """The judge whose verdicts decide task sampling and training data."""

    evaluator: FunctionEvaluator
    store: Store
    ledger: Ledger
    in_a_row: int = 0
    """Number of consecutive failed judgements up to the last one."""
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    async def judge_round(
        self, episodes: Sequence[Trajectory], arm: str, round: int
    ) -> list[float | None]:
        """Judge the episodes of a round; None where it abstains or its model failed. Stored
        verdicts are reused, and failures are counted in the store.

        Raises `ModelError` if its model seems to be unavailable.
        """
        key, requested, failed = f"{BELIEFS}:{arm}:{round}", 0, 0
        reason = ""
        known = {
            episode: score.value
            for episode, scores in self.store.scores("finished").items()
            for score in scores
            if (score.name, score.evaluator) == (BELIEVED, self.evaluator.id)
        }

        async def judge_one(trajectory: Trajectory) -> float | None:
            nonlocal requested, failed, reason
            if trajectory.id in known:
                return known[trajectory.id]
            requested += 1
            async with self.places:
                answer = await ask(self.evaluator, trajectory, seconds=SECONDS)
            if answer.was_in_vain:
                failed, reason = failed + 1, answer.score.reason
                self.in_a_row += 1
                if self.in_a_row >= OUTAGE and not self.ledger.reason:
                    raise ModelError(
                        f"the last {OUTAGE} judgements of {self.evaluator.id} failed, the latest:"
                        f" {reason}"
                    )
                return None
            self.in_a_row = 0
            self.store.score(trajectory.id, replace(answer.score, name=BELIEVED))
            return answer.score.value

        try:
            found = list(await asyncio.gather(*map(judge_one, episodes)))
            if requested > 1 and failed == requested and not self.ledger.reason:
                raise ModelError(
                    f"all {failed} judgements of {self.evaluator.id} failed, the latest: {reason}"
                )
            return found
        finally:
            if requested and episodes[0].provenance.phase == "collect":
                noted: dict[str, Any] = {"judge": self.evaluator.id, "failed": failed}
                self.store.put_state(key, noted)

    async def find_fault(
        self, real: Sequence[Trajectory], verdicts: Sequence[bool] | None = None
    ) -> str:
        """Return why its verdicts on imagined episodes would tell nothing: it passes all or none of
        the real ones, by their verdicts or, without these, judged now as if they were imagined.
        Empty while there are too few of them."""
        if verdicts is None:
            found = [
                await ask(
                    self.evaluator,
                    replace(one, provenance=replace(one.provenance, world="imagined")),
                    seconds=SECONDS,
                )
                for one in real[-CALIBRATING:]
            ]
            verdicts = [a.score.value >= 0.5 for a in found if a.score.value is not None]
        if len(verdicts) < CALIBRATING or 0 < sum(verdicts) < len(verdicts):
            return ""
        share = "all" if verdicts[0] else "none"
        return f"{self.evaluator.id} passes {share} of {len(verdicts)} real episodes"


@dataclass(frozen=True, slots=True)
class Judges:
    """The named judges; None stands for the checks."""

    learning: LearningJudge | None = None
    measuring: EpisodeScorer | None = None


def check_judges(config: ImproveConfig) -> None:
    """Check the named judges. Raises `SetupError`."""
    if config.judging.judge == OWN_REWARD and config.learner != "local":
        raise UsageError(
            "--judge reward trains a reward model after each round, from the weights of --policy"
            " local:FOLDER; name a trained one, as reward:FOLDER, or leave --judge out for the"
            " tasks' checks"
        )
    specs = _parse_judges(config)
    for spec in specs:
        for part in spec.learned:
            EvaluatorBuilder().evaluator(part)
    if any(spec.asks_a_model for spec in specs):
        judging(config.played).check()
    same = config.judging.judge == config.evaluation.measured_by
    if same and config.judging.judge not in CHECKS:
        raise UsageError(
            f"--judge {config.judging.judge!r} would measure what is learnt from it, too; name"
            " another with --measured-by"
        )


@asynccontextmanager
async def open_judges(
    config: ImproveConfig,
    folder: RunFolder,
    store: Store,
    ledger: Ledger,
    place: tuple[str, int] = ("self", 0),
) -> AsyncIterator[Judges]:
    """Yield the judges, ready to use; the evaluation judge is fixed by content when the run starts.
    `place` is the arm and repeat whose own reward model judges, where that is named.

    Raises `SetupError` if it or its weights have changed since.
    """
    specs = _parse_judges(config)
    named = judging(config.played) if any(spec.asks_a_model for spec in specs) else None
    async with open_judge_model(named, ledger) as model, aclosing(OwnReward(folder, *place)) as own:
        making = EvaluatorBuilder(model, store.images.get, SECONDS)
        learning = measuring = None
        if config.evaluation.measured_by not in CHECKS:
            if (folder.path / FILE).exists():
                verify_judges(folder.path, making, [config.evaluation.measured_by])
            else:
                freeze_judge(folder.path, making, config.evaluation.measured_by)
            evaluator = making.evaluator(specs[1])
            measuring = EpisodeScorer(store, evaluator, specs[1].asks_a_model, ledger)
        if (text := config.judging.judge) not in CHECKS:
            judge = own.evaluator() if text == OWN_REWARD else making.evaluator(specs[0])
            # What waits at a slow server for others would run out of its own time.
            places = asyncio.Semaphore(min(AT_ONCE, config.run.concurrency))
            learning = LearningJudge(judge, store, ledger, places=places)
        yield Judges(learning, measuring)


def _parse_judges(config: ImproveConfig) -> list[EvaluatorSpec]:
    """Return the judges that decide and that measure; the run's own reward model is none of those
    that are made by name."""
    learning, measuring = config.judging.judge, config.evaluation.measured_by
    return [
        parse_evaluator("rules" if text in CHECKS else text)
        for text in ("rules" if learning == OWN_REWARD else learning, measuring)
    ]
