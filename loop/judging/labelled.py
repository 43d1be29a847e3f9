"""Labels brought to the episodes of a run, and what evaluators said set beside them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from evaluators.labels import Label
from webagent.errors import SetupError
from webagent.store import Store
from webagent.store.store import EpisodeSummary


def placed(
    labels: Sequence[Label], entries: Sequence[EpisodeSummary], *, ignore_unknown: bool
) -> tuple[list[Label], int]:
    """The labels under the ids of the run's episodes, with their tasks, and how many found none.

    An episode is found by its id, else by task and agent where one episode alone has them. Raises
    `SetupError` for labels of episodes that the run has not, unless they are to be ignored, and
    when none is left.
    """
    by_id = {entry.id: entry for entry in entries}
    by_task: defaultdict[tuple[str, str], list[EpisodeSummary]] = defaultdict(list)
    for entry in entries:
        for name in _names(entry.task):
            by_task[name, entry.arm].append(entry)
    found: list[Label] = []
    unknown: list[str] = []
    for label in labels:
        there = by_task.get((label.task, label.agent), []) if label.task else []
        meant = by_id.get(label.episode) or (there[0] if len(there) == 1 else None)
        if meant is None:
            unknown.append(label.episode)
        else:
            found.append(_about(label, meant))
    if not found or (unknown and not ignore_unknown):
        raise _unknown(unknown, len(labels), by_id)
    return found, len(unknown)


def values_of(store: Store, score: str = "success") -> dict[str, dict[str, float | None]]:
    """What each evaluator said of each episode, by evaluator and episode."""
    values: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
    for episode, scores in store.scores().items():
        for one in scores:
            if one.name == score:
                values[one.evaluator][episode] = one.value
    return dict(values)


def _about(label: Label, entry: EpisodeSummary) -> Label:
    benchmark, _, _ = entry.task.rpartition("/")
    return replace(
        label,
        episode=entry.id,
        benchmark=label.benchmark or benchmark,
        agent=label.agent or entry.arm,
        task=label.task or entry.task,
    )


def _names(task: str) -> set[str]:
    """What label files call a task: `webarena/7@1` is also `webarena/7`, `webarena.7` and `7`."""
    bare = task.split("@", 1)[0]
    return {task, bare, bare.replace("/", ".", 1), bare.rsplit("/", 1)[-1]}


def _unknown(unknown: Sequence[str], total: int, known: dict[str, EpisodeSummary]) -> SetupError:
    shown = ", ".join(map(repr, unknown[:3])) + (", …" if len(unknown) > 3 else "")
    close = get_close_matches(unknown[0], list(known), n=1) if unknown else []
    hint = (
        f"did you mean {close[0]!r}?"
        if close
        else f"the run's are such as {next(iter(known), 'none')!r}"
    )
    return SetupError(
        f"{len(unknown)} of {total} labels are of episodes that this run has not: {shown}; {hint}"
        " (--ignore-unknown leaves them out where others fit)"
    )
