"""Finding an element of a recorded page again on the page as it is now, or saying why not."""

from collections import Counter
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from webagent.policy.replay.goals import ValueMapping
from webagent.policy.replay.surroundings import (
    compare_surroundings,
    describe_element,
    find_nearby_lines,
    find_unclaimed,
    is_shifted,
    normalize_text,
    page_structure,
    resemblance,
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
_MIN_SURROUNDINGS = 0.5
"""How much of what stood near an element has to stand near it now, from 0 to 1."""
_MIN_SAME_LINES = 0.3
"""Share of the smaller page's lines that two states of one page have in common."""


@dataclass(frozen=True, slots=True)
class FoundElement:
    """An element that was found again."""

    node: Node
    rule: str
    confidence: float
    """From 0 to 1."""
    is_named: bool = False
    """Whether the goal says which of several it is."""


@dataclass(frozen=True, slots=True)
class LostElement:
    """Why an element was not found again."""

    reason: str


@dataclass(frozen=True, slots=True)
class ElementSearch:
    """One element of a recorded page, looked for on the page as it is now."""

    recorded: Observation
    target: Node
    now: Observation
    values: ValueMapping

    def find(self) -> FoundElement | LostElement:
        """Find it by its mark, its role and name, its place, what stands near it, its likeness.

        They are tried in this order. What fits nothing well, or two equally, is lost.
        """
        if urlsplit(self.recorded.url).path != urlsplit(self.now.url).path:
            lines, here = Counter(page_structure(self.recorded)), Counter(page_structure(self.now))
            least = _MIN_SAME_LINES * min(lines.total(), here.total())
            if (lines & here).total() < least:
                return LostElement(f"the page is another one: {self.now.url}, {self.now.title!r}")
        before = self._find_namesakes(self.recorded, self.target.name)
        after = self._find_namesakes(self.now, self.name)
        if len(before) == 1 and len(after) == 1:
            return self._accept_only(self.now.nodes[after[0]])
        if self.is_renamed and len(after) == 1:
            return FoundElement(self.now.nodes[after[0]], NAME, 0.9)
        if not after:
            return self._find_by_resemblance()
        # Of several that are called the same the one that the goal names, that is in the same place
        # of the same page, or that stands near the same lines.
        by_value = self._find_by_value(before, after) if len(after) >= len(before) else None
        if by_value is not None:
            return by_value
        is_laid_out = bool(self.target.name) or is_shifted(self.recorded, before, self.now, after)
        is_same_page = page_structure(self.recorded) == page_structure(self.now)
        if not self.is_renamed and is_laid_out and is_same_page:
            node = self.now.nodes[self._place]
            is_marked = node.mark == self.target.mark
            return self._accept_only(node) if is_marked else FoundElement(node, PLACE, 0.95)
        return self._find_by_surroundings(before, after)

    def _find_by_resemblance(self) -> FoundElement | LostElement:
        """Find the one that fits best of those that are not plainly others of the page."""
        unclaimed = find_unclaimed(self.recorded, self.target, self.now)
        if self.values.is_another_task:
            wanted = normalize_text(self.name)
            names = [normalize_text(self.now.nodes[place].name) for place in unclaimed]
            if not self.name or wanted not in names:
                return LostElement(f"there is no {self._wanted} on the page")
            # Only what is called the same counts: a page of another task says other things.
            unclaimed = [i for i, name in zip(unclaimed, names, strict=True) if name == wanted]
        scored = sorted(
            (
                (resemblance(self.recorded, self.target, self.name, (self.now, place)), place)
                for place in unclaimed
            ),
            reverse=True,
        )
        missing = f"there is no {self._wanted} on the page"
        if not scored:
            return LostElement(f"{missing}, nor anything new that could be it")
        best, place = scored[0]
        if best < GOOD:
            return LostElement(
                f"{missing}; the nearest is {describe_element(self.now.nodes[place])} with a"
                f" confidence of {best:.2f}, and {GOOD} is needed"
            )
        if len(scored) > 1 and best - scored[1][0] < MARGIN:
            both = " and ".join(describe_element(self.now.nodes[i]) for _, i in scored[:2])
            return LostElement(f"{both} fit {describe_element(self.target)} equally")
        node = self.now.nodes[place]
        is_same_text = normalize_text(node.name) == normalize_text(self.name)
        return FoundElement(node, TEXT if is_same_text else LIKENESS, best)

    @property
    def name(self) -> str:
        """What the element is called now, as far as its name is the task's."""
        given = self.values.carry(self.target.name)
        return given.text if given.is_known else self.values.replace_in(self.target.name)

    @property
    def is_renamed(self) -> bool:
        """Whether it has another name as the task is another one."""
        return self.name != self.target.name

    @property
    def _wanted(self) -> str:
        """The element as it would be called now, in words."""
        return describe_element(replace(self.target, name=self.name))

    @property
    def _place(self) -> int:
        """Index of the target on the recorded page."""
        return next(i for i, node in enumerate(self.recorded.nodes) if node is self.target)

    def _find_namesakes(self, page: Observation, name: str) -> list[int]:
        """Return places of the elements that have the role and the name to the letter.

        Where there are none, and no other of the recorded page was called the same but for case and
        the like, those that are.
        """

        def find_alike(page: Observation, name: str) -> list[int]:
            wanted = self.target.role, normalize_text(name), self.target.kind
            return [
                place
                for place, node in enumerate(page.nodes)
                if node.mark and (node.role, normalize_text(node.name), node.kind) == wanted
            ]

        found = find_alike(page, name)
        exact = [place for place in found if page.nodes[place].name == name]
        if exact or not found:
            return exact
        then = [self.recorded.nodes[i].name for i in find_alike(self.recorded, self.target.name)]
        return found if all(each == self.target.name for each in then) else []

    def _accept_only(self, node: Node) -> FoundElement:
        if node.mark == self.target.mark and not self.is_renamed:
            return FoundElement(node, MARK, 1.0)
        return FoundElement(node, NAME, 0.95)

    def _find_by_value(
        self, before: list[int], after: list[int]
    ) -> FoundElement | LostElement | None:
        """Find it by the part of the goal that stands near it and near no other of its name."""
        for is_before in (True, False):
            mine = _words_near(self.recorded, self._place, before, is_before)
            texts = [
                _words_near(self.recorded, other, before, is_before)
                for other in before
                if other != self._place
            ]
            changes = [(change.old, change.new) for change in self.values.alignment.changes]
            wanted = [
                _pad_words(new)
                for old, new in (*changes, *self.values.given.items())
                if _pad_words(old) in mine and not any(_pad_words(old) in text for text in texts)
            ]
            if not wanted:
                continue
            near = {place: _words_near(self.now, place, after, is_before) for place in after}
            holding = [at for at, words in near.items() if all(word in words for word in wanted)]
            if len(holding) == 1:
                return FoundElement(self.now.nodes[holding[0]], NEAR, 0.85, is_named=True)
            words = " and ".join(repr(word.strip()) for word in wanted)
            count = f"{len(holding)} of {len(after)}"
            return LostElement(f"{count} {describe_element(self.target)} stand near {words}")
        return None

    def _find_by_surroundings(
        self, before: list[int], after: list[int]
    ) -> FoundElement | LostElement:
        """Find it by the lines around it, each weighed by how few of its like have them, too."""
        place = self._place
        is_more = len(after) > len(before)
        within, among = ([], []) if is_more else (before, after)
        mine = find_nearby_lines(self.recorded, place, within)
        others = [
            {
                (line.text, line.is_before)
                for line in find_nearby_lines(self.recorded, other, before)
            }
            for other in before
            if other != place
        ]
        scores = sorted(
            (
                (compare_surroundings(mine, find_nearby_lines(self.now, i, among), others), -i)
                for i in after
            ),
            reverse=True,
        )
        best, where = scores[0]
        if best < _MIN_SURROUNDINGS or (len(scores) > 1 and best - scores[1][0] < MARGIN):
            return LostElement(
                f"of {len(before)} elements that were {describe_element(self.target)} one was"
                f" taken; what stands near does not tell which of the {len(after)} that are"
                f" {self._wanted} it is"
            )
        if len(before) > 1 and not self.is_renamed:
            near = find_nearby_lines(self.now, -where, after)
            fits = {
                other: compare_surroundings(
                    find_nearby_lines(self.recorded, other, before), near, ()
                )
                for other in before
            }
            if fits.pop(place) <= max(fits.values()):
                return LostElement(
                    f"of {len(before)} elements that were {describe_element(self.target)} there are"
                    f" {len(after)} now, and what stands near the best of them stood near another"
                    " one"
                )
        return FoundElement(self.now.nodes[-where], NEAR, 0.6 + 0.35 * best)


def _words_near(page: Observation, place: int, alike: list[int], is_before: bool) -> str:
    """Return the words before or behind an element, up to the next one that is called the same."""
    lines = find_nearby_lines(page, place, alike)
    return _pad_words(" | ".join(line.text for line in lines if line.is_before == is_before))


def _pad_words(text: str) -> str:
    """Return a text with everything but its words taken out, a space on either side."""
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return f" {' '.join(words)} "
