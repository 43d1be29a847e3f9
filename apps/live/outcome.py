"""What came of a task: as facts, as the last lines a person reads, as an exit status."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.live.display import plain
from loop.console.outcome import Status
from webagent.agent import Result
from webagent.records import PERSON, Ending

_ADVICE: Mapping[Ending, str] = {
    Ending.STEP_LIMIT: "allow more with --max-steps",
    Ending.POLICY_UNREADABLE: "see what the model replied; docs/models.md says what helps",
    Ending.GUARD_REFUSED: "the guard's file says what is open: docs/guard.md",
    Ending.CAPTCHA: "pass it yourself with --headed, or save a login with webagent login",
    Ending.WORLD_FAILED: "check the address, and webagent doctor",
    Ending.MODEL_FAILED: "check the model's server, its name and OPENAI_BASE_URL",
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a task."""

    outcome: str
    """How it ended: `answered`, `gave up`, `step limit`, `stopped`, `policy unreadable`, `guard
    refused`, `world failed`, `model failed` or `captcha`."""
    answer: str
    """What the agent answered; empty where it did not."""
    value: Any
    """The answer as data, where a schema was given."""
    reason: str
    """Why there is no answer; empty where there is one."""
    steps: int
    """Actions taken, a person's included."""
    steps_of_person: int
    """Those of a person who took over."""
    seconds: float
    """From the first page to the end."""
    tokens: int
    """Read and written by the model."""
    cost: float | None
    """Money; null where it is not known, and `cost_unknown` says why."""
    currency: str
    """Of the cost."""
    cost_unknown: str
    """Why the cost is not known."""
    url: str
    """Where it ended; empty where the page was lost."""
    episode: str
    """Id of the episode in the run folder."""
    run: str
    """The run folder."""
    downloads: list[str]
    """Files that pages handed out."""
    trace: list[str]
    """Playwright traces that were kept."""
    gif: str
    """The moving picture; empty where there is none."""


def status_of(result: Result) -> Status:
    """The exit status that stands for how it ended."""
    if result.ending in (Ending.ANSWERED, Ending.TASK_OVER):
        return Status.DONE
    if result.ending is Ending.STOPPED:
        return Status.STOPPED
    return Status.SETUP if result.ending.is_infrastructure else Status.FAILED


def facts_of(result: Result, folder: Path, gif: str = "") -> Ran:
    """Everything that a program may want to know."""
    cost, steps = result.cost, result.steps
    return Ran(
        outcome=str(result.ending),
        answer=result.answer,
        value=result.value,
        reason=result.reason,
        steps=len(steps),
        steps_of_person=sum(step.decision.weights == PERSON for step in steps),
        seconds=round(result.trajectory.seconds, 2),
        tokens=cost.tokens,
        cost=cost.money,
        currency=cost.currency,
        cost_unknown=cost.unknown,
        url=result.url,
        episode=result.trajectory.id,
        run=str(folder),
        downloads=[str(each) for each in _files(folder / "downloads")],
        trace=[str(each) for each in _files(folder / "trace")],
        gif=gif,
    )


def last_lines(result: Result, folder: Path) -> list[str]:
    """The last lines: the answer or why there is none, then what it took and what to do next."""
    said = result.answer or result.reason or "done"
    lines = [
        f"{result.ending}: {plain(line)}" if not n else plain(line) for n, line in _lines(said)
    ]
    lines += [f"kept {each}" for name in ("downloads", "trace") for each in _files(folder / name)]
    advice = _ADVICE.get(result.ending, "")
    next_step = f"look at it with: webagent view {folder}"
    count = len(result.steps)
    took = f"{count} step{'s' * (count != 1)}, {result.cost}, {result.trajectory.seconds:.1f} s"
    parts = [f"{result.ending} in {took}", f"kept in {folder}", advice, next_step]
    return [*lines, "; ".join(part for part in parts if part)]


def _lines(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.splitlines() or [""]))


def _files(folder: Path) -> list[Path]:
    """Whole files in a folder, those that are still coming in left out."""
    found = folder.rglob("*") if folder.is_dir() else ()
    return sorted(
        each
        for each in found
        if each.is_file() and not any(p.startswith(".") for p in each.relative_to(folder).parts)
    )
