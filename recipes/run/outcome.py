"""What came of a task: as data, as the last lines a person reads, and as an exit status."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recipes.run.display import plain
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


def status_of(result: Result) -> int:
    """0: answered; 1: not; 3: browser, site or model failed."""
    if result.ending in (Ending.ANSWERED, Ending.TASK_OVER):
        return 0
    return 3 if result.ending.is_infrastructure and result.ending is not Ending.STOPPED else 1


def outcome_of(result: Result, folder: Path, status: int) -> dict[str, Any]:
    """Everything that a program may want to know."""
    cost, steps = result.cost, result.steps
    return {
        "outcome": str(result.ending),
        "status": status,
        "answer": result.answer,
        "value": result.value,
        "reason": result.reason,
        "steps": len(steps),
        "steps_of_person": sum(step.decision.weights == PERSON for step in steps),
        "seconds": round(result.trajectory.seconds, 2),
        "tokens": cost.tokens,
        "cost": cost.money,
        "currency": cost.currency,
        "cost_unknown": cost.unknown,
        "url": result.url,
        "episode": result.trajectory.id,
        "run": str(folder),
        "downloads": [str(each) for each in _files(folder / "downloads")],
        "trace": [str(each) for each in _files(folder / "trace")],
    }


def told(result: Result, folder: Path) -> list[str]:
    """The last lines: the answer or why there is none, then what it took and what to do next."""
    said = result.answer or result.reason or "done"
    lines = [
        f"{result.ending}: {plain(line)}" if not n else plain(line) for n, line in _lines(said)
    ]
    lines += [f"kept {each}" for name in ("downloads", "trace") for each in _files(folder / name)]
    advice = _ADVICE.get(result.ending, "")
    next_step = f"look at it with: webagent {_viewer()} {folder}"
    count = len(result.steps)
    took = f"{count} step{'s' * (count != 1)}, {result.cost}, {result.trajectory.seconds:.1f} s"
    parts = [f"{result.ending} in {took}", f"kept in {folder}", advice, next_step]
    return [*lines, "; ".join(part for part in parts if part)]


def _lines(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.splitlines() or [""]))


def _viewer() -> str:
    """The recipe that shows a run."""
    from recipes.cli import RECIPES

    return "view" if "view" in RECIPES else "judge"


def _files(folder: Path) -> list[Path]:
    """Whole files in a folder, those that are still coming in left out."""
    found = folder.rglob("*") if folder.is_dir() else ()
    return sorted(
        each
        for each in found
        if each.is_file() and not any(p.startswith(".") for p in each.relative_to(folder).parts)
    )
