"""Why a run's episodes failed: read from its attribution.json, else attributed by rules."""

import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from evaluators.attribution import Attribution, FailureSummary, attribute, has_failed, summarize
from loop.notes import choose_judge, read_judge_id
from webagent.errors import StoreError
from webagent.records import is_of_policy
from webagent.store import Store

FILE = "attribution.json"
COLUMNS = ("cause", "failures", "share", "kinds", "tasks", "sites", "see")
_SHOWN = 3
"""Kinds, tasks and sites named in one cell."""


def choose_phase(phases: Collection[str]) -> str:
    """Return the phase whose failures say what to fix: evaluation where there is any, else all."""
    return "evaluate" if "evaluate" in phases else ""


def name_episodes(phase: str) -> str:
    """Return what the episodes of a phase are called in sentences."""
    return {"": "episodes", "evaluate": "evaluation episodes"}.get(phase, f"{phase} episodes")


def summarize_failures(run: Path) -> FailureSummary:
    """Summarize the failures that say what to fix, by the rules and by attribution.json.

    Raises `StoreError`.
    """
    written = read_written(run)
    found, _, phase = attribute_failures(run)
    return summarize([written.get(one.episode, one) for one in found], name_episodes(phase))


def read_written(run: Path) -> dict[str, Attribution]:
    """Return the content of attribution.json, by episode; empty if it does not exist.

    Raises `StoreError` if it is unreadable.
    """
    if not (run / FILE).is_file():
        return {}
    return {one.episode: one for one in read_attributions(run / FILE)}


def attribute_failures(
    run: Path, phase: str = "", trusted: str = ""
) -> tuple[list[Attribution], int, str]:
    """Return the cause that the rules give for each failure, the number of episodes with a verdict,
    and the phase they are of.

    Covers one phase, by default that of `choose_phase`; evaluators whose ids start with `trusted`
    count as ground truth, by default the judge of the run. Raises `StoreError`.
    """
    found, scored = [], 0
    with Store.open(run) as store:
        phase = phase or choose_phase({entry.phase for entry in store.entries("finished")})
        where: dict[str, Any] = {"phase": phase} if phase else {}
        scores = store.scores("any", **where)
        trusted = trusted or choose_judge(read_judge_id(store), scores)
        for episode in store.trajectories("finished", **where):
            place = episode.provenance
            # Baselines count for whoever names their phase.
            if not is_of_policy(place.phase, place.world) and place.phase != phase:
                continue
            given = scores.get(episode.id, ())
            failed = has_failed(episode, given, trusted)
            scored += failed or any(
                score.name == "success" and score.value is not None for score in given
            )
            if failed:
                found.append(attribute(episode, given, trusted=trusted))
    return found, scored, phase


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
