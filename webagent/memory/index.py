"""The index of a memory: the cases that are most like a scene, found fast among many."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.memory.cases import LEFT, Case, translate
from webagent.memory.constants import (
    ACTED_ON_WORD,
    CAN_BE_DONE,
    FAR_GOAL,
    LIKE_GOAL,
    LIKENESS,
    MOST_ALIKE,
    MOST_COMPARED,
    PLACES_ALIKE,
    SAME_TASK,
    SINGLE_WORD,
    VALUES_APART,
)
from webagent.memory.goals import Goal, shape, weigh_keys, weigh_words
from webagent.memory.pages import stable_hash

Array = NDArray[np.float64]
PlacesOf: TypeAlias = Callable[..., Collection[int]]
"""Gives the kinds of places at which a text stands on remembered pages, and on `pages`, which are
the present ones where none are given."""

FEATURES = (
    *("goal", "same template", "history", "last action", "same step", "steps apart"),
    *("page", "same place", "facts", "same facts", "goal and history", "page gap"),
    "left",
)
"""What a scene and a case have in common, each in [0, 1]. `left` is whether only one of them has
something left to tick or fill in that its goal names: how often a loop was gone round says little
of when it ends."""
_APART = ("steps apart", "page gap", "left")
WEIGHTS = np.array([-LIKENESS if name in _APART else LIKENESS for name in FEATURES])
"""What it counts before anything was learned."""
_FAR = 6
"""Steps that are as far apart as any more."""
_SUFFIX = 4
"""Past actions that are compared in the first, rough look."""


@dataclass(slots=True)
class Column:
    """A growing array."""

    rows: NDArray[Any]
    size: int = 0

    def append(self, row: Any) -> None:
        """Add a row."""
        if self.size == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        self.rows[self.size] = row
        self.size += 1

    @property
    def values(self) -> NDArray[Any]:
        """The rows so far."""
        return self.rows[: self.size]


@dataclass(slots=True)
class Index:
    """Goals by their words, cases by goal, past actions and page."""

    cases: list[Case] = field(default_factory=list)
    _templates: dict[tuple[str, ...], int] = field(default_factory=dict)
    _counts: dict[str, float] = field(default_factory=dict)
    """What each key counts, however rare it is."""
    _members: list[list[int]] = field(default_factory=list)
    """Cases of each template."""
    _postings: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _scripts: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Templates by the words that are not in the goal, but in the names of what was acted on."""
    _held: set[tuple[str, int]] = field(default_factory=set)
    """Which template has which word, in its goal or in such a name."""
    _template: Column = field(default_factory=lambda: Column(np.zeros(1024, np.int32)))
    _values: Column = field(default_factory=lambda: Column(np.zeros((1024, 5), np.int32)))
    """How many values of each kind the goals of each template have."""
    _past: Column = field(default_factory=lambda: Column(np.zeros((1024, _SUFFIX), np.uint32)))
    _step: Column = field(default_factory=lambda: Column(np.zeros(1024, np.int32)))
    _place: Column = field(default_factory=lambda: Column(np.zeros(1024, np.uint32)))
    _known_totals: Array | None = None
    _episode: Column = field(default_factory=lambda: Column(np.zeros(1024, np.uint32)))
    _task: Column = field(default_factory=lambda: Column(np.zeros(1024, np.uint32)))
    _said: dict[str, dict[tuple[str, ...], frozenset[str]]] = field(default_factory=dict)
    """What each goal of each task is compared by."""
    _constancy: dict[str, float] = field(default_factory=dict)
    _slots: tuple[Array, NDArray[np.int64], NDArray[np.int64], Array] | None = None
    """Kinds of places by value of the templates' goals, as 0 and 1, a row of zeros before those of
    each; the kinds; where each template begins; and how many values each has."""
    _alike: dict[tuple[frozenset[int], ...], Array] = field(default_factory=dict)
    """How alike the places of the templates' values are to those of some values."""
    _steps: dict[tuple[str, int], Case] = field(default_factory=dict)
    """Cases by episode and step."""

    def add(self, case: Case) -> None:
        """Put a case in."""
        is_new = case.goal.template not in self._templates
        number = self._templates.setdefault(case.goal.template, len(self._templates))
        goals = self._said.setdefault(case.task, {})
        if case.goal.compared not in goals:
            goals[case.goal.compared] = frozenset(weigh_keys(case.goal))
            self._known_totals = None
        if is_new:
            self._counts |= weigh_keys(case.goal)
            for key in weigh_keys(case.goal):
                self._postings[key].append(number)
                self._held.add((key, number))
        for key in weigh_words(case.signature.rpartition("|")[2]):
            if (key, number) not in self._held:
                self._held.add((key, number))
                self._scripts[key].append(number)
        if is_new:
            self._members.append([])
            self._values.append(_count_values(case.goal))
        self._members[number].append(len(self.cases))
        self._steps[case.episode, case.step] = case
        self.cases.append(case)
        self._slots = None  # its pages may show values of others at further places
        self._template.append(number)
        self._past.append(_suffix(case.past))
        self._step.append(case.step)
        self._place.append(stable_hash(case.place))
        self._episode.append(stable_hash(case.episode))
        self._task.append(stable_hash(case.task))

    def nearest(
        self,
        view: Mapping[str, Any],
        count: int,
        weights: Array = WEIGHTS,
        without: str = "",
        likest: float = -math.inf,
        task: str = "",
    ) -> list[tuple[float, Case, Array]]:
        """Return the cases most like a view, best first: with score and features.

        `without` names an episode or a task that is left out; `likest` is how close the nearest
        goal elsewhere is, where that is nearer than those here; goals of `task`, if it is given,
        are nearer than all others, however they are put.
        """
        if not self.cases:
            return []
        goals = self.closeness(view["goal"], view["places of"])
        left_out = stable_hash(without) if without else -1
        of_task = self._task.values == left_out
        known = goals[self._template.values[~of_task]]
        nearest = max(float(known.max(initial=-np.inf)), likest)
        goals = np.maximum(1 - (nearest - goals) / FAR_GOAL, 0.0)
        if task:
            goals[self._template.values[self._task.values == stable_hash(task)]] = SAME_TASK
        past = _suffix(view["past"])
        agree = np.cumprod(self._past.values == np.array(past, np.uint32), axis=1).sum(axis=1)
        count_of = dict(zip(FEATURES, weights, strict=True))
        rough = count_of["goal"] * goals[self._template.values]
        rough += count_of["history"] * agree / _SUFFIX
        rough += count_of["same place"] * (self._place.values == stable_hash(view["place"]))
        gap = np.minimum(np.abs(self._step.values - len(view["past"])), _FAR) / _FAR
        rough += count_of["steps apart"] * gap
        rough[of_task | (self._episode.values == left_out)] = -np.inf
        few = min(MOST_COMPARED, len(rough))
        picks = np.argpartition(-rough, few - 1)[:few]
        found = []
        for pick in picks:
            if np.isfinite(rough[pick]):
                case = self.cases[int(pick)]
                features = compare(view, case, float(goals[self._template.values[pick]]))
                found.append((float(features @ weights), case, features))
        found = _refuted(view, found)
        found.sort(key=lambda each: -each[0])
        return _vary(found)[:count]

    def next_of(self, case: Case) -> Case | None:
        """Return the step that followed a case in its episode."""
        return self._steps.get((case.episode, case.step + 1))

    def siblings(self, goal: Goal, count: int, without: str = "") -> list[Case]:
        """Return cases of whatever step of the goals most like this one, none of a goal that shares
        less than half of its words."""
        if not self.cases:
            return []
        likeness = self.goal_likeness(goal)
        found: list[Case] = []
        for number in np.argsort(-likeness, kind="stable"):
            if likeness[number] < LIKE_GOAL:
                break
            for i in self._members[number]:
                case = self.cases[i]
                if without in (case.episode, case.task):
                    continue
                found.append(case)
                if len(found) == count:
                    return found
        return found

    def of_goal(self, goal: Goal) -> list[Case]:
        """Return the cases of goals that are the same but for their values."""
        number = self._templates.get(goal.template)
        return [] if number is None else [self.cases[i] for i in self._members[number]]

    def answers(self, goal: Goal) -> dict[str, float]:
        """Return the texts that were answered, each with how like this goal the likest one is."""
        likeness = self.goal_likeness(goal)
        found: dict[str, float] = {}
        for case, template in zip(self.cases, self._template.values, strict=True):
            text = case.constant("text") if case.op == "answer" else None
            if text:
                found[text] = max(found.get(text, 0.0), float(likeness[template]))
        return found

    def closeness(self, goal: Goal, places_of: PlacesOf) -> Array:
        """Return for each template how close the goal is: by its words, by how many values it has,
        and by the kinds of places at which these stand."""
        apart = np.abs(self._values.values - _count_values(goal)).sum(axis=1)
        by_values = PLACES_ALIKE * self._compare_places(goal, places_of) - VALUES_APART * apart
        found: Array = self.goal_likeness(goal) + by_values
        return found

    def _compare_places(self, goal: Goal, places_of: PlacesOf) -> Array:
        """The mean over the values of the larger number, of how alike the kinds of places are of
        each and of the likest of the other goal's values."""
        if self._slots is None or len(self._slots[-1]) != len(self._members):
            goals = [self.cases[members[0]].goal for members in self._members]
            held = [
                [set[int](), *(places_of(s.text, pages=()) for s in each.slots)] for each in goals
            ]
            kinds = np.array(sorted(set().union(*(p for each in held for p in each))), np.int64)
            starts = np.cumsum([0, *(len(each) for each in held[:-1])])
            rows = np.array([np.isin(kinds, list(p)) for each in held for p in each], np.float64)
            counts = np.array([len(each) - 1 for each in held], np.float64)
            self._slots = rows, kinds, starts, counts
            self._alike.clear()
        rows, kinds, starts, counts = self._slots
        mine = tuple(frozenset(places_of(slot.text)) for slot in goal.slots)
        if not any(mine) or not len(kinds):
            return np.zeros(len(counts))
        if (known := self._alike.get(mine)) is not None:
            return known
        ours = np.array([np.isin(kinds, list(places)) for places in mine], np.float64)
        both = ours @ rows.T
        either = np.array([[len(places)] for places in mine]) + rows.sum(axis=1) - both
        alike = both / np.maximum(either, 1)
        best: Array = np.maximum.reduceat(alike, starts, axis=1).sum(axis=0)
        self._alike[mine] = best / np.maximum(counts, len(mine))
        return self._alike[mine]

    def goal_likeness(self, goal: Goal) -> Array:
        """Return for each template how like the goal it is, 1 for the same: the weight of what they
        share against what either has.

        What no template has is left out, since it cannot tell them apart; what a single one has
        counts little where the goal lacks it. Words in the names of what was acted on stand in for
        those of the goal: `public` for `Is public`.
        """
        if self._known_totals is None:
            # For each key the chance that another goal of a task which has it has it as well,
            # counted as if it had been so once.
            both = defaultdict[str, float](lambda: 1.0)
            either = defaultdict[str, float](lambda: 1.0)
            for goals in self._said.values():
                for key, count in Counter(key for keys in goals.values() for key in keys).items():
                    both[key] += count * (count - 1)
                    either[key] += count * (len(goals) - 1)
            self._constancy = {key: both[key] / either[key] for key in either}
        shared, excused, own = np.zeros(len(self._templates)), np.zeros(len(self._templates)), 0.0
        for key, counts in weigh_keys(goal).items():
            places, scripts = self._postings.get(key, []), self._scripts.get(key, [])
            if places or scripts:
                weight = counts * self._rarity(key, len(places) + len(scripts))
                own += weight
                shared[places] += weight
                shared[scripts] += ACTED_ON_WORD * weight
                excused[places] += weight * (SINGLE_WORD if len(places) == 1 else 1.0)
        if self._known_totals is None or len(self._known_totals) != len(self._templates):
            totals = np.zeros(len(self._templates))
            for key, places in self._postings.items():
                weight = self._counts[key] * self._rarity(key, len(places))
                totals[places] += weight * (SINGLE_WORD if len(places) == 1 else 1.0)
            self._known_totals = totals
        return shared / np.maximum(own + self._known_totals - excused, 1e-9)

    def _rarity(self, key: str, having: int) -> float:
        """What a key says of the task: the more the fewer goals have it, and the likelier another
        goal of a task that has it has it as well."""
        rarity = max(math.log((len(self._templates) + 1) / (having + 0.5)) + 0.05, 0.05)
        return rarity * self._constancy.get(key, 1.0)


def _count_values(goal: Goal) -> list[int]:
    """How many values of a goal are texts, addresses, whole numbers, fractions, and others."""
    kinds = Counter(
        {"quoted": "a", "name": "a"}.get(slot.kind, slot.kind)
        if slot.kind != "number" or any(map(str.isalpha, slot.text))
        else shape(slot.text)
        for slot in goal.slots
    )
    known = [kinds[each] for each in ("a", "address", "9", "9.9")]
    return [*known, kinds.total() - sum(known)]


def _vary(found: Sequence[tuple[float, Case, Array]]) -> list[tuple[float, Case, Array]]:
    """The cases without those of which there are enough that are nearer."""
    counts = Counter[tuple[tuple[str, ...], str]]()
    kept = []
    for each in found:
        key = (each[1].goal.template, each[1].signature)
        counts[key] += 1
        if counts[key] <= MOST_ALIKE:
            kept.append(each)
    return kept


def _refuted(
    view: Mapping[str, Any], found: Sequence[tuple[float, Case, Array]]
) -> list[tuple[float, Case, Array]]:
    """The cases, those lower that gave up where something was missing which is here."""
    likeness = [features[0] for _, _, features in found]
    nearest = LIKE_GOAL * max(likeness, default=0.0)
    can_be_done = {
        stable_hash(case.signature.partition("|")[2])
        for (_, case, _), each in zip(found, likeness, strict=True)
        if case.op != "give_up" and each >= nearest
    } & view["page"]
    here = {fact[1] for fact in view["facts"] if fact[0] == "element"}

    def is_refuted(case: Case) -> bool:
        if case.op != "give_up":
            return False
        facts = translate(case.facts, case.goal, view["goal"])
        missing = {fact[1] for fact in facts if fact[0] == "no"}
        return bool(can_be_done - case.page or missing & here)

    return [
        (score - CAN_BE_DONE * is_refuted(case), case, features) for score, case, features in found
    ]


def compare(view: Mapping[str, Any], case: Case, goal: float) -> Array:
    """Return the features of a view and a case, in the order of `FEATURES`."""
    mine, theirs = view["past"], case.past
    longest = min(4, max(len(mine), len(theirs)))
    same = 0
    for a, b in zip(mine[:4], theirs[:4], strict=False):
        if a != b:
            break
        same += 1
    history = same / longest if longest else 1.0
    page = _overlap(view["page"], case.page)
    facts = frozenset(translate(case.facts, case.goal, view["goal"]))
    apart = abs(len(mine) - len(theirs))
    return np.array(
        [
            goal,
            float(case.goal.template == view["goal"].template),
            history,
            float(mine[:1] == theirs[:1]),
            float(apart == 0),
            min(apart, _FAR) / _FAR,
            page,
            float(view["place"] == case.place),
            _overlap(view["facts"], facts),
            float(view["facts"] == facts),
            goal * history,
            len(view["page"] ^ case.page) / max(1, len(view["page"]), len(case.page)),
            float((LEFT in view["facts"]) != (LEFT in facts)),
        ]
    )


def _overlap(a: frozenset[Any], b: frozenset[Any]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0


def _suffix(past: Sequence[int]) -> list[int]:
    return [*past[:_SUFFIX], *[0] * (_SUFFIX - len(past))]
