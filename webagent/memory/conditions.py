"""Conditions: what of goal and page decides which step is next, and which of it did so before.

A condition has a name and, in each scene, a value: `("count", "button|Like", ("$", 2), "<")` says
that `Like` was clicked less often than the goal's third value. Among the cases nearest to a scene
those that tell one kind of step from another are found by what knowing them would say of it, so
that a loop stops where the demonstrator's stopped.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from webagent.memory.constants import (
    CERTAIN,
    INFORMATIVE,
    KINDS_COUNTED,
    LEAST_NEAR,
    MOST_CONDITIONS,
    MOST_NUMBERS,
    NO_VALUE,
    NUMBERS_COMPARED,
)
from webagent.memory.goals import clean
from webagent.memory.operators import measure
from webagent.memory.scene import SLOT, Reference, Scene

Condition: TypeAlias = tuple[Any, ...]
"""Its name and, last, its value."""


def conditions_of(scene: Scene) -> frozenset[Condition]:
    """Return the conditions of a scene with their values."""
    return frozenset((*_of_numbers(scene), *_of_counts(scene), *_of_the_last_action(scene)))


def _sign(number: float) -> str:
    return "<" if number < 0 else ">" if number > 0 else "="


def _of_numbers(scene: Scene) -> Iterator[Condition]:
    """Numbers of the page against those of the goal."""
    page = scene.page
    if "numbers shown" not in page.known:
        texts = (
            node.name if not node.mark else node.value
            for node in page.nodes
            if not node.mark or node.role in ("spinbutton", "textbox")
        )
        page.known["numbers shown"] = [
            value for text in texts if (value := measure(clean(text))) is not None
        ]
    shown: list[float] = page.known["numbers shown"]
    if len(shown) > MOST_NUMBERS:
        return
    slots = [
        ((SLOT, i), value)
        for i, slot in enumerate(scene.goal.slots)
        if slot.kind == "number" and (value := measure(slot.text)) is not None
    ]
    for reference, value in slots[:NUMBERS_COMPARED]:
        for place, number in enumerate(shown[:NUMBERS_COMPARED]):
            yield "against", reference, place, _sign(number - value)


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
        reference: Reference = (SLOT, i)
        if slot.kind in ("number", "quoted") and slot.text.isdigit():
            number = int(slot.text)
            if times:
                yield "count", reference, _sign(times - number)
            for size, (role, kind) in counts[:KINDS_COUNTED]:
                yield "reach", reference, role, kind, _sign(size - number)
        if len(slot.text) <= 2:
            yield "value", reference, slot.text
    yield "times", min(times, 4)
    if scene.past:
        last = scene.past[-1]
        yield "last", f"{last.op}|{last.role}"
        yield "again", bool(last.mark) and any(d.mark == last.mark for d in scene.past[:-1])


def _of_the_last_action(scene: Scene) -> Iterator[Condition]:
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
    near = [i for i in range(len(theirs)) if weights[i] > LEAST_NEAR * heaviest]
    # Kinds that came once are known without the name of their element.
    counts = Counter(classes)
    all_kinds = []
    for each in classes:
        parts = each.split("|")
        if counts[each] == 1 and len(parts) > 2:
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
        if gain > INFORMATIVE:
            found.append((gain, name))
    found.sort(key=lambda each: (-each[0], repr(each[1])))
    found = found[:MOST_CONDITIONS]
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
        share = (weights[own & same].sum() + NO_VALUE * usual) / (weights[own].sum() + NO_VALUE)
        found[kind] = float(np.clip(math.log(share / usual) / CERTAIN, -1, 1))
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
