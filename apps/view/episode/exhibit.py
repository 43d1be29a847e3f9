"""What the page of an episode shows: the whole of it, and one of its steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from apps.view.archive import Run
from apps.view.episode.film import (
    Considered,
    Film,
    Frame,
    HasImage,
    changed_lines,
    considered,
    film_of,
    page_after,
)
from apps.view.episode.kept import loaded
from apps.view.episode.labelling import Given, given
from apps.view.episode.reading import Reading, reading
from apps.view.episode.seers import Seer, seer_for, seers
from apps.view.episode.verdicts import Findings, findings
from evaluators.steps import StepJudgement, kept_of
from loop.costs import RunPrices
from loop.failures import read_written
from webagent.errors import SetupError, StoreError
from webagent.policy.past_actions import marks_of
from webagent.records import Decision, Trajectory
from webagent.store import EpisodeSummary, Store

_MOST_OTHERS = 40
"""Episodes of the same task that are offered to be compared with."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One episode, opened."""

    run: Run
    trajectory: Trajectory
    film: Film

    @property
    def address(self) -> str:
        """Where its page is."""
        return address_of(self.run, self.trajectory.id)

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
        """The step that an address names, held to those there are; the first without a name.

        `last` is the newest.
        """
        most = max(1, len(self.film.frames))
        if text == "last":
            return most
        return min(most, max(1, int(text))) if text and text.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class Scene:
    """One step of an episode with everything that is known of it."""

    frame: Frame
    decision: Decision | None
    """None on the page at the end."""
    considered: tuple[Considered, ...]
    changes: tuple[tuple[str, str], ...]
    """What became of the page."""
    is_followed: bool
    """Whether the page afterwards was seen."""
    ends: bool
    """Whether the page ended the episode then."""
    reading: Reading


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Where one can go from an episode."""

    before: str
    """Id of the one before it in its plan; empty for the first."""
    after: str
    others: tuple[EpisodeSummary, ...]
    """Of the same task; those of the same seed first."""


def opened(run: Run, store: Store, episode: str) -> Exhibit:
    """The episode with this id. Raises `SetupError` where there is none, `StoreError`."""
    trajectory = loaded(run, store, episode)
    if trajectory is None:
        raise SetupError(
            f"{run.title} has no episode {episode!r:.80}; see the list of its episodes"
        )
    return Exhibit(run, trajectory, film_of(trajectory, _has_image(store), RunPrices.of(store)))


def scene_of(exhibit: Exhibit, number: int, quote: str = "") -> Scene | None:
    """The step of this number; None for an episode without any."""
    if not exhibit.film.frames:
        return None
    frame = exhibit.film.frames[number - 1]
    trajectory, index = exhibit.trajectory, number - 1
    step = trajectory.steps[index] if index < len(trajectory.steps) else None
    before = trajectory.steps[index - 1].observation if index else None
    after = page_after(trajectory, index) if step else None
    return Scene(
        frame=frame,
        decision=step.decision if step else None,
        considered=considered(step) if step else (),
        changes=changed_lines(frame.page, after) if after is not None else (),
        is_followed=after is not None,
        ends=after is not None and after.over,
        reading=reading(frame.page, before, marks_of(step.decision.action) if step else (), quote),
    )


def findings_of(exhibit: Exhibit, store: Store, labels: Given) -> Findings:
    """What was said of the episode; what cannot be read is among its troubles.

    Raises `StoreError` when the store itself cannot be read.
    """
    trajectory, troubles = exhibit.trajectory, list(filter(None, [labels.trouble]))
    scores = store.scores("any", id=trajectory.id).get(trajectory.id, ())
    judgements: Sequence[StepJudgement] = ()
    written = None
    try:
        judgements = kept_of(store, trajectory.id)
        written = read_written(exhibit.run.path).get(trajectory.id)
    except StoreError as error:
        troubles.append(str(error))
    found = findings(trajectory, scores, judgements, labels.labels, written)
    return replace(found, troubles=(*troubles, *found.troubles))


def labels_of(exhibit: Exhibit) -> Given:
    """What people said of it."""
    return given(exhibit.run.path, exhibit.trajectory.id)


def neighbours(exhibit: Exhibit, store: Store) -> Neighbours:
    """Those before and after it in its plan, and those of the same task. Raises `StoreError`."""
    trajectory = exhibit.trajectory
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


def seer_of(exhibit: Exhibit) -> Seer | None:
    """The world model to ask about the episode; None for one that was imagined."""
    place = exhibit.trajectory.provenance
    return None if place.imagined else seer_for(place, seers(exhibit.run.path))


def address_of(run: Run, episode: str) -> str:
    """Where the page of an episode is."""
    return f"{run.address}/episode/{quote(episode, safe='')}"


def _has_image(store: Store) -> HasImage:
    def has_image(reference: str) -> bool:
        try:
            return bool(reference) and store.images.path(reference).is_file()
        except StoreError:
            return False

    return has_image
