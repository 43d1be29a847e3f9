"""Fields that a goal names right before the value that goes into them: `set the title to "X"`."""

import re
from functools import lru_cache

from webagent.memory.constants import LONGEST_LABEL, WORDS_TO_VALUE
from webagent.memory.goals import FOUND, FUNCTION_WORDS, Goal, clean
from webagent.memory.scene import Scene

ENTERED = ("textbox", "searchbox", "spinbutton", "combobox")
"""Roles of fields into which values are entered."""
_GAP = re.compile(r"""["“'‘]?(?:\s*[:=]|(?:\s+[\w-]+)*)\s*["“'‘]?""")
"""What may stand between a label and its value: a sign that sets it, or words without any sign."""
_PLACES = frozenset({"at", "for", "from", "in", "on", "under", "within"})
"""Words before a value that says where the field is, and is not what goes into it."""


def list_named_fields(scene: Scene) -> list[tuple[int, int]]:
    """Return the lines of the fields of the page that the goal names, each with the number of the
    value that it gives them, in the order of the page."""
    page, goal = scene.page, scene.goal
    key = ("named fields", goal.text)
    if key not in page.known:
        lines = sorted(line for role in ENTERED for line in page.by_role.get(role, ()))
        labels = {line: _label(scene, line) for line in lines}
        named = {label: spot for label in labels.values() if (spot := find_value_of(goal, label))}
        # `date` of `expiry date` is no label where the page has the longer one.
        covered = {
            short
            for short, (end, _) in named.items()
            for long, (last, _) in named.items()
            if len(short) < len(long) and end == last
        }
        page.known[key] = [
            (line, named[label][1])
            for line, label in labels.items()
            if label in named and label not in covered
        ]
    found: list[tuple[int, int]] = page.known[key]
    return found


def list_unfilled(scene: Scene, role: str = "") -> list[int]:
    """Return the lines of those fields, of a role, that were not acted on and hold another value
    than the goal gives them."""
    nodes, slots = scene.page.nodes, scene.goal.slots
    done = {past.mark for past in scene.past}
    return [
        line
        for line, value in list_named_fields(scene)
        if role in ("", nodes[line].role)
        and nodes[line].mark not in done
        and clean(nodes[line].value).lower() != slots[value].text.lower()
    ]


def read_named_value(scene: Scene) -> str | None:
    """Return the value that the goal gives the field that a text is chosen for; None for none."""
    line = scene.page.line_of.get(scene.field)
    value = dict(list_named_fields(scene)).get(-1 if line is None else line)
    return None if value is None else scene.goal.slots[value].text


def _label(scene: Scene, line: int) -> str:
    """The name of a field or, where it has none, the text right before it."""
    nodes = scene.page.nodes
    name = clean(nodes[line].name)
    if not name and line and not nodes[line - 1].mark:
        name = clean(nodes[line - 1].name)
    return name.strip(" *:").lower().replace("&", "and")


@lru_cache(65536)
def find_value_of(goal: Goal, label: str) -> tuple[int, int] | None:
    """Return where a label ends in a goal, in letters, and the number of the value that stands
    right behind it; None where the goal has the label nowhere, or no value there."""
    if not 2 < len(label) < LONGEST_LABEL or label in FUNCTION_WORDS:
        return None
    text = re.sub(f"[{FOUND}]", "", goal.text).lower().replace("&", "and")
    for match in re.finditer(rf"(?<!\w){re.escape(label)}(?!\w)", text):
        rest = text[match.end() :]
        places = [(rest.find(slot.text.lower()), i) for i, slot in enumerate(goal.slots)]
        for at, value in sorted(place for place in places if place[0] > 0):
            words = rest[:at].split()
            is_near = _GAP.fullmatch(rest[:at]) and len(words) <= WORDS_TO_VALUE
            if not is_near or "and" in words:
                break
            if words[-1:] and words[-1] in _PLACES:
                continue
            return match.end(), value
    return None
