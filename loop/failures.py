"""Why a run's episodes failed: read from its attribution.json, else attributed by rules."""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from evaluators.attribution import Attribution, FailureSummary, attribute, has_failed, summarize
from loop.arms import ARMS
from loop.notes import choose_judge, read_judge_id
from webagent.errors import StoreError
from webagent.records import is_of_policy
from webagent.store import Store

FILE = "attribution.json"
COLUMNS = ("cause", "failures", "share", "kinds", "tasks", "sites", "see")
_SHOWN = 3
"""Kinds, tasks and sites named in one cell."""


class _Placed(Protocol):
    @property
    def phase(self) -> str: ...
    @property
    def arm(self) -> str: ...
    @property
    def round(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FailureScope:
    """The episodes whose failures say what to fix."""

    phase: str = ""
    """Empty for all."""
    arm: str = ""
    """The arm that learns, in a run that compares arms; empty for all."""
    round: int = 0
    """The last one of this arm."""

    def has(self, place: _Placed) -> bool:
        """Return whether an episode of this place belongs to them."""
        return self.phase in ("", place.phase) and (
            not self.arm or (place.arm, place.round) == (self.arm, self.round)
        )

    def name(self) -> str:
        """Return what they are called in sentences."""
        return name_episodes(self.phase) + (f" of {self.arm}" if self.arm else "")

    def filter(self) -> str:
        """Return the viewer's filter that chooses them; empty for all."""
        of_arm = f" arm:{self.arm} round:{self.round}" if self.arm else ""
        return f" phase:{self.phase}{of_arm}" if self.phase else of_arm


def choose_phase(phases: Collection[str]) -> str:
    """Return the phase whose failures say what to fix: evaluation where there is any, else all."""
    return "evaluate" if "evaluate" in phases else ""


def choose_episodes(places: Iterable[_Placed], phase: str = "") -> FailureScope:
    """Return the episodes of a phase whose failures say what to fix.

    In a run that compares arms these are the last of the arm that learns: what `none` and `control`
    do wrong is not to be fixed.
    """
    places = list(places)
    phase = phase or choose_phase({place.phase for place in places})
    rounds: dict[str, int] = {}
    for place in places:
        if place.phase == phase:
            rounds[place.arm] = max(place.round, rounds.get(place.arm, 0))
    if phase != "evaluate" or len(rounds) < 2 or not rounds.keys() <= ARMS.keys():
        return FailureScope(phase)
    arm = "self" if "self" in rounds else max(rounds, key=list(ARMS).index)
    return FailureScope(phase, arm, rounds[arm])


def name_episodes(phase: str) -> str:
    """Return what the episodes of a phase are called in sentences."""
    return {"": "episodes", "evaluate": "evaluation episodes"}.get(phase, f"{phase} episodes")


def summarize_failures(run: Path) -> FailureSummary:
    """Summarize the failures that say what to fix, by the rules and by attribution.json.

    Raises `StoreError`.
    """
    written = read_written(run)
    found, _, chosen = attribute_failures(run)
    return summarize([written.get(one.episode, one) for one in found], chosen.name())


def read_written(run: Path) -> dict[str, Attribution]:
    """Return the content of attribution.json, by episode; empty if it does not exist.

    Raises `StoreError` if it is unreadable.
    """
    if not (run / FILE).is_file():
        return {}
    return {one.episode: one for one in read_attributions(run / FILE)}


def attribute_failures(
    run: Path, phase: str = "", trusted: str = ""
) -> tuple[list[Attribution], int, FailureScope]:
    """Return the cause that the rules give for each failure, the number of episodes with a verdict,
    and which episodes they are of: those of `choose_episodes`.

    Evaluators whose ids start with `trusted` count as ground truth, by default the judge of the
    run. Raises `StoreError`.
    """
    found, scored = [], 0
    with Store.open(run) as store:
        chosen = choose_episodes(store.entries("finished"), phase)
        where: dict[str, Any] = {"phase": chosen.phase} if chosen.phase else {}
        scores = store.scores("any", **where)
        trusted = trusted or choose_judge(read_judge_id(store), scores)
        for episode in store.trajectories("finished", **where):
            place = episode.provenance
            # Baselines count for whoever names their phase.
            if not chosen.has(place) or not (
                is_of_policy(place.phase, place.world) or place.phase == chosen.phase
            ):
                continue
            given = scores.get(episode.id, ())
            failed = has_failed(episode, given, trusted)
            scored += failed or any(
                score.name == "success" and score.value is not None for score in given
            )
            if failed:
                found.append(attribute(episode, given, trusted=trusted))
    return found, scored, chosen


def read_attributions(path: Path) -> list[Attribution]:
    """Return the stored attributions. Raises `StoreError`."""
    from pydantic import TypeAdapter, ValidationError

    try:
        stored = json.loads(path.read_text(encoding="utf-8"))["failures"]
        return TypeAdapter(list[Attribution]).validate_python(stored)
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise StoreError(
            f"{path} cannot be read ({error}); write it again with `webagent report --failures`"
        ) from error


def format_rows(summary: FailureSummary) -> list[tuple[str, ...]]:
    """Return a row under `COLUMNS` for every cause."""
    return [
        (
            str(row.cause),
            str(row.count),
            f"{row.share.value:.0%} ({row.share.low:.0%} to {row.share.high:.0%})",
            format_counts(row.kinds),
            format_task_counts(row.by_task),
            format_counts(row.by_site),
            row.examples[0],
        )
        for row in summary.causes
    ]


def format_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Return the first names with their counts, and how many more there are."""
    shown = [f"{name or 'none'} {count}" for name, count in counts[:_SHOWN]]
    more = len(counts) - len(shown)
    return ", ".join([*shown, f"{more} more"] if more > 0 else shown)


def format_task_counts(counts: Sequence[tuple[str, int]]) -> str:
    """Return the first tasks with their counts, by their ids."""
    return format_counts([(task.rsplit("/", 1)[-1].split("@", 1)[0], n) for task, n in counts])
