"""`webagent train-judge`: read labelled episodes, train, calibrate, evaluate, write the results."""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict

from evaluators.frozen import refuse_frozen
from loop.console.output import CommandResult, is_for_program
from loop.folder import read_origin
from loop.training.judge import (
    JudgeTrainingReport,
    LabelledEpisode,
    format_report,
    measure_judge,
    read_episodes,
    read_frozen_judges,
    split_episodes,
    train_judge,
)
from loop.training.settings import TrainJudgeSettings
from recipes.settings import resolve
from webagent.errors import SetupError


def main(argv: Sequence[str]) -> CommandResult:
    """Train, then print the judge's quality; the judge is written to OUT/judge, the figures to
    OUT."""
    import torch

    settings = resolve(TrainJudgeSettings, "train-judge", argv)
    settings.check()
    torch.set_num_threads(1)  # so small a network gains nothing by more
    refuse_frozen(settings.out / "judge", read_frozen_judges(settings.runs))
    settings.out.mkdir(parents=True, exist_ok=True)
    noted = settings.out / "settings.json"
    ours = json.dumps(asdict(settings), indent=1, default=str) + "\n"
    if noted.exists() and noted.read_text(encoding="utf-8") != ours:
        raise SetupError(
            f"{settings.out} holds a judge trained with other settings; choose another --out, or"
            " start again with the same ones to go on"
        )
    noted.write_text(ours, encoding="utf-8")
    parts = split_episodes(
        read_episodes(settings.runs, settings.labels, settings.score), settings.hold_out
    )
    course = train_judge(settings, parts, _Teller())
    report: JudgeTrainingReport = {
        "command": ["webagent", "train-judge", *argv],
        "settings": asdict(settings),
        "origin": read_origin(),
        "judge": f"reward_model@{course.judge.version}",
        "episodes": {name: _counted(getattr(parts, name)) for name in parts.__slots__},
        "cost": {k: getattr(course, k) for k in ("tokens", "seconds", "cpu_seconds")},
        "calibration": asdict(course.judge.calibration),
        "parts": measure_judge(course.judge, parts),
    }
    text = json.dumps(report, indent=1, default=str)
    (settings.out / "report.json").write_text(text + "\n", encoding="utf-8")
    print(f"{format_report(report)}\n\njudge: {settings.out / 'judge'}")
    return CommandResult(report)


def _counted(episodes: Sequence[LabelledEpisode]) -> dict[str, int]:
    return {
        "episodes": len(episodes),
        "successes": sum(e.success for e in episodes),
        "tasks": len({e.task for e in episodes}),
    }


class _Teller:
    """Prints on standard error how far a stage has progressed, every few seconds."""

    def __init__(self) -> None:
        self._next = 0.0

    def __call__(self, stage: str, done: float, loss: float) -> None:
        now = time.monotonic()
        if now < self._next or is_for_program():
            return
        self._next = now + 5
        print(f"{stage} {min(done, 1):4.0%}  loss {loss:.3f}", file=sys.stderr)
