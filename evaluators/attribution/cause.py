"""Causes of failure, and the counts of a run's failures by cause."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from evaluators.statistics import Interval, wilson
from webagent.records import Trajectory


class Cause(StrEnum):
    """Where the fault lay. Exactly one a failure; what is not clear is `UNKNOWN`, not guessed."""

    ENVIRONMENT = "environment"
    """Browser, network, model server or the site itself broke."""
    ACCESS = "access"
    """The site kept the agent out: captcha, login, paywall, block."""
    GUARD = "guard"
    """A limit set by the user stood in the way."""
    OBSERVATION = "observation"
    """What was needed was on the page and not in what the agent was shown."""
    GROUNDING = "grounding"
    """The right intent met the wrong element, none, or with a value that stands nowhere."""
    PLANNING = "planning"
    """The wrong thing was tried, again and again, too early or too long."""
    MEMORY = "memory"
    """What had been seen earlier was lost or changed on the way."""
    JUDGE = "judge"
    """The verdict is in doubt: evaluators disagree, or the check could not be made."""
    UNKNOWN = "unknown"
    """No rule could tell."""


@dataclass(frozen=True, slots=True)
class CauseFinding:
    """One sign of a cause."""

    cause: Cause
    kind: str
    """Finer than the cause, as `wrong twin` or `loop`."""
    step: int | None
    """Index of the step where it went wrong; None where no step is to blame or none is known."""
    reason: str
    evidence: tuple[str, ...] = ()
    """What shows it: lines of pages, outcomes, values."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """What one failure is put down to."""

    episode: str
    """The episode's id."""
    task: str
    """The task's versioned id."""
    site: str
    cause: Cause
    kind: str
    step: int | None
    """Index of the step where it went wrong."""
    reason: str
    evidence: tuple[str, ...] = ()
    source: str = ""
    """The rules' version, as `rules@1`."""


def build_attribution(trajectory: Trajectory, finding: CauseFinding, source: str) -> Attribution:
    """Return the finding as what the episode's failure is put down to."""
    try:
        host = urlsplit(trajectory.task.start_url).hostname
    except ValueError:
        host = None
    return Attribution(
        episode=trajectory.id,
        task=trajectory.task.id,
        # A page without a host goes by the benchmark's name.
        site=host or trajectory.task.id.split("/", 1)[0],
        cause=finding.cause,
        kind=finding.kind,
        step=finding.step,
        reason=finding.reason,
        evidence=finding.evidence,
        source=source,
    )


REMEDIES: dict[tuple[Cause, str], str] = {
    (Cause.ENVIRONMENT, "world failed"): "find out why the browser fails, or retry more often",
    (Cause.ENVIRONMENT, "model failed"): "look at the model server and its limits",
    (Cause.ENVIRONMENT, ""): "mend or replace the site, and play these episodes again",
    (Cause.ACCESS, "login"): "log in once with `webagent login` and play with that profile",
    (Cause.ACCESS, "captcha"): "",
    (Cause.ACCESS, "paywall"): "",
    (Cause.ACCESS, ""): "use a login or an address that the site trusts, or leave the site out",
    (Cause.GUARD, ""): "widen the guard's policy where the task needs it, or change the task",
    (Cause.OBSERVATION, "cut"): "show the agent more of the page",
    (Cause.OBSERVATION, ""): "show pages in another form, such as `--observation` with screenshots",
    (Cause.GROUNDING, "wrong twin"): "train on choosing among elements that look alike",
    (Cause.GROUNDING, "wrong change"): "train on successes of these tasks; undo what was changed",
    (Cause.GROUNDING, "could not be done"): "hold replies to the actions the page takes"
    " (`--prompt constrained`), or train on them",
    (Cause.GROUNDING, ""): "train on which element and which value an instruction means",
    (Cause.PLANNING, "loop"): "have loops noticed (`--prompt loops`), and leave redundant steps"
    " out of training",
    (Cause.PLANNING, "step limit"): "allow more steps, or train on shorter ways",
    (Cause.PLANNING, "unreadable"): "constrain replies (`--prompt constrained`)",
    (Cause.PLANNING, ""): "train on successes of these tasks, or have a plan made first",
    (Cause.MEMORY, ""): "keep notes or a longer history in the prompt",
    (Cause.JUDGE, "uncaptured"): "mend what captures the evidence, and score again",
    (Cause.JUDGE, "no check"): "name who decides (`webagent judge RUN --with JUDGE`)",
    (Cause.JUDGE, ""): "have a person look at these episodes, and mend check or judge",
}
"""What can be done, by cause and kind, `""` for every other kind; empty where nothing can here."""


@dataclass(frozen=True, slots=True)
class CauseCount:
    """How many failures one cause has."""

    cause: Cause
    count: int
    share: Interval
    """Of all failures, with its Wilson interval."""
    kinds: tuple[tuple[str, int], ...]
    """Kinds with their counts, the most frequent first."""
    by_task: tuple[tuple[str, int], ...]
    by_site: tuple[tuple[str, int], ...]
    examples: tuple[str, ...]
    """Ids of some of its episodes, of different tasks as far as there are."""


@dataclass(frozen=True, slots=True)
class FailureSummary:
    """A run's failures by cause."""

    failures: int
    causes: tuple[CauseCount, ...]
    """The most frequent first; `unknown` is one of them, counted like the others."""
    first: str
    """What to fix first, in one sentence; empty where there are no failures."""

    @property
    def unknown(self) -> int:
        """How many failures could not be put down to anything."""
        return sum(row.count for row in self.causes if row.cause is Cause.UNKNOWN)


def summarize(attributions: Iterable[Attribution], episodes: str = "episodes") -> FailureSummary:
    """Return counts for each cause with intervals, by task and by site, and what to fix first.

    `episodes` says which ones they are of.
    """
    failures = list(attributions)
    total = len(failures)
    rows = []
    counts = Counter(one.cause for one in failures)
    for cause, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        found = [one for one in failures if one.cause is cause]
        rows.append(
            CauseCount(
                cause=cause,
                count=count,
                share=Interval(count / total, *wilson(count, total)),
                kinds=_count_values(one.kind for one in found),
                by_task=_count_values(one.task for one in found),
                by_site=_count_values(one.site for one in found),
                examples=_choose_examples(found),
            )
        )
    mendable = [one for one in failures if find_remedy(one.cause, one.kind)]
    if not mendable:
        nothing = f"None of the {total} failures has a cause that can be mended from here."
        return FailureSummary(total, tuple(rows), nothing if failures else "")
    # The cause with most failures that something can be done about.
    counts = Counter(one.cause for one in mendable)
    cause = min(counts, key=lambda one: (-counts[one], one))
    chosen = [one for one in mendable if one.cause is cause]
    [(kind, most), *_] = _count_values(one.kind for one in chosen)
    low, high = wilson(len(chosen), total)
    often = f", most often {kind} ({most})" if kind else ""
    named = ", ".join(_choose_examples([one for one in chosen if one.kind == kind]))
    first = (
        f"Fix {cause} first: {len(chosen)} of {total} {episodes} without success"
        f" ({len(chosen) / total:.0%}, {low:.0%} to {high:.0%}){often};"
        f" {find_remedy(cause, kind)}. See {named}."
    )
    return FailureSummary(total, tuple(rows), first)


def find_remedy(cause: Cause, kind: str) -> str:
    """Return what can be done about it; empty where nothing can be done from here."""
    return REMEDIES.get((cause, kind), REMEDIES.get((cause, ""), ""))


def _count_values(values: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _choose_examples(found: Sequence[Attribution]) -> tuple[str, ...]:
    """Return three episodes, of different tasks as far as there are."""
    by_task: dict[str, str] = {}
    for one in found:
        by_task.setdefault(one.task, one.episode)
    others = [one.episode for one in found if one.episode not in by_task.values()]
    return tuple([*by_task.values(), *others][:3])
