"""Metrics made of people's feedback on the episodes of a run."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from evaluators.behaviours import (
    Feedback,
    Grounded,
    InducedMetrics,
    ground,
    induce_by_model,
    induce_by_words,
    read_feedback,
    split_remarks,
)
from evaluators.behaviours.induce import SIZES
from loop.judging.agreement import format_share
from loop.judging.settings import JudgeConfig
from webagent.errors import ModelError, SetupError, UsageError
from webagent.models.model import Model
from webagent.store import Store
from webagent.store.store import EpisodeSummary

ASKED_SIZES = (4, 6, 8, 10, 12)
"""Numbers of metrics that a model is asked to make; each costs a request of its own, and more to
measure."""


async def induce_metrics(
    store: Store, entries: Sequence[EpisodeSummary], config: JudgeConfig, model: Model | None
) -> InducedMetrics:
    """The metrics, with what could not be grounded among the problems.

    Raises `SetupError` for feedback on episodes that the run has not, `ModelError` when the model
    gives nothing that can be used.
    """
    feedback = _read_known_feedback(config, {entry.id for entry in entries})
    if model is None or not config.asks_to_induce:
        aspects = [aspect for one in feedback for aspect in split_remarks(one)]
        return induce_by_words(aspects, config.metrics or SIZES)
    loaded = {one.episode: store.load(one.episode) for one in feedback}
    episodes = {name: episode for name, episode in loaded.items() if episode is not None}
    gate = asyncio.Semaphore(config.concurrency)

    async def one(each: Feedback) -> Grounded:
        async with gate:
            return await ground(model, episodes[each.episode], each)

    grounded = list(await asyncio.gather(*map(one, feedback)))
    aspects = [aspect for one in grounded for aspect in one.aspects]
    problems = tuple(f"{one.feedback.episode}: {one.problem}" for one in grounded if one.problem)
    if not aspects:
        raise ModelError(f"no feedback could be grounded: {'; '.join(problems[:3])}")
    found = await induce_by_model(model, aspects, episodes, config.metrics or ASKED_SIZES)
    return replace(found, problems=(*problems, *found.problems))


def format_metrics(found: InducedMetrics) -> str:
    """The metrics in a few lines."""
    best = found.tried[found.size]
    lines = [
        f"{found.size} metrics: coverage {format_share(best.coverage)} %, redundancy"
        f" {format_share(best.redundancy)} %"
    ]
    for metric in found.metrics:
        good, bad = (
            sum(aspect.is_positive is sign for aspect in metric.aspects) for sign in (True, False)
        )
        lines.append(f"  {metric.name} ({good} good, {bad} bad): {metric.definition}")
    lines += [f"  left out: {problem}" for problem in found.problems]
    return "\n".join(lines)


def _read_known_feedback(config: JudgeConfig, episodes: set[str]) -> list[Feedback]:
    if config.induce is None:
        raise UsageError("no feedback is named; give it with --induce")
    feedback = read_feedback(config.induce)
    unknown = [one.episode for one in feedback if one.episode not in episodes]
    if unknown and not config.ignore_unknown:
        raise SetupError(
            f"{len(unknown)} of {len(feedback)} rows of {config.induce} are of episodes that this"
            f" run has not: {', '.join(map(repr, unknown[:3]))} (--ignore-unknown leaves them out)"
        )
    return [one for one in feedback if one.episode in episodes]
