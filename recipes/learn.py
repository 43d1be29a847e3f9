"""`webagent learn`: hints on sites, from comparing failures with successes."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tyro.conf import OmitArgPrefixes, Positional

from benchmarks.rules import checks_hold
from loop.console.output import CommandResult
from loop.console.progress import track
from loop.judges import CHECKS
from loop.policies import ModelChoice
from loop.summary.comparisons import BELIEVED
from recipes.settings import resolve
from tasks.suite import split_of
from webagent.errors import SetupError
from webagent.policy.knowledge import Hints, InducedRules, learn_rules
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True)
class LearnConfig:
    """Let a language model write hints on sites from a run's failures and successes."""

    run: Positional[Path] = Path()
    """The run folder. Default: the current folder. Episodes on evaluation seeds are left out."""
    hints: Path = Path("hints")
    """Folder of the hints, one Markdown file per site; new hints are added to it."""
    judge: str = "checks"
    """Judge whose stored verdicts are used: the tasks' own `checks`, or a judge of `webagent judge
    --with` or `improve --judge`, such as `judge:evidence`."""
    asked: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """The model that writes the hints."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """The result of learning."""

    episodes: int
    """Episodes with a verdict that are not on evaluation seeds."""
    compared: int
    """Failures that were paired with a success and sent to the model."""
    refused: list[str]
    """Rejected hints, with the reason."""
    books: list[str]
    """The files that contain hints, one per site."""


def main(argv: Sequence[str]) -> CommandResult:
    """Learn, and print what changed."""
    config = resolve(LearnConfig, "learn", argv)
    judged = _judged(config.run, config.judge)
    learnt = asyncio.run(_learn(config, judged))
    refused = [reason for induced in learnt for reason in induced.refused]
    for reason in refused:
        print(f"rejected: {reason}")
    known = Hints.read(config.hints).books if config.hints.is_dir() else {}
    counts = {site: len(book.rules) for site, book in known.items() if book.rules}
    print(f"{len(judged)} episodes, {len(learnt)} failures compared with a success")
    for site, count in counts.items():
        print(f"  {config.hints / site}.md: {count} hint{'s' * (count != 1)}")
    if not counts:
        print(f"no hint was learnt, so {config.hints} contains none")
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


def _judged(run: Path, judge: str) -> list[tuple[Trajectory, bool]]:
    """Return the episodes with whether this judge scored them as a success. Raises `SetupError` for
    none."""
    wanted = _name_judge(checks_hold().id if judge in CHECKS else judge)
    known: set[str] = set()
    values: dict[str, float] = {}
    found: list[tuple[Trajectory, bool]] = []
    with Store.open(run) as store:
        for name, scores in store.scores().items():
            for score in scores:
                if score.name not in ("success", BELIEVED):
                    continue
                known.add(_name_judge(score.evaluator))
                if score.value is not None and _name_judge(score.evaluator) == wanted:
                    values[name] = score.value
        for episode in store.trajectories():
            if episode.id in values and split_of(episode.task.seed) != "test":
                found.append((episode, values[episode.id] >= 0.5))
    if not found:
        raise SetupError(
            f"{run} holds no episode that {wanted} has scored on a seed that is not for measuring;"
            " play some with webagent benchmark --split train, or name with --judge one whose"
            f" verdicts it holds: {', '.join(sorted(known)) or 'none'}"
        )
    return found


def _name_judge(judge: str) -> str:
    """Return the name of an evaluator without its settings and version."""
    return re.split(r"[@[(]", judge.removeprefix("judge:"))[0]
