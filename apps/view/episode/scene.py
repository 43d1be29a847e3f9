"""What the page of an episode shows: the whole of it, one of its steps, the page's text."""

import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from apps.view.contents import Run
from apps.view.episode.film import (
    ConsideredAction,
    Film,
    FilmFrame,
    changed_lines,
    considered_actions,
    film_of,
)
from apps.view.episode.verdicts import Findings, findings
from evaluators.judge.evidence import appears_in
from evaluators.labels import FILE, Label, read_labels
from loop.costs import RunPrices
from loop.failures import read_written
from loop.notes import choose_judge, read_judge_id
from webagent.errors import SetupError, StoreError
from webagent.observation import render
from webagent.policy.past_actions import marks_of
from webagent.records import Decision, Observation, Trajectory
from webagent.store import EpisodeSummary, Store

VALUES: Mapping[str, float | None] = {"success": 1.0, "failure": 0.0, "unsure": None}
_LONGEST_NOTE = 4000
_LONGEST_NAME = 80
TOKEN = secrets.token_urlsafe(24)
"""Known to the pages of this server alone, so that no other page can label in a person's name."""


@dataclass(frozen=True, slots=True)
class EpisodeLabels:
    """The labels of one episode."""

    labels: tuple[Label, ...] = ()
    """The latest of each annotator."""
    trouble: str = ""
    """Why there may be more that cannot be read; empty where all is well."""

    def by(self, annotator: str) -> Label | None:
        """Return this person's label."""
        return next((label for label in self.labels if label.annotator == annotator), None)


def read_all_labels(run: Path) -> tuple[Label, ...]:
    """Return all success labels of a run. Raises `SetupError` for a file that cannot be read."""
    if not (run / FILE).is_file():
        return ()
    return tuple(label for label in read_labels(run) if label.score == "success")


def label_from(form: Mapping[str, object], trajectory: Trajectory) -> Label:
    """Return the label that a form holds. Raises `SetupError` saying what is missing or wrong."""
    if not secrets.compare_digest(str(form.get("token", "")).encode(), TOKEN.encode()):
        raise SetupError(
            "the label did not come from a page of this viewer, or the viewer was started anew"
            " since; open the episode again and label it there"
        )
    value = str(form.get("value", ""))
    if value not in VALUES:
        raise SetupError(f"found the label {value!r}; expected {', '.join(VALUES)}")
    annotator = " ".join(str(form.get("annotator", "")).split())
    if not annotator or len(annotator) > _LONGEST_NAME:
        raise SetupError(f"give the labeller's name, in up to {_LONGEST_NAME} characters")
    note = str(form.get("note", "")).strip()
    if len(note) > _LONGEST_NOTE:
        raise SetupError(f"the note has {len(note):,} letters; up to {_LONGEST_NOTE:,} are kept")
    wrong, count = str(form.get("first_error", "")).strip(), len(trajectory.steps)
    if wrong and not (wrong.isdecimal() and 1 <= int(wrong) <= count):
        raise SetupError(f"the first wrong step is {wrong!r}; expected a number from 1 to {count}")
    task = trajectory.task.id
    return Label(
        trajectory.id,
        VALUES[value],
        annotator=annotator,
        note=note,
        benchmark=task.rpartition("/")[0],
        agent=trajectory.provenance.arm,
        task=task,
        first_error=int(wrong) - 1 if wrong else None,
    )


_MOST_KEPT = 24
_held: OrderedDict[tuple[Path, int, str], Trajectory] = OrderedDict()
_lock = threading.Lock()


def load_episode(run: Run, store: Store, episode: str) -> Trajectory | None:
    """Return the episode as it is now; None where there is none. Raises `StoreError`."""
    try:
        file = (run.path / "run.sqlite").stat().st_ino
    except OSError:  # the store has just been opened, and says better what is wrong
        file = 0
    key = (run.path, file, episode)  # the file tells a run from a newer one in its folder
    with _lock:
        if key in _held:
            _held.move_to_end(key)
            return _held[key]
    trajectory = store.load(episode)
    if trajectory is not None and trajectory.ending is not None:
        with _lock:
            _held[key] = trajectory
            while len(_held) > _MOST_KEPT:
                _held.popitem(last=False)
    return trajectory


_OPEN = 40
"""Lines that are shown at once."""
_MOST = 1000
"""Lines that a page holds; the rest is in the file of the whole."""
_LONGEST = 1000
"""Characters shown of one line."""
_LEAST_QUOTED = 4
"""Characters of a line that can be a part of a quote of several lines."""
_EVERYTHING = 10**9
"""Tokens that no page has."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of the text."""

    text: str
    is_target: bool = False
    """Whether the action was on its element."""
    is_quoted: bool = False
    """Whether a judge quoted it."""
    is_new: bool = False
    """Whether it is new or different since the page before."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What is shown of a page's text."""

    shown: tuple[TextLine, ...]
    folded: tuple[TextLine, ...]
    left_out: int
    """Lines that are only in the file of the whole."""
    cut: int
    """Lines of which only the beginning is shown."""


def whole_text(page: Observation, before: Observation | None = None) -> str:
    """Return every line of the page; those new since the page before begin with `*`."""
    return render(page, _EVERYTHING, before=before)


def read_page_text(
    page: Observation, before: Observation | None, targets: Sequence[int], quote: str = ""
) -> PageText:
    """Return the page's text with its marked lines; a quote that is folded away unfolds nothing."""
    written = whole_text(page, before).split("\n") if page.nodes else []
    lines = []
    for text in written[:_MOST]:
        bare = text.lstrip(" ").removeprefix("*")
        words = bare.partition("] ")[2] or bare
        # A judge's quote stands in the line, or the line in a quote of several.
        is_long = len(words.strip()) >= _LEAST_QUOTED
        is_part = bool(quote) and (
            appears_in(quote, bare) or (is_long and appears_in(words, quote))
        )
        line = TextLine(
            text=text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…",
            is_target=any(f"| [{mark}] " in f"| {bare}".replace("| *", "| ") for mark in targets),
            is_quoted=is_part,
            is_new=text.lstrip(" ").startswith("*") or " | *" in text,
        )
        lines.append(line)
    first = _OPEN if len(lines) > _OPEN + 5 else len(lines)
    return PageText(
        shown=tuple(lines[:first]),
        folded=tuple(lines[first:]),
        left_out=max(0, len(written) - _MOST),
        cut=sum(len(text) > _LONGEST for text in written[:_MOST]),
    )


_MOST_OTHERS = 40
"""Episodes of the same task that are offered to be compared with."""


@dataclass(frozen=True, slots=True)
class OpenedEpisode:
    """One episode, opened."""

    run: Run
    trajectory: Trajectory
    film: Film

    @property
    def address(self) -> str:
        """Where its page is."""
        return f"{self.run.address}/episode/{quote(self.trajectory.id, safe='')}"

    @property
    def is_under_way(self) -> bool:
        """Whether it has not come to an end."""
        return self.trajectory.ending is None

    @property
    def origin(self) -> tuple[str, int] | None:
        """Of an imagined episode the real one it started from, with the number of the step."""
        episode, _, step = self.trajectory.provenance.seeded_from.rpartition(":")
        return (episode, int(step) + 1) if episode and step.isdigit() else None

    def number(self, text: str | None) -> int:
        """Return the step that an address names, held to those there are; the first without a name.

        `last` is the newest.
        """
        most = max(1, len(self.film.frames))
        if text == "last":
            return most
        return min(most, max(1, int(text))) if text and text.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of an episode with everything that is known of it."""

    frame: FilmFrame
    decision: Decision | None
    """None on the page at the end."""
    considered: tuple[ConsideredAction, ...]
    changes: tuple[tuple[str, str], ...]
    """What became of the page."""
    is_followed: bool
    """Whether the page afterwards was seen."""
    ends: bool
    """Whether the page ended the episode then."""
    reading: PageText


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where one can go from an episode."""

    before: str
    """Id of the one before it in its plan; empty for the first."""
    after: str
    others: tuple[EpisodeSummary, ...]
    """Of the same task; those of the same seed first."""


def open_episode(run: Run, store: Store, episode: str) -> OpenedEpisode:
    """Return the episode with this id. Raises `SetupError` where there is none, `StoreError`."""
    trajectory = load_episode(run, store, episode)
    if trajectory is None:
        raise SetupError(
            f"{run.title} has no episode {episode!r:.80}; see the list of its episodes"
        )

    def has_image(reference: str) -> bool:
        try:
            return bool(reference) and store.images.path(reference).is_file()
        except StoreError:
            return False

    return OpenedEpisode(run, trajectory, film_of(trajectory, has_image, RunPrices.of(store)))


def scene_of(opened: OpenedEpisode, number: int, quote: str = "") -> StepView | None:
    """Return the step of this number; None for an episode without any."""
    if not opened.film.frames:
        return None
    frame = opened.film.frames[number - 1]
    trajectory, index = opened.trajectory, number - 1
    step = trajectory.steps[index] if index < len(trajectory.steps) else None
    before = trajectory.steps[index - 1].observation if index else None
    after = trajectory.page_after(index) if step else None
    return StepView(
        frame=frame,
        decision=step.decision if step else None,
        considered=considered_actions(step) if step else (),
        changes=changed_lines(frame.page, after) if after is not None else (),
        is_followed=after is not None,
        ends=after is not None and after.over,
        reading=read_page_text(
            frame.page, before, marks_of(step.decision.action) if step else (), quote
        ),
    )


def findings_of(opened: OpenedEpisode, store: Store, labels: EpisodeLabels) -> Findings:
    """Return the findings of the episode; what cannot be read is among its troubles.

    Raises `StoreError` when the store itself cannot be read.
    """
    trajectory, troubles = opened.trajectory, list(filter(None, [labels.trouble]))
    scores = store.scores("any", id=trajectory.id).get(trajectory.id, ())
    written = None
    try:
        written = read_written(opened.run.path).get(trajectory.id)
    except StoreError as error:
        troubles.append(str(error))
    judge = choose_judge(read_judge_id(store), {trajectory.id: scores})
    found = findings(trajectory, scores, labels.labels, written, judge)
    return replace(found, troubles=(*troubles, *found.troubles))


def read_row(run: Path, episode: str) -> Mapping[str, Any]:
    """Return what `webagent do` noted of the row that an episode played; empty for any other."""
    with suppress(OSError, ValueError):  # of a journal that a kill has cut off, the whole lines
        for line in (run / "journal.jsonl").read_text(encoding="utf-8").splitlines():
            noted: dict[str, Any] = json.loads(line)
            if noted.get("episode") == episode:
                return noted
    return {}


def labels_of(opened: OpenedEpisode) -> EpisodeLabels:
    """Return the labels that people gave it."""
    try:
        labels = read_all_labels(opened.run.path)
    except SetupError as error:
        return EpisodeLabels(trouble=str(error))
    return EpisodeLabels(tuple(one for one in labels if one.episode == opened.trajectory.id))


def neighbours(opened: OpenedEpisode, store: Store) -> Neighbours:
    """Return those next to it in its plan, and those of the same task. Raises `StoreError`."""
    trajectory = opened.trajectory
    place = trajectory.provenance
    ids = store.ids(
        "any",
        run=place.run,
        arm=place.arm,
        repeat=place.repeat,
        round=place.round,
        phase=place.phase,
    )
    at = ids.index(trajectory.id)
    entries = store.entries("any", task=trajectory.task.id)
    others = [entry for entry in entries if entry.id != trajectory.id]
    others.sort(key=lambda entry: (entry.seed != trajectory.task.seed, entry.ending is None))
    return Neighbours(
        before=ids[at - 1] if at else "",
        after=ids[at + 1] if at + 1 < len(ids) else "",
        others=tuple(others[:_MOST_OTHERS]),
    )
