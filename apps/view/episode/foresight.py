"""What a stored world model expected of an episode's steps, beside what happened."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from apps.view.episode.world_models import StoredWorldModel, has_met
from webagent.models.builtin.vocabulary import keys_of
from webagent.observation.render import render_node
from webagent.records import Observation, Trajectory
from worldmodel.accuracy import changes, is_held_back
from worldmodel.delta import Edit, difference
from worldmodel.network import NetworkWorld
from worldmodel.prediction import Outcome, WorldModel
from worldmodel.transitions import Situation

Standing: TypeAlias = Literal["as expected", "otherwise", "not expected", "did not happen"]
SIGNS: dict[Standing, str] = {
    "as expected": "=",
    "otherwise": "≠",
    "not expected": "!",
    "did not happen": "×",
}
"""A sign for each, so that colour alone has to tell nothing."""
_WHOLE = 10_000


@dataclass(frozen=True, slots=True)
class ForeseenLine:
    """One line that changed, expected or seen."""

    sign: str
    """`+` came, `−` went, `~` became another."""
    text: str
    """The line as it came or went, or what became of it."""


@dataclass(frozen=True, slots=True)
class ForeseenPlace:
    """One place of the page with what was expected there and what happened."""

    expected: ForeseenLine | None
    happened: ForeseenLine | None
    standing: Standing

    @property
    def sign(self) -> str:
        """The sign of its standing."""
        return SIGNS[self.standing]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """One step as the world model saw it coming."""

    outcome: Outcome
    page: Observation
    """The page that was expected."""
    rows: tuple[ForeseenPlace, ...] = ()
    """Empty where nothing was expected and nothing happened, or nothing is known to compare."""
    happened: int = 0
    """Lines that came or went, those of changed ones counted as both."""
    expected: int = 0
    both: int = 0
    is_known: bool = True
    """Whether the page afterwards was seen, so that there is something to compare."""
    ended: bool = False
    """Whether the page ended the episode."""

    @property
    def is_exact(self) -> bool:
        """Whether everything came as it was expected to."""
        if not self.is_known or self.page.over != self.ended:
            return False
        return self.ended or self.happened == self.expected == self.both

    @property
    def verdict(self) -> str:
        """In a few words."""
        if not self.is_known:
            return "what came of it was not seen"
        if self.page.over != self.ended:
            return "the end came unexpected" if self.ended else "the end was expected, in vain"
        if self.ended:
            return "the end was expected"
        if self.is_exact:
            return "as expected" if self.happened else "nothing changed, as expected"
        return f"{self.both} of {self.happened} changes foreseen, {self.expected} expected"


@dataclass(frozen=True, slots=True)
class Foresight:
    """How right the world model was over an episode; None where there was nothing to measure."""

    steps: int
    """Steps after which a page was seen."""
    exact: int
    """Of those, how many came as expected."""
    recall: float | None
    """Share of the changes that took place that were foreseen."""
    precision: float | None
    """Share of the changes foreseen that took place."""


def foresee_step(
    before: Observation, after: Observation | None, outcome: Outcome, page: Observation
) -> Foreseen:
    """Return the prediction held against the page that came, if one was seen.

    Counts are those of `worldmodel.accuracy`: lines without capitals, spacing and focus. Where the
    page ended the episode only that is compared, since nobody acts on a page that is over.
    """
    if after is None:
        return Foreseen(outcome, page, is_known=False)
    if after.over:
        return Foreseen(outcome, page, ended=True)
    seen, thought = changes(before, after), changes(before, page)
    return Foreseen(
        outcome=outcome,
        page=page,
        rows=_align_edits(before, difference(before, page), difference(before, after)),
        happened=seen.total(),
        expected=thought.total(),
        both=(seen & thought).total(),
    )


def sum_foresight(told: Sequence[Foreseen]) -> Foresight:
    """Return the figures over the steps of an episode."""
    known = [one for one in told if one.is_known]
    happened, expected = sum(one.happened for one in known), sum(one.expected for one in known)
    both = sum(one.both for one in known)
    return Foresight(
        steps=len(known),
        exact=sum(one.is_exact for one in known),
        recall=both / happened if happened else None,
        precision=both / expected if expected else None,
    )


def _align_edits(
    before: Observation, expected: Sequence[Edit], happened: Sequence[Edit]
) -> tuple[ForeseenPlace, ...]:
    """Return edits of the same place side by side, in the order of the page.

    A place is a line of the page before, or a line that came with its words; equal lines that come
    in one place are one row.
    """
    left, right = (
        {
            (
                edit.kind,
                edit.line,
                (
                    edit.node.role,
                    *keys_of(edit.node.name, _WHOLE),
                    "=",
                    *keys_of(edit.node.value, _WHOLE),
                )
                if edit.kind == "add"
                else (),
            ): edit
            for edit in edits
        }
        for edits in (expected, happened)
    )
    rows = []
    for place in sorted(left.keys() | right.keys(), key=lambda place: (place[1], place)):
        thought, seen = left.get(place), right.get(place)
        standing: Standing = "as expected"
        if thought is None:
            standing = "not expected"
        elif seen is None:
            standing = "did not happen"
        elif thought.kind not in ("remove", "add") and _result(thought) != _result(seen):
            standing = "otherwise"
        rows.append(
            ForeseenPlace(
                _describe_edit(before, thought) if thought else None,
                _describe_edit(before, seen) if seen else None,
                standing,
            )
        )
    return tuple(rows)


def _result(edit: Edit) -> tuple[str, ...]:
    """Return what the line has become, in the words that the model reads."""
    if edit.kind == "states":
        return tuple(sorted(state for state in edit.node.states if state != "focused"))
    return keys_of(getattr(edit.node, edit.kind), _WHOLE)


def _describe_edit(before: Observation, edit: Edit) -> ForeseenLine:
    if edit.kind == "add":
        return ForeseenLine("+", render_node(edit.node).strip())
    old = before.nodes[edit.line]
    if edit.kind == "remove":
        return ForeseenLine("−", render_node(old).strip())
    was, now = (_format_value(getattr(node, edit.kind)) for node in (old, edit.node))
    named = f"[{old.mark}] {old.role}" if old.mark else "text"
    if edit.kind != "name" and old.name:
        named += f' "{old.name}"'
    return ForeseenLine("~", f"{named}: {edit.kind} {was} → {now}")


def _format_value(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return f'"{value}"' if value else "empty"
    return " ".join(state for state in value if state != "focused") or "none"


_BATCH = 16
"""Steps predicted at once."""
_MOST = 32
"""Episodes whose predictions are kept in mind."""
_ONE_AT_A_TIME = threading.Lock()
_kept: OrderedDict[tuple[Path, str, int], tuple[Foreseen, ...]] = OrderedDict()


@dataclass(frozen=True, slots=True)
class EpisodePrediction:
    """What one world model expected of an episode."""

    title: str
    """Which model it was."""
    caution: str
    """What has to be known of it; empty where it had never met the episode."""
    steps: tuple[Foreseen, ...]
    total: Foresight


def predict(trajectory: Trajectory, world_model: StoredWorldModel) -> EpisodePrediction:
    """Return every step foreseen, kept in mind for the next time.

    Takes about a second; thread-safe. Raises `ModelError` for weights that cannot be read.
    """
    key = (world_model.folder, trajectory.id, len(trajectory.steps))
    with _ONE_AT_A_TIME:
        if key not in _kept or trajectory.ending is None:
            _kept[key] = _foresee(trajectory, _load(world_model.folder))
        _kept.move_to_end(key)
        while len(_kept) > _MOST:
            _kept.popitem(last=False)
        steps = _kept[key]
    place, caution = trajectory.provenance, ""
    if place.phase == "collect" and place.arm != world_model.arm:
        caution = "It was trained on other episodes than this arm's."
    elif has_met(world_model, place) and not is_held_back(trajectory):
        caution = "It was trained on this episode, too, so that its accuracy here says little."
    return EpisodePrediction(world_model.title, caution, steps, sum_foresight(steps))


@lru_cache(maxsize=2)
def _load(folder: Path) -> WorldModel:
    return NetworkWorld.load(folder)


def _foresee(trajectory: Trajectory, world: WorldModel) -> tuple[Foreseen, ...]:
    steps = trajectory.steps
    situations = [
        Situation(step.observation, steps[:index], step.decision.action)
        for index, step in enumerate(steps)
    ]
    told: list[Foreseen] = []
    for first in range(0, len(situations), _BATCH):
        batch = situations[first : first + _BATCH]
        for situation, prediction in zip(batch, world.predict(batch), strict=True):
            after = trajectory.page_after(len(told))
            page = prediction.page
            told.append(foresee_step(situation.observation, after, prediction.outcome, page))
    return tuple(told)
