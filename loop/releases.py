"""Releases: what a run has learnt becomes the next one, unless a family of tasks got worse."""

import json
import os
import shlex
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, cast

from evaluators.statistics import wilson
from loop.folder import RunFolder
from loop.notes import read_judge_id
from loop.summary import read_summary
from webagent.errors import StoreError, UsageError
from webagent.files import write_whole
from webagent.models.weight_notes import resolve_unchanged
from webagent.store import Store

CURRENT, SUITE, CARD = "current", "suite.json", "card.json"
_PARTS = ("policy", "memory", "student")
"""What lies beside each other after a round and makes an agent."""


Families: TypeAlias = dict[str, dict[str, float]]
"""Success on each kind of tasks, with Wilson's 95 % interval (`low`, `high`) over `episodes`."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """What became of it."""

    current: str
    """The release in use now; empty where there is none."""
    promoted: bool = False
    reason: str = ""
    """Why a candidate was not promoted."""
    families: Families = field(default_factory=dict)
    """Of the candidate, or of the release that was gone back to."""


Episodes: TypeAlias = Mapping[str, tuple[str, float]]
"""Task, seed and place among those of the same seed, to the kind of task and the success."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A run's policy with what was measured of it."""

    folder: RunFolder
    arm: str
    facts: dict[str, str]
    """What it was measured on: benchmark, split and judge."""
    episodes: Episodes
    parts: Mapping[str, Path]
    """What is copied, by its name in the release."""


def promote(releases: Path, run: Path, arm: str = "", repeat: int = 0) -> Promotion:
    """Make what a run measured of an arm the current release, if no family of tasks got worse.

    Raises `UsageError` and `StoreError`.
    """
    candidate = _read_candidate(run, arm, repeat)
    current = _current(releases)
    suite = _read(releases / SUITE) if current else _freeze_suite(candidate)
    place, how = candidate.folder.path, f"measure it as the first release was: {suite['how']}"
    for fact, found in candidate.facts.items():
        if suite[fact] != found:
            raise UsageError(f"{place} has the {fact} {found}, the releases {suite[fact]}; {how}")
    lacking = [key for key in suite["episodes"] if key not in candidate.episodes]
    if lacking:
        raise UsageError(
            f"{place} lacks {len(lacking)} of the {len(suite['episodes'])} episodes of the frozen"
            f" suite, as {lacking[0]}; {how}"
        )
    values: defaultdict[str, list[float]] = defaultdict(list)
    for key in suite["episodes"]:
        family, value = candidate.episodes[key]
        values[family].append(value)
    before = _read(releases / current / CARD)["families"] if current else {}
    families, worse = {}, []
    for name, own in sorted(values.items()):
        rate, (low, high), then = fmean(own), wilson(sum(own), len(own)), before.get(name)
        families[name] = {"success": rate, "low": low, "high": high, "episodes": len(own)}
        was = "{success:.1%} ({low:.1%} to {high:.1%})".format(**then) if then else "not released"
        print(f"  {name:<20} {rate:6.1%} of {len(own)} episodes, was {was}")
        if then and rate < then["low"]:
            worse.append(f"{name}: {rate:.1%}, was {was}")
    if worse:
        reason = f"worse than release {current} on {'; '.join(worse)}"
        print(f"refused: {reason}\nstill in use is release {current}")
        return Promotion(current, reason=reason, families=families)
    name = str(max((int(each.name) for each in releases.glob("[0-9]*")), default=0) + 1)
    _write_release(releases / name, candidate, families)
    if not current:
        write_whole(releases / SUITE, json.dumps(suite, indent=1) + "\n")
    _use(releases, name)
    print(f"promoted: release {name}, in {releases / name}; back to the one before with --back")
    return Promotion(name, promoted=True, families=families)


def _freeze_suite(candidate: _Candidate) -> dict[str, Any]:
    """Return what every release is measured on from now on. Raises `UsageError`."""
    if len({key.partition(" ")[0] for key in candidate.episodes}) < 2:
        raise UsageError(
            f"{candidate.folder.path} measured one task or none, which says nothing of families of"
            " tasks; measure on more before the first release"
        )
    command = shlex.join(candidate.folder.settings()["command"])
    return {**candidate.facts, "how": command, "episodes": sorted(candidate.episodes)}


def _read_candidate(run: Path, arm: str, repeat: int) -> _Candidate:
    """Read what a run measured at its end. Raises `StoreError` and `UsageError`."""
    folder, summary = RunFolder.open(run), read_summary(run)
    rounds = {row["name"]: row["rounds"][-1]["round"] for row in summary["arms"]}
    usual = "self" if "self" in rounds else " ".join(rounds)
    arm = arm or usual
    if arm not in rounds:
        raise UsageError(f"{run} measured {', '.join(rounds) or 'no arm'}; name one with --arm")
    where: Any = {"arm": arm, "repeat": repeat, "phase": "evaluate", "round": rounds[arm]}
    with Store.look(run) as store:
        judge, scores = read_judge_id(store), store.scores(**where)
        episodes: dict[str, tuple[str, float]] = {}
        families: dict[str, str] = {}
        count: Counter[str] = Counter()
        for entry in store.entries(**where):
            if entry.task not in families and (episode := store.load(entry.id)):
                task = episode.task
                families[entry.task] = next(iter(task.skills), task.name.partition("-")[0])
            values = [
                s.value
                for s in scores.get(entry.id, ())
                if s.name == "success" and s.evaluator.startswith(judge)
            ]
            place = f"{entry.task} {entry.seed}"
            count[place] += 1
            if values and values[0] is not None:
                episodes[f"{place} {count[place]}"] = families[entry.task], values[0]
    facts = {"benchmark": summary["benchmark"], "split": summary["split"], "judge": judge}
    parts = _find_parts(folder, arm, repeat, rounds[arm])
    return _Candidate(folder, arm, facts, episodes, parts)


def _find_parts(folder: RunFolder, arm: str, repeat: int, round: int) -> dict[str, Path]:
    """Return what makes the agent: weights and memories. Raises `UsageError` for none."""
    settings = folder.settings().get("config", {})
    kind, _, place = str(settings.get("policy", "")).partition(":")
    known = [each for each in range(round, -1, -1) if folder.has_weights(arm, repeat, each)]
    if known:
        after = folder.weights(arm, repeat, known[0], "policy").parent
        parts = {
            # A round that learnt nothing has a note of where the weights before it are.
            part: Path(resolve_unchanged(str(after / part)))
            for part in _PARTS
            if (after / part).is_dir()
        }
    elif kind in ("model", "local") and Path(place).is_dir():
        parts = {"policy": Path(place)}
        if kind == "model" and (Path(place).parent / "memory").is_dir():
            parts["memory"] = Path(place).parent / "memory"
    else:
        parts = {}
    if settings.get("site_memory"):
        parts["site-memory"] = Path(settings["site_memory"])
    if not parts:
        raise UsageError(
            f"{folder.path} played --policy {settings.get('policy')}, of which there is nothing to"
            " release; expected weights of a folder, a memory or --site-memory"
        )
    return parts


def _write_release(target: Path, candidate: _Candidate, families: Families) -> None:
    """Copy the agent and write its card, whole or not at all. Raises `StoreError`."""
    summary = read_summary(candidate.folder.path)
    [row] = [row for row in summary["arms"] if row["name"] == candidate.arm]
    card = {
        "made": time.strftime("%Y-%m-%d %H:%M"),
        "run": str(candidate.folder.path.resolve()),
        "arm": candidate.arm,
        "command": summary["command"],
        "commit": summary["commit"],
        "parts": {name: str(place.resolve()) for name, place in candidate.parts.items()},
        **candidate.facts,
        "families": families,
        "data": [each for each in summary.get("learning", []) if each["arm"] == candidate.arm],
        "real_steps": row["rounds"][-1]["real_steps"],
        "spent": summary.get("spent", {}),
    }
    draft = target.with_name(f".{target.name}")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        for name, place in candidate.parts.items():
            shutil.copytree(place, draft / name)
        write_whole(draft / CARD, json.dumps(card, indent=1, default=str) + "\n")
        draft.rename(target)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error}") from error


def go_back(releases: Path) -> Promotion:
    """Make the release before the current one current again. Raises `UsageError`."""
    current = _current(releases)
    numbers = [int(each.name) for each in releases.glob("[0-9]*")]
    earlier = [number for number in numbers if current and number < int(current)]
    if not earlier:
        raise UsageError(f"{releases} has no release before {current or 'the first'} to go back to")
    name = str(max(earlier))
    _use(releases, name)
    print(f"in use is release {name} again, in place of {current}")
    return Promotion(name, families=_read(releases / name / CARD)["families"])


def _current(releases: Path) -> str:
    link = releases / CURRENT
    return link.readlink().name if link.is_symlink() else ""


def _use(releases: Path, name: str) -> None:
    """Lead `current` to a release, at one stroke."""
    draft = releases / f".{CURRENT}"
    draft.unlink(missing_ok=True)
    draft.symlink_to(name)
    os.replace(draft, releases / CURRENT)


def _read(file: Path) -> dict[str, Any]:
    try:
        return cast(dict[str, Any], json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise StoreError(f"{file} cannot be read: {error}; go back to another release") from error
