"""Search: a tree of what could be done, grown where it promises most, and its best path played."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, TypeAlias

from webagent.action import Answer, format_action
from webagent.errors import PolicyError
from webagent.policy.policy import Policy, propose_certain, replay_recording
from webagent.records import Candidate, Decision, Observation, Step, Trajectory

STYLES = ("best-first", "mcts")
SEARCH = "search"
"""The `Decision.source` of what was found by search."""
_SPREAD = 0.1
"""Share of the policy's chance that is given to its proposals evenly: what it thinks next to
impossible is tried before a path that it is sure of has been followed to its very end."""
_CURIOSITY = 1.0
"""Weight of the policy's chance against the mean value (PUCT; Silver et al., Nature 550, 2017)."""


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """How a tree is grown."""

    style: str = "best-first"
    """`best-first`: what follows the most valuable state is tried next, the likeliest first (Koh et
    al., arXiv 2407.01476); `mcts`: what has the highest mean value with a share for what the policy
    thinks likely and was seldom tried (R-MCTS, arXiv 2410.02052, without its reflection)."""
    nodes: int = 20
    """States reached, at most, beside the first."""
    branch: int = 3
    """Actions tried in a state, at most."""
    depth: int = 0
    """Actions from the first state on, at most; 0 for as many as the task allows."""
    enough: float = 1.0
    """Value at which nothing better is looked for."""


@dataclass(frozen=True, slots=True)
class SearchState:
    """A state of an episode that can be reached again."""

    trajectory: Trajectory
    """What was done to get there; `last` is its page."""
    value: float
    """How good it would be to stop there, in [0, 1]."""
    is_over: bool = False
    """Whether nothing can be done there any more."""


class SearchStates(Protocol):
    """States that can be reached again: a site's by fresh start and replay, a dream's by asking."""

    @property
    def usage(self) -> Mapping[str, int]:
        """Return what was spent, for `Decision.usage`."""
        ...

    async def start(self) -> SearchState:
        """Return the first state."""
        ...

    async def after(self, state: SearchState, decision: Decision) -> SearchState | None:
        """Return what comes of an action in a state; None where it may cost no more."""
        ...


OpenStates: TypeAlias = Callable[
    [Trajectory, Observation], AbstractAsyncContextManager[SearchStates]
]
"""Gives the states from where an episode stands, and closes what they hold."""


@dataclass(slots=True, eq=False)
class _Node:
    """An action in the tree; `state` is what came of it, None before it is tried."""

    decision: Decision | None
    """None for the first state."""
    parent: "_Node | None" = None
    chance: float = 1.0
    """Of the action among those that were proposed with it."""
    path_chance: float = 0.0
    """Logarithm of the chances of all actions up to here."""
    state: SearchState | None = None
    children: list["_Node"] = field(default_factory=list)
    visits: int = 0
    total: float = 0.0

    @property
    def value(self) -> float:
        """Return the value of what came of it, before that the one of where it would be done."""
        if self.state is None:
            assert self.parent is not None
            return self.parent.value
        return self.state.value

    @property
    def depth(self) -> int:
        """Return how many actions lead there from the first state."""
        return 0 if self.parent is None else 1 + self.parent.depth

    @property
    def is_open(self) -> bool:
        """Return whether it, or anything after it, is still to be tried."""
        return self.state is None or any(child.is_open for child in self.children)

    def leaves(self) -> Iterator["_Node"]:
        """Yield what is still to be tried."""
        if self.state is None:
            yield self
        for child in self.children:
            yield from child.leaves()

    def bound(self) -> float:
        """Return its mean value with what speaks for trying it."""
        assert self.parent is not None
        mean = self.total / self.visits if self.visits else self.parent.value
        share = math.sqrt(self.parent.visits) / (1 + self.visits)
        return mean + _CURIOSITY * self.chance * share


class SearchResult(NamedTuple):
    """What a search came to."""

    path: Trajectory | None
    """The episode to its stop in the best state; None where none was better than the first."""
    value: float
    nodes: int
    """States reached, beside the first."""
    calls: int
    """Times that the policy was asked for proposals."""


async def search(states: SearchStates, policy: Policy, limits: SearchLimits) -> SearchResult:
    """Grow a tree until its value is enough or its limits are reached, and return the best path.

    Raises `ModelError` where a model fails, and `WorldError` where no state can be reached at all.
    """
    first = await states.start()
    best = root = _Node(None, state=first)
    deepest = first.trajectory.task.max_steps
    if limits.depth:
        deepest = min(deepest, len(first.trajectory.steps) + limits.depth)
    calls, nodes = await _expand(root, policy, limits.branch, deepest), 0
    choose = _choose_by_bound if limits.style == "mcts" else _choose_by_value
    while nodes < limits.nodes and best.value < limits.enough and (leaf := choose(root)):
        assert leaf.parent is not None
        assert leaf.parent.state is not None
        assert leaf.decision is not None
        reached = await states.after(leaf.parent.state, leaf.decision)
        if reached is None:
            break
        leaf.state, nodes = reached, nodes + 1
        # Of two that are as good the one that is reached sooner.
        best = max(best, leaf, key=lambda node: (node.value, -node.depth))
        node: _Node | None = leaf
        while node is not None:
            node.visits, node.total = node.visits + 1, node.total + leaf.value
            node = node.parent
        if best.value < limits.enough:
            calls += await _expand(leaf, policy, limits.branch, deepest)
    path = None if best is root and best.value < limits.enough else _explain(best, first)
    return SearchResult(path, best.value, nodes, calls)


async def _expand(node: _Node, policy: Policy, branch: int, deepest: int) -> int:
    """Add what the policy proposes in a state; return how often it was asked."""
    assert node.state is not None
    trajectory = node.state.trajectory
    page = trajectory.last
    if node.state.is_over or page is None or len(trajectory.steps) >= deepest:
        return 0
    if page.outcome == "no effect":
        return 0  # what can be done here can be done in the state before it
    try:
        proposed = await policy.propose(trajectory, page, branch)
    except PolicyError:
        return 1
    scores = [_log_prob(each) for each in proposed]
    weights = [math.exp(score - max(scores)) for score in scores]
    for decision, weight in zip(proposed, weights, strict=True):
        chance = (1 - _SPREAD) * weight / sum(weights) + _SPREAD / len(proposed)
        node.children.append(_Node(decision, node, chance, node.path_chance + math.log(chance)))
    return 1


def _log_prob(decision: Decision) -> float:
    return decision.candidates[0].log_prob if decision.candidates else sum(decision.log_probs)


def _choose_by_value(root: _Node) -> _Node | None:
    return max(root.leaves(), key=lambda leaf: (leaf.value, leaf.path_chance), default=None)


def _choose_by_bound(root: _Node) -> _Node | None:
    node = root
    while node.state is not None:
        tried = [child for child in node.children if child.is_open]
        if not tried:
            return None
        node = max(tried, key=_Node.bound)
    return node


def _explain(best: _Node, first: SearchState) -> Trajectory:
    """Return the path to a state and the stop there, each step with what else was tried in its
    place and the best value that came of it."""
    assert best.state is not None
    steps: list[Step] = []
    node, place = best, len(best.state.trajectory.steps)
    while node.parent is not None and node.decision is not None:
        place -= 1
        candidates = tuple(_candidate(each) for each in node.parent.children)
        decision = replace(node.decision, source=SEARCH, candidates=candidates)
        steps.append(replace(best.state.trajectory.steps[place], decision=decision))
        node = node.parent
    steps = [*first.trajectory.steps, *reversed(steps)]
    last = best.state.trajectory.last
    if not best.state.is_over and last is not None:
        steps.append(Step(last, Decision(Answer(""), source=SEARCH, weights=SEARCH)))
    return replace(best.state.trajectory, steps=tuple(steps))


def _candidate(node: _Node) -> Candidate:
    assert node.decision is not None
    value = None if node.state is None else max(_values(node))
    return Candidate(format_action(node.decision.action), _log_prob(node.decision), value)


def _values(node: _Node) -> Iterator[float]:
    if node.state is not None:
        yield node.state.value
    for child in node.children:
        yield from _values(child)


class Searched:
    """A policy that searches before it acts and does what was found; any policy, any states.

    Where nothing was found, and once what was found is done, the policy acts alone.
    """

    def __init__(
        self, policy: Policy, open_states: OpenStates, limits: SearchLimits, *, replans: bool
    ) -> None:
        """With `replans` it searches before every step, else before the first alone."""
        self.policy, self.limits = policy, limits
        self._open_states, self._replans = open_states, replans
        self._paths: dict[str, Trajectory] = {}

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Return the next step of the path that was found."""
        usage: Mapping[str, int] = {}
        began, id = time.monotonic(), trajectory.id
        if self._replans or not trajectory.steps:
            async with self._open_states(trajectory, observation) as states:
                found = await search(states, self.policy, self.limits)
                told = {"search_nodes": found.nodes, "search_calls": found.calls}
                usage = {**states.usage, **told}
            self._paths.pop(id, None)
            if found.path is not None:
                self._paths[id] = found.path
        seconds = time.monotonic() - began
        path, turn = self._paths.get(id), len(trajectory.steps)
        action = replay_recording(path)(trajectory, observation) if path else None
        if path is None or turn + 1 >= len(path.steps):
            self._paths.pop(id, None)
        if path is None or action is None:
            decision = await self.policy.act(trajectory, observation)
        else:
            decision = replace(path.steps[turn].decision, action=action)
        return replace(
            decision,
            seconds=decision.seconds + seconds,
            usage={**decision.usage, **usage},
        )

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the one action that was found."""
        return propose_certain(await self.act(trajectory, observation), n)
