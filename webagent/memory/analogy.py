"""Analogy: the next action from the recalled cases, with its reasons and how sure it is."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from webagent.action import Action
from webagent.memory.cases import Case, constants, traits_of, translate
from webagent.memory.elements import find_element
from webagent.memory.goals import Goal, align, clean, weigh_keys
from webagent.memory.pages import is_within
from webagent.memory.points import find_point
from webagent.memory.scene import MARKS, POINTS, Scene, argument_names, make_action
from webagent.memory.scorer import Scorer, prior
from webagent.memory.substitutes import (
    descriptors_of_element,
    find_openers,
    find_shortcuts,
    find_spoken,
    lost_names,
)
from webagent.memory.texts import find_constant, find_text

Recalled = tuple[float, Case]
"""A case with its share of the recall, all shares together 1."""
_MOST_DESCRIPTORS = 220
"""Descriptors that are tried on the page, those with the most support first."""
_FEWEST = 0.04
"""Share of the recall below which a descriptor is not tried."""
_FLAT = 0.35
"""Power of the shares when descriptors are weighed: which operation is next the nearest case says
best, what is meant by it the cases say together."""
_PARTIAL = 0.3
"""What a case counts whose goal has fewer values in common with this one than another's."""
_DOUBTED = 0.3
"""Trust in a constant that stands in the words of the demonstrated goal and not of this one."""
_STRANGE = 0.25
"""Trust in a proposal for a goal without a word in common with those remembered."""
_DISAGREEMENT = 2.5
"""Nats that each episode takes from a descriptor that it does not bear out."""
_BEYOND = 0.1
"""Nats that each other step of like goals adds to one that it bears out."""
_MOST_EPISODES = 5
"""Episodes that are counted so, at most."""
_NEARLY_ALL = 0.85
"""Share of the cases that is as good as all: the last of those recalled are unlike the scene."""
_SHARPNESS = 0.4
"""How little families add to the likeliest of them, which is what was meant: near 0 nothing."""
_SHARED = 0.25
"""What a family's support counts beside that of others: many of them say the same."""
_NAMESAKE = 20.0
"""How much more a case counts for what is written where its field has the same name."""
_OPENED = 0.6
"""Trust in what opens more where what the goal names is not in view."""
_LOST = 0.8
"""Share of the trust that is lost where what the goal names is not to be found as it was."""
_BRANCHES = 3
"""Elements for which the remaining arguments are worked out."""


@dataclass(slots=True)
class ArgumentCandidate:
    """A value of one argument, with what speaks for it."""

    op: str
    value: Any
    features: dict[str, float] = field(default_factory=dict)
    kind: tuple[str, str] = ("", "")
    """Operation and role of the element in the cases that give it."""
    reasons: dict[tuple[Any, ...], float] = field(default_factory=dict)
    """Descriptors that give it, with the share of the recall that has them."""
    probability: float = 0.0


@dataclass(frozen=True, slots=True)
class Proposal:
    """An action by analogy."""

    action: Action
    confidence: float
    """Probability, by the scorer, that a demonstrator would have done just this."""
    choices: tuple[ArgumentCandidate, ...]
    """The candidates chosen, one for each argument that had to be found."""
    recalled: tuple[Recalled, ...]


def shares(scored: Sequence[tuple[float, Case]], scale: float = 1.0) -> list[Recalled]:
    """Return the cases with their shares: a softmax of their scores times their weights."""
    if not scored:
        return []
    logits = scale * np.array([score for score, _ in scored])
    powers = np.exp(logits - logits.max()) * np.array([abs(case.weight) for _, case in scored])
    total = powers.sum()
    return [(float(p / total), case) for p, (_, case) in zip(powers, scored, strict=True)]


def propose(
    scene: Scene,
    recalled: Sequence[Recalled],
    scorers: Mapping[str, Scorer],
    count: int = 1,
    siblings: Sequence[Case] = (),
    task: str = "",
) -> list[Proposal]:
    """Return actions by analogy, the surest first; none where nothing recalled can be done here.

    `siblings` are other steps of like goals, which say what descriptors hold throughout; a goal of
    `task`, if it is given, is as familiar in any words.
    """
    elements = [
        candidate
        for vote, group in element_candidates(scene, recalled, siblings)
        for candidate in _rated(group, scorers["element"], vote)
    ]
    elements.sort(key=lambda candidate: -candidate.probability)
    is_known = any(case.task == task for _, case in recalled)
    trust = 1.0 if is_known else familiarity(scene, recalled)
    found: list[Proposal] = []
    for element in elements[: max(_BRANCHES, count)]:
        found += _completed(scene, element, recalled, scorers, count, siblings)
    found.sort(key=lambda proposal: -proposal.confidence)
    return [
        replace(each, confidence=each.confidence * trust, recalled=tuple(recalled))
        for each in found[:count]
    ]


def familiarity(scene: Scene, recalled: Sequence[Recalled]) -> float:
    """Return how far a goal is one of those remembered, at most 1: a goal in other words is trusted
    less, one that shares none of its words hardly."""
    ours = weigh_keys(scene.goal).keys()
    goals = {case.goal.template: weigh_keys(case.goal).keys() for _, case in recalled}
    best = max((len(ours & keys) / len(ours | keys) for keys in goals.values()), default=0)
    return min(1.0, _STRANGE + 2 * best)


def _completed(
    scene: Scene,
    element: ArgumentCandidate,
    recalled: Sequence[Recalled],
    scorers: Mapping[str, Scorer],
    count: int,
    siblings: Sequence[Case],
) -> list[Proposal]:
    """The actions with this operation and element, their other arguments filled in."""
    names = argument_names(element.op)
    first = next((name for name in names if name in MARKS), "")
    cases = like_cases(scene, element, recalled)
    values: dict[str, Any] = {first: element.value} if first else {}
    chosen, confidence = [element], element.probability
    alternatives: list[tuple[str, ArgumentCandidate]] = []
    inner = replace(scene, field=element.value or 0)
    for name in names:
        if name == first:
            continue
        found = argument_candidates(inner, name, cases, element, siblings)
        if not found:
            return []
        found = _rated(found, scorers["element" if name in MARKS else "text"])
        values[name] = found[0].value
        if name in POINTS:
            inner = replace(inner, start=found[0].value)
        chosen.append(found[0])
        confidence *= found[0].probability
        alternatives += [(name, each) for each in found[1:count]]
    proposals = [Proposal(make_action(element.op, values), confidence, tuple(chosen), ())]
    for name, other in alternatives:
        best = next(c for c in chosen if c.value == values[name])
        share = other.probability / max(best.probability, 1e-9)
        action = make_action(element.op, {**values, name: other.value})
        proposals.append(Proposal(action, confidence * share, (*chosen[:-1], other), ()))
    return proposals


def _rated(
    candidates: Sequence[ArgumentCandidate], scorer: Scorer, share: float = 1.0
) -> list[ArgumentCandidate]:
    """The candidates with their probabilities, which are `share` together, the likeliest first."""
    chances = scorer.probabilities([candidate.features for candidate in candidates])
    for candidate, chance in zip(candidates, chances, strict=True):
        candidate.probability = float(chance) * share
    return sorted(candidates, key=lambda candidate: -candidate.probability)


# -- candidates -------------------------------------------------------------------------------


def element_candidates(
    scene: Scene, recalled: Sequence[Recalled], siblings: Sequence[Case] = ()
) -> list[tuple[float, list[ArgumentCandidate]]]:
    """Return for each operation that can be done here its share of the recall and the elements it
    could be done to; the one value is 0 where it needs none."""
    groups: defaultdict[tuple[str, str], list[Recalled]] = defaultdict(list)
    for share, case in recalled:
        groups[case.op, case.role].append((share, case))
    found: list[tuple[float, list[ArgumentCandidate]]] = []
    for (op, role), group in groups.items():
        if not any(share for share, _ in group):
            continue
        name = next((n for n in argument_names(op) if n in MARKS), "")
        mine = _candidates(scene, op, name, group, siblings) if name else [ArgumentCandidate(op, 0)]
        for candidate in mine:
            candidate.kind = (op, role)
        # What was already done to an element while the page looked as it does now.
        now = scene.page.observation
        done = {
            (past.op, past.role, past.name.lower())
            for past in scene.past
            if past.observation.url == now.url and _look(past.observation) == _look(now)
        }
        for candidate in mine:
            node = now.node(candidate.value) if candidate.value else None
            if node is not None and (candidate.op, node.role, clean(node.name).lower()) in done:
                candidate.features["repeated"] = 1.0
        share = sum(share for share, _ in group)
        opening = [candidate for candidate in mine if "opens" in candidate.features]
        others = [candidate for candidate in mine if "opens" not in candidate.features]
        if others:
            found.append((share * _reachable(scene, group), others))
        if opening:
            found.append((share * _OPENED, opening))
    return found


def _reachable(scene: Scene, group: Sequence[Recalled]) -> float:
    """How far the cases can be followed here: less where the value of the goal that named their
    element names nothing on this page."""
    total = lost = 0.0
    for share, case in group:
        facts = translate(case.facts, case.goal, scene.goal)
        descriptors = translate(descriptors_of_element(case), case.goal, scene.goal)
        gone = lost_names(scene, descriptors)
        total += share
        lost += share * any(("element", slot) in facts for slot in gone)
    return 1.0 - _LOST * lost / total if total else 1.0


def argument_candidates(
    scene: Scene,
    name: str,
    cases: Sequence[Recalled],
    element: ArgumentCandidate,
    siblings: Sequence[Case] = (),
) -> list[ArgumentCandidate]:
    """Return values of another argument of an action whose element is chosen."""
    found = _candidates(scene, element.op, name, cases, siblings)
    if name in ("option",):
        line = scene.page.line_of.get(element.value)
        labels = (
            {clean(node.name).lower(): node.name for node in scene.page.options(line)}
            if line is not None
            else {}
        )
        kept = []
        for candidate in found:
            label = labels.get(clean(str(candidate.value)).lower())
            if label is not None or not labels:
                candidate.value = label or candidate.value
                kept.append(candidate)
        return kept
    return found


def like_cases(
    scene: Scene, element: ArgumentCandidate, recalled: Sequence[Recalled]
) -> list[Recalled]:
    """Return the cases of the operation that would choose this element; all where none would."""
    same = [(share, case) for share, case in recalled if case.op == element.op]
    if not element.value:
        return same
    reasons = set(element.reasons)
    traits = traits_of(replace(scene, field=element.value))
    fitting = []
    for share, case in same:
        moved = translate(descriptors_of_element(case), case.goal, scene.goal)
        support = max((element.reasons[d] for d in moved if d in reasons), default=0.0)
        if support:
            fitting.append((share * support * _shared(traits, case.traits), case))
    total = sum(share for share, _ in fitting)
    return [(share / total, case) for share, case in fitting] if total else same


def _evidence(
    candidate: ArgumentCandidate, count: int, spread: Mapping[tuple[Any, ...], int]
) -> float:
    """How likely it is, in nats, that one of the candidate's families is what was meant: by its
    prior, by the episodes that bear its best descriptor out, and by other steps that do."""
    best: dict[str, float] = {}
    for descriptor, share in candidate.reasons.items():
        name = family(descriptor)
        odds = prior(name) - _DISAGREEMENT * count * (1 - min(1.0, share))
        odds += _BEYOND * spread[descriptor]
        best[name] = max(best.get(name, -math.inf), odds)
    return _SHARPNESS * math.log(sum(math.exp(odds / _SHARPNESS) for odds in best.values()))


def _shared(mine: frozenset[tuple[Any, ...]], theirs: frozenset[tuple[Any, ...]]) -> float:
    """How much a case counts whose element is, or is not, called and described as this one."""
    known = dict((each[:-1], each[-1]) for each in theirs)
    factor = 1.0
    for each in mine:
        if each[:-1] in known:
            same = known[each[:-1]] == each[-1]
            factor *= (_NAMESAKE if same else 1.0) if each[0] == "called" else 1.0 if same else 0.1
    return factor


def _candidates(
    scene: Scene, op: str, name: str, group: Sequence[Recalled], siblings: Sequence[Case]
) -> list[ArgumentCandidate]:
    """The values that descriptors of these cases give here, each with its features."""
    nearest, group = group, _flattened(scene, group)
    total = sum(share for share, _ in group) or 1.0
    support: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    episodes: defaultdict[tuple[Any, ...], set[str]] = defaultdict(set)
    holders: list[tuple[float, float, frozenset[tuple[Any, ...]]]] = []
    substitutes: dict[str, set[tuple[Any, ...]]] = {"shortcut": set(), "opens": set()}
    after = {(c.episode, c.step): c for c in (*siblings, *(case for _, case in nearest))}
    near = sum(share for share, _ in nearest) or 1.0
    lacking = {
        fact[1]
        for share, case in nearest
        for fact in translate(case.facts, case.goal, scene.goal)
        if fact[0] == "no" and share > _FEWEST * near
    }
    for (share, case), (sharp, _) in zip(group, nearest, strict=True):
        trusted = {
            d: trust
            for d in translate(case.descriptors(name), case.goal, scene.goal)
            if (trust := _trust(d, case, scene))
        }
        if name in MARKS:
            shorter = find_shortcuts(scene, case, trusted, after)
            opening = find_openers(scene, case, trusted, lacking)
            substitutes["shortcut"] |= shorter.keys()
            substitutes["opens"] |= opening.keys()
            trusted = opening | find_spoken(scene, case, trusted, after) | shorter | trusted
        holders.append((share / total, sharp / near, frozenset(trusted)))
        for descriptor, trust in trusted.items():
            support[descriptor] += share / total * trust
            episodes[descriptor].add(case.episode)
    tried = sorted(support, key=lambda d: (-support[d], *_rank(d)))[:_MOST_DESCRIPTORS]
    given: dict[tuple[Any, ...], Any] = {}
    for descriptor in tried:
        if support[descriptor] >= _FEWEST:
            value = _value(scene, name, descriptor)
            if value is not None and _fits(name, value, descriptor):
                given[descriptor] = value
    found: dict[Any, ArgumentCandidate] = {}
    for descriptor, value in given.items():
        candidate = found.setdefault(value, ArgumentCandidate(op, value))
        candidate.reasons[descriptor] = support[descriptor]
    for candidate in found.values():
        candidate.features = _features(candidate.reasons, episodes)
    if name in MARKS:
        _note_names(scene, found.values(), nearest, substitutes)
    _note_agreement(found.values(), holders)
    held_by = [
        frozenset(translate(case.descriptors(name), case.goal, scene.goal))
        for case in siblings
        if case.op == op and case.weight > 0
    ]
    _note_evidence(found.values(), len({case.episode for _, case in group}), held_by)
    return list(found.values())


def _flattened(scene: Scene, group: Sequence[Recalled]) -> list[Recalled]:
    """The cases with flatter shares, and less for those whose goals have fewer values in common
    with this one than others'."""
    common = [sum(slot >= 0 for slot in align(case.goal, scene.goal)) for _, case in group]
    return [
        (share**_FLAT * (1.0 if count == max(common) else _PARTIAL), case)
        for count, (share, case) in zip(common, group, strict=True)
    ]


def _note_names(
    scene: Scene,
    candidates: Collection[ArgumentCandidate],
    group: Sequence[Recalled],
    substitutes: Mapping[str, set[tuple[Any, ...]]],
) -> None:
    """Say of elements which were found by another name than the demonstrated one, which the goal
    does not speak of though it should, and which stand beside a value of the goal."""
    misnamed = _misnamed(scene, group, candidates)
    for candidate in candidates:
        for feature, descriptors in substitutes.items():
            if not descriptors.isdisjoint(candidate.reasons):
                candidate.features[feature] = 1.0
        if candidate.value in misnamed:
            candidate.features["misnamed"] = 1.0
        if _is_beside_value(scene, candidate.value):
            candidate.features["beside value"] = 1.0


def _misnamed(
    scene: Scene, group: Sequence[Recalled], candidates: Iterable[ArgumentCandidate]
) -> set[int]:
    """Return the elements whose names this goal does not speak of, where nearly all cases chose one
    that their goals speak of and this goal speaks of another."""
    speaks = sum(
        share for share, case in group if any(d[0] == "goal" for d in descriptors_of_element(case))
    )
    if speaks < _NEARLY_ALL * sum(share for share, _ in group):
        return set()
    marks = {candidate.value for candidate in candidates if candidate.value}
    named = {
        mark
        for mark in marks
        if (node := scene.page.observation.node(mark))
        and node.name
        and is_within(clean(node.name).lower(), scene.goal.text.lower())
    }
    return marks - named if named else set()


def _is_beside_value(scene: Scene, mark: int) -> bool:
    """Whether an element stands in a row that holds a value of the goal."""
    page = scene.page
    key = ("rows of values", scene.goal.text, len(scene.past))
    if key not in page.known:
        written = {done.text.lower() for done in scene.past}
        texts = [text for _, text in scene.slots_on_page() if text.lower() not in written]
        hits = [hit for text in texts for hit in page.find(text)]
        page.known[key] = {page.rows[page.units[hit].line] for hit in hits}
    line = page.line_of.get(mark)
    return line is not None and page.rows[line] in page.known[key]


@lru_cache(262144)
def _rank(descriptor: tuple[Any, ...]) -> tuple[float, str]:
    """The place of a descriptor among those of equal support: the likelier meant first, and the
    same in every process."""
    return -prior(family(descriptor)), repr(descriptor)


def _note_agreement(
    candidates: Iterable[ArgumentCandidate], holders: Sequence[tuple[float, float, frozenset[Any]]]
) -> None:
    """Count the share of the cases, flattened and as it is, that would choose each candidate."""
    for candidate in candidates:
        agreed = nearly = 0.0
        for share, sharp, held in holders:
            if not held.isdisjoint(candidate.reasons):
                agreed, nearly = agreed + share, nearly + sharp
        candidate.features |= {"agreed": agreed, "agreed^": agreed**3, "nearest": nearly}
        candidate.features["full"] = float(agreed > _NEARLY_ALL and len(holders) > 1)


def _note_evidence(
    candidates: Iterable[ArgumentCandidate], episodes: int, held_by: Sequence[frozenset[Any]]
) -> None:
    """Say how likely each candidate was meant, and in what share of other steps its descriptors
    hold: `held_by` are those of steps of like goals."""
    count = min(episodes, _MOST_EPISODES)
    for candidate in candidates:
        spread = {d: sum(d in held for held in held_by) for d in candidate.reasons}
        widest = max(spread.values())
        candidate.features["evidence"] = _evidence(candidate, count, spread)
        candidate.features["wide"] = widest / len(held_by) if held_by else 0.0


def _fits(name: str, value: Any, descriptor: tuple[Any, ...]) -> bool:
    """Whether a value can be this argument: a mark other than `at` is one of an element."""
    return name not in MARKS or value > 0 or descriptor == ("page",) or (name == "at" and value)


def _value(scene: Scene, name: str, descriptor: tuple[Any, ...]) -> Any:
    if descriptor == ("page",):
        return 0
    if name in POINTS:
        return find_point(scene, descriptor)
    if name in MARKS:
        return find_element(scene, descriptor)
    if name in ("key", "dx", "dy") or (descriptor[:1] == ("is",) and descriptor[1][:1] == ("=",)):
        return find_constant(scene, descriptor)
    return find_text(scene, descriptor)


def _features(
    reasons: Mapping[tuple[Any, ...], float],
    episodes: Mapping[tuple[Any, ...], set[str]],
) -> dict[str, float]:
    """What speaks for a candidate: of each family the most support that one descriptor has."""
    features: dict[str, float] = {}
    best = 0.0
    for descriptor, support in reasons.items():
        name = family(descriptor)
        several = min(len(episodes[descriptor]), 3) / 3
        features[name] = max(features.get(name, 0.0), _SHARED * support)
        features[name + "^"] = max(features.get(name + "^", 0.0), _SHARED * support**3 * several)
        best = max(best, support)
    features["best"] = best
    features["best^"] = best**3
    return features


def family(descriptor: tuple[Any, ...]) -> str:
    """Return the family of a descriptor: its kind and that of the values it goes by."""
    head = str(descriptor[0])
    marks = ""
    for part in descriptor[1:]:
        if isinstance(part, tuple) and part and isinstance(part[0], str) and part[0] in "=$&@<^//":
            marks += part[0]
            if part[0] == "=" and isinstance(part[1], str) and any(c.isdigit() for c in part[1]):
                marks += "#"
        elif isinstance(part, tuple) and part and isinstance(part[0], tuple):
            marks += str(min(len(part), 3))
    if head in ("after", "before", "row"):
        marks += "n" if descriptor[4] else ""
        marks += "0" if descriptor[5] == 0 else ""
    elif head == "earlier":
        marks += ":" + family(descriptor[2])
    elif head in ("in", "past") and descriptor[1]:
        marks = ":" + family(descriptor[1])
    elif head == "name" and descriptor[3]:
        marks += "+"
    elif head in ("untried", "beside"):
        marks += "0" if descriptor[3] == 0 else ""
    return head + marks


def _trust(descriptor: tuple[Any, ...], case: Case, scene: Scene) -> float:
    """How far a constant of the descriptor is one: not where it is or holds a value of the case's
    own goal that this goal lacks, and less where it stood in the words of that goal alone."""
    trust = 1.0
    theirs, ours = case.goal.text.lower(), scene.goal.text.lower()
    for key in constants(descriptor):
        if any(is_within(own, key) and not is_within(own, ours) for own in _own_values(case.goal)):
            return 0.0
        if not key or not is_within(key, theirs) or is_within(key, ours):
            continue
        if any(is_within(key, slot.text.lower()) for slot in case.goal.slots):
            return 0.0
        trust = _DOUBTED
    return trust


@lru_cache(4096)
def _own_values(goal: Goal) -> tuple[str, ...]:
    """The values of a goal that are long enough not to stand in a constant by chance."""
    return tuple(s.text.lower() for s in goal.slots if s.kind != "name" and len(s.text) > 3)


def _look(observation: Any) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    return tuple(
        (n.name, n.value, tuple(s for s in n.states if s != "focused")) for n in observation.nodes
    )
