"""How well a policy points: its points against the elements that another episode acted on."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from webagent.action import Action
from webagent.policy.past_actions import MARK_FIELDS
from webagent.records import Observation, Trajectory

Point: TypeAlias = tuple[float, float]
Box: TypeAlias = tuple[int, int, int, int]
Targets: TypeAlias = dict[tuple[str, int, tuple[object, ...]], list[tuple[Box, ...]]]
"""For each task, seed and page the boxes that were acted on there: one tuple for each action, one
box for each of its ends."""


@dataclass(frozen=True, slots=True)
class Pointing:
    """One action of a policy on a page on which the reference acted on an element."""

    task: str
    episode: str
    step: int
    """From 1."""
    by: str
    """`mark`, `coordinates`, or `nothing` for an action that points nowhere."""
    hit: bool
    """Whether every point lies in its box."""
    score: float
    """1 for a hit, less the farther off, 0 for what points nowhere."""


def find_targets(references: Iterable[Trajectory]) -> Targets:
    """Return what was acted on, by the page on which it was."""
    found: Targets = defaultdict(list)
    for episode in references:
        for step in episode.steps:
            boxes = _boxes(step.decision.action, step.observation)
            if boxes:
                found[_key(episode, step.observation)].append(boxes)
    return dict(found)


def score_pointing(episode: Trajectory, targets: Targets) -> list[Pointing]:
    """Return how well each action points that was taken on a page of the reference's.

    Other pages are left out: what had to be pointed at there is not known. Of several elements
    that the reference acted on there the nearest counts.
    """
    scored = []
    for index, step in enumerate(episode.steps):
        wanted = targets.get(_key(episode, step.observation))
        if not wanted:
            continue
        points = _points(step.decision.action, step.observation)
        scores = [
            min(map(discount, points, boxes)) for boxes in wanted if len(points) == len(boxes)
        ]
        best = max(scores, default=0.0)
        by = "mark" if _marked(step.decision.action, step.observation) else "coordinates"
        scored.append(
            Pointing(
                episode.task.id, episode.id, index + 1, by if points else "nothing", best == 1, best
            )
        )
    return scored


def discount(point: Point, box: Box) -> float:
    """Return 1 for a point in the box and less the farther off it is.

    d / (d + distance), with the box's diagonal d and the distance from its edge, both in pixels, as
    in the action score of OmniACT (Kapoor et al., 2024, section 4): a miss by as much weighs less
    for what is large.
    """
    (x, y), (left, top, width, height) = point, box
    across = max(left - x, 0.0, x - left - width)
    down = max(top - y, 0.0, y - top - height)
    diagonal = math.hypot(width, height)
    return diagonal / (diagonal + math.hypot(across, down))


def _key(episode: Trajectory, page: Observation) -> tuple[str, int, tuple[object, ...]]:
    """What makes two pages the same to somebody who points: what is where."""
    lines = ((node.role, node.name, node.value, node.states, node.box) for node in page.nodes)
    return episode.task.id, episode.task.seed, (page.scroll, page.viewport, *lines)


def _points(action: Action, page: Observation) -> tuple[Point, ...]:
    """Where an action points: at the middle of what has the mark, or at coordinates."""
    boxes = _marked(action, page)
    if boxes:
        return tuple((left + width / 2, top + height / 2) for left, top, width, height in boxes)
    return _coordinates(action)


def _boxes(action: Action, page: Observation) -> tuple[Box, ...]:
    """Return the boxes that an action hit; of coordinates the smallest around each."""
    if boxes := _marked(action, page):
        return boxes
    around = [
        [node.box for node in page.nodes if node.mark and discount(point, node.box) == 1]
        for point in _coordinates(action)
    ]
    return tuple(min(boxes, key=lambda box: box[2] * box[3]) for boxes in around if boxes)


def _marked(action: Action, page: Observation) -> tuple[Box, ...]:
    nodes = [page.node(getattr(action, name, 0)) for name in MARK_FIELDS]
    return tuple(node.box for node in nodes if node is not None and any(node.box[2:]))


def _coordinates(action: Action) -> tuple[Point, ...]:
    pairs = (("x", "y"), ("to_x", "to_y"))
    return tuple((getattr(action, x), getattr(action, y)) for x, y in pairs if hasattr(action, x))
