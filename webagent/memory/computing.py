"""Texts that are worked out: sums, equations, times, counts, words by number, codes of colours."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from webagent.memory.comparisons import number_of
from webagent.memory.descriptions import described, options_left, segments
from webagent.memory.goals import clean, locate
from webagent.memory.pages import Page, read_page
from webagent.memory.scene import SLOT, Reference, Scene
from webagent.memory.words import colours, quantities

Descriptor: TypeAlias = tuple[Any, ...]

_SUM = re.compile(r"(-?\d+(?:\.\d+)?)\s*([-+x*×÷/])\s*(-?\d+(?:\.\d+)?)\s*(?:=|$)")
_EQUATION = re.compile(r"\b([a-z]|\d+)\s*([-+x*×])\s*([a-z]|\d+)\s*=\s*(-?\d+)\b")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)\s*([AP])\.?M\b", re.I)
_WORD = re.compile(r"[^\W_](?:[\w'-]*[^\W_])?")
_EDGES = re.compile(r"^\W+|\W+$")
_BOUND = re.compile(
    r"\b(lower|less|smaller|below|higher|greater|larger|more|above)\b(?: than)? (-?\d+)", re.I
)
_RANGE = re.compile(r"between (-?\d+)(?:-| and | to )(\d+)")
_UPWARDS = ("higher", "greater", "larger", "more", "above")
_MOST_FIELDS = 6
_UNITS = ("money", "time", "number")
_LOOKED_BACK = 12
"""Earlier pages on which amounts are looked for."""
_BESIDE = 8
"""Texts after a value among which its amount is."""
_STEM = 4
"""Letters that a label's word and a word of the goal share."""


def possible(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    """Yield descriptors of these families that may give the text."""
    page, goal = scene.page, scene.goal
    if re.fullmatch(r"-?\d+(\.\d+)?", wanted):
        yield from _possible_numbers(scene, wanted)
    if _CLOCK.search(goal.text):
        yield from (("clock", i) for i in range(len(_CLOCK.findall(goal.text))))
    for i, slot in enumerate(goal.slots):
        if number_of(slot.text):
            yield "nth word", (SLOT, i)
            yield from (
                ("nth field", (SLOT, i), kind) for role, kind in page.by_kind if role == "textbox"
            )
    yield ("labelled",)
    if re.fullmatch(r"#?[0-9A-Fa-f]{6}", wanted):
        yield "colour", "#" if wanted[0] == "#" else "", wanted.upper() == wanted
    yield ("letters",)
    yield ("next option",)
    yield ("by label",)
    for (role, kind), lines in page.by_kind.items():
        if role == "textbox":
            for place in range(min(len(lines), _MOST_FIELDS)):
                yield from (
                    ("field", kind, place, form) for form in ("all", "last word", "first word")
                )
    yield from _endings(scene, wanted)
    if any(slot.text == wanted for slot in goal.slots):
        yield from (("compared", sign, unit) for sign in (-1, 1) for unit in _UNITS)


def _possible_numbers(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    page = scene.page
    yield from (("solve", place) for place in range(len(_solutions(page))))
    yield from (("how many", k) for k in range(len(segments(scene))))
    yield from (
        ("how many of", role, kind)
        for (role, kind), lines in page.by_kind.items()
        if str(len(lines)) == wanted and role != "text"
    )
    yield ("halve",)


def find(scene: Scene, descriptor: Descriptor) -> str | None:
    """Return the text that a descriptor of these families gives; None where it gives none."""
    return FINDERS[descriptor[0]](scene, *descriptor[1:])


# -- numbers ----------------------------------------------------------------------------------


def _solutions(page: Page) -> list[str]:
    """What the sums and the equations with one unknown on the page come to."""
    if "solutions" not in page.known:
        found: list[str] = []
        for unit in page.units:
            if len(unit.text) < 40 and any(c.isdigit() for c in unit.text):
                value = _solve(unit.text)
                if value is not None:
                    found.append(f"{value:g}")
        page.known["solutions"] = found
    solutions: list[str] = page.known["solutions"]
    return solutions


def _solve(text: str) -> float | None:
    """The result of a sum, or the unknown of an equation; None for other texts."""
    if (match := _EQUATION.search(text)) is not None:
        left, sign, right, total = match.groups()
        if left.isalpha() != right.isalpha():
            result = float(total)
            if sign == "+":
                return result - float(right if left.isalpha() else left)
            if sign == "-":
                return result + float(right) if left.isalpha() else float(left) - result
            known = float(right if left.isalpha() else left)
            return result / known if known else None
    match = _SUM.search(text)
    if match is None:
        return None
    a, sign, b = float(match[1]), match[2], float(match[3])
    if sign in "/÷":
        return a / b if b else None
    return a + b if sign == "+" else a - b if sign == "-" else a * b


def _solved(scene: Scene, place: int) -> str | None:
    found = _solutions(scene.page)
    return found[place] if place < len(found) else None


def _how_many(scene: Scene, k: int) -> str | None:
    return str(len(described(scene, k, ""))) if k < len(segments(scene)) else None


def bounds_of(scene: Scene) -> tuple[int, int] | None:
    """Return the least and the most that a number can be by the goal and what pages said since."""
    match = _RANGE.search(scene.goal.text)
    if match is None:
        return None
    low, high = int(match[1]), int(match[2])
    for observation in [*(done.observation for done in scene.past), scene.page.observation]:
        for node in observation.nodes:
            for word, number in _BOUND.findall(node.name):
                if word.lower() in _UPWARDS:
                    low = max(low, int(number) + 1)
                else:
                    high = min(high, int(number) - 1)
    return (low, high) if low <= high else None


def _halve(scene: Scene) -> str | None:
    bounds = bounds_of(scene)
    return str((bounds[0] + bounds[1]) // 2) if bounds else None


def _clock(scene: Scene, place: int) -> str | None:
    """A time of the goal by the clock of 24 hours."""
    found = _CLOCK.findall(scene.goal.text)
    if place >= len(found):
        return None
    hour, minute, half = found[place]
    return f"{int(hour) % 12 + 12 * (half.upper() == 'P'):02}:{minute}"


# -- words ------------------------------------------------------------------------------------


def _read_text(scene: Scene) -> list[str]:
    """The static text before the field, line by line."""
    page = scene.page
    end = page.line_of.get(scene.field, len(page.nodes))
    return [node.name for node in page.nodes[:end] if not node.mark]


def _nth_word(scene: Scene, at: Reference) -> str | None:
    number = number_of(scene.value(at) or "")
    words = " ".join(_read_text(scene)).split()
    return _EDGES.sub("", words[number - 1]) if number and number <= len(words) else None


def _letters(scene: Scene) -> str | None:
    """The static text before the field without its spaces."""
    text = "".join(_read_text(scene))
    return re.sub(r"\s", "", text) or None if len(text) < 60 else None


def _field_text(scene: Scene, lines: list[int], place: int, form: str) -> str | None:
    if not -len(lines) <= place < len(lines):
        return None
    value = scene.page.nodes[lines[place]].value
    words = _WORD.findall(value)
    if form == "all":
        return value or None
    return words[-1 if form == "last word" else 0] if words else None


def _in_field(scene: Scene, kind: str, place: int, form: str) -> str | None:
    """What a field holds, or its last or first word."""
    return _field_text(scene, scene.page.by_kind.get(("textbox", kind), []), place, form)


def _nth_field(scene: Scene, at: Reference, kind: str) -> str | None:
    """What the field with that number holds."""
    number = number_of(scene.value(at) or "")
    lines = scene.page.by_kind.get(("textbox", kind), [])
    return _field_text(scene, lines, number - 1, "all") if number else None


def _labelled(scene: Scene) -> str | None:
    """What stands on the page behind the label that the field has."""
    page = scene.page
    line = page.line_of.get(scene.field)
    label = clean(page.nodes[line].name).rstrip(": *").lower() if line is not None else ""
    if not label:
        return None
    for at, unit in enumerate(page.units[:-1]):
        if unit.line != line and page.keys[at].rstrip(": ") == label:
            after = page.units[at + 1]
            if after.line != line and after.line <= unit.line + 1 and after.text:
                return after.text
    return None


def _by_label(scene: Scene) -> str | None:
    """The value of the goal before or behind which a word of the field's label stands."""
    line = scene.page.line_of.get(scene.field)
    name = scene.page.nodes[line].name if line is not None else ""
    stems = {word.lower()[:_STEM] for word in _WORD.findall(name) if len(word) >= _STEM}
    for slot in scene.goal.slots:
        if stems & {word[:_STEM] for word in (*slot.left, *slot.right[:1])}:
            return slot.text
    return None


def _next_option(scene: Scene) -> str | None:
    """The first option that the goal names and that is not chosen yet."""
    lines = options_left(scene)
    return clean(scene.page.nodes[lines[0]].name) if lines else None


def _colour(scene: Scene, mark: str, is_upper: bool) -> str | None:
    """The hexadecimal code of the colour that the goal names or gives."""
    if (match := re.search(r"#([0-9A-Fa-f]{6})\b", scene.goal.text)) is not None:
        code = match[1]
    else:
        named = [colours()[word] for word in scene.goal.words if word in colours()]
        if not named:
            return None
        code = named[0]
    return mark + (code.upper() if is_upper else code.lower())


def _endings(scene: Scene, wanted: str) -> Iterator[Descriptor]:
    """The text as constant words before a word of the page that ends as a word of the goal."""
    head, _, last = wanted.rpartition(" ")
    if len(last) < 3 or not scene.page.holds(last):
        return
    for token in scene.goal.text.split():
        token = token.strip("\"'") if token.endswith(('"', "'")) else token
        if 1 < len(token) < len(last) and last.lower().endswith(token.lower()):
            context = locate(token, scene.goal)
            if context is not None:
                yield "ending", head, ("@", *context)
    for i, slot in enumerate(scene.goal.slots):
        if len(slot.text) < len(last) and last.lower().endswith(slot.text.lower()):
            yield "ending", head, (SLOT, i)


def _ending(scene: Scene, head: str, at: Reference) -> str | None:
    text = (scene.value(at) or "").replace(" ", "").lower()
    if not text:
        return None
    for unit in reversed(scene.page.units):
        for word in unit.text.split():
            if word.lower().endswith(text) and len(word) > len(text):
                return f"{head} {word}" if head else word
    return None


def _compared(scene: Scene, sign: int, unit: str) -> str | None:
    """Of the goal's quoted values the one beside which the pages seen so far have the least amount,
    or the most for a sign of 1; None unless all have amounts, which differ."""
    values = [slot.text for slot in scene.goal.slots if slot.kind == "quoted"]
    seen = [done.observation for done in reversed(scene.past[-_LOOKED_BACK:])]
    if len(values) < 2:
        return None
    pages = [scene.page, *map(read_page, seen)]
    amounts: dict[float, str] = {}
    for value in values:
        found = (_amount_beside(page, value, unit) for page in pages)
        amount = next((each for each in found if each is not None), None)
        if amount is None or amount in amounts:
            return None
        amounts[amount] = value
    return amounts[max(amounts, key=lambda amount: sign * amount)]


def _amount_beside(page: Page, value: str, unit: str) -> float | None:
    """The first amount of this unit after a value on a page."""
    for hit in page.find(value)[:1]:
        for each in page.units[hit + 1 : hit + 1 + _BESIDE]:
            amounts = [amount for kind, amount in quantities(each.text) if kind == unit]
            if amounts:
                return amounts[0]
    return None


FINDERS: dict[str, Callable[..., str | None]] = {
    "solve": _solved,
    "how many": _how_many,
    "how many of": lambda scene, role, kind: str(len(scene.page.by_kind.get((role, kind), ()))),
    "halve": _halve,
    "clock": _clock,
    "nth word": _nth_word,
    "nth field": _nth_field,
    "labelled": _labelled,
    "colour": _colour,
    "letters": _letters,
    "next option": _next_option,
    "by label": _by_label,
    "field": _in_field,
    "ending": _ending,
    "compared": _compared,
}
"""How each of these families finds its text."""
