"""The files of an export: streamed from the store into a draft that replaces its target; pushed."""

import json
import os
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil

from apps.argument_schema import describe_arguments
from apps.export.examples import (
    ExampleSource,
    PromptRebuilder,
    Selection,
    most_imagined,
    pictures,
    to_imitate,
    to_prefer,
    to_tell_apart,
    to_try,
)
from apps.export.request import ExportRequest
from apps.export.table import EPISODE, STEP, Table, clean, episode_row, schema_of, step_row
from apps.export.trainers import Consumer, write_card
from loop.console.progress import count_items
from loop.costs import RunPrices
from tasks.task import Task
from webagent.action import ACTIONS
from webagent.agent.asking import Asking
from webagent.errors import SetupError, StoreError
from webagent.store import Store


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """Yield a draft to write into, which becomes `target` when the block ends well.

    What a killed process left beside it is cleared away first. Raises `StoreError` when there is
    something under that name already, or when the disk fails.
    """
    refuse_existing(target)
    prefix = f".{target.name}.draft-"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        for left in target.parent.glob(f"{prefix}*"):
            pid = left.name.removeprefix(prefix)
            if pid.isdecimal() and not psutil.pid_exists(int(pid)):
                shutil.rmtree(left, ignore_errors=True)
        draft = target.with_name(f"{prefix}{os.getpid()}")
        draft.mkdir()
        try:
            yield draft
            draft.rename(target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error}; nothing was written") from error


def refuse_existing(target: Path) -> None:
    """Raise `StoreError` unless the name is free; an empty folder counts as free."""
    if target.is_dir() and not any(target.iterdir()):
        return
    if target.exists() or target.is_symlink():
        raise StoreError(
            f"{target} already exists and is not overwritten; choose another folder, or remove it"
        )


FORMAT = 1
"""Version of the columns; raised when a reader has to change."""


@dataclass(slots=True)
class _Spread:
    """Least, mean and most of a number seen many times."""

    count: int = 0
    total: float = 0.0
    least: float = 0.0
    most: float = 0.0

    def add(self, value: float) -> None:
        self.least = min(self.least, value) if self.count else value
        self.most = max(self.most, value) if self.count else value
        self.count += 1
        self.total += value

    def as_dict(self) -> dict[str, float]:
        mean = self.total / self.count if self.count else 0.0
        return {"count": self.count, "min": self.least, "mean": mean, "max": self.most}


@dataclass(slots=True)
class ExportCounts:
    """Counts rows by task, and how long they are."""

    rows: int = 0
    imagined: int = 0
    _tasks: dict[str, Counter[str]] = field(default_factory=dict)
    _spreads: dict[str, _Spread] = field(default_factory=dict)

    def add(self, task: Task, *, imagined: bool, **sizes: float) -> None:
        """Count one row on a task, with whatever is measured of it."""
        self.rows += 1
        self.imagined += imagined
        counts = self._tasks.setdefault(task.id, Counter())
        counts["rows"] += 1
        counts["imagined rows"] += imagined
        for name, size in sizes.items():
            self._spreads.setdefault(name, _Spread()).add(size)

    def largest_share(self) -> str:
        """Return the task with most rows, and its share of them."""
        name, counts = max(self._tasks.items(), key=lambda item: item[1]["rows"])
        return f"{counts['rows'] / self.rows:.0%}, {name}"

    def write(self, folder: Path, info: dict[str, Any]) -> None:
        """Write `meta/info.json`, `meta/stats.json` and `meta/tasks.jsonl`."""
        meta = folder / "meta"
        meta.mkdir()
        facts = {"format": FORMAT, **info, "rows": self.rows, "imagined_rows": self.imagined}
        stats = {name: spread.as_dict() for name, spread in sorted(self._spreads.items())}
        tasks = [json.dumps({"task": name, **self._tasks[name]}) for name in sorted(self._tasks)]
        for name, text in (
            ("info.json", json.dumps(facts, indent=1)),
            ("stats.json", json.dumps(stats, indent=1)),
            ("tasks.jsonl", "\n".join(tasks)),
        ):
            (meta / name).write_text(text + "\n", encoding="utf-8")


def write(
    request: ExportRequest, store: Store, selection: Selection
) -> tuple[ExportCounts, Counter[str]]:
    """Write it whole or not at all; return what it holds, and what was left out for which reason.

    Raises `SetupError` when nothing is left to write, `StoreError` when the folder is taken, the
    run is damaged or the disk fails.
    """
    config = request.config
    asking = replace(Asking.of(store), observation=config.observation)
    asker = PromptRebuilder(asking, store.images if config.images else None, request.played_as)
    chosen = len(selection.real) + len(selection.imagined)
    tally = ExportCounts()
    with whole_folder(request.out) as draft, count_items("episodes read", chosen) as step:
        source = ExampleSource(store, asker, Counter(), step)
        if request.consumer is None:
            _write_tables(request, source, selection, draft, tally)
        else:
            _write_examples(request, request.consumer, source, selection, draft, tally)
        if not tally.rows:
            counts = selection.left_out + source.counts
            reasons = [f"{count:,} {reason}" for reason, count in counts.items()]
            found = f"left out: {', '.join(reasons)}" if reasons else "no episode was chosen"
            hint = ""
            if selection.left_out["episodes of phase evaluate"]:
                hint = (
                    "; these measurements are not on training seeds, and no training should see"
                    " them: play with --split train, or add --phases evaluate if that is what you"
                    " want"
                )
            raise SetupError(
                f"nothing to export from {request.run} as {request.what} ({found}){hint}"
            )
        info = {
            "run": request.run.resolve().name,
            **request.origin,
            "to": request.to,
            "what": request.what,
            "phases": list(config.phases) or "all",
            "arms": list(config.arms) or "all",
            "judge": config.judge,
            "observation": config.observation,
            "images": config.images,
            "episodes": chosen,
            "left_out_episodes": dict(sorted(selection.left_out.items())),
            "counts": dict(sorted(source.counts.items())),
        }
        tally.write(draft, info)
        _finish_card(draft / "README.md", info, tally)
    return tally, source.counts


def _finish_card(card: Path, info: dict[str, Any], tally: ExportCounts) -> None:
    """Describe in the card, where the form has one, the data and its origin."""
    if not card.exists():
        return
    origins = info.get("origins") or [{}]
    facts = {
        "run": info["run"],
        "command": shlex.join(info.get("command", ())),
        "commit": origins[0].get("commit", ""),
        "rows": f"{tally.rows:,}, {tally.imagined:,} of them imagined",
        "largest share of a task": tally.largest_share(),
        "episodes": f"{info['episodes']:,}",
        "arms": _join(info["arms"]),
        "phases": _join(info["phases"]),
        "success is by": info["judge"],
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in facts.items() if value)
    text = f"""Written by `webagent export`; `meta/` says what was left out and why.

| | |
| --- | --- |
{table}

Pages are as the sites showed them: look through texts and pictures before others may read them.
"""
    card.write_text(card.read_text(encoding="utf-8") + text, encoding="utf-8")


def _join(names: str | Sequence[str]) -> str:
    return names if isinstance(names, str) else ", ".join(names)


def _write_tables(
    request: ExportRequest,
    source: ExampleSource,
    selection: Selection,
    draft: Path,
    tally: ExportCounts,
) -> None:
    """Write one row a step and one an episode, imagined ones last and only up to their share."""
    schemas = []
    for name, cls in ACTIONS.items():
        parameters = {"required": [], **describe_arguments(cls, without=("title", "default"))}
        function = {"name": name, "description": cls.__doc__, "parameters": parameters}
        schemas.append({"type": "function", "function": function})
    tools, prices = json.dumps(schemas), RunPrices.of(source.store)
    share = request.config.imagined_share
    with (
        Table(draft / "steps", schema_of(STEP)) as steps,
        Table(draft / "episodes", schema_of(EPISODE)) as episodes,
    ):
        for chosen in (*selection.real, *selection.imagined):
            trajectory = source.load(chosen)
            most = most_imagined(tally.rows - tally.imagined, share)
            if chosen.imagined and tally.imagined + len(trajectory.steps) > most:
                source.counts["imagined episodes above the cap"] += 1
                continue
            episodes.add(episode_row(chosen, trajectory, tools, prices))
            for turn in source.asker.turns(trajectory):
                source.takes(turn)
                steps.add(step_row(chosen, trajectory, turn, prices))
                decision = turn.step.decision
                sizes = {"prompt_ids": len(decision.prompt_ids), "seconds": decision.seconds}
                counted = {f"usage.{name}": value for name, value in decision.usage.items()}
                tally.add(trajectory.task, imagined=chosen.imagined, **sizes, **counted)
    tables = {"steps": "steps/*.parquet", "episodes": "episodes/*.parquet"}
    write_card(draft, tables, "A webagent run, step by step")


def _write_examples(
    request: ExportRequest,
    consumer: Consumer,
    source: ExampleSource,
    selection: Selection,
    draft: Path,
    tally: ExportCounts,
) -> None:
    what, is_pictured = request.what, request.config.images
    form = consumer.forms[what]
    columns = form.columns(is_pictured)
    examples = {
        "sft": lambda: to_imitate(source, selection, request.config.imagined_share),
        "preference": lambda: to_prefer(source, selection),
        "kto": lambda: to_tell_apart(source, selection),
        "rl": lambda: to_try(source, selection),
    }[what]()
    with Table(draft / consumer.data(what), schema_of(columns)) as table:
        for example in examples:
            row = dict(form.row(replace(example, number=tally.rows), is_pictured))
            if "origin" in columns:
                row["origin"] = clean(json.dumps(example.origin))
            if "images" in columns:
                row["images"] = pictures(example.messages)
            table.add(row)
            sizes = {
                "prompt characters": sum(len(message.text) for message in example.messages),
                "reply characters": len(example.reply),
            }
            tally.add(example.task, imagined=example.imagined, **sizes)
    if consumer.finish is not None:
        consumer.finish(draft, what, is_pictured)


def format_result(
    tally: ExportCounts, counts: Counter[str], left_out: Counter[str]
) -> Sequence[str]:
    """Return what was written and what was not, in lines."""
    imagined = f", {tally.imagined:,} of them imagined" if tally.imagined else ""
    lines = [f"rows: {tally.rows:,}{imagined}", f"largest share of a task: {tally.largest_share()}"]
    for name, count in (*sorted(counts.items()), *sorted(left_out.items())):
        is_kept = name.startswith("prompts ")
        lines.append(f"{name if is_kept else f'left out, {name}'}: {count:,}")
    return lines


def push(folder: Path, repository: str, *, is_public: bool) -> str:
    """Send the folder as a data set, private unless `is_public`; return its address.

    The hub is HF_ENDPOINT's, the key HF_TOKEN or that of `hf auth login`. Raises `SetupError` in
    the hub's words.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    api = HfApi()
    try:
        made = api.create_repo(
            repository, repo_type="dataset", private=not is_public, exist_ok=True
        )
        api.upload_folder(
            repo_id=made.repo_id,
            repo_type="dataset",
            folder_path=folder,
            commit_message="Written by webagent export",
        )
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        raise SetupError(
            f"{folder} is written, but the hub did not accept it as {repository}: {error}; push it"
            f" with: hf upload {repository} {folder} --repo-type dataset"
        ) from error
    return str(made)
