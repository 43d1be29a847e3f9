"""An episode as a strip of frames, and two episodes aligned step by step."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from difflib import SequenceMatcher
from itertools import zip_longest
from math import exp
from typing import Literal, TypeAlias

from apps.view.episode.picture import PagePicture, picture_of
from apps.view.outcome import format_money
from loop.costs import RunPrices
from webagent.action import format_action
from webagent.observation.render import render_node
from webagent.policy.past_actions import MARK_FIELDS, marks_of
from webagent.records import Node, Observation, Step, Trajectory

HasImage = Callable[[str], bool]
"""Whether the image of this reference is there."""

SOURCES = {
    "explore": "a random action",
    "demonstration": "demonstrated",
    "lookahead": "chosen by look-ahead",
    "rerank": "chosen by the reward model",
    "best_of_k": "chosen by vote",
}
"""What the sources of decisions are called; that of the policy itself goes without saying."""


@dataclass(frozen=True, slots=True)
class ConsideredAction:
    """One candidate, in the order in which they were proposed."""

    action: str
    log_prob: float
    share: float
    """Probability among the candidates, in [0, 1]."""
    value: float | None
    expected: str
    is_taken: bool


@dataclass(frozen=True, slots=True)
class FilmFrame:
    """One picture of the strip: a page with what was done on it, or the last page."""

    number: int
    """Counted from 1."""
    page: Observation
    picture: PagePicture
    action: str = ""
    """As it was called, empty for the page at the end."""
    target: str = ""
    """The elements it was on, in words."""
    source: str = ""
    """Who chose, where it was not the policy alone."""
    outcome: str = ""
    """What came of it; empty where it took effect or nothing is known."""
    tokens: tuple[int, int] = (0, 0)
    """Read and written."""
    seconds: tuple[float, float] = (0.0, 0.0)
    """Of deciding, and of the world."""
    money: str = ""
    """What it cost, where prices are known."""

    @property
    def place(self) -> str:
        """The page's address; of a file its name, since where it lies says nothing."""
        url = self.page.url
        return url.rsplit("/", 1)[-1] if url.startswith("file:") else url

    @property
    def is_last(self) -> bool:
        """Whether it is the page at the end, on which nothing was done."""
        return not self.action


@dataclass(frozen=True, slots=True)
class Film:
    """The strip with the sums of its frames."""

    frames: tuple[FilmFrame, ...]
    tokens: tuple[int, int]
    seconds: tuple[float, float]
    money: str

    @property
    def steps(self) -> int:
        """How many actions were taken."""
        return sum(not frame.is_last for frame in self.frames)


def film_of(trajectory: Trajectory, has_image: HasImage, prices: RunPrices) -> Film:
    """Return the strip of an episode, finished or under way."""
    frames = []
    for index, step in enumerate(trajectory.steps):
        page, decision = step.observation, step.decision
        after, usage, targets = trajectory.page_after(index), decision.usage, []
        for mark in marks_of(decision.action):
            node = page.node(mark)
            if node is None:
                targets.append(f"[{mark}], which is not on the page" if mark else "the page")
            else:
                targets.append(f"{node.role} “{node.name}”" if node.name else node.role)
        source = "" if decision.source == "policy" else decision.source
        frames.append(
            FilmFrame(
                number=index + 1,
                page=page,
                picture=picture_of(page, decision.action, has_image=has_image(page.screenshot)),
                action=format_action(decision.action),
                target=" → ".join(targets),
                source=SOURCES.get(decision.source, source),
                outcome=after.outcome if after is not None else "",
                tokens=(usage.get("input_tokens", 0), usage.get("output_tokens", 0)),
                seconds=(decision.seconds, step.seconds),
                money=format_money(*prices.step(decision)),
            )
        )
    last = trajectory.last
    if last is not None:
        picture = picture_of(last, None, has_image=has_image(last.screenshot))
        frames.append(FilmFrame(len(frames) + 1, last, picture))
    return Film(
        frames=tuple(frames),
        tokens=(sum(f.tokens[0] for f in frames), sum(f.tokens[1] for f in frames)),
        seconds=(sum(f.seconds[0] for f in frames), sum(f.seconds[1] for f in frames)),
        money=format_money(*prices.episode(trajectory)),
    )


def considered_actions(step: Step) -> tuple[ConsideredAction, ...]:
    """Return what was chosen among, best first as the policy had it; the one taken is marked."""
    candidates = step.decision.candidates
    taken = format_action(step.decision.action)
    most = max((candidate.log_prob for candidate in candidates), default=0.0)
    total = sum(exp(candidate.log_prob - most) for candidate in candidates)
    return tuple(
        ConsideredAction(
            c.action,
            c.log_prob,
            exp(c.log_prob - most) / total,
            c.value,
            c.expected,
            c.action == taken,
        )
        for c in candidates
    )


def changed_lines(before: Observation, after: Observation) -> tuple[tuple[str, str], ...]:
    """Return what became of the page, as (sign, line): `+` came, `−` went, `~` became another.

    An element that only got another mark, or another place, has not changed.
    """
    old, new = before.nodes, after.nodes
    matcher = SequenceMatcher(None, [*map(_called, old)], [*map(_called, new)], autojunk=False)
    lines = list[tuple[str, Node]]()
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(old[i1:i2], new[j1:j2], strict=True)
            lines += [("~", now) for was, now in pairs if _unnumber(was) != _unnumber(now)]
            continue
        # An element whose name changed, as of a button that counts.
        marked = {(node.mark, node.role) for node in old[i1:i2] if node.mark}
        kept = marked & {(node.mark, node.role) for node in new[j1:j2]}
        lines += [("−", node) for node in old[i1:i2] if (node.mark, node.role) not in kept]
        lines += [("~" if (n.mark, n.role) in kept else "+", n) for n in new[j1:j2]]
    # An element that went from one place and came in another has not changed.
    came, went = (Counter(_unnumber(node) for at, node in lines if at == sign) for sign in "+−")
    moved = {"+": came & went, "−": came & went}
    left = []
    for sign, node in lines:
        if sign in moved and moved[sign][_unnumber(node)]:
            moved[sign][_unnumber(node)] -= 1
        else:
            left.append((sign, render_node(node).strip()))
    return tuple(left)


def _called(node: Node) -> tuple[str, str]:
    return node.role, node.name


def _unnumber(node: Node) -> Node:
    """Return an element without what changes from look to look: mark, place and focus."""
    states = tuple(state for state in node.states if state != "focused")
    return replace(node, mark=0, depth=0, box=(0, 0, 0, 0), states=states)


Likeness: TypeAlias = Literal["the same", "different", "only here", "only there"]


@dataclass(frozen=True, slots=True)
class StepPair:
    """Indices of two steps that stand beside each other; None where one has none."""

    left: int | None
    right: int | None
    likeness: Likeness


def pair_steps(left: Trajectory, right: Trajectory) -> tuple[StepPair, ...]:
    """Return the steps of both in their order, equal ones beside each other.

    Steps are equal when they do the same to an element of the same role and name: marks differ
    from episode to episode. Between equal ones steps stand beside each other as they come.
    """

    def name(step: Step) -> tuple[str, ...]:
        action, named = step.decision.action, list[str]()
        for mark in marks_of(action):
            node = step.observation.node(mark)
            named += (node.role, node.name) if node is not None else ("", str(mark))
        values = [str(getattr(action, f.name)) for f in fields(action) if f.name not in MARK_FIELDS]
        return (type(action).__name__, *named, *values)

    a, b = ([name(step) for step in one.steps] for one in (left, right))
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    pairs = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        for i, j in zip_longest(range(i1, i2), range(j1, j2)):
            likeness: Likeness = "the same" if tag == "equal" else "different"
            if i is None or j is None:
                likeness = "only there" if i is None else "only here"
            pairs.append(StepPair(i, j, likeness))
    return tuple(pairs)


def first_difference(pairs: tuple[StepPair, ...]) -> int | None:
    """Return the index of the first pair that is not the same; None where all are."""
    return next((i for i, pair in enumerate(pairs) if pair.likeness != "the same"), None)
