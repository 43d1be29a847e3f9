"""Why an episode failed: the causes, and what is said of one failure."""

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from webagent.records import Trajectory


class Cause(StrEnum):
    """Where the fault lay. Exactly one a failure; what cannot be told is `UNKNOWN`, not guessed."""

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
    """Neither rules nor, where one was asked, a model could tell."""


@dataclass(frozen=True, slots=True)
class Finding:
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
    """`rules@1`, or the model with its prompt's hash."""


def attribution(trajectory: Trajectory, finding: Finding, source: str) -> Attribution:
    """The finding as what the episode's failure is put down to."""
    return Attribution(
        episode=trajectory.id,
        task=trajectory.task.id,
        site=site_of(trajectory),
        cause=finding.cause,
        kind=finding.kind,
        step=finding.step,
        reason=finding.reason,
        evidence=finding.evidence,
        source=source,
    )


def site_of(trajectory: Trajectory) -> str:
    """The host the task starts on; for a page without one, the benchmark's name."""
    try:
        host = urlsplit(trajectory.task.start_url).hostname
    except ValueError:
        host = None
    return host or trajectory.task.id.split("/", 1)[0]
