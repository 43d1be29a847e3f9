"""Every step of a run's episodes judged by a model, for trainers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluators.steps import (
    StepJudgement,
    StepJudgeSettings,
    has_model_failed,
    judge_by_model,
    load_judgements,
    name_model_source,
    store_judgements,
)
from webagent.models.model import Model
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True, slots=True)
class JudgedSteps:
    """What the run holds of one judge's judgements."""

    source: str
    episodes: int
    """Whose steps were judged."""
    abstained: int
    """Of them, about whose steps nothing was said."""
    mistakes: int
    redundant: int
    """Steps."""
    failed: int
    """Episodes about which the model failed this time; the same command asks again."""
    failure: str
    """The latest reason; empty where there is none."""


@dataclass(frozen=True, slots=True)
class StepJudging:
    """How a model is asked about steps."""

    model: Model
    images: Callable[[str], bytes] | None
    settings: StepJudgeSettings
    concurrency: int
    retry: bool
    """Whether episodes on which it abstained are asked about again."""

    async def judge(
        self, store: Store, episodes: Sequence[str], watch: Callable[[Trajectory], None]
    ) -> JudgedSteps:
        """Judge the steps of episodes that the model has not judged yet, each stored at once, and
        return what the store then holds of these. One on which the model failed is not stored, so
        that it is asked about again. Raises `StoreError`."""
        source = name_model_source(self.model)
        known = load_judgements(store, source)
        ask = judge_by_model(self.model, self.images, self.settings)
        gate, failed = asyncio.Semaphore(self.concurrency), list[str]()

        async def judge_one(episode: str) -> None:
            async with gate:
                trajectory = store.load(episode)
                if trajectory is not None:
                    judgement = await ask(trajectory)
                    if has_model_failed(judgement):
                        failed.append(judgement.reason)
                    else:
                        store_judgements(store, [judgement])
                    watch(trajectory)

        def is_open(episode: str) -> bool:
            return episode not in known or (self.retry and _has_abstained(known[episode]))

        await asyncio.gather(*map(judge_one, filter(is_open, episodes)))
        held = load_judgements(store, source)
        found = [held[episode] for episode in episodes if episode in held]
        return JudgedSteps(
            source,
            len(found),
            sum(map(_has_abstained, found)),
            sum(step.is_error for one in found for step in one.steps),
            sum(step.is_redundant for one in found for step in one.steps),
            len(failed),
            failed[-1] if failed else "",
        )


def _has_abstained(judgement: StepJudgement) -> bool:
    return len(judgement.abstained) == len(judgement.steps)


def format_judged_steps(found: JudgedSteps, run: str) -> str:
    """Return it in a sentence, with what it is for."""
    failed = f"; of {found.failed} more nothing, as {found.failure}" if found.failed else ""
    return (
        f"steps of {found.episodes} episodes judged by {found.source}: {found.mistakes} mistakes,"
        f" {found.redundant} redundant; nothing was said of {found.abstained} episodes{failed}."
        f" Train with them: webagent train --runs {run} --steps witness"
    )
