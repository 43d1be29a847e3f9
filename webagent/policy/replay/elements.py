"""Finding an element of a recorded page again on the page as it is now, or saying why not."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from webagent.errors import PolicyError
from webagent.policy.finding import (
    bare,
    compare_names,
    describe_element,
    line_of,
    plain,
    row_texts,
    texts_beside,
)
from webagent.records import Node, Observation

MARK, NAME, NEAR, PLACE = "mark", "role and name", "role, name and text near it", "place"
TEXT, LIKENESS = "text", "likeness"
GOOD = 0.6
"""Confidence under which nothing is taken."""
STRICT = 0.9
"""The same where one is to be strict."""
MARGIN = 0.1
"""So much better than the next one the best has to be."""
_MIN_NEAR = 0.5
"""Share of what distinguished an element that has to stand near it now."""
_MIN_SAME_LINES = 0.3
"""Share of the smaller page's lines that two states of one page have in common."""
_RELATED = (
    {"button", "link", "menuitem", "tab", "generic"},
    {"textbox", "searchbox", "combobox", "spinbutton"},
    {"checkbox", "switch", "menuitemcheckbox"},
    {"radio", "menuitemradio"},
    {"combobox", "listbox"},
)
_OTHER_ROLE = 0.85
_NAME, _NEAR, _STRUCTURE = 0.55, 0.3, 0.15
"""What name, surroundings and structure count for."""
_STILL = 3
"""Pixels by which what has not moved may be off."""


@dataclass(frozen=True, slots=True)
class FoundElement:
    """An element that was found again."""

    node: Node
    rule: str
    confidence: float
    """From 0 to 1."""


@dataclass(frozen=True, slots=True)
class ElementSearch:
    """One element of a recorded page, looked for on the page as it is now."""

    recorded: Observation
    target: Node
    now: Observation

    def find(self) -> FoundElement:
        """Find it by its mark, its role and name, its place, what stands near it, its likeness.

        They are tried in this order. Raises `PolicyError` where nothing fits well, or two do.
        """
        structure, structure_now = _list_structure(self.recorded), _list_structure(self.now)
        if urlsplit(self.recorded.url).path != urlsplit(self.now.url).path:
            lines, here = Counter(structure), Counter(structure_now)
            least = _MIN_SAME_LINES * min(lines.total(), here.total())
            if (lines & here).total() < least:
                raise PolicyError(f"the page is another one: {self.now.url}, {self.now.title!r}")
        before, after = (self._find_namesakes(page) for page in (self.recorded, self.now))
        if not after:
            return self._find_by_resemblance()
        if len(after) == len(before) == 1:
            return self._accept_only(self.now.nodes[after[0]], NAME)
        is_laid_out = bool(self.target.name) or _is_shifted(self.recorded, before, self.now, after)
        if is_laid_out and structure == structure_now:
            return self._accept_only(self.now.nodes[line_of(self.recorded, self.target)], PLACE)
        return self._find_by_texts(before, after)

    def _find_namesakes(self, page: Observation) -> list[int]:
        """Return places of the elements that have the role and the name to the letter.

        Where there are none, and no other of the recorded page was called the same but for case and
        the like, those that are.
        """
        found = self._find_alike(page)
        exact = [place for place in found if page.nodes[place].name == self.target.name]
        if exact or not found:
            return exact
        then = self._find_alike(self.recorded)
        return found if {self.recorded.nodes[i].name for i in then} <= {self.target.name} else []

    def _find_alike(self, page: Observation) -> list[int]:
        """Return places of the elements of the target's role, kind and name."""
        wanted = self.target.role, bare(self.target.name), self.target.kind
        return [
            place
            for place, node in enumerate(page.nodes)
            if node.mark and (node.role, bare(node.name), node.kind) == wanted
        ]

    def _accept_only(self, node: Node, rule: str) -> FoundElement:
        is_marked = node.mark == self.target.mark
        return FoundElement(node, MARK, 1.0) if is_marked else FoundElement(node, rule, 0.95)

    def _list_near(
        self, page: Observation, places: Sequence[int], alike: Sequence[int]
    ) -> dict[int, list[tuple[str, str]]]:
        """Return the texts in the rows of elements, before and after them, by their places, each
        with its side. What lies between two that are `alike` belongs to both."""
        return {
            at: [
                *(("row", text) for text in row_texts(page, page.nodes[at])),
                *(("before", text) for text in texts_beside(page, at, alike)),
                *(("after", text) for text in texts_beside(page, at, alike, is_after=True)),
            ]
            for at in places
        }

    def _find_by_texts(self, before: Sequence[int], after: Sequence[int]) -> FoundElement:
        """Find it by the texts that only it had, of several that are called the same."""
        place, wanted = line_of(self.recorded, self.target), describe_element(self.target)
        # Of one alone nothing says where what belongs to it begins.
        now = self._list_near(self.now, after, after if len(before) > 1 else [])
        recorded = self._list_near(self.recorded, before, before if len(before) > 1 else [])
        mine = recorded.pop(place)
        others = {text for texts in recorded.values() for text in texts}
        own = [each for each in mine if each not in others and each[1] != plain(self.target.name)]
        scores = sorted(((_overlap(own, near), -at) for at, near in now.items()), reverse=True)
        best, at = scores[0]
        next_best = scores[1][0] if len(scores) > 1 else 0.0
        # Where one has gone it may have been this one, and its place is another's now.
        is_other = len(after) < len(before) or any(
            _overlap(now[-at], texts) >= _overlap(now[-at], mine)
            or _overlap([each for each in texts if each not in mine], now[-at]) >= _MIN_NEAR
            for texts in recorded.values()
        )
        if not is_other and best >= _MIN_NEAR and best - next_best >= MARGIN:
            return FoundElement(self.now.nodes[-at], NEAR, 0.6 + 0.35 * best)
        raise PolicyError(
            f"of {len(before)} elements that were {wanted} one was taken; what stands near does not"
            f" tell which of the {len(after)} on the page now it is"
        )

    def _find_by_resemblance(self) -> FoundElement:
        """Find the one that fits best of those that are not plainly others of the page."""

        def key(node: Node) -> tuple[str, str]:
            return node.role, bare(node.name)

        role, now = self.target.role, self.now.nodes
        roles = {role}.union(*(group for group in _RELATED if role in group))
        others = (n for n in self.recorded.nodes if n.mark and n is not self.target)
        known, here = Counter(map(key, others)), Counter(key(n) for n in now if n.mark)
        scored = sorted(
            (
                (self._resemblance(place), place)
                for place, node in enumerate(now)
                if node.mark and node.role in roles and here[key(node)] > known[key(node)]
            ),
            reverse=True,
        )
        wanted = describe_element(self.target)
        missing = f"there is no {wanted} on the page"
        if not scored:
            raise PolicyError(f"{missing}, nor anything new that could be it")
        best, place = scored[0]
        if best < GOOD:
            raise PolicyError(
                f"{missing}; the nearest is {describe_element(self.now.nodes[place])} with a"
                f" confidence of {best:.2f}, and {GOOD} is needed"
            )
        if len(scored) > 1 and best - scored[1][0] < MARGIN:
            both = " and ".join(describe_element(self.now.nodes[i]) for _, i in scored[:2])
            raise PolicyError(f"{both} fit {wanted} equally")
        node = self.now.nodes[place]
        is_same_text = bare(node.name) == bare(self.target.name)
        return FoundElement(node, TEXT if is_same_text else LIKENESS, best)

    def _resemblance(self, place: int) -> float:
        """Return how well the element at a place fits the recorded one: 0 to 1."""
        node, then = self.now.nodes[place], line_of(self.recorded, self.target)
        mine, its = texts_beside(self.recorded, then), texts_beside(self.now, place)
        if node.name:
            words = compare_names(self.target.name, node.name)
        else:
            # An element without a name may be called by what stands right before it.
            words = 0.8 if self.target.name and plain(self.target.name) in its[:2] else 0.0
        near = _overlap(mine, its) if mine else 0.5 if its else 1.0
        away = abs(then / len(self.recorded.nodes) - place / len(self.now.nodes))
        is_alike = (node.kind == self.target.kind) + (node.depth == self.target.depth)
        structure = (is_alike + max(0.0, 1 - 3 * away)) / 3
        total = _NAME * words + _NEAR * near + _STRUCTURE * structure
        return total * (1.0 if node.role == self.target.role else _OTHER_ROLE)


def _overlap(one: Sequence[object], other: Sequence[object]) -> float:
    """Return the share of the first that are among the others, from 0 to 1."""
    return len({*one} & {*other}) / max(1, len({*one}))


def _list_structure(page: Observation) -> tuple[tuple[str, str, str], ...]:
    """Return all lines of a page without what changes by being used."""
    return tuple((node.role, node.name, node.kind) for node in page.nodes)


def _is_shifted(
    recorded: Observation, then: Sequence[int], now: Observation, here: Sequence[int]
) -> bool:
    """Whether elements are laid out as they were, or all of them moved by the same distance."""
    boxes = [(recorded.nodes[a].box, now.nodes[b].box) for a, b in zip(then, here, strict=False)]
    moves = [(b[0] - a[0], b[1] - a[1]) for a, b in boxes]
    return len(then) == len(here) and all(
        abs(move[axis] - moves[0][axis]) <= _STILL for move in moves for axis in (0, 1)
    )
