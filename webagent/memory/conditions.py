"""Conditions: what of goal and page decides which step is next, and which of it did so before.

A condition has a name and, in each scene, a value: `("count", "button|Like", ("$", 2), "<")` says
that `Like` was clicked less often than the goal's third value. Among the cases nearest to a scene
those that tell one kind of step from another are found by what knowing them would say of it, so
that a loop stops where the demonstrator's stopped.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.memory.comparisons import is_sorted, number_of, shown_at, unmet_of
from webagent.memory.descriptions import (
    described,
    each_of,
    left_of,
    loose_of,
    options_in_goal,
    options_left,
    segments,
    still_described,
)
from webagent.memory.goals import clean
from webagent.memory.operators import measure
from webagent.memory.pages import read_page
from webagent.memory.scene import SLOT, Reference, Scene
from webagent.memory.words import condition_of, quantities

Condition: TypeAlias = tuple[Any, ...]
"""Its name and, last, its value."""

_MOST_NUMBERS = 6
"""Numbers on a page beyond which single ones say nothing."""
_SHOWN = 2
_MOST_OF = 0.6
"""Share of a step from which what is missing is nearer after it than before."""
_FAR = (1, 4)
"""Upper ends of what is missing that counts as a little and as some."""
_CONTROLS = ("slider", "spinbutton", "textbox")
_MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_KINDS = 4
"""Kinds of elements of which a goal may say a number."""
_DOUBT = 0.1
"""Cases of no value in particular that a kind of step is taken to have."""
_SURE = 2.0
"""Logarithm of a likelihood that counts as certain."""
_TELLING = 0.04
"""Nats that a condition must tell of the kind of step."""
_MOST_TELLING = 6
_TRUST = {"times": 0.25, "last": 0.25, "changed": 0.2, "again": 0.3, "reach": 0.4, "value": 0.4}
_TRUST |= {"count": 0.6, "end named": 0.5, "said": 0.5}
"""What a condition counts that may say no more than how far a task has come, beside those that say
why."""
_NEAR = 0.02
"""Nearness, of that of the nearest, from which a case is asked."""
_LEAST = 2
"""Cases that make a kind of step with a name of its own."""


def conditions_of(scene: Scene) -> frozenset[Condition]:
    """Return the conditions of a scene with their values."""
    return frozenset(
        (*_of_numbers(scene), *_of_what_is_left(scene), *_of_counts(scene), *_of_words(scene))
    )


def _sign(number: float) -> str:
    return "<" if number < 0 else ">" if number > 0 else "="


def _of_numbers(scene: Scene) -> Iterator[Condition]:
    """Numbers of the page against those of the goal."""
    shown = _numbers_shown(scene)
    slots = [
        ((SLOT, i), value)
        for i, slot in enumerate(scene.goal.slots)
        if slot.kind == "number" and (value := measure(slot.text)) is not None
    ]
    asked = condition_of(scene.goal)
    if asked is not None:
        for place in range(_SHOWN):
            yield "holds", place, asked(shown[place]) if place < len(shown) else None
    if len(shown) <= _MOST_NUMBERS:
        for reference, value in slots[:_SHOWN]:
            for place, number in enumerate(shown[:_SHOWN]):
                yield "against", reference, place, _sign(number - value)
    for role in _CONTROLS:
        if (role in scene.page.by_role and slots) or ("[" in scene.goal.text):
            missing = unmet_of(scene, role)
            if missing is None:
                yield "unmet", role, "met"
            else:
                yield "unmet", role, _sign(missing[1])
                yield "missing", role, sum(abs(missing[1]) > end for end in _FAR)
                step = _longest_step(scene, role)
                yield "beyond a step", role, abs(missing[1]) >= _MOST_OF * step if step else None


def _longest_step(scene: Scene, role: str) -> float:
    """By how much one action changed the first control of this role that is not set yet, at
    most."""
    page = scene.page
    missing = unmet_of(scene, role)
    if missing is None:
        return 0.0
    mark = page.nodes[missing[0]].mark
    shown = []
    for done in (*scene.past, None):
        there = read_page(done.observation) if done else page
        line = there.line_of.get(mark)
        value = shown_at(there, line) if line is not None else None
        if value is not None:
            shown.append(value)
    return max((abs(a - b) for a, b in pairwise(shown)), default=0.0)


def _numbers_shown(scene: Scene) -> list[float]:
    """The amounts in the page's static text and fields, in page order."""
    page = scene.page
    if "numbers shown" not in page.known:
        found: list[float] = []
        for node in page.nodes:
            if not node.mark and len(node.name) < 60:
                found += [value for _, value in quantities(clean(node.name))]
            elif node.role in ("spinbutton", "textbox") and re.fullmatch(r"-?\d+", node.value):
                found.append(float(node.value))
            if len(found) > 4 * _MOST_NUMBERS:
                break
        page.known["numbers shown"] = found
    numbers: list[float] = page.known["numbers shown"]
    return numbers


def _of_what_is_left(scene: Scene) -> Iterator[Condition]:
    """Whether anything is still to be done of what the goal describes, names or orders."""
    for k in range(len(segments(scene))):
        if described(scene, k, ""):
            yield "left", k, bool(still_described(scene, k, ""))
    slots = scene.goal.slots
    for i, at in enumerate(slots):
        for j, named in enumerate(slots):
            if i != j and any(name == named.text.lower() for _, name in scene.page.by_name):
                lines = each_of(scene, (SLOT, i), "", (SLOT, j))
                if lines and scene.page.holds(at.text):
                    yield "each left", (SLOT, i), (SLOT, j), bool(left_of(scene, lines))
    loose = loose_of(scene.page, "graphic")
    if loose or "graphic" in scene.page.by_role:
        yield "loose", bool(left_of(scene, loose))
    ascends = is_sorted(scene.page)
    if ascends is not None:
        yield "sorted", ascends


def _of_counts(scene: Scene) -> Iterator[Condition]:
    """How often the last thing was done, and how many elements there are, against the goal's
    numbers."""
    latest = scene.past[-1].signature if scene.past else ""
    times = sum(done.signature == latest for done in scene.past)
    counts = sorted(
        ((len(lines), key) for key, lines in scene.page.by_kind.items() if key[0] != "text"),
        key=lambda each: (-each[0], each[1]),
    )
    for i, slot in enumerate(scene.goal.slots):
        number = number_of(slot.text) if slot.kind in ("number", "quoted") else None
        if number is not None:
            reference: Reference = (SLOT, i)
            if times:
                yield "count", reference, _sign(times - number)
            for size, (role, kind) in counts[:_KINDS]:
                yield "reach", reference, role, kind, _sign(size - number)
        if len(slot.text) <= 2:
            yield "value", (SLOT, i), slot.text
        shown = _month_shown(scene)
        if shown is not None and (asked := _month_of(slot.text)) is not None:
            yield "month", (SLOT, i), _sign(asked - shown)
    yield "times", min(times, 4)
    if scene.past:
        last = scene.past[-1]
        yield "last", f"{last.op}|{last.role}"
        yield "again", bool(last.mark) and any(d.mark == last.mark for d in scene.past[:-1])
    if options_in_goal(scene.page, scene.goal):
        yield "options left", bool(options_left(scene))


def _month_shown(scene: Scene) -> int | None:
    """The month that a calendar's heading says."""
    for node in scene.page.nodes:
        words = node.name.lower().split() if not node.mark and len(node.name) < 20 else []
        if len(words) == 2 and words[0] in _MONTHS and words[1].isdigit():
            return int(words[1]) * 12 + _MONTHS.index(words[0])
    return None


def _month_of(text: str) -> int | None:
    """The month of a date such as 12/31/2016 or 2016-12-31."""
    if match := re.fullmatch(r"(\d{1,2})/\d{1,2}/(\d{4})", text):
        return int(match[2]) * 12 + int(match[1]) - 1
    if match := re.fullmatch(r"(\d{4})-(\d\d)-\d\d", text):
        return int(match[1]) * 12 + int(match[2]) - 1
    return None


def _of_words(scene: Scene) -> Iterator[Condition]:
    """Whether the goal's last word names an element, and whether the last action did anything."""
    last = next((word for word in reversed(scene.goal.words) if word.isalnum()), "")
    named = {name for _, name in scene.page.by_name}
    yield "end named", last in named
    field = scene.past[-1] if scene.past else None
    yield "changed", field is None or field.observation.nodes != scene.page.nodes


# -- which of them tell -----------------------------------------------------------------------


def agreement(
    mine: Mapping[Condition, Hashable],
    theirs: Sequence[Mapping[Condition, Hashable]],
    classes: Sequence[str],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return for each case how well its kind of step fits a scene, from -1 to 1, by the conditions
    that tell the kinds of the nearest cases apart: 0 where none does. `classes` are the kinds,
    `weights` say how near each case is."""
    result = np.zeros(len(theirs))
    heaviest = float(weights.max())
    near = [i for i in range(len(theirs)) if weights[i] > _NEAR * heaviest]
    # Kinds that came once are told without the name of their element.
    counts = Counter(classes)
    all_kinds = []
    for each in classes:
        parts = each.split("|")
        if counts[each] < _LEAST and len(parts) > 2:
            parts[2] = "*"
        all_kinds.append("|".join(parts))
    kinds = [all_kinds[i] for i in near]
    if len(set(kinds)) < 2:
        return result
    found: list[tuple[float, Condition]] = []
    shared = set.intersection(*(set(theirs[i].items()) for i in near))
    names = {name for i in near for name in theirs[i]} - {name for name, _ in shared}
    for name in names:
        gain = _gain([theirs[i].get(name) for i in near], kinds, weights[near])
        if gain > _TELLING:
            found.append((gain * _TRUST.get(str(name[0]), 1.0), name))
    found.sort(key=lambda each: (-each[0], repr(each[1])))
    found = found[:_MOST_TELLING]
    total = sum(gain for gain, _ in found)
    for gain, name in found:
        values = [theirs[i].get(name) for i in near]
        likely = _likelihood(mine.get(name), values, kinds, weights[near])
        result += gain / total * np.array([likely.get(kind, 0.0) for kind in all_kinds])
    return result


def _likelihood(
    value: Hashable, values: Sequence[Hashable], kinds: Sequence[str], weights: NDArray[np.float64]
) -> dict[str, float]:
    """How much likelier than usual a condition has this value before each kind of step, as a
    logarithm from -1 to 1; nothing for a value that none has."""
    same = np.array([each == value for each in values])
    usual = float(weights[same].sum() / weights.sum())
    if not usual:
        return {}
    found: dict[str, float] = {}
    for kind in set(kinds):
        own = np.array([each == kind for each in kinds])
        share = (weights[own & same].sum() + _DOUBT * usual) / (weights[own].sum() + _DOUBT)
        found[kind] = float(np.clip(math.log(share / usual) / _SURE, -1, 1))
    return found


def _gain(
    values: Sequence[Hashable], classes: Sequence[str], weights: NDArray[np.float64]
) -> float:
    """The nats that a condition tells of the class, less what it would tell by chance."""
    if len(set(values)) < 2:
        return 0.0
    total = float(weights.sum())
    joint: defaultdict[tuple[Hashable, str], float] = defaultdict(float)
    by_value: defaultdict[Hashable, float] = defaultdict(float)
    by_class: defaultdict[str, float] = defaultdict(float)
    for value, label, weight in zip(values, classes, weights, strict=True):
        share = float(weight) / total
        joint[value, label] += share
        by_value[value] += share
        by_class[label] += share
    gain = sum(
        share * math.log(share / (by_value[value] * by_class[label]))
        for (value, label), share in joint.items()
    )
    count = total**2 / float((weights**2).sum())
    return gain - (len(by_value) - 1) * (len(by_class) - 1) / (2 * count)
