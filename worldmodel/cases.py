"""Remembered transitions: the action, its element, its page, and the available texts."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

from webagent.memory.goals import Goal, clean, read_goal
from webagent.memory.pages import is_within
from webagent.memory.scene import mark_of
from webagent.models.builtin.vocabulary import op_of
from webagent.records import Node
from worldmodel.kinds import GAP, mask_address
from worldmodel.lines import PageLines, name_of, read_lines
from worldmodel.transitions import Situation, Transition

Reference = tuple[str | int, ...]
"""A text at hand, by where it comes from: `("text",)` what is typed, `("name",)` the element's
name, `("cell", i)` a cell of it, `("value", role, name)` what stands in a field, `("goal", i)` a
slot of the goal, `("near", d)` the line so many lines from the element, `("line", role, kind, i)`
the i-th line of its kind, `("handle",)` the user named last before it, `("path", i)` and
`("query", key)` parts of the address."""
_HANDLE = re.compile(r"@\w+")
_SHORTEST = 2
_NEAR = (-3, -2, -1, 1, 2, 3)
_MOST_OF_A_KIND = 6
_FIELDS = ("textbox", "combobox", "spinbutton", "searchbox")
Opcode = tuple[str, int, int, int, int]


@dataclass(eq=False)
class Occasion:
    """An action on a page, in a form that can be compared with others."""

    situation: Situation

    @cached_property
    def before(self) -> PageLines:
        """The page's lines."""
        return read_lines(self.situation.observation)

    @cached_property
    def op(self) -> str:
        """The operation."""
        return op_of(self.situation.action)

    @cached_property
    def line(self) -> int:
        """Index of the element's line; -1 for none."""
        mark = mark_of(self.situation.action, self.situation.observation)
        if mark < 0:
            return -1 - mark
        nodes = self.before.nodes
        return next((i for i, n in enumerate(nodes) if mark and n.mark == mark), -1)

    @property
    def node(self) -> Node | None:
        """The element's line."""
        return self.before.nodes[self.line] if self.line >= 0 else None

    @cached_property
    def kind(self) -> str:
        """The kind of page."""
        return mask_address(self.situation.observation.url)

    @cached_property
    def goal(self) -> Goal:
        """The goal, parsed into slots."""
        return read_goal(self.situation.observation.goal)

    @cached_property
    def written(self) -> str:
        """The text that the action types, selects or navigates to."""
        texts = (getattr(self.situation.action, name, "") for name in ("text", "option", "url"))
        return clean(" ".join(each for each in texts if each))

    @cached_property
    def place(self) -> tuple[str, ...]:
        """The lines before and after the element's line, in coarse form."""
        nodes, i = self.before.nodes, self.line
        around = (nodes[j] for j in (i - 1, i + 1) if 0 <= j < len(nodes))
        depth = str(nodes[i].depth) if 0 <= i < len(nodes) else ""
        return (depth, *(f"{node.role}/{node.kind}" for node in around))

    @cached_property
    def past(self) -> tuple[tuple[str, str, str], ...]:
        """The last three steps, latest first."""
        found = []
        for step in reversed(self.situation.steps[-3:]):
            action = step.decision.action
            mark = getattr(action, "mark", 0)
            node = next((n for n in step.observation.nodes if mark and n.mark == mark), None)
            found.append((op_of(action), node.role if node else "", node.name if node else ""))
        return tuple(found)

    @cached_property
    def filled(self) -> frozenset[tuple[str, str]]:
        """Filled fields and ticked boxes."""
        return frozenset(
            (node.role, node.name)
            for node in self.before.nodes
            if (node.role in _FIELDS and node.value) or "checked" in node.states
        )

    @cached_property
    def texts(self) -> dict[Reference, str]:
        """The available texts, the most informative first."""
        found: dict[Reference, str] = {}
        for reference, text in self._list_texts():
            if len(text) >= _SHORTEST or (text and reference[0] in ("text", "value")):
                found.setdefault(reference, clean(text))
        return found

    def _list_texts(self) -> Iterator[tuple[Reference, str]]:
        nodes, node = self.before.nodes, self.node
        yield ("text",), self.written
        if node is not None:
            yield ("name",), node.name
            if " | " in node.name:
                for i, cell in enumerate(node.name.split(" | ")):
                    yield ("cell", i), cell.rstrip(".")
        fields = [each for each in nodes if each.role in _FIELDS]
        for i, each in enumerate(fields):
            yield ("value", each.role, each.name or i), each.value
        for i, slot in enumerate(self.goal.slots):
            yield ("goal", i), slot.text
        for d in _NEAR if self.line >= 0 else ():
            if 0 <= self.line + d < len(nodes) and nodes[self.line + d].role != "option":
                yield ("near", d), nodes[self.line + d].name
        handles = (_HANDLE.search(each.name) for each in reversed(nodes[: self.line + 1]))
        yield ("handle",), next((found.group() for found in handles if found), "")
        address = urlsplit(self.situation.observation.url)
        yield from ((("path", i), e) for i, e in enumerate(address.path.strip("/").split("/")))
        yield from ((("query", key), value) for key, value in parse_qsl(address.query))
        counts: Counter[tuple[str, str]] = Counter()
        for node in self.before.nodes:
            kind = node.role, node.kind
            if node.role in ("text", "generic") and node.name and counts[kind] < _MOST_OF_A_KIND:
                yield ("line", *kind, counts[kind]), node.name
                counts[kind] += 1


@dataclass(eq=False)
class TransitionCase(Occasion):
    """An action with its outcome."""

    transition: Transition
    number: int = 0
    """Sequence number; later cases have higher ones."""
    _bound: dict[tuple[str, str], list[Reference]] = field(default_factory=dict)

    @cached_property
    def after(self) -> PageLines:
        """The next page's lines."""
        return read_lines(self.transition.after)

    @cached_property
    def url(self) -> str:
        """The next page's URL."""
        return self.transition.after.url

    @cached_property
    def effect(self) -> tuple[str, ...]:
        """Effect of the action, for counting: `over`, `nothing`, `stays`, or `goes` with the
        target."""
        after = self.transition.after
        if after.over:
            return ("over",)
        if self.before.whole == self.after.whole and after.url == self.transition.before.url:
            return ("nothing", after.outcome and "no effect")
        kept = len(self.before.names & self.after.names)
        if after.url != self.transition.before.url or kept < 0.1 * len(self.before.names):
            return ("goes", mask_address(after.url))
        return ("stays",)

    @cached_property
    def opcodes(self) -> list[Opcode]:
        """Edit operations that turn the lines of the page before into those of the next."""
        matcher = SequenceMatcher(None, self.before.named, self.after.named, autojunk=False)
        found: list[Opcode] = []
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            is_chance = tag == "equal" and i2 - i1 == 1 and found and i2 < len(self.before.named)
            if is_chance and i1 != self.line:
                tag = "replace"
            if found and tag != "equal" and found[-1][0] != "equal":
                i1, j1 = found.pop()[1], found[-1][4] if found else 0
                tag = "replace"
            found.append((tag, i1, i2, j1, j2))
        return found

    @cached_property
    def added(self) -> list[tuple[str, str]]:
        """Role and widget kind of the added lines."""
        come = self.after.names - self.before.names
        lines = zip(self.after.named, self.after.nodes, strict=True)
        return [(node.role, node.kind) for name, node in lines if name in come]

    def bound(self, text: str) -> list[Reference]:
        """Return the available texts contained in this text, each once, the most informative
        first."""
        found = self._bound.get(("", text))
        if found is None:
            key, references, seen = text.lower(), [], set()
            for reference, held in self.texts.items():
                low = held.lower()
                if low not in seen and low in key and is_within(low, key):
                    seen.add(low)
                    references.append(reference)
            found = self._bound["", text] = references
        return found


def put(text: str, old: str, new: str) -> str:
    """Return a text with one of its parts replaced wherever it appears as whole words."""
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text, flags=re.IGNORECASE)


def rewrite(text: str, reference: Reference, case: TransitionCase, there: Occasion) -> str | None:
    """Return what a case's text would be on another occasion; None if a part is not available."""
    new = there.texts.get(reference)
    return None if new is None else put(text, case.texts[reference], new)


def choose_text(
    node: Node,
    text: str,
    case: TransitionCase,
    there: Occasion,
    others: list[TransitionCase],
    *,
    is_settled: bool,
) -> str:
    """Return a line's text of a case as it would be on this occasion, with a gap for unknown parts.

    Each rewriting rule is tested on other cases: one that reproduces a line they have is accepted.
    `is_settled`: the text is kept unchanged if nothing contradicts it.
    """
    best, most = GAP, 0.0
    for reference in ((), *case.bound(text)):
        composed = rewrite(text, reference, case, there) if reference else text
        hits = 0
        for other in others:
            theirs = rewrite(text, reference, case, other) if reference else text
            hits += theirs is not None and name_of(node, theirs) in other.after.names
        share = (hits + (0.6 if reference or is_settled else 0.4)) / (len(others) + 1)
        least = 0.34 if is_settled else 0.7 if reference else 0.5
        if composed is not None and share >= least and share > most + (0.05 if reference else 0.0):
            best, most = composed, share
    return best
