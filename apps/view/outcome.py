"""The task and the outcome of a run, for the list of runs and for a run's page."""

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apps.view.contents import Contents, EpisodeOutcome, Run
from webagent.records import Ending

_GOOD = (Ending.ANSWERED, Ending.TASK_OVER)
_FOLDERS = ("trace", "downloads")
"""Whose files a run's page hands out."""
_MOST_FILES = 50


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """How a run ended, in a word."""

    word: str
    """`live`, `finished`, `interrupted`, `never began`, `no verdict`, how a single task
    ended, or what failed every episode."""
    tone: str
    """`good`, `bad`, `warn` or empty, as marks are coloured."""
    goal: str
    """The task, or what was played."""
    resume: str = ""
    """The command that goes on with it, where it was interrupted and can be."""


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """What the page of a `webagent run` opens on."""

    goal: str
    episode: str
    """Id of its episode; empty before it began."""
    facts: Mapping[str, str]
    answer: str = ""
    value: str = ""
    """The answer as data, where a schema was given."""
    reason: str = ""
    """Why there is no answer."""
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of traces and downloads, by their folder."""


def outcome_of(
    run: Run, settings: Mapping[str, Any], contents: Contents | None, *, is_live: bool
) -> RunOutcome:
    """Return what the run came to, by what it wrote and stored."""
    goal = goal_of(settings)
    if is_live:
        return RunOutcome("live", "good", goal)
    counts = contents.counts if contents else {}
    is_task = command_of(settings) == "run"
    ending = None
    if is_task and contents and contents.lines:
        ending = contents.lines[-1].entry.ending
    if ending is not None:
        tone = "good" if ending in _GOOD else "warn" if ending.is_infrastructure else "bad"
        return RunOutcome(str(ending), tone, goal)
    if not run.is_over():
        word = "never began" if contents is not None and not contents.lines else "interrupted"
        return RunOutcome(word, "warn", goal, resume_of(run, settings))
    if contents and counts[EpisodeOutcome.BROKEN] == len(contents.of_policy) > 0:
        broken = [
            str(line.entry.ending)
            for line in contents.of_policy
            if line.outcome is EpisodeOutcome.BROKEN
        ]
        return RunOutcome(Counter(broken).most_common(1)[0][0], "warn", goal)
    abstained = [
        line.outcome is EpisodeOutcome.UNSCORED and bool(line.verdicts)
        for line in (contents.of_policy if contents else ())
    ]
    if abstained and all(abstained):
        return RunOutcome("no verdict", "warn", goal)
    return RunOutcome("finished", "", goal)


def command_of(settings: Mapping[str, Any]) -> str:
    """Return the name of the command that made the run; empty where that is not known."""
    command = settings.get("command")
    if not isinstance(command, list):
        return ""
    words = [str(word) for word in command[:2]]
    return next((word for word in words if word != "webagent"), "")


def goal_of(settings: Mapping[str, Any]) -> str:
    """Return the task of a `webagent run`, else what was played."""
    config = settings.get("config")
    if not isinstance(config, Mapping):
        return ""
    if command_of(settings) == "run":
        return str(config.get("task", ""))
    tasks = config.get("tasks")
    names = ", ".join(map(str, tasks)) if isinstance(tasks, list) else ""
    return " ".join(filter(None, (command_of(settings), str(config.get("benchmark", "")), names)))


def resume_of(run: Run, settings: Mapping[str, Any]) -> str:
    """Return the command that goes on with the run; empty where its recipe cannot, or nothing was
    begun that could be gone on with."""
    config, name = settings.get("config"), command_of(settings)
    if not name or not run.has_begun() or not isinstance(config, Mapping) or "resume" not in config:
        return ""
    return f"webagent {shlex.quote(name)} --resume {run.argument}"


def answer_of(
    run: Run, settings: Mapping[str, Any], contents: Contents, *, is_live: bool
) -> TaskAnswer | None:
    """Return what a `webagent run` came to; None for any other run."""
    if command_of(settings) != "run":
        return None
    try:
        result = json.loads((run.path / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # the episode has the same facts, without the cost
        result = {}
    if not isinstance(result, dict):
        result = {}
    last = contents.lines[-1].entry if contents.lines else None
    facts = {
        "steps": f"{last.steps:,}" if last else "",
        "by a person": f"{result.get('steps_of_person') or ''}",
        "took": format_seconds(sum(line.entry.seconds for line in contents.lines))
        if last and not is_live
        else "",
        "tokens": f"{result['tokens']:,}" if isinstance(result.get("tokens"), int) else "",
        "cost": format_money(result.get("cost"), result.get("currency")),
    }
    value = result.get("value")
    return TaskAnswer(
        goal=goal_of(settings),
        episode=last.id if last else "",
        facts={name: text for name, text in facts.items() if text not in ("", "0")},
        answer=str(result.get("answer") or ""),
        value=json.dumps(value, indent=1, ensure_ascii=False) if value is not None else "",
        reason=str(result.get("reason") or ""),
        files={name: found for name in _FOLDERS if (found := _files_in(run.path / name))},
    )


def file_of(run: Run, name: str) -> Path | None:
    """Return a file that the run's page hands out; None for any other name."""
    folder, _, rest = name.partition("/")
    known = _files_in(run.path / folder) if folder in _FOLDERS and rest else ()
    return run.path / folder / rest if rest in known else None


def format_seconds(seconds: float) -> str:
    """Return a duration in its natural units."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def format_money(amount: object, currency: str | None) -> str:
    """Return an amount with its currency; empty where it is not known."""
    return f"{amount:.4g} {currency or ''}".strip() if isinstance(amount, int | float) else ""


def _files_in(folder: Path) -> tuple[str, ...]:
    """Return whole files in a folder, by their names below it; links lead elsewhere and are not."""
    if not folder.is_dir():
        return ()
    found = (
        str(each.relative_to(folder))
        for each in sorted(folder.rglob("*"))
        if each.is_file() and not each.is_symlink()
    )
    return tuple(name for name in found if not name.startswith("."))[:_MOST_FILES]
