"""The prior over actions: how likely each action on a page is for a goal that nothing like was
shown, learned from the demonstrated tasks by leaving each of them out in turn."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from webagent.action import Action
from webagent.action.actions import Answer, Check, Click, Fill, GiveUp, SelectOption, Uncheck
from webagent.memory.analogy import Proposal
from webagent.memory.constants import (
    FEW_OPTIONS,
    FORM_FIELDS,
    LEAST_QUESTION,
    LINES_BELOW,
    LONGEST_ANSWER,
    MOST_OPTIONS,
    MOST_TEXTS,
    MOST_VALUES,
    OFTEN_SEEN,
    SAME_STEM,
    STEM,
)
from webagent.memory.goals import Goal, clean, shape
from webagent.memory.scene import Scene, mark_of
from webagent.memory.scorer import UNTAUGHT
from webagent.memory.usage import Usage, content_words, key_of
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Node

_TYPED = ("textbox", "searchbox", "spinbutton")
_TICKED = ("checkbox", "switch")
_ENTRIES = ("fill", "select_option", "check", "uncheck")
_AMOUNTS = frozenset(("many", "much", "number", "amount", "total", "sum", "count", "often"))
Features = dict[str, float]


@dataclass(frozen=True, slots=True)
class PossibleAction:
    """An action with what speaks for it."""

    action: Action
    features: Features


@lru_cache(16384)
def _goal_words(goal: Goal) -> tuple[str, ...]:
    """The words of a goal outside its quoted values and numbers."""
    return tuple(
        word
        for word in content_words(" ".join(goal.template).replace('"', " "))
        if word.isalpha() and len(word) > 1 and word not in ("nn", "q", "n", "a", "m")
    )


@lru_cache(65536)
def match_words(name: str, words: tuple[str, ...]) -> float:
    """Return which share of a name's words stands among these, other forms counting less."""
    own = [word for word in content_words(name) if word.isalpha()]
    if not own or len(own) > 8:
        return 0.0
    stems = {word[:STEM] for word in words if len(word) >= STEM}
    total = 0.0
    for word in own:
        if word in words:
            total += 1.0
        elif len(word) >= STEM and word[:STEM] in stems:
            total += SAME_STEM
    return total / len(own)


@dataclass(slots=True)
class _View:
    """What is worked out once for a scene."""

    scene: Scene
    usage: Usage
    without: str
    words: tuple[str, ...]
    unmet: tuple[str, ...]
    """Words of the goal that no element that was acted on is called by."""
    values: list[str]
    held: list[str]
    """Values of the goal that were written."""
    tasks: int
    """Remembered tasks."""
    before: frozenset[str]
    """Names on the page before."""
    last: int
    """Line of the element that was acted on last, -1 where it is gone."""
    rows: set[int]
    """Rows that hold a value of the goal."""
    hits: list[int]
    """Lines that hold a value of the goal, in order."""
    fields: int
    """Fields on the page."""

    def count(self, tasks: Collection[str]) -> int:
        """Return how many of these tasks may be counted."""
        return self.usage.count(tasks, self.without)


def _view(scene: Scene, usage: Usage, without: str) -> _View:
    page, past = scene.page, scene.past
    words = _goal_words(scene.goal)
    names = tuple(w for done in past for w in content_words(done.name))
    unmet = tuple(w for w in words if w not in names)
    values = list(dict.fromkeys(slot.text for slot in scene.goal.slots))[:MOST_VALUES]
    written = {done.text.lower() for done in past}
    before = frozenset(n.name for n in past[-1].observation.nodes) if past else frozenset()
    hits = sorted({page.units[h].line for v in values if len(v) > 1 for h in page.find(v)})
    rows = {page.rows[line] for line in hits}
    return _View(
        scene,
        usage,
        without,
        words,
        unmet,
        values,
        [value for value in values if value.lower() in written],
        max(1, usage.count(usage.tasks, without)),
        before,
        page.line_of.get(past[-1].mark, -1) if past and past[-1].mark else -1,
        rows,
        hits,
        sum(n.role in _TYPED for n in page.nodes),
    )


def possible_actions(
    scene: Scene, proposals: Sequence[Proposal], usage: Usage, without: str = ""
) -> list[PossibleAction]:
    """Return everything that could be done on a page: elements clicked, values of the goal written,
    texts of the page answered, the end; and what memory proposes."""
    view = _view(scene, usage, without)
    found: dict[Action, Features] = {}
    for action, features in (*_elements(view), *_endings(view)):
        found.setdefault(action, features)
    first = max((p.confidence for p in proposals), default=0.0)
    for proposal in proposals:
        features = found.setdefault(proposal.action, {f"other {proposal.choices[0].op}": 1.0})
        features["memory"] = proposal.confidence
        features["memory log"] = 1 + math.log(proposal.confidence + 0.01) / 4.6
        features["memory first"] = float(proposal.confidence == first)
    kinds, marks = defaultdict[str, float](float), defaultdict[int, float](float)
    for proposal in proposals:
        kinds[_kind_of(proposal.action)] += proposal.confidence
        marks[mark_of(proposal.action, scene.page.observation)] += proposal.confidence
    for action, features in found.items():
        kind = _kind_of(action)
        features[f"memory {kind}"] = kinds[kind]
        mark = mark_of(action, scene.page.observation)
        features["memory element"] = marks[mark] if mark else 0.0
    return [
        PossibleAction(
            action, {UNTAUGHT + name: value for name, value in features.items() if value}
        )
        for action, features in found.items()
    ]


def _kind_of(action: Action) -> str:
    """The operation; answers with a text are one of their own."""
    return "answer text" if isinstance(action, Answer) and action.text else op_of(action)


def _elements(view: _View) -> Iterator[tuple[Action, Features]]:
    page, scene = view.scene.page, view.scene
    matches = [match_words(node.name, view.unmet) if node.mark else 0.0 for node in page.nodes]
    ranked = sorted(matches, reverse=True)
    done = [(d.op, d.role, d.name, d.observation.url) for d in scene.past]
    url = page.observation.url
    last_op = scene.past[-1].op if scene.past else ""
    for line, node in enumerate(page.nodes):
        if not node.mark or "disabled" in node.states:
            continue
        key = key_of(node)
        used = view.count(view.usage.used.get(key, ()))
        seen = view.count(view.usage.seen.get(key, ()))
        name = clean(node.name)
        common: Features = {
            "word": match_words(node.name, view.words),
            "unmet word": matches[line],
            "only word": matches[line] / (1 + ranked.index(matches[line]))
            if matches[line]
            else 0.0,
            "used": math.log1p(used),
            "never used": float(seen >= OFTEN_SEEN and not used),
            "use rate": used / (seen + 2),
            "unseen": float(not seen),
            "on every page": seen / view.tasks,
            "nameless": float(not name),
            "new": float(bool(scene.past) and node.name not in view.before),
            "first": float(not scene.past) * seen / view.tasks,
            "below last": 1 / (line - view.last) if 0 <= view.last < line else 0.0,
        }
        same = [d for d in done if d[1] == node.role and d[2] == name]
        common["repeated"] = float(any(d[3] == url for d in same)) if name else 0.0
        common["done before"] = float(bool(same)) if name else 0.0
        if node.kind.startswith("select"):
            yield from _options(view, line, node, common)
        elif node.role in _TYPED or (node.role == "combobox" and node.kind.startswith("input")):
            yield from _fills(view, line, node, common)
        else:
            features = dict(common)
            features[f"click {node.role if node.role in _ROLES else 'other'}"] = 1.0
            features |= _about_values(view, line, node)
            if last_op in _ENTRIES:
                features["after entry"] = float(node.role == "button")
                features["next button"] = float(node.role == "button") * common["below last"]
            if node.role == "button" and view.values:
                features["button, share written"] = len(view.held) / len(view.values)
            if node.role in _TICKED:
                yield (Uncheck if "checked" in node.states else Check)(node.mark), features
            else:
                yield Click(node.mark), features


_ROLES = ("link", "button", "option", "checkbox", "radio", "combobox", "menuitem", "tab", "generic")


def _about_values(view: _View, line: int, node: Node) -> Features:
    name = clean(node.name).lower()
    page = view.scene.page
    whole = float(any(v.lower() == name and line in page.named(node.role, v) for v in view.values))
    part = float(not whole and any(len(v) > 2 and v.lower() in name for v in view.values))
    beside = float(not whole and page.rows[line] in view.rows)
    above = max((hit for hit in view.hits if hit < line), default=-99)
    near = float(not whole and line - above <= LINES_BELOW)
    acted = any(d.op == "click" and d.name.lower() == name for d in view.scene.past)
    return {
        "is value": whole,
        "is value again": whole * acted,
        "is value, written": whole * float(name in {v.lower() for v in view.held}),
        "below value": 1 / (line - above) if not whole else 0.0,
        "near below value": near,
        "near below value, word": near * match_words(node.name, view.words),
        "holds value": part,
        "in row of value": beside,
        "in row of value, word": beside * match_words(node.name, view.words),
    }


def _options(
    view: _View, line: int, node: Node, common: Features
) -> Iterator[tuple[Action, Features]]:
    options = view.scene.page.options(line)
    chosen = [d for d in view.scene.past if d.op == "select_option"]
    mine = float(any(d.mark == node.mark for d in chosen))
    for option in options[:MOST_OPTIONS]:
        name = clean(option.name).lower()
        whole = float(any(value.lower() == name for value in view.values))
        match = match_words(option.name, view.words)
        if whole or match > 0.0 or len(options) <= FEW_OPTIONS:
            yield (
                SelectOption(node.mark, option.name),
                {
                    **common,
                    "select": 1.0,
                    "select value": whole,
                    "select word": match,
                    "select is so": float(clean(node.value).lower() == name),
                    "select again": float(any(clean(d.text).lower() == name for d in chosen)),
                    "field is filled": mine,
                },
            )


def _fills(
    view: _View, line: int, node: Node, common: Features
) -> Iterator[tuple[Action, Features]]:
    page, scene = view.scene.page, view.scene
    label = f"{node.name} {node.description}"
    if not node.name and not node.description:
        # The text beside it, else before it.
        row = [page.nodes[i] for i in page.row_lines(line) if i < line and not page.nodes[i].mark]
        before = [n for n in page.nodes[max(0, line - 2) : line] if not n.mark]
        label = (row or before)[-1].name if row or before else ""
    form = float(view.fields >= FORM_FIELDS)
    mine = any(d.op == "fill" and d.mark == node.mark for d in scene.past)
    for i, slot in enumerate(scene.goal.slots[:MOST_VALUES]):
        near = tuple(w for w in (*slot.left, *slot.right) if w.isalpha())
        is_number = any(c.isdigit() for c in slot.text)
        written = slot.text in view.held
        yield (
            Fill(node.mark, slot.text),
            {
                **common,
                "fill": 1.0,
                "fill label": match_words(label, near),
                "fill goal": match_words(label, view.words),
                "fill again": float(written),
                "fill next": float(not written and i == len(view.held)),
                "field is filled": float(mine),
                "fill is so": float(node.value == slot.text),
                "fill name": float(slot.kind == "name"),
                "fill spin": float(node.role == "spinbutton") * (1.0 if is_number else -1.0),
                "fill shape": float(bool(node.value) and shape(node.value) == shape(slot.text)),
                "fill form": form,
                "fill form, field used": form * float(common["used"] > 0),
                "fill in view": float(page.holds(slot.text)),
                "fill used": math.log1p(common["used"]) * float(slot.kind == "quoted"),
            },
        )


def _endings(view: _View) -> Iterator[tuple[Action, Features]]:
    scene, page = view.scene, view.scene.page
    past = scene.past
    question = view.usage.chance_of_question(scene.goal, view.without)
    missing = [v for v in view.held if not any(v.lower() in k for k in page.keys)]
    called = [n.name.lower() for n in page.nodes if n.mark and n.role not in _TYPED]
    unnamed = [v for v in view.held if not any(v.lower() in name for name in called)]
    last = past[-1] if past else None
    pressed = last is not None and last.op == "click" and last.role == "button"
    has_message = any(
        n.role in ("alert", "status") and n.name not in view.before for n in page.nodes
    )
    unmet = len(view.unmet) / max(1, len(view.words))
    entered = any(d.op in _ENTRIES for d in past)
    moved = last is not None and last.observation.url != page.observation.url
    acted = max(
        (match_words(d.name, view.words) for d in past if d.role in ("button", "link")), default=0.0
    )
    yield (
        Answer(""),
        {
            "done": 1.0,
            "done question": question,
            "done pressed": float(pressed),
            "done link": float(last is not None and last.role == "link"),
            "done filled": float(last is not None and last.op in ("fill", "select_option")),
            "done message": float(has_message),
            "done sent": float(pressed and entered),
            "done moved": float(pressed and moved),
            "done acted word": acted,
            "done still": float(last is not None and not moved and last.op == "click"),
            "done at once": float(not past),
            "done unmet": unmet,
            "done written": len(view.held) / max(1, len(view.values)),
            "done steps": math.log1p(len(past)),
            "done pressed word": float(pressed)
            * match_words(last.name if last else "", view.words),
        },
    )
    yield (
        GiveUp("it cannot be done"),
        {
            "give up": 1.0,
            "give up missing": float(bool(missing)),
            "give up unnamed": float(bool(unnamed)),
            "give up at once": float(not past),
            "give up steps": math.log1p(len(past)),
            "give up question": question,
        },
    )
    if question >= LEAST_QUESTION:
        yield from _texts(view, question)


def _texts(view: _View, question: float) -> Iterator[tuple[Action, Features]]:
    """Texts of the page as answers, each with the words beside it."""
    scene, page = view.scene, view.scene.page
    shown = sum(page.holds(value) for value in view.values) / max(1, len(view.values))
    found: dict[str, tuple[int, int]] = {}
    for unit in page.units:
        text = unit.text
        if 0 < len(text) <= LONGEST_ANSWER:
            found.setdefault(text, (unit.line, unit.cell))
        if ": " in text:
            tail = text.rpartition(": ")[2]
            if 0 < len(tail) <= LONGEST_ANSWER:
                found.setdefault(tail, (unit.line, 1))
    amount = bool(_AMOUNTS.intersection(scene.goal.words))
    goal = scene.goal.text.lower()
    count = math.log1p(len(found))
    for text, (line, cell) in list(found.items())[:MOST_TEXTS]:
        node = page.nodes[line]
        digits = any(c.isdigit() for c in text)
        around = [u.text for u in page.units_of(line)[:cell]]
        row = page.row_lines(line)
        around += [page.nodes[at].name for at in row if at != line][:3]
        if line and not around:
            around.append(page.nodes[line - 1].name)
        label = max((match_words(each, view.words) for each in around), default=0.0)
        yield (
            Answer(text),
            {
                "text": 1.0,
                "text question": math.log(question),
                "text count": count,
                "text label": label,
                "text word": match_words(text, view.words),
                "text digits": float(digits),
                "text amount": float(digits and amount),
                "text no amount": float(amount and not digits),
                "text in goal": float(text.lower() in goal),
                "text link": float(node.mark > 0 and node.role == "link"),
                "text marked": float(node.mark > 0),
                "text new": float(text not in view.before),
                "text shape": math.log1p(view.count(view.usage.shapes.get(shape(text), ()))),
                "text row": float(page.rows[line] in view.rows),
                "text at once": float(not scene.past),
                "text shown": shown,
                "text seen": view.count(view.usage.seen.get(key_of(node), ())) / view.tasks,
            },
        )
