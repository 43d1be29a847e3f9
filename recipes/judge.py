"""`webagent judge`: verify, freeze, score, and compare with labels."""

import shlex
import sys
from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from loop.console.output import CommandResult, Status, run_until_stopped
from loop.costs import load_prices
from loop.judging.run import JudgingRun
from loop.judging.settings import JudgeConfig
from recipes.settings import resolve
from webagent.store import Store


class Judgements(TypedDict):
    """The results; `agreement.json` contains them if labels were given."""

    run: str
    costs: dict[str, Any]
    """Per evaluator, over all sessions: what it judged, requested and spent."""
    stopped: str
    """Why the run stopped early; empty if it did not."""
    adversarial: NotRequired[list[dict[str, Any]]]
    """With `--adversarial`: the pass rates of each evaluator."""
    evaluators: NotRequired[dict[str, Any]]
    """With `--against`, like all that follow: agreement of each evaluator with the labels."""
    compared: NotRequired[list[dict[str, Any]]]
    """Pairwise comparisons of evaluators."""
    people: NotRequired[dict[str, Any] | None]
    """Agreement among the annotators."""
    labels: NotRequired[str]
    """Source of the labels."""
    labelled: NotRequired[int]
    """Number of labelled episodes used."""
    successes: NotRequired[int]
    disputed: NotRequired[list[str]]
    unsure: NotRequired[list[str]]
    several_annotators: NotRequired[str]
    """Rule for episodes with several annotators."""
    ignored_labels: NotRequired[int]


def main(argv: Sequence[str]) -> CommandResult:
    """Judge; stopped if a cap was reached first, which is printed."""
    config = resolve(JudgeConfig, "judge", argv)
    config.check()
    with Store.open(config.run) as store:
        session = JudgingRun(config, store, load_prices())
        again = shlex.join(["webagent", "judge", *argv])
        run_until_stopped(session.judge(), "what was judged is kept", again)
        report = session.tell()
    if session.left_undone:
        print(
            f"webagent: stopped before its end: {session.left_undone}; what was judged is kept, and"
            " the same command with a higher cap goes on",
            file=sys.stderr,
        )
    return CommandResult(report, Status.STOPPED if session.left_undone else Status.DONE)
