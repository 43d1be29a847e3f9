"""Recordings of one task beside each other: which actions are the same step."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from webagent.action import Action, Answer, format_action
from webagent.action import actions as act
from webagent.errors import UsageError
from webagent.memory.goals import clean
from webagent.memory.pages import is_within, kind_of_page, read_page
from webagent.models.builtin.vocabulary import op_of
from webagent.policy.finding import plain, text_before
from webagent.policy.program.goals import QUOTED
from webagent.policy.program.program import STEPS, TEXT_OF, list_records, without_numbers
from webagent.records import Node, Observation, Trajectory

_PASSED_OVER = (act.Wait, act.Scroll, act.ScrollAt, act.MouseMove, act.Focus)
"""What people do on the way and a program does not need."""
ENTERING = ("fill", "select_option", "check", "uncheck", "clear")
_FIELDS = ("textbox", "searchbox", "combobox", "spinbutton")
"""Roles whose names are labels."""
_OTHER_WORD = "qz"
"""A word that no page has."""
_SAME, _RENAMED, _LIKE = 3.0, 1.5, 1.0
"""How well two actions fit: on the same element, one that each goal names, one of its kind."""

_LEAST_NEW = 2
"""Rows that a next page has at least once; a press that changes a row makes one new."""
_LEAST_PRESSES = 2
"""In one recording; a single press at the end may lead to the page that shows what was done."""


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """One action of a recording that a program has to have."""

    action: Action
    page: Observation
    after: Observation | None
    node: Node | None
    goal: str

    @property
    def op(self) -> str:
        """The name of the action."""
        return op_of(self.action)

    @property
    def text(self) -> str:
        """What it types, chooses, presses or opens."""
        return str(getattr(self.action, TEXT_OF.get(self.op, ""), ""))

    @property
    def kind(self) -> tuple[str, str, str]:
        """The action, and the role and the name of its element."""
        return self.op, *((self.node.role, plain(self.node.name)) if self.node else ("", ""))

    def count_alike(self) -> int:
        """Return how many elements of the page have the role and the name of its own."""
        return sum(
            (e.role, plain(e.name)) == self.kind[1:] and bool(e.mark) for e in self.page.nodes
        )

    @property
    def label(self) -> str:
        """What its element is called, or what stands before it."""
        if self.node is None:
            return ""
        return clean(self.node.name) or text_before(self.page, self.node)


Column: TypeAlias = dict[int, RecordedAction]
"""One step of the task, by recording; those that left it out are missing."""


def list_actions(recording: Trajectory) -> Iterator[RecordedAction]:
    """Yield what a recording does and had an effect; of what was entered in a field the last."""
    goal, kept = recording.goal or recording.task.goal, list[RecordedAction]()
    for at, step in enumerate(recording.steps):
        action, after = step.decision.action, recording.page_after(at)
        if isinstance(action, _PASSED_OVER) or (isinstance(action, Answer) and not action.text):
            continue
        is_idle = after is not None and after.outcome == "no effect"
        if is_idle and not isinstance(action, act.Press):
            continue
        node = step.observation.node(getattr(action, "mark", 0))
        if op_of(action) not in STEPS and not isinstance(action, Answer):
            raise UsageError(
                f"step {at + 1} of {recording.id}, {format_action(action)}, acts on no element"
                " that can be described; record it with clicks and typing"
            )
        found = RecordedAction(action, step.observation, after, node, goal)
        last = kept[-1] if kept else None
        if last and last.op == found.op == "fill" and last.label == found.label:
            kept.pop()
        kept.append(found)
    yield from kept


def _fit(one: RecordedAction, other: RecordedAction) -> float:
    """Return how well two actions fit as the same step of a task; 0 for not at all."""
    if one.op != other.op or (one.node and one.node.role) != (other.node and other.node.role):
        return 0.0
    if one.label == other.label:
        return _SAME if one.node or one.text == other.text or one.op == "answer" else _LIKE
    if one.op in ENTERING:
        return 0.0
    is_named = all(is_within(plain(e.label), plain(e.goal)) for e in (one, other))
    if is_named:
        return _RENAMED
    return _LIKE * (kind_of_page(one.page) == kind_of_page(other.page))


def align_actions(columns: list[Column], added: list[RecordedAction], number: int) -> list[Column]:
    """Return the columns with the actions of one more recording, each where it fits best."""
    fits = [[max(_fit(e, a) for e in column.values()) for a in added] for column in columns]
    best = [[0.0] * (len(added) + 1) for _ in range(len(columns) + 1)]
    for i in reversed(range(len(columns))):
        for j in reversed(range(len(added))):
            both = fits[i][j] + best[i + 1][j + 1] if fits[i][j] else 0.0
            best[i][j] = max(both, best[i + 1][j], best[i][j + 1])
    merged, i, j = list[Column](), 0, 0
    while i < len(columns) or j < len(added):
        is_both = i < len(columns) and j < len(added) and fits[i][j] > 0
        if is_both and best[i][j] == fits[i][j] + best[i + 1][j + 1]:
            merged.append({**columns[i], number: added[j]})
            i, j = i + 1, j + 1
        elif i < len(columns) and (j == len(added) or best[i][j] == best[i + 1][j]):
            merged.append(columns[i])
            i += 1
        else:
            merged.append({number: added[j]})
            j += 1
    return merged


def vary(recording: Trajectory) -> Trajectory:
    """Return a recording as it may be in another row: what its goal quotes is another word, and so
    are the numbers on pages, which may count what was made.

    Raises `UsageError` where the goal quotes nothing, or what is too short to be found again.
    """
    goal = recording.goal or recording.task.goal
    values = sorted({plain(each[1:-1]) for each in QUOTED.findall(goal)}, key=len, reverse=True)
    if not values or not all(re.search(r"[^\W\d]{3}", value) for value in values):
        raise UsageError(
            "from one recording it is known what differs in other rows if its goal has that in"
            " quotation marks, as words; record it so, or give a second recording of the task"
        )
    pattern = "|".join(rf"(?<!\w){re.escape(value)}(?!\w)" for value in values)
    others = {value: _OTHER_WORD + "z" * at for at, value in enumerate(values)}

    def put(text: str, has_number: bool = False) -> str:
        text = re.sub(pattern, lambda found: others[plain(found[0])], text, flags=re.IGNORECASE)
        return re.sub(r"\d+", r"9\g<0>", text) if has_number else text

    def renew(seen: Observation) -> Observation:
        nodes = (
            replace(n, name=put(n.name, n.role not in _FIELDS), value=put(n.value))
            for n in seen.nodes
        )
        return replace(seen, nodes=tuple(nodes))

    steps = []
    for step in recording.steps:
        action, changes = step.decision.action, dict[str, Any]()
        if name := TEXT_OF.get(op_of(action), ""):
            changes[name] = put(getattr(action, name), isinstance(action, Answer))
        decision = replace(step.decision, action=replace(action, **changes))
        steps.append(replace(step, observation=renew(step.observation), decision=decision))
    last = recording.last and renew(recording.last)
    if last and all(step.observation.url != last.url for step in steps):
        last = replace(last, url=f"other {last.url}")
    return replace(recording, goal=put(goal), steps=tuple(steps), last=last)


def take_paging(columns: list[Column], recordings: Sequence[Trajectory]) -> list[Column]:
    """Take the presses off the end with which recordings go through the pages of a list; none where
    they end in another way, or have entered what the list's address does not say."""
    run = list[Column]()
    for column in reversed(columns):
        kinds = (each.kind for end in (column, *run[:1]) for each in end.values())
        ends = {(op, role, without_numbers(name)) for op, role, name in kinds}
        if len(ends) > 1 or next(iter(ends))[0] != "click":
            break
        run.insert(0, column)
    pressed = [[column[i] for column in run if i in column] for i in range(len(recordings))]
    rest = columns[: len(columns) - len(run)]
    last = [plain(recording.last.url) if recording.last else "" for recording in recordings]
    is_unsaid = any(
        done.op in ENTERING and plain(done.text) not in last[i]
        for column in rest
        for i, done in column.items()
    )
    has_new = any(_count_new(each) >= _LEAST_NEW for every in pressed for each in every)
    if is_unsaid or not has_new or not all(map(_goes_on, pressed)) or len(run) < _LEAST_PRESSES:
        return []
    columns[:] = rest
    return run


def _goes_on(presses: Sequence[RecordedAction]) -> bool:
    """Return whether these are presses of one control, or of the numbers of pages in turn."""
    names = [each.kind[2] for each in presses]
    is_counted = names == [str(number) for number in range(2, len(names) + 2)]
    return bool(names) and (is_counted or len({*names}) == 1)


def _count_new(done: RecordedAction) -> int:
    """Return how many rows a page shows after a press that it did not show before."""
    before = {record.texts for record in list_records(done.page)}
    return sum(each.texts not in before for each in list_records(done.after)) if done.after else 0


def find_columns(presses: Sequence[RecordedAction]) -> tuple[str, ...]:
    """Return the header of the table that a press gives other or more rows; where it has none, the
    tags of the texts that change most."""
    heads, tags = Counter[tuple[str, ...]](), Counter[str]()
    pairs = [(read_page(done.page), read_page(done.after)) for done in presses if done.after]
    for page, other in [*pairs, *((after, before) for before, after in pairs)]:
        known = {plain(unit.text) for unit in other.units}
        head: tuple[str, ...] = ()
        for line, node in enumerate(page.nodes):
            row = [each for at in page.row_lines(line) for each in page.units_of(at) if each.text]
            if not {plain(unit.text) for unit in page.units_of(line)} <= {*known, ""}:
                heads[head] += 1
                tags[node.kind] += 1
            elif node.kind == "th":
                head = tuple(unit.text for unit in row)
    best = heads.most_common(1)[0][0]
    return best or tuple(sorted(tag for tag, n in tags.items() if 2 * n >= max(tags.values())))
