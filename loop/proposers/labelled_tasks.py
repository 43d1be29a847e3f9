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
    PageAction,
    PageFact,
    PageVisit,
    WrittenGoal,
    is_mentioned,
    name_template,
)
from loop.proposers.labelling import TaskCandidate, build_recording, find_entries, find_page_actions
from loop.proposers.territory import Territory
from loop.proposers.verification import EpisodePlayer, PlannedPlay, ProofTask
from tasks.proposal import Proposal, Refusal
from tasks.task import Check, Json, Probe, Task
from webagent.action.actions import Answer
from webagent.policy.policy import ScriptedPolicy, play_actions, replay_recording
from webagent.records import Trajectory

_NAMES_OF_KEYS = re.compile(
    r"^(id|rid|pk|rowid|uuid|guid|hash|.*_uuid|.*hash|.*token|.*nonce)$", re.I
)
_HASH = re.compile(r"^[0-9a-f]{16,}$|^[0-9a-f]{8}-[0-9a-f]{4}-")
_JULIAN_OF_1970 = 2440587.5
_NEAR = timedelta(days=2)


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
    """What the rule `changes_are` is to expect: the tables that hold something of `values`, what
    was typed or chosen; where none does, all in which something stays the same.

    Of rows only the columns are kept that both plays agree in, without what names a row or says
    when: keys and hashes of new rows, times near the play's own. The other tables may change, and
    so may those in which the plays differ by more than columns, and those that change when nothing
    is done, as `idle` says. Empty where nothing is left.
    """
    wanted = {value.casefold() for value in values if value}
    stable = {}
    for table in sorted((first.changes.keys() & second.changes.keys()) - set(idle or {})):
        if rows := _find_stable_rows(first, second, table):
            stable[table] = rows
    telling = [
        t for t, rows in stable.items() if any(_cell_text(c) in wanted for c in _list_cells(rows))
    ]
    kept = telling or [t for t, rows in stable.items() if _list_cells(rows)]
    if not kept:
        return {}
    others: list[Json] = [*sorted((first.changes.keys() | second.changes.keys()) - set(kept))]
    return {**{table: stable[table] for table in kept}, **({"may": others} if others else {})}


def _find_stable_rows(first: SolutionRun, second: SolutionRun, table: str) -> dict[str, Json]:
    """The rows of a table by what became of them; empty where the plays have not as many."""
    one, two = first.changes[table], second.changes[table]
    kept: dict[str, Json] = {}
    for kind in ("added", "removed", "changed"):
        rows, others = one.get(kind, []), two.get(kind, [])
        if len(rows) != len(others):
            return {}
        if rows:
            at, was_there = (first.at, second.at), kind == "removed"
            kept[kind] = [_keep_agreeing(a, b, at, was_there) for a, b in _pair_rows(rows, others)]
    return kept


def contains_cell(changes: Json, text: str) -> bool:
    """Whether a cell of the changes is this text."""
    return any(_cell_text(cell) == text.casefold() for cell in _list_cells(changes))


def build_page_checks(
    url: str, values: Sequence[str]
) -> tuple[tuple[Probe, ...], tuple[Check, ...]]:
    """For a site without a database: what was typed stands on the page that came of it."""
    probe = Probe("shown", url=url, script="document.body ? document.body.innerText : ''")
    checks = tuple(Check("shown", "contains", value) for value in values)
    return (probe,), checks


def is_volatile(column: str, value: Json, at: datetime) -> bool:
    """Whether a column names its row or says when it was written, rather than what."""
    if _NAMES_OF_KEYS.match(column):
        return True
    if isinstance(value, str):
        return bool(_HASH.match(value)) or _is_near(value, at)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    seconds = at.timestamp()
    day = _NEAR.total_seconds()
    moments = (value, value / 1000, value / 1_000_000, (value - _JULIAN_OF_1970) * 86400)
    return any(abs(moment - seconds) < day for moment in moments)


def _is_near(text: str, at: datetime) -> bool:
    if not TIMESTAMP.match(text):
        return False
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return False
    return abs(moment.replace(tzinfo=None) - at.replace(tzinfo=None)) < _NEAR


def _keep_agreeing(
    one: Any, two: Any, at: tuple[datetime, datetime], was_there: bool
) -> dict[str, Json]:
    """The columns that agree; of a changed row those that the change touched, and before it all.

    What was there before the episode keeps its keys, which are the same in every instance.
    """
    if "before" in one and "after" in one and isinstance(one["after"], Mapping):
        before, after = one["before"], one["after"]
        touched = {key: value for key, value in after.items() if before.get(key) != value}
        kept = _keep_agreeing(touched, two.get("after", {}), at, False)
        old = _keep_agreeing(before, two["before"], at, True)
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


def _pair_rows(rows: Sequence[Any], others: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Each row with the one most like it among the others."""
    left = list(others)
    pairs = []
    for row in rows:
        best = max(range(len(left)), key=lambda index: _likeness(row, left[index]))
        pairs.append((row, left.pop(best)))
    return pairs


def _likeness(one: Any, two: Any) -> int:
    a, b = one.get("after", one), two.get("after", two)
    return sum(b.get(column) == value for column, value in a.items())


def _list_cells(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [cell for each in value.values() for cell in _list_cells(each)]
    if isinstance(value, list):
        return [cell for each in value for cell in _list_cells(each)]
    return [] if value is None else [value]


def _cell_text(cell: Any) -> str:
    return str(cell).casefold()


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
        return self.candidate.length < self.candidate.whole

    @property
    def objection(self) -> str:
        """Why it is no solution of anything; empty where both plays did what was done at first."""
        for play in self.plays:
            if play is None:
                return "the world failed every time"
            steps = play.steps[:-1]
            if len(steps) < self.candidate.length:
                return f"played again it ends after {len(steps)} steps: {play.ending}"
            failed = [i for i, step in enumerate(play.steps) if i and step.observation.outcome]
            told = [t.page_action for t in find_page_actions(steps, play.steps[-1].observation)]
            last = self.candidate.page_actions[-1]
            if not isinstance(last, PageFact) and (
                not told or name_template(told[-1]) != name_template(last)
            ):
                at = failed[0] if failed else 0
                said = f", step {at} had {play.steps[at].observation.outcome!r}" if at else ""
                return f"played again it does not come to the same{said}"
            if isinstance(last, PageVisit) and play.steps[-1].observation.title != last.title:
                return f"played again the page is {play.steps[-1].observation.title!r}"
            if isinstance(last, PageFact) and not any(
                last.value in (node.name + node.value) for node in play.steps[-1].observation.nodes
            ):
                return f"played again the page does not say {last.value!r}"
        return ""


async def rehearse(
    candidates: Sequence[TaskCandidate], territory: Territory, player: EpisodePlayer, phase: str
) -> list[Rehearsal]:
    """Play the cut solution of each candidate twice."""
    wanted = []
    for index, candidate in enumerate(candidates):
        task = territory.task("rehearsal", "Play again.", index, candidate.length + 2)
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
    rehearsed: Rehearsal,
    territory: Territory,
    writer: GoalWriter,
    source: str,
    at: datetime | None = None,
) -> ProofTask:
    """A proposal of what was rehearsed, refused where it cannot be told, checked or played again.

    `at` is when the plays were, for columns that tell the time; now where it is not given. Raises
    `ModelError`.
    """
    candidate = rehearsed.candidate
    if said := rehearsed.objection:
        return _refuse(candidate, territory, source, Refusal("feasibility", said))
    plays = _list_runs(rehearsed, at or datetime.now(UTC))
    idle = (_read_changes(rehearsed.idle) if rehearsed.idle else None) or {}
    made = {t: rows for t, rows in plays[0].changes.items() if t not in idle} if plays else None
    story = CompletedActions(candidate.page_actions, made, _find_last_url(rehearsed))
    written = await writer.write(story)
    if written is None or not written.goal:
        return _refuse(
            candidate, territory, source, Refusal("validity", "it cannot be told in words")
        )
    checked = _build_checks(candidate, written, story, plays, territory, idle)
    if checked is None:
        said = "it leaves nothing behind that could be checked"
        return _refuse(candidate, territory, source, Refusal("validity", said), written.goal)
    task = replace(
        _build_task(candidate, territory, written.goal),
        checks=checked.checks,
        probes=checked.probes,
    )
    if not checked.needs_changes:
        task = replace(task, records=())
    reason = f"done in episode {candidate.episode.id}, told by {writer.name}"
    return ProofTask(Proposal(task, source, reason), build_recording(candidate, written.answer))


@dataclass(frozen=True, slots=True)
class _TaskChecks:
    checks: tuple[Check, ...]
    probes: tuple[Probe, ...] = ()
    needs_changes: bool = False


def _build_checks(
    candidate: TaskCandidate,
    written: WrittenGoal,
    story: CompletedActions,
    plays: Sequence[SolutionRun],
    territory: Territory,
    idle: DatabaseChanges,
) -> _TaskChecks | None:
    """How anyone can tell that it was done: by answer, database, address or page."""
    last = candidate.page_actions[-1]
    typed = [text for _, text in find_entries(candidate.steps) if is_mentioned(text, written.goal)]
    if written.answer:
        return _TaskChecks((Check("episode.answer", "same_text", written.answer),))
    if story.changes and isinstance(last, FormSubmission):
        expected = find_expected_changes(plays[0], plays[1], typed, idle)
        if expected:
            return _check_changes(candidate, expected, typed, story.url)
    if isinstance(last, PageVisit) or (
        all((text.casefold() in unquote_plus(story.url).casefold()) for text in typed) and typed
    ):
        if story.url.split("#")[0] != candidate.episode.task.start_url.split("#")[0]:
            return _TaskChecks((Check("episode.url", "url_matches", story.url),))
        return None
    if territory.has_database or not typed or not isinstance(last, FormSubmission):
        return None
    probes, checks = build_page_checks(story.url, typed)
    return _TaskChecks(checks, probes)


def _check_changes(
    candidate: TaskCandidate, expected: dict[str, Json], typed: Sequence[str], url: str
) -> _TaskChecks:
    """By the database, and for what was typed and is not to be read there by the last page, where
    that is at the same address in every play and shows it."""
    check = Check("changes", "changes_are", expected)
    lines = " ".join(node.name for node in candidate.last.nodes)
    missing = [text for text in typed if not contains_cell(expected, text)]
    if not missing or not url or not all(text in lines for text in missing):
        return _TaskChecks((check,), needs_changes=True)
    probes, checks = build_page_checks(url, missing)
    return _TaskChecks((check, *checks), probes, needs_changes=True)


def _list_runs(rehearsed: Rehearsal, at: datetime) -> list[SolutionRun]:
    """The two plays with what they left in the database; empty where that is not known."""
    found = [_read_changes(play) for play in rehearsed.plays if play is not None]
    return (
        [SolutionRun(each, at) for each in found if each is not None] if None not in found else []
    )


def _read_changes(play: Trajectory) -> DatabaseChanges | None:
    found = play.evidence.get("changes")
    return found if isinstance(found, dict) else None


def _build_task(candidate: TaskCandidate, territory: Territory, goal: str) -> Task:
    name = (
        f"{_name_kind(candidate.page_actions[-1])}-{hashlib.sha256(goal.encode()).hexdigest()[:8]}"
    )
    task = territory.task(name, goal, 0, 2 * candidate.length + 6)
    template = re.sub(r"[^a-z0-9]+", "-", name_template(candidate.page_actions[-1]).lower()).strip(
        "-"
    )[:60]
    return replace(task, template=template, skills=_list_skills(candidate.page_actions))


def _name_kind(page_action: PageAction) -> str:
    return {FormSubmission: "do", PageVisit: "go", PageFact: "ask"}[type(page_action)]


def _list_skills(page_actions: Sequence[PageAction]) -> tuple[str, ...]:
    last = page_actions[-1]
    if isinstance(last, FormSubmission):
        several = ("several",) if len(page_actions) > 1 else ()
        return ("form", *several) if last.fields else ("button", *several)
    return ("question",) if isinstance(last, PageFact) else ("navigation",)


def _refuse(
    candidate: TaskCandidate, territory: Territory, source: str, refusal: Refusal, goal: str = ""
) -> ProofTask:
    task = _build_task(candidate, territory, goal or name_template(candidate.page_actions[-1]))
    proposal = Proposal(task, source, f"done in episode {candidate.episode.id}", "", (refusal,))
    return ProofTask(proposal)


def _find_last_url(rehearsed: Rehearsal) -> str:
    """The address that both plays ended on; empty where they differ."""
    urls = {p.steps[-1].observation.url for p in rehearsed.plays if p is not None and p.steps}
    return urls.pop() if len(urls) == 1 else ""
