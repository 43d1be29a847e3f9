"""Analogy: the next action from the recalled cases, with its reasons and its confidence."""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from webagent.action import Action
from webagent.memory.cases import (
    PROBLEM,
    Case,
    carry_over,
    constants,
    descriptors_of_element,
    name_of,
    translate,
)
from webagent.memory.constants import (
    CONTRADICTED,
    DOUBTED,
    FEWER_VALUES,
    FLATTENING,
    LEAST_SHARE,
    LEAST_SUPPORT,
    LIKE_GOAL,
    MOST_DESCRIPTORS,
    MOST_ELEMENTS,
    MOST_EPISODES,
    SAME_NAME,
)
from webagent.memory.elements import find_element
from webagent.memory.goals import (
    Goal,
    align,
    clean,
    exchanged_stems,
    extend_value,
    shape,
    stems_of,
    weigh_keys,
)
from webagent.memory.pages import is_within
from webagent.memory.scene import MARKS, SLOT, Scene, argument_names, make_action
from webagent.memory.scorer import Scorer, prior
from webagent.memory.texts import find_text

Recalled = tuple[float, Case]
"""A case with its share of the recall, all shares together 1."""


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
    """Return actions by analogy, best first; none where nothing recalled can be done here.

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
    # Nobody went on after such an outcome: by the rule of succession one of n + 2 would.
    if scene.problem and all(PROBLEM not in c.facts for _, c in recalled):
        trust /= len(recalled) + 2
    found: list[Proposal] = []
    for element in elements[: max(MOST_ELEMENTS, count)]:
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
    return min(1.0, best / LIKE_GOAL)


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
    # What is called by words of another goal is another's, however well its place fits.
    confidence = element.probability * (1 - element.features.get("another's", 0.0))
    chosen = [element]
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
            (past.op, past.role, past.name)
            for past in scene.past
            if past.observation.url == now.url and _look(past.observation) == _look(now)
        }
        for candidate in mine:
            node = now.node(candidate.value) if candidate.value else None
            if node is not None and (candidate.op, node.role, clean(node.name)) in done:
                candidate.features["repeated"] = 1.0
        if mine:
            found.append((sum(share for share, _ in group), mine))
    return found


def argument_candidates(
    scene: Scene,
    name: str,
    cases: Sequence[Recalled],
    element: ArgumentCandidate,
    siblings: Sequence[Case] = (),
) -> list[ArgumentCandidate]:
    """Return values of another argument of an action whose element is chosen."""
    found = _candidates(scene, element.op, name, cases, siblings)
    if name in ("text", "option") and element.value:
        found = _fit_to_field(scene, name, cases, found)
    if name in ("option",):
        line = scene.page.line_of.get(element.value)
        names = [n.name for n in scene.page.options(line)] if line is not None else []
        labels = {clean(n).lower(): n for n in names} | {clean(n): n for n in names}
        kept = []
        for candidate in found:
            value = clean(str(candidate.value))
            label = labels.get(value) or labels.get(value.lower())
            if label is not None or not labels:
                candidate.value = label or candidate.value
                kept.append(candidate)
        return kept
    return found


def _fit_to_field(
    scene: Scene, name: str, cases: Sequence[Recalled], candidates: list[ArgumentCandidate]
) -> list[ArgumentCandidate]:
    """Return the texts that look most like those typed in the cases. Each says in what share of the
    cases one of its kind was typed, whether the field holds it, and whether another was given it.

    Where no goal is put like this one, which value stands for which is a guess: one of another
    kind, or one that was entered already, gives way to any value of the goal that is neither.
    """
    field = scene.page.observation.node(scene.field)
    held = clean(field.value).lower() if field else None
    used = {past.text for past in scene.past if past.mark and past.text}
    typed = [(share, text) for share, case in cases if (text := case.constant(name))]
    total = sum(share for share, _ in typed) or 1.0
    texts = [text for share, text in typed if share >= LEAST_SHARE * total]
    by_goal = [c for c in candidates if any(d[0] == "is" and d[1][0] == SLOT for d in c.reasons)]
    for each in by_goal if name == "text" else ():
        each.value = extend_value(str(each.value), scene.goal.text, texts)
    is_guess = name == "text" and all(c.goal.template != scene.goal.template for _, c in cases)
    # Where the goal names the field with its value there is nothing to guess.
    is_guess &= not any(("named value",) in each.reasons for each in candidates)
    values = {slot.text: ("is", (SLOT, i)) for i, slot in enumerate(scene.goal.slots)}
    others = [
        replace(by_goal[0], value=value, features=dict(by_goal[0].features), reasons={reason: 1.0})
        for value, reason in (values.items() if is_guess and by_goal else ())
        if all(value != each.value for each in candidates)
    ]
    for each in (*candidates, *others):
        text = clean(str(each.value))
        alike = sum(share for share, other in typed if _kind_of(other) == _kind_of(text)) / total
        is_held = text.lower() == held
        each.features |= {"shaped": alike, "repeated": is_held, "used": text in used}
    return _most_fitting(candidates, others, texts) if is_guess else candidates


def _most_fitting(
    candidates: list[ArgumentCandidate], others: Sequence[ArgumentCandidate], typed: Sequence[str]
) -> list[ArgumentCandidate]:
    """The candidates, or where none of them is new and like what was typed also the others; of
    these the new ones, of their kind, with as many digits, as far as there are any."""
    digits = {_exact_kind(text) for text in typed}
    tests: tuple[Callable[[ArgumentCandidate], bool], ...] = (
        lambda each: not each.features["used"] and not each.features["repeated"],
        lambda each: each.features["shaped"] > 0,
        lambda each: _exact_kind(str(each.value)) in digits,
    )
    if not any(all(test(each) for test in tests) for each in candidates):
        candidates = [*candidates, *others]
    for test in tests:
        candidates = [each for each in candidates if test(each)] or candidates
    return candidates


def _kind_of(text: str) -> str:
    """The shape of a text without letters; else whether it is a word, with digits, or several."""
    found = shape(text)
    if not {"a", "A"} & set(found):
        return found
    return "a a" if " " in found else f"a{'9' * ('9' in found)}"


def _exact_kind(text: str) -> str:
    """The same with the number of digits."""
    return re.sub(r"\d", "9", text) if _kind_of(text)[0] != "a" else _kind_of(text)


def like_cases(
    scene: Scene, element: ArgumentCandidate, recalled: Sequence[Recalled]
) -> list[Recalled]:
    """Return the cases of the operation that would choose this element; all where none would."""
    same = [(share, case) for share, case in recalled if case.op == element.op]
    if not element.value:
        return same
    reasons = set(element.reasons)
    called = name_of(replace(scene, field=element.value))
    fitting = []
    for share, case in same:
        moved = carry_over(descriptors_of_element(case), case.goal, scene.goal)
        support = max((element.reasons[d] for d in moved if d in reasons), default=0.0)
        if support:
            weight = SAME_NAME if case.called == called else 1.0
            fitting.append((share * support * weight, case))
    total = sum(share for share, _ in fitting)
    return [(share / total, case) for share, case in fitting] if total else same


def _candidates(
    scene: Scene, op: str, name: str, group: Sequence[Recalled], siblings: Sequence[Case]
) -> list[ArgumentCandidate]:
    """The values that descriptors of these cases give here, each with its features."""
    # Flatter shares, and less for cases whose goals have fewer values in common with this one.
    nearest = group
    common = [sum(slot >= 0 for slot in align(case.goal, scene.goal)) for _, case in nearest]
    group = [
        (share**FLATTENING * (1.0 if count == max(common) else FEWER_VALUES), case)
        for count, (share, case) in zip(common, nearest, strict=True)
    ]
    total = sum(share for share, _ in group) or 1.0
    same = _same_slots(scene.goal, nearest)
    support: defaultdict[tuple[Any, ...], float] = defaultdict(float)
    holders: list[tuple[float, float, frozenset[tuple[Any, ...]]]] = []
    near = sum(share for share, _ in nearest) or 1.0
    carry = carry_over if name in (*MARKS, "option") else translate
    for (share, case), (sharp, _) in zip(group, nearest, strict=True):
        trusted = {
            d: trust
            for d in carry(case.descriptors(name), case.goal, scene.goal)
            if (trust := _trust(d, case, scene))
        }
        holders.append((share / total, sharp / near, frozenset(trusted)))
        for descriptor, trust in trusted.items():
            support[descriptor] += share / total * trust
    tried = sorted(support, key=lambda d: (-support[d], *_rank(d, same)))[:MOST_DESCRIPTORS]
    given: dict[tuple[Any, ...], Any] = {}
    for descriptor in tried:
        if support[descriptor] >= LEAST_SUPPORT:
            value = _value(scene, name, descriptor)
            # A mark is one of an element.
            if value is not None and (name not in MARKS or value > 0 or descriptor == ("page",)):
                given[descriptor] = value
    found: dict[Any, ArgumentCandidate] = {}
    for descriptor, value in given.items():
        candidate = found.setdefault(value, ArgumentCandidate(op, value))
        candidate.reasons[descriptor] = support[descriptor]
    for candidate in found.values():
        candidate.features = _features(candidate.reasons, same)
    held_by = [
        frozenset(translate(case.descriptors(name), case.goal, scene.goal))
        for case in siblings
        if case.op == op and case.weight > 0
    ]
    episodes = min(len({case.episode for _, case in group}), MOST_EPISODES)
    for candidate in found.values():
        _note_support(candidate, holders, episodes, held_by, same)
        if name in MARKS:
            doubts = [(s, c, _is_of_another(scene, candidate.value, c)) for s, c in nearest]
            also = {c.called for _, c, is_other in doubts if not is_other}
            other = sum(s for s, c, is_other in doubts if is_other and c.called not in also)
            candidate.features["another's"] = other / near
    return list(found.values())


def _is_of_another(scene: Scene, mark: int, case: Case) -> bool:
    """Whether an element is called by values of a case's goal, as the element of the case was, and
    by none of those that this goal has in their place, nor by as rare ones that both have."""
    page = scene.page
    line = page.line_of.get(mark)
    if line is None:
        return False
    own = page.stems(line)
    values = (stems_of(slot.text) for slot in case.goal.slots)
    called = own & stems_of(case.called) & frozenset[str]().union(*values)
    pairs = [pair for pair in exchanged_stems(case.goal, scene.goal) if pair[0] & called]
    if not pairs or any(new & own for _, new in pairs):
        return False
    gone = called.intersection(word for old, _ in pairs for word in old)
    alike = [page.stems(i) for i in page.by_role.get(page.nodes[line].role, (line,))]
    lost, kept = (
        sum(1 / sum(word in held for held in alike) for word in own & words)
        for words in (gone, stems_of(scene.goal.text))
    )
    return kept < lost


def is_overtaken(scene: Scene, case: Case, following: Case | None) -> bool:
    """Whether a click of a case on what its goal does not name showed a value of that goal which is
    here already, with the element of the step that followed in its row."""
    if case.op != "click" or following is None or case.signature.endswith("$"):
        return False
    missing = {fact[1] for fact in case.facts - following.facts if fact[0] == "no"}
    led = frozenset(
        each
        for each in descriptors_of_element(following)
        if (each[0] == "row" and each[1] in missing)
        or (each[0] == "rows" and missing.issuperset(each[1]))
    )
    marks = {find_element(scene, each) for each in translate(led, following.goal, scene.goal)}
    return any(name_of(replace(scene, field=mark or 0)) == following.called for mark in marks)


def _same_slots(ours: Goal, cases: Sequence[Recalled]) -> frozenset[int]:
    """The values of a goal that most of the cases have as well, where another value differs: what
    differs decides what is done otherwise; these may be words that stand alone on a page."""
    same = [0.0] * len(ours.slots)
    for share, case in cases:
        for i, j in enumerate(align(case.goal, ours)):
            if j >= 0:
                is_same = case.goal.slots[i].text.lower() == ours.slots[j].text.lower()
                same[j] += share if is_same else -share
    found = frozenset(j for j, share in enumerate(same) if share > 0)
    return found if any(share < 0 for share in same) else frozenset()


def _note_support(
    candidate: ArgumentCandidate,
    holders: Sequence[tuple[float, float, frozenset[Any]]],
    episodes: int,
    held_by: Sequence[frozenset[Any]],
    same: frozenset[int],
) -> None:
    """Count the share of the cases, flattened and as it is, that would choose the candidate; say
    how likely, in nats, its best descriptor is what was meant, and in what share of other steps one
    of its descriptors holds: `held_by` are those of steps of like goals."""
    agreed = nearest = 0.0
    for share, sharp, held in holders:
        if not held.isdisjoint(candidate.reasons):
            agreed, nearest = agreed + share, nearest + sharp
    evidence = max(
        prior(family(descriptor, same)) - CONTRADICTED * episodes * (1 - min(1.0, share))
        for descriptor, share in candidate.reasons.items()
    )
    widest = max(sum(d in held for held in held_by) for d in candidate.reasons)
    candidate.features |= {
        "agreed": agreed,
        "nearest": nearest,
        "evidence": evidence,
        "wide": widest / len(held_by) if held_by else 0.0,
    }


@lru_cache(262144)
def _rank(descriptor: tuple[Any, ...], same: frozenset[int]) -> tuple[float, str]:
    """The place of a descriptor among those of equal support: the likelier meant first, and the
    same in every process."""
    return -prior(family(descriptor, same)), repr(descriptor)


def _value(scene: Scene, name: str, descriptor: tuple[Any, ...]) -> Any:
    if descriptor == ("page",):
        return 0
    if name in MARKS:
        return find_element(scene, descriptor)
    if descriptor[0] == "is" and descriptor[1][0] == "=":
        return descriptor[1][1]
    return find_text(scene, descriptor)


def _features(reasons: Mapping[tuple[Any, ...], float], same: frozenset[int]) -> dict[str, float]:
    """What speaks for a candidate: of each family the most support that one descriptor has."""
    features: dict[str, float] = {}
    for descriptor, support in reasons.items():
        name = family(descriptor, same)
        features[name] = max(features.get(name, 0.0), support)
    features["best"] = max(reasons.values())
    return features


def family(descriptor: tuple[Any, ...], same: frozenset[int] = frozenset()) -> str:
    """Return the family of a descriptor: its kind and that of the values it goes by; those of the
    goal that are the `same` in the cases are no more than constants."""
    head = str(descriptor[0])
    marks = ""
    for part in descriptor[1:]:
        if isinstance(part, tuple) and part and isinstance(part[0], str) and part[0] in "=$@/":
            marks += "~" if part[0] == SLOT and part[1] in same else part[0]
            if part[0] == "=" and isinstance(part[1], str) and any(c.isdigit() for c in part[1]):
                marks += "#"
        elif isinstance(part, tuple) and part and isinstance(part[0], tuple):
            marks += str(min(len(part), 3))
            if head in ("rows", "untried") and len(part) > 1:  # of one value as "row" has it
                marks += "$" if any(value not in same for _, value in part) else "~"
    if head in ("after", "before", "row"):
        marks += "n" if descriptor[4] else ""
        marks += "0" if descriptor[5] == 0 else ""
    elif head == "earlier":
        marks += ":" + family(descriptor[2], same)
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
    # Shorter ones may stand in a constant by chance.
    values = [s.text.lower() for s in case.goal.slots if s.kind != "name" and len(s.text) > 3]
    for key in constants(descriptor):
        if any(is_within(own, key) and not is_within(own, ours) for own in values):
            return 0.0
        if not key or not is_within(key, theirs) or is_within(key, ours):
            continue
        if any(is_within(key, slot.text.lower()) for slot in case.goal.slots):
            return 0.0
        trust = DOUBTED
    return trust


@lru_cache(4096)
def _look(observation: Any) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    return tuple(
        (n.name, n.value, tuple(s for s in n.states if s != "focused")) for n in observation.nodes
    )
