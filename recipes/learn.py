"""`webagent learn`: hints on sites, from what failed beside what succeeded."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tyro.conf import OmitArgPrefixes, Positional

from benchmarks.rules import checks_hold
from loop.console.outcome import CommandResult
from loop.console.progress import track
from loop.policies import ModelChoice
from recipes.settings import resolve
from tasks.suite import split_of
from webagent.errors import SetupError
from webagent.policy.knowledge import Hints, InducedRules, learn_rules
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True)
class LearnConfig:
    """Have a language model write hints on sites from a run's failures and successes."""

    run: Positional[Path] = Path()
    """The run folder; this one when none is named. Episodes on seeds for measuring are left out."""
    hints: Path = Path("hints")
    """Folder of the hints, a Markdown file for each site; what is there is added to."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """The model that writes."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """What was learnt."""

    episodes: int
    """With a verdict, on seeds that are not for measuring."""
    compared: int
    """Failures that stood beside a success, so that a model was asked about them."""
    refused: list[str]
    """Hints that were not taken, with the reason."""
    books: list[str]
    """The files that hold hints, one for each site."""


def main(argv: Sequence[str]) -> CommandResult:
    """Learn, and say what changed."""
    config = resolve(LearnConfig, "learn", argv)
    judged = _judged(config.run)
    learnt = asyncio.run(_learn(config, judged))
    refused = [reason for induced in learnt for reason in induced.refused]
    for reason in refused:
        print(f"not taken: {reason}")
    known = Hints.read(config.hints).books if config.hints.is_dir() else {}
    counts = {site: len(book.rules) for site, book in known.items() if book.rules}
    print(f"{len(judged)} episodes, {len(learnt)} failures beside a success")
    for site, count in counts.items():
        print(f"  {config.hints / site}.md: {count} hint{'s' * (count != 1)}")
    if not counts:
        print(f"no hint was learnt, so {config.hints} holds none")
    books = [config.hints / f"{site}.md" for site in counts]
    return CommandResult(Learnt(len(judged), len(learnt), refused, [str(book) for book in books]))


async def _learn(
    config: LearnConfig, judged: Sequence[tuple[Trajectory, bool]]
) -> list[InducedRules]:
    model = config.asked.contestant().language_model()
    try:
        told = partial(track, name="failures compared")
        return await learn_rules(model, config.hints, judged, along=told)
    finally:
        await model.close()


def _judged(run: Path) -> list[tuple[Trajectory, bool]]:
    """Episodes with whether the frozen judge saw them succeed. Raises `SetupError` for none."""
    judge = checks_hold().id
    with Store.open(run) as store:
        values = {
            episode: score.value
            for episode, scores in store.scores().items()
            for score in scores
            if (score.name, score.evaluator) == ("success", judge) and score.value is not None
        }
        found = [
            (episode, values[episode.id] >= 0.5)
            for episode in store.trajectories()
            if episode.id in values and split_of(episode.task.seed) != "test"
        ]
    if not found:
        raise SetupError(
            f"{run} holds no episode that {judge} has scored on a seed that is not for measuring;"
            " play some with webagent benchmark --split train"
        )
    return found
