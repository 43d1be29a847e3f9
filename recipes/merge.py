"""`webagent report --into`: runs of a job array as one run, with its intervals over all repeats."""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loop.console.output import CommandResult
from loop.costs import join_spending, read_stop_reason
from loop.folder import RunFolder
from loop.settings import ImproveConfig
from loop.summary.schema import FILE as SUMMARY
from loop.task_split import SPLIT_FILE as SPLIT
from recipes.improve import conclude, list_jobs, list_unfinished
from webagent.errors import StoreError, UsageError
from webagent.store.database import STORE_FILE

_FREE = {"name", "runs", "resume", "seed", "repeats", "executor", "workers", "concurrency"}
"""Settings in which merged runs may differ: which repeats they hold, and how those were played."""
_OWN = (f"{STORE_FILE}*", "run.json", SUMMARY, "report.html")
"""Files that are made anew, and not copied."""


def merge_runs(runs: Sequence[Path], into: str, command: Sequence[str]) -> CommandResult:
    """Join finished runs of `webagent improve` that differ in their repeats alone.

    The new run stands beside the first of them, and is summed up as `improve` does; the others stay
    as they are. Raises `UsageError` and `StoreError` for runs that do not go together.
    """
    if len(runs) < 2 or Path(into).name != into:
        raise UsageError(
            "give two runs or more and a name without slashes: webagent report runs/repeat-0"
            " runs/repeat-1 --into NAME"
        )
    target = runs[0].resolve().parent / into
    if target.exists():
        raise StoreError(f"{target} already exists; choose another --into")
    parts = [RunFolder.open(path) for path in runs]
    whole = check_parts(parts)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{into}-"))
    try:
        folder = RunFolder.create(draft, whole, command)
        origins = [origin for part in parts for origin in part.settings()["origins"]]
        settings = folder.settings()
        settings["origins"] = [one for at, one in enumerate(origins) if one not in origins[:at]]
        folder.write_json("run.json", settings)
        for part in parts:
            ignored = shutil.ignore_patterns(*_OWN)
            shutil.copytree(part.path, folder.path, ignore=ignored, dirs_exist_ok=True)
        with folder.store() as store:
            for part in parts:
                store.join(part.path)
            stores = [part.store() for part in parts]
            join_spending(store, stores)
            for each in stores:
                each.close()
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return CommandResult(conclude(RunFolder.open(target), whole))


def check_parts(parts: Sequence[RunFolder]) -> ImproveConfig:
    """Return the settings of the whole. Raises `StoreError` for runs that do not go together."""
    for part in parts:
        if part.settings()["command"][1] not in ("improve", "report", "merge"):  # its old name
            raise StoreError(
                f"{part.path} is no run of webagent improve; trainings and exports take several"
                " runs of other kinds as they are"
            )
    first, *_ = configs = [part.config(ImproveConfig) for part in parts]
    held: dict[int, RunFolder] = {}
    for part, config in zip(parts, configs, strict=True):
        ours, theirs = _list_facts(parts[0]), _list_facts(part)
        for name in sorted(ours.keys() | theirs.keys()):
            if ours.get(name) != theirs.get(name):
                raise StoreError(
                    f"{parts[0].path} and {part.path} differ in {name}: {ours.get(name)!r:.200} and"
                    f" {theirs.get(name)!r:.200}; they cannot be merged"
                )
        for repeat in range(config.seed, config.seed + config.repeats):
            if repeat in held:
                raise StoreError(
                    f"{held[repeat].path} and {part.path} both hold repeat {repeat}; give each job"
                    " a --seed of its own"
                )
            held[repeat] = part
        resume = f"go on with: webagent improve --resume {part.path}"
        if left := list_unfinished(list_jobs(config, part), part):
            raise StoreError(f"{part.path} has not finished {left[0].name}; {resume}")
        with part.store() as store:
            if reason := read_stop_reason(store):
                raise StoreError(f"{part.path} stopped before its end: {reason}; {resume}")
    run = replace(first.run, resume=None)
    return replace(first, seed=min(held), repeats=max(held) - min(held) + 1, run=run)


def _list_facts(part: RunFolder) -> Mapping[str, Any]:
    settings, split = part.settings(), part.path / SPLIT
    facts = {name: value for name, value in settings["config"].items() if name not in _FREE}
    facts["commit"] = sorted({origin["commit"] for origin in settings["origins"]})
    return facts | {SPLIT: json.loads(split.read_text()) if split.is_file() else None}
