"""A failed episode as its goal, pages and actions, and what the goal names on them."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import Indel

from evaluators.steps import ActionHistory
from webagent.records import Node, Observation, Trajectory

_QUOTED = re.compile(r"[\"“]([^\"”]+)[\"”]|(?<!\w)['‘]([^'’]+)['’](?!\w)")
_HANDLE = re.compile(r"[@#][\w.-]+")
_WORD = re.compile(r"[^\W_]+(?:[-.'@][^\W_]+)*")
_BESIDE = re.compile(r"\s*(?:\||:(?=\s))\s*")
_ALIKE = {"x": ("close", "×"), "×": ("close", "x")}
"""What elements are called whose sign a goal may quote."""
_NEAR = 0.72
_LEAST_NEAR, _MOST_NEAR = 4, 80
"""Characters; shorter texts resemble each other by chance, longer ones are no values."""


def find_quoted(goal: str) -> tuple[str, ...]:
    """Find what the goal puts in quotation marks, or marks as a name with @ or #."""
    found = [a or b for a, b in _QUOTED.findall(goal)]
    return tuple(term.strip() for term in (*found, *_HANDLE.findall(goal)) if term.strip())


def find_named_elements(page: Observation, goal: str) -> tuple[Node, ...]:
    """Find the elements whose names the goal has: quoted, or as words of its own.

    Beside quoted terms other words count only when they are capitalised. Of names that differ in
    letter case alone the one that is quoted is meant. Where no element has the name that is quoted,
    elements of that kind are meant, as in `a "textarea" widget`.
    """
    quoted = set(find_quoted(goal))
    terms = {_plain(term) for term in quoted}
    terms |= {other for term in terms for other in _ALIKE.get(term, ())}
    elements = [node for node in page.nodes if node.mark]
    named = []
    for node in elements:
        name = node.name.strip()
        is_candidate = len(name) > 1 and (not terms or name[0].isupper())
        pattern = rf"(?<![\w]){re.escape(name)}(?![\w])"
        if name and (_plain(name) in terms or (is_candidate and re.search(pattern, goal))):
            named.append(node)
    exact = {_plain(node.name) for node in named if node.name.strip() in quoted}
    chosen = [n for n in named if n.name.strip() in quoted or _plain(n.name) not in exact]
    return tuple(chosen) or tuple(n for n in elements if n.kind.rpartition(":")[2] in terms)


def appears_in(text: str, where: str) -> bool:
    """Return whether the text stands there as words of their own, whatever their case."""
    plain = re.escape(_plain(text))
    return bool(plain) and re.search(rf"(?<!\w){plain}(?!\w)", _plain(where)) is not None


def find_similar(text: str, where: Iterable[str]) -> str:
    """Find the text among these that resembles it most without being equal; empty for none."""
    mine = _plain(text)
    if not _LEAST_NEAR <= len(mine) <= _MOST_NEAR:
        return ""
    others = {plain: other for other in sorted(where) if (plain := _plain(other)) != mine}
    fitting = [plain for plain in others if abs(len(plain) - len(mine)) <= len(mine) // 3]
    found = process.extractOne(
        mine, fitting, scorer=Indel.normalized_similarity, score_cutoff=_NEAR
    )
    return others[found[0]] if found else ""


def find_labelled(page: Observation) -> list[tuple[str, str]]:
    """Find capitalised labels with the values that stand beside them on the same line."""
    found = []
    for node in page.nodes:
        label, _, value = (part.strip() for part in _BESIDE.sub("\n", node.name, 1).partition("\n"))
        if label[:1].isupper() and value and not _BESIDE.search(value) and len(label) > 1:
            found.append((label, value))
    return found


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text, without signs between them."""
    return frozenset(_WORD.findall(text.casefold()))


def is_same_text(one: str, other: str) -> bool:
    """Return whether two texts are the same words, whatever their case and spacing."""
    return _plain(one) == _plain(other)


def format_element(node: Node) -> str:
    """Return an element as it is quoted in evidence."""
    return f'[{node.mark}] {node.role} "{node.name}"' if node.mark else f'"{node.name}"'


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


_LONGEST = 80
"""Characters of a value that somebody would give."""


@dataclass(frozen=True)
class FailedEpisode:
    """A failed episode with what is compared in it."""

    trajectory: Trajectory
    shown: Callable[[Observation], str]
    """What the agent was shown of a page."""

    @property
    def goal(self) -> str:
        """What was asked for."""
        return self.trajectory.goal or self.trajectory.task.goal

    @cached_property
    def course(self) -> ActionHistory:
        """The pages and deeds, compared with each other."""
        return ActionHistory(self.trajectory)

    @cached_property
    def seen(self) -> tuple[Observation, ...]:
        """The pages the agent acted on."""
        return tuple(step.observation for step in self.trajectory.steps)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Everything the observations have of each page that was acted on."""
        found = []
        for page in self.seen:
            lines = (" ".join((node.name, node.value, node.description)) for node in page.nodes)
            found.append("\n".join((page.title, *lines)))
        return tuple(found)

    @cached_property
    def pieces(self) -> tuple[frozenset[str], ...]:
        """What could be copied from each page."""
        found = []
        for page in self.seen:
            whole = [text for node in page.nodes for text in (node.name, node.value) if text]
            found.append(
                frozenset((*whole, *(word for each in whole for word in _WORD.findall(each))))
            )
        return tuple(found)

    @cached_property
    def labels(self) -> tuple[tuple[tuple[str, str], ...], ...]:
        """Labels of the goal with what stands beside them, of each page."""
        return tuple(
            tuple(pair for pair in find_labelled(page) if pair[0] in self.goal)
            for page in self.seen
        )

    @cached_property
    def expected(self) -> tuple[str, ...]:
        """Texts that the task's checks compare with: answers and values, not addresses."""
        texts: list[str] = []
        for check in self.trajectory.task.checks:
            if check.score == "success" and "url" not in check.evidence + check.rule:
                texts += _list_texts(check.expected, check.evidence == "episode.answer")
        return tuple(text for text in texts if "://" not in text)

    @property
    def last_step(self) -> int:
        """Index of the last step."""
        return len(self.trajectory.steps) - 1


def page_address(page: Observation) -> str:
    """Return what tells a page's fields from another page's of the same marks."""
    return page.url.split("#", 1)[0]


def is_clicked_later(case: FailedEpisode, index: int, node: Node) -> bool:
    """Return whether the element was acted on after this step, on the same page."""
    here = page_address(case.seen[index])
    return any(
        getattr(step.decision.action, "mark", 0) == node.mark
        and page_address(step.observation) == here
        for step in case.trajectory.steps[index + 1 :]
    )


def was_clicked(case: FailedEpisode, node: Node) -> bool:
    """Return whether an element of this role and name was acted on."""
    for step in case.trajectory.steps:
        target = step.observation.node(getattr(step.decision.action, "mark", 0))
        if target is not None and (target.role, target.name) == (node.role, node.name):
            return True
    return False


def was_used(case: FailedEpisode, term: str) -> bool:
    """Return whether the term was typed, chosen, answered, or acted on by its name."""
    for step in case.trajectory.steps:
        action = step.decision.action
        target = step.observation.node(getattr(action, "mark", 0))
        given = getattr(action, "text", "") or getattr(action, "option", "")
        if appears_in(term, given) or (target is not None and appears_in(term, target.name)):
            return True
    return False


def was_given(case: FailedEpisode, value: str) -> bool:
    """Return whether the value was typed, chosen or answered."""
    actions = [step.decision.action for step in case.trajectory.steps]
    given = [getattr(action, "text", "") or getattr(action, "option", "") for action in actions]
    return any(appears_in(value, text) for text in given)


def _list_texts(expected: object, numbers: bool) -> list[str]:
    """Return the texts of 2 to 80 characters in a check's expectation, and numbers if asked."""
    if isinstance(expected, str):
        return [expected] if 1 < len(expected.strip()) <= _LONGEST else []
    if isinstance(expected, bool | None):
        return []
    if isinstance(expected, int | float):
        return [f"{expected:g}"] if numbers and len(f"{expected:g}") > 1 else []
    values = list(expected.values()) if isinstance(expected, dict) else expected
    if not isinstance(values, list | tuple):
        return []
    return [text for value in values for text in _list_texts(value, numbers)]


TICKED = frozenset(("checked", "selected"))
TICKABLE = frozenset(("checkbox", "radio", "option", "switch"))


def find_better_twin(page: Observation, node: Node, goal: str) -> Node | None:
    """Find another element of the same role and name that the goal's names stand beside.

    None where they stand as much beside this one.
    """
    twins = [n for n in page.nodes if n.mark and (n.role, n.name) == (node.role, node.name)]
    called = {one.name.casefold() for one in page.nodes if one.mark}
    words = _WORD.findall(_QUOTED.sub(" ", goal))[1:]
    marked = [word for word in words if word[:1].isupper() or word[:1].isdigit()]
    names = [name for name in (*find_quoted(goal), *marked) if name.casefold() not in called]
    if len(twins) < 2 or not names:
        return None
    # What stands between the twin before and each: its row, its heading.
    beside, lines = dict[int, str](), list[str]()
    for one in page.nodes:
        if one in twins:
            beside[one.mark], lines = "\n".join(lines), []
        else:
            lines.append(f"{one.name} {one.value}")
    counts = {mark: sum(appears_in(n, text) for n in names) for mark, text in beside.items()}
    best = max(twins, key=lambda twin: counts[twin.mark])
    if not counts[node.mark]:
        return best if counts[best.mark] else None
    only = sum(count == counts[best.mark] for count in counts.values()) == 1
    return best if only and counts[best.mark] > counts[node.mark] else None
