"""Tasks from candidates: solutions rehearsed, the task written, its checks generated."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from urllib.parse import unquote_plus

from loop.proposers.backward import (
    Changes,
    Deed,
    Opened,
    Read,
    Story,
    Submitted,
    Writer,
    Written,
    is_told,
    signature,
)
from loop.proposers.checks import Play, expected_changes, holds, page_checks
from loop.proposers.exploration import Territory
from loop.proposers.label import Candidate, fills, recording
from loop.proposers.label_deeds import deeds_of
from loop.proposers.prove import Draft
from loop.proposers.prove_stage import Playing, Stage
from tasks.proposal import Proposal, Refusal
from tasks.task import Check, Json, Probe, Task
from webagent.action.actions import Answer
from webagent.policy.policy import ScriptedPolicy, play_actions, replay_recording
from webagent.records import Trajectory


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A candidate with two plays of its cut solution, each on a fresh instance."""

    candidate: Candidate
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
            told = [t.deed for t in deeds_of(steps, play.steps[-1].observation)]
            last = self.candidate.deeds[-1]
            if not isinstance(last, Read) and (not told or signature(told[-1]) != signature(last)):
                at = failed[0] if failed else 0
                said = f", step {at} had {play.steps[at].observation.outcome!r}" if at else ""
                return f"played again it does not come to the same{said}"
            if isinstance(last, Opened) and play.steps[-1].observation.title != last.title:
                return f"played again the page is {play.steps[-1].observation.title!r}"
            if isinstance(last, Read) and not any(
                last.value in (node.name + node.value) for node in play.steps[-1].observation.nodes
            ):
                return f"played again the page does not say {last.value!r}"
        return ""


async def rehearse(
    candidates: Sequence[Candidate], territory: Territory, stage: Stage, phase: str
) -> list[Rehearsed]:
    """Play the cut solution of each candidate twice."""
    wanted = []
    for index, candidate in enumerate(candidates):
        task = territory.task("rehearsal", "Play again.", index, candidate.length + 2)
        script = ScriptedPolicy(replay_recording(recording(candidate)), name="rehearsal")
        wanted += [Playing(task, script)] * 2
    if wanted:
        nothing = ScriptedPolicy(play_actions([Answer()]), name="baseline")
        wanted.append(Playing(territory.task("rehearsal", "Do nothing.", 0, 1), nothing))
    played = await stage.play(wanted, phase)
    return [
        Rehearsed(candidate, (played[2 * index], played[2 * index + 1]), played[-1])
        for index, candidate in enumerate(candidates)
    ]


async def drafted(
    rehearsed: Rehearsed,
    territory: Territory,
    writer: Writer,
    source: str,
    at: datetime | None = None,
) -> Draft:
    """A proposal of what was rehearsed, refused where it cannot be told, checked or played again.

    `at` is when the plays were, for columns that tell the time; now where it is not given. Raises
    `ModelError`.
    """
    candidate = rehearsed.candidate
    if said := rehearsed.objection:
        return _refused(candidate, territory, source, Refusal("feasibility", said))
    plays = _with_changes(rehearsed, at or datetime.now(UTC))
    idle = (_changes(rehearsed.idle) if rehearsed.idle else None) or {}
    made = {t: rows for t, rows in plays[0].changes.items() if t not in idle} if plays else None
    story = Story(candidate.deeds, made, _last_url(rehearsed))
    written = await writer.write(story)
    if written is None or not written.goal:
        return _refused(
            candidate, territory, source, Refusal("validity", "it cannot be told in words")
        )
    checked = _checked(candidate, written, story, plays, territory, idle)
    if checked is None:
        said = "it leaves nothing behind that could be checked"
        return _refused(candidate, territory, source, Refusal("validity", said), written.goal)
    task = replace(
        _task(candidate, territory, written.goal), checks=checked.checks, probes=checked.probes
    )
    if not checked.needs_changes:
        task = replace(task, records=())
    reason = f"done in episode {candidate.episode.id}, told by {writer.name}"
    return Draft(Proposal(task, source, reason), recording(candidate, written.answer))


@dataclass(frozen=True, slots=True)
class _Checked:
    checks: tuple[Check, ...]
    probes: tuple[Probe, ...] = ()
    needs_changes: bool = False


def _checked(
    candidate: Candidate,
    written: Written,
    story: Story,
    plays: Sequence[Play],
    territory: Territory,
    idle: Changes,
) -> _Checked | None:
    """How anyone can tell that it was done: by answer, database, address or page."""
    last = candidate.deeds[-1]
    typed = [text for _, text in fills(candidate.steps) if is_told(text, written.goal)]
    if written.answer:
        return _Checked((Check("episode.answer", "same_text", written.answer),))
    if story.changes and isinstance(last, Submitted):
        expected = expected_changes(plays[0], plays[1], typed, idle)
        if expected:
            return _by_changes(candidate, expected, typed, story.url)
    if isinstance(last, Opened) or (
        all((text.casefold() in unquote_plus(story.url).casefold()) for text in typed) and typed
    ):
        if story.url.split("#")[0] != candidate.episode.task.start_url.split("#")[0]:
            return _Checked((Check("episode.url", "url_matches", story.url),))
        return None
    if territory.has_database or not typed or not isinstance(last, Submitted):
        return None
    probes, checks = page_checks(story.url, typed)
    return _Checked(checks, probes)


def _by_changes(
    candidate: Candidate, expected: dict[str, Json], typed: Sequence[str], url: str
) -> _Checked:
    """By the database, and for what was typed and is not to be read there by the last page, where
    that is at the same address in every play and shows it."""
    check = Check("changes", "changes_are", expected)
    lines = " ".join(node.name for node in candidate.last.nodes)
    missing = [text for text in typed if not holds(expected, text)]
    if not missing or not url or not all(text in lines for text in missing):
        return _Checked((check,), needs_changes=True)
    probes, checks = page_checks(url, missing)
    return _Checked((check, *checks), probes, needs_changes=True)


def _with_changes(rehearsed: Rehearsed, at: datetime) -> list[Play]:
    """The two plays with what they left in the database; empty where that is not known."""
    found = [_changes(play) for play in rehearsed.plays if play is not None]
    return [Play(each, at) for each in found if each is not None] if None not in found else []


def _changes(play: Trajectory) -> Changes | None:
    found = play.evidence.get("changes")
    return found if isinstance(found, dict) else None


def _task(candidate: Candidate, territory: Territory, goal: str) -> Task:
    name = f"{_kind(candidate.deeds[-1])}-{hashlib.sha256(goal.encode()).hexdigest()[:8]}"
    task = territory.task(name, goal, 0, 2 * candidate.length + 6)
    template = re.sub(r"[^a-z0-9]+", "-", signature(candidate.deeds[-1]).lower()).strip("-")[:60]
    return replace(task, template=template, skills=_skills(candidate.deeds))


def _kind(deed: Deed) -> str:
    return {Submitted: "do", Opened: "go", Read: "ask"}[type(deed)]


def _skills(deeds: Sequence[Deed]) -> tuple[str, ...]:
    last = deeds[-1]
    if isinstance(last, Submitted):
        several = ("several",) if len(deeds) > 1 else ()
        return ("form", *several) if last.fields else ("button", *several)
    return ("question",) if isinstance(last, Read) else ("navigation",)


def _refused(
    candidate: Candidate, territory: Territory, source: str, refusal: Refusal, goal: str = ""
) -> Draft:
    task = _task(candidate, territory, goal or signature(candidate.deeds[-1]))
    proposal = Proposal(task, source, f"done in episode {candidate.episode.id}", "", (refusal,))
    return Draft(proposal)


def _last_url(rehearsed: Rehearsed) -> str:
    """The address that both plays ended on; empty where they differ."""
    urls = {p.steps[-1].observation.url for p in rehearsed.plays if p is not None and p.steps}
    return urls.pop() if len(urls) == 1 else ""
