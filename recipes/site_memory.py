"""`webagent memory --site-memory`: what a run's failures and successes teach about its sites."""

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tyro.conf import OmitArgPrefixes

from benchmarks.rules import checks_hold
from loop.console.output import CommandResult
from loop.console.progress import track
from loop.judging.named import CHECKS
from loop.policies import ModelChoice
from loop.summary.comparisons import BELIEVED
from tasks.suite import split_of
from webagent.errors import SetupError, UsageError
from webagent.policy.knowledge import EntryKind, Induced, learn_entries, read_files
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True)
class SiteMemoryChoice:
    """What is written about the sites of a run, by which judge and model."""

    site_memory: Path | None = None
    """Write what the run's failures and successes teach about its sites into this folder, a file
    SITE.md for each site, which can be edited; entries of earlier runs stay (docs/site-memory.md).
    Episodes on evaluation seeds are left out."""
    entries: tuple[EntryKind, ...] = ("rules", "examples")
    """What is written: `rules` of the site, by a model, and `examples`, the successes."""
    judge: str = "checks"
    """Judge whose stored verdicts are used: the tasks' own `checks`, or a judge of `webagent judge
    --with` or `improve --judge`, such as `judge:evidence`."""
    model: OmitArgPrefixes[ModelChoice] = field(default_factory=ModelChoice)
    """Model that writes rules."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """The result of learning."""

    episodes: int
    """Episodes with a verdict that are not on evaluation seeds."""
    compared: int
    """Failures that were paired with a success and sent to the model."""
    unusable: int
    """Those to which the model's reply was unusable."""
    refused: list[str]
    """Rejected changes, with the reason."""
    files: list[str]
    """The files that contain entries, one per site."""


def write_site_memory(run: Path, folder: Path, choice: SiteMemoryChoice) -> CommandResult:
    """Learn what the run teaches, write it into the folder, and print what changed."""
    if not choice.entries:
        raise UsageError("--entries names nothing to learn; give rules, examples or both")
    judged = _judged(run, choice.judge)
    model = choice.model.contestant().language_model() if "rules" in choice.entries else None

    async def learn() -> list[Induced]:
        try:
            along = partial(track, name="failures compared")
            return await learn_entries(model, folder, judged, choice.entries, along)
        finally:
            if model is not None:
                await model.close()

    learnt = asyncio.run(learn())
    refused = [reason for induced in learnt for reason in induced.refused]
    for reason in refused:
        print(f"rejected: {reason}")
    known = read_files(folder) if folder.is_dir() else {}
    known = {site: file for site, file in known.items() if file.entries}
    unusable = sum(not induced.is_usable for induced in learnt)
    print(
        f"{len(judged)} episodes, {len(learnt) - unusable} failures compared with a success"
        + f"; {unusable} more got a reply from the model that names no change" * bool(unusable)
    )
    for site, file in known.items():
        shown = Counter(entry.kind for entry in file.entries if not entry.is_retired)
        retired = sum(entry.is_retired for entry in file.entries)
        parts = [f"{n} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in shown.items()]
        shares = ", ".join(parts + [f"{retired} retired"] * bool(retired))
        print(f"  {folder / site}.md: {shares}")
    if not known:
        print(f"nothing was learnt, so {folder} holds no entry")
    files = [str(folder / f"{site}.md") for site in known]
    return CommandResult(Learnt(len(judged), len(learnt), unusable, refused, files))


def _judged(run: Path, judge: str) -> list[tuple[Trajectory, bool]]:
    """Return the episodes with whether this judge passed them. Raises `SetupError` for none."""
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
