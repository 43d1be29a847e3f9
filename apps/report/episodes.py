"""A few episodes as they were played: what was asked, what was seen, what was done."""

from collections.abc import Iterable, Sequence

from apps.report.markup import Markup, tag
from loop.summary import Summary
from loop.summary.format import choose_headline_arm
from loop.summary.measure import task_name
from webagent.action import format_action
from webagent.observation import render
from webagent.records import Score, Step, Trajectory
from webagent.store import EpisodeSummary, Store, Where

_FAILURES = 3
_PAGE_TOKENS = 700
_STEPS = 12
"""Most steps shown of one episode."""


def examples(summary: Summary, store: Store) -> Markup:
    """One success and some failures of the headline arm's last round."""
    arm = choose_headline_arm(summary)
    number = arm["rounds"][-1]["round"]
    where = Where(arm=arm["name"], round=number, phase="evaluate")
    scores = _frozen(summary, store.scores(**where))
    entries = [entry for entry in store.entries(**where) if entry.id in scores]
    chosen = _chosen(entries, scores)
    shown = [
        _episode(trajectory, scores[trajectory.id], is_open=place == 0)
        for place, entry in enumerate(chosen)
        if (trajectory := store.load(entry.id))
    ]
    return Markup("".join(shown))


def _frozen(summary: Summary, scores: dict[str, tuple[Score, ...]]) -> dict[str, Score]:
    """The frozen judge's headline score of each episode that has one."""
    return {
        episode: score
        for episode, given in scores.items()
        for score in given
        if score.name == "success"
        and score.evaluator in summary["judge"]
        and score.value is not None
    }


def _chosen(entries: Sequence[EpisodeSummary], scores: dict[str, Score]) -> list[EpisodeSummary]:
    """The longest success, then failures of different tasks, those with most steps first."""
    by_steps = sorted(entries, key=lambda entry: (-entry.steps, entry.task, entry.seed))
    successes = [entry for entry in by_steps if scores[entry.id].value == 1.0]
    failures = [entry for entry in by_steps if scores[entry.id].value != 1.0]
    return [*successes[:1], *_of_different_tasks(failures)[:_FAILURES]]


def _of_different_tasks(entries: Iterable[EpisodeSummary]) -> list[EpisodeSummary]:
    first: dict[str, EpisodeSummary] = {}
    for entry in entries:
        first.setdefault(task_name(entry.task), entry)
    return list(first.values())


def _episode(trajectory: Trajectory, score: Score, *, is_open: bool) -> Markup:
    succeeded = score.value == 1.0
    verdict = "success" if succeeded else "failure"
    head = tag(
        "summary",
        tag("b", trajectory.task.name),
        tag("span", verdict, class_=f"verdict {'good' if succeeded else 'bad'}"),
        tag("span", trajectory.goal, class_="goal"),
    )
    steps = [_step(number, step) for number, step in enumerate(trajectory.steps[:_STEPS], start=1)]
    left_out = len(trajectory.steps) - len(steps)
    more = [tag("p", f"{left_out} more steps")] if left_out else []
    repeat = trajectory.provenance.repeat
    end = (
        f"Seed {trajectory.task.seed}, repeat {repeat}, {len(trajectory.steps)} steps; "
        f"ended: {trajectory.ending}. {score.evaluator}: {score.reason}."
    )
    body = tag("div", steps, more, tag("p", end, class_="soft"), class_="steps")
    return tag("details", head, body, open=is_open)


def _step(number: int, step: Step) -> Markup:
    source = "" if step.decision.source == "policy" else f"  ({step.decision.source})"
    return tag(
        "div",
        tag("pre", render(step.observation, max_tokens=_PAGE_TOKENS)),
        tag(
            "p",
            tag("span", f"{number}", class_="number"),
            tag("code", format_action(step.decision.action)),
            tag("span", source, class_="soft"),
            class_="action",
        ),
        class_="step",
    )
