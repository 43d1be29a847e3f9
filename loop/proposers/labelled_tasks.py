"""Backward labelling, the tasks: solutions played again, goals written, checks generated."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import unquote_plus

from loop.proposers.goals import (
    TIMESTAMP,
    CompletedActions,
    DatabaseChanges,
    FormSubmission,
    GoalWriter,
    PageFact,
    PageVisit,
    WrittenGoal,
    is_mentioned,
    name_template,
)
from loop.proposers.labelling import TaskCandidate, build_recording, find_entries, find_page_actions
from loop.proposers.territory import Territory
from loop.proposers.verification import EpisodePlayer, PlannedPlay, ProofTask
from tasks.task import Json, Probe, Refusal, Task, TaskCheck, TaskProposal
from webagent.action.actions import Answer
from webagent.policy.policy import ScriptedPolicy, play_actions, replay_recording
from webagent.records import Trajectory

_NAMES_OF_KEYS = re.compile(
    r"^(id|rid|pk|rowid|uuid|guid|hash|.*_uuid|.*hash|.*token|.*nonce)$", re.I
)
_HASH = re.compile(r"^[0-9a-f]{16,}$|^[0-9a-f]{8}-[0-9a-f]{4}-")
_JULIAN_OF_1970 = 2440587.5
_NEAR = timedelta(days=2)
"""A time as near as this to an episode's is taken for the time of writing."""


@dataclass(frozen=True, slots=True)
class SolutionRun:
    """One play of a solution on a fresh instance."""

    changes: DatabaseChanges
    at: datetime
    """When, with its time zone."""


def find_expected_changes(
    first: SolutionRun,
    second: SolutionRun,
    values: Sequence[str],
    idle: DatabaseChanges | None = None,
) -> dict[str, Json]:
    """Return what the rule `changes_are` is to expect; empty where nothing is left.

    These are the tables that hold something of `values`, what was typed or chosen; where none
    does, all in which something stays the same. Of rows only the columns are kept that both runs
    agree in, without what names a row or says when: keys and hashes of new rows, times near the
    run's own. The other tables may change, and so may those in which the runs differ by more than
    columns, and those that change when nothing is done, as `idle` says.
    """
    wanted = {value.casefold() for value in values if value}
    stable = {}
    for table in sorted((first.changes.keys() & second.changes.keys()) - set(idle or {})):
        if rows := _find_stable_rows(first, second, table):
            stable[table] = rows
    cells = {table: _list_cells(rows) for table, rows in stable.items()}
    kept = [t for t in stable if not wanted.isdisjoint(cells[t])] or [t for t in stable if cells[t]]
    if not kept:
        return {}
    others: list[Json] = [*sorted((first.changes.keys() | second.changes.keys()) - set(kept))]
    return {**{table: stable[table] for table in kept}, **({"may": others} if others else {})}


def _find_stable_rows(first: SolutionRun, second: SolutionRun, table: str) -> dict[str, Json]:
    """Return a table's rows by what became of them; empty where the runs have not as many."""
    kept: dict[str, Json] = {}
    for kind in ("added", "removed", "changed"):
        rows = first.changes[table].get(kind, [])
        others = list(second.changes[table].get(kind, []))
        if len(rows) != len(others):
            return {}
        agreeing: list[Json] = []
        for row in rows:
            cells = row.get("after", row).items()
            best = max(others, key=lambda o: sum(o.get("after", o).get(k) == v for k, v in cells))
            others.remove(best)
            agreeing.append(
                _keep_agreeing(row, best, (first.at, second.at), was_there=kind == "removed")
            )
        if agreeing:
            kept[kind] = agreeing
    return kept


def build_page_checks(
    url: str, values: Sequence[str]
) -> tuple[tuple[Probe, ...], tuple[TaskCheck, ...]]:
    """Return checks for a site without a database: what was typed stands on the page after it."""
    probe = Probe("shown", url=url, script="document.body ? document.body.innerText : ''")
    checks = tuple(TaskCheck("shown", "contains", value) for value in values)
    return (probe,), checks


def is_volatile(column: str, value: Json, at: datetime) -> bool:
    """Return whether a column names its row or says when it was written, rather than what."""
    if _NAMES_OF_KEYS.match(column):
        return True
    if isinstance(value, str):
        if _HASH.match(value) or not TIMESTAMP.match(value):
            return bool(_HASH.match(value))
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return False
        return abs(moment.replace(tzinfo=None) - at.replace(tzinfo=None)) < _NEAR
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # Seconds, milli- or microseconds since 1970, or a Julian day.
    moments = (value, value / 1000, value / 1_000_000, (value - _JULIAN_OF_1970) * 86400)
    return any(abs(moment - at.timestamp()) < _NEAR.total_seconds() for moment in moments)


def _keep_agreeing(
    one: Any, two: Any, at: tuple[datetime, datetime], *, was_there: bool
) -> dict[str, Json]:
    """Return the columns that agree; of a changed row those that the change touched.

    What was there before the episode keeps its keys, which are the same in every instance.
    """
    if "before" in one and "after" in one and isinstance(one["after"], Mapping):
        before, after = one["before"], one["after"]
        touched = {key: value for key, value in after.items() if before.get(key) != value}
        kept = _keep_agreeing(touched, two.get("after", {}), at, was_there=False)
        old = _keep_agreeing(before, two["before"], at, was_there=True)
        return {"before": old, "after": kept}
    return {
        column: value
        for column, value in one.items()
        if column in two
        and two[column] == value
        and value is not None
        and not isinstance(value, dict)
        and (was_there or not any(is_volatile(column, value, moment) for moment in at))
    }


def _list_cells(value: Any) -> list[str]:
    """Return the texts of all cells, in one case."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return [cell for each in value for cell in _list_cells(each)]
    return [] if value is None else [str(value).casefold()]


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A candidate with two plays of its cut solution, each on a fresh instance."""

    candidate: TaskCandidate
    plays: tuple[Trajectory | None, Trajectory | None]
    idle: Trajectory | None = None
    """An episode in which nothing was done."""

    @property
    def was_cut(self) -> bool:
        """Whether anything was left out of what was done."""
        return len(self.candidate.steps) < self.candidate.whole

    @property
    def objection(self) -> str:
        """Why it is no solution of anything; empty where both plays did what was done at first."""
        last = self.candidate.page_actions[-1]
        for play in self.plays:
            if play is None:
                return "the world failed every time"
            steps, page = play.steps[:-1], play.steps[-1].observation
            if len(steps) < len(self.candidate.steps):
                return f"played again it ends after {len(steps)} steps: {play.ending}"
            if isinstance(last, PageFact):
                if not any(last.value in (node.name + node.value) for node in page.nodes):
                    return f"played again the page does not say {last.value!r}"
                continue
            done = find_page_actions(steps, page)
            if not done or name_template(done[-1].page_action) != name_template(last):
                outcomes = [step.observation.outcome for step in play.steps]
                failed = [(i, outcome) for i, outcome in enumerate(outcomes) if i and outcome]
                where = f", step {failed[0][0]} had {failed[0][1]!r}" if failed else ""
                return f"played again it does not come to the same{where}"
            if isinstance(last, PageVisit) and page.title != last.title:
                return f"played again the page is {page.title!r}"
        return ""


async def rehearse(
    candidates: Sequence[TaskCandidate], territory: Territory, player: EpisodePlayer, phase: str
) -> list[Rehearsal]:
    """Play the cut solution of each candidate twice, and nothing once."""
    wanted = []
    for index, candidate in enumerate(candidates):
        task = territory.task("rehearsal", "Play again.", index, len(candidate.steps) + 2)
        script = ScriptedPolicy(replay_recording(build_recording(candidate)), name="rehearsal")
        wanted += [PlannedPlay(task, script)] * 2
    if wanted:
        nothing = ScriptedPolicy(play_actions([Answer()]), name="baseline")
        wanted.append(PlannedPlay(territory.task("rehearsal", "Do nothing.", 0, 1), nothing))
    played = await player.play(wanted, phase)
    return [
        Rehearsal(candidate, (played[2 * index], played[2 * index + 1]), played[-1])
        for index, candidate in enumerate(candidates)
    ]


async def write_proposal(
    rehearsed: Rehearsal, territory: Territory, writer: GoalWriter, source: str
) -> ProofTask:
    """Return a proposal of what was just rehearsed, refused where it cannot be told, checked or
    played. Raises `ModelError`."""
    candidate = rehearsed.candidate

    def refuse(filter: str, reason: str, goal: str = "") -> ProofTask:
        task = _build_task(candidate, territory, goal or name_template(candidate.page_actions[-1]))
        refusals = (Refusal(filter, reason),)
        return ProofTask(
            TaskProposal(task, source, f"done in episode {candidate.episode.id}", "", refusals)
        )

    if objection := rehearsed.objection:
        return refuse("feasibility", objection)
    changes, now = [_read_changes(play) for play in rehearsed.plays], datetime.now(UTC)
    runs = [SolutionRun(each, now) for each in changes if each is not None]
    runs = runs if len(runs) == 2 else []
    idle = _read_changes(rehearsed.idle) or {}
    made = {t: rows for t, rows in runs[0].changes.items() if t not in idle} if runs else None
    # The page's address, where both plays ended on the same one.
    urls = {play.steps[-1].observation.url for play in rehearsed.plays if play and play.steps}
    url = urls.pop() if len(urls) == 1 else ""
    story = CompletedActions(candidate.page_actions, made, url)
    written = await writer.write(story)
    if written is None or not written.goal:
        return refuse("validity", "it cannot be told in words")
    checked = _build_checks(candidate, written, story, runs, territory, idle)
    if checked is None:
        return refuse("validity", "it leaves nothing behind that could be checked", written.goal)
    task = replace(
        _build_task(candidate, territory, written.goal),
        checks=checked.checks,
        probes=checked.probes,
    )
    if not checked.needs_changes:
        task = replace(task, records=())
    reason = f"done in episode {candidate.episode.id}, told by {writer.name}"
    return ProofTask(TaskProposal(task, source, reason), build_recording(candidate, written.answer))


@dataclass(frozen=True, slots=True)
class _TaskChecks:
    checks: tuple[TaskCheck, ...]
    probes: tuple[Probe, ...] = ()
    needs_changes: bool = False


def _build_checks(
    candidate: TaskCandidate,
    written: WrittenGoal,
    story: CompletedActions,
    runs: Sequence[SolutionRun],
    territory: Territory,
    idle: DatabaseChanges,
) -> _TaskChecks | None:
    """Return how anyone can tell that it was done: by answer, database, address or page."""
    last = candidate.page_actions[-1]
    typed = [text for _, text in find_entries(candidate.steps) if is_mentioned(text, written.goal)]
    if written.answer:
        return _TaskChecks((TaskCheck("episode.answer", "same_text", written.answer),))
    if story.changes and isinstance(last, FormSubmission):
        expected = find_expected_changes(runs[0], runs[1], typed, idle)
        if expected:
            return _check_changes(candidate, expected, typed, story.url)
    is_in_address = typed and all(is_mentioned(text, unquote_plus(story.url)) for text in typed)
    if isinstance(last, PageVisit) or is_in_address:
        if story.url.split("#")[0] != candidate.episode.task.start_url.split("#")[0]:
            return _TaskChecks((TaskCheck("episode.url", "url_matches", story.url),))
        return None
    if territory.has_database or not typed or not isinstance(last, FormSubmission):
        return None
    probes, checks = build_page_checks(story.url, typed)
    return _TaskChecks(checks, probes)


def _check_changes(
    candidate: TaskCandidate, expected: dict[str, Json], typed: Sequence[str], url: str
) -> _TaskChecks:
    """Return a check of the database, and of the last page for what is not to be read there.

    The page is checked only where it is at the same address in every play and shows what was typed.
    """
    check = TaskCheck("changes", "changes_are", expected)
    lines = " ".join(node.name for node in candidate.last.nodes)
    cells = _list_cells(expected)
    missing = [text for text in typed if text.casefold() not in cells]
    if not missing or not url or not all(text in lines for text in missing):
        return _TaskChecks((check,), needs_changes=True)
    probes, checks = build_page_checks(url, missing)
    return _TaskChecks((check, *checks), probes, needs_changes=True)


def _read_changes(play: Trajectory | None) -> DatabaseChanges | None:
    found = play.evidence.get("changes") if play else None
    return found if isinstance(found, dict) else None


def _build_task(candidate: TaskCandidate, territory: Territory, goal: str) -> Task:
    last = candidate.page_actions[-1]
    match last:
        case FormSubmission():
            kind = "do"
            several = ("several",) if len(candidate.page_actions) > 1 else ()
            skills = ("form" if last.fields else "button", *several)
        case PageVisit():
            kind, skills = "go", ("navigation",)
        case PageFact():
            kind, skills = "ask", ("question",)
    name = f"{kind}-{hashlib.sha256(goal.encode()).hexdigest()[:8]}"
    task = territory.task(name, goal, 0, 2 * len(candidate.steps) + 6)
    template = re.sub(r"[^a-z0-9]+", "-", name_template(last).lower()).strip("-")[:60]
    return replace(task, template=template, skills=skills)
