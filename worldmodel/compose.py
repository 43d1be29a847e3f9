"""Next pages, composed from a remembered page and the currently available texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote_plus

from webagent.records import Node, Observation
from worldmodel.cases import Occasion, TransitionCase, choose_text, put, rewrite
from worldmodel.kinds import GAP
from worldmodel.lines import (
    LineKind,
    PageLines,
    frame_of,
    is_unknown,
    read_lines,
    read_range,
    unknown_line,
    unknown_lines,
)

_SUPPORT = 4
"""Number of other cases on which a text is tested."""
_EXCLUSIVE = ("radio", "tab")
"""Roles of which only one in a group can be selected."""


@dataclass(frozen=True, slots=True)
class Composed:
    """A composed page."""

    page: Observation
    certainty: float
    """Share of its lines that are supported, in [0, 1]."""


def compose_line(
    node: Node,
    case: TransitionCase,
    there: Occasion,
    others: list[TransitionCase],
    *,
    is_settled: bool,
) -> Node:
    """Return a new line of a remembered page, adapted to this occasion."""
    if is_unknown(node):
        return node
    name = (
        choose_text(node, node.name, case, there, others, is_settled=is_settled)
        if node.name
        else ""
    )
    if name == GAP:
        return unknown_line(node)
    value = node.value
    if value and value != node.name:
        predicted = [each for other in others if (each := other.after.value_of(node)) is not None]
        if bound := case.bound(value)[:1]:
            value = put(value, case.texts[bound[0]], there.texts.get(bound[0], GAP))
        elif 2 * predicted.count(value) < len(predicted):
            value = GAP
    if GAP in name or GAP in value:
        return replace(unknown_line(node, name), value=value)
    return replace(node, name=name, value=value)


# -- pages that stay --------------------------------------------------------------------------


def edit_page(case: TransitionCase, there: Occasion, others: list[TransitionCase]) -> Composed:
    """Return the current page after the changes that a case made to its own."""
    place = _Placing(case, there)
    old, new = there.before.nodes, case.after.nodes
    lines: list[Node | None] = list(old)
    added: dict[int, list[Node]] = {}
    missed = 0
    is_same = case.before.bag == there.before.bag
    for tag, i1, i2, j1, j2 in case.opcodes:
        if tag == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                if case.before.whole[i] != case.after.whole[j]:
                    at = place.of(i)
                    if at is None:
                        missed += 1
                    else:
                        lines[at] = _changed(old[at], case.before.nodes[i], new[j], case, there)
            continue
        span = place.run(i1, i2)
        if span is None:
            missed += 1
            continue
        for at in range(*span):
            lines[at] = None
        block = [compose_line(n, case, there, others, is_settled=is_same) for n in new[j1:j2]]
        added.setdefault(span[0], []).extend(gather_unknown(block, case, others))
    out: list[Node] = []
    for at in range(len(lines) + 1):
        out += added.get(at, [])
        if at < len(lines) and (line := lines[at]) is not None:
            out.append(line)
    out = _release(out, there, lines)
    page = replace(there.situation.observation, nodes=number(out, there.before), outcome="")
    return Composed(page, 1.0 / (1 + missed))


def _changed(line: Node, was: Node, is_: Node, case: TransitionCase, there: Occasion) -> Node:
    """Return a line with the value and the states changed as another's were."""
    value = line.value
    if was.value != is_.value:
        value = is_.value
        for reference in case.bound(value)[:1]:
            value = put(value, case.texts[reference], there.texts.get(reference, GAP))
    gone = set(was.states) - set(is_.states)
    come = [state for state in is_.states if state not in was.states]
    states = tuple(dict.fromkeys([*(s for s in line.states if s not in gone), *come]))
    return replace(line, value=value, states=states)


def _release(out: list[Node], there: Occasion, lines: Sequence[Node | None]) -> list[Node]:
    """Return the lines, others of a group of which one was chosen no longer chosen."""
    line = lines[there.line] if 0 <= there.line < len(lines) else None
    before = there.node
    if line is None or before is None or line.role not in _EXCLUSIVE:
        return out
    won = set(line.states) & {"checked", "selected"} - set(before.states)
    undo = {"checked": "unchecked", "selected": "", "expanded": "collapsed"}
    for at, node in enumerate(out):
        if node is not line and node.role == line.role and won & set(node.states):
            kept = (undo.get(each, each) for each in node.states)
            out[at] = replace(node, states=tuple(each for each in kept if each))
    return out


class _Placing:
    """Finds the lines of a case's page on another page."""

    def __init__(self, case: TransitionCase, there: Occasion) -> None:
        self.case, self.there = case, there
        ours, theirs = there.before, case.before
        self.is_same = ours.named == theirs.named
        self._by_name: dict[int, list[int]] = {}
        for at, number in enumerate(ours.named):
            self._by_name.setdefault(number, []).append(at)

    def of(self, line: int) -> int | None:
        """Return the counterpart of a line; None where there is none."""
        if line == self.case.line and line >= 0:
            return self.there.line
        if self.is_same:
            return line
        wanted = line + self.there.line - self.case.line
        hits = self._by_name.get(self.case.before.named[line], [])
        if not hits:
            was = self.case.before.nodes[line]
            nodes = self.there.before.nodes
            hits = [
                at
                for at, node in enumerate(nodes)
                if (node.role, node.kind) == (was.role, was.kind)
                and bool(node.value) == bool(was.value)
                and _lasting(node) == _lasting(was)
            ]
            hits = hits if len(hits) == 1 or was.states else [at for at in hits if at == wanted]
        return min(hits, key=lambda at: abs(at - wanted), default=None)

    def run(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the position of a run of lines on the other page, from its first to past its last
        line."""
        size = len(self.there.before.nodes)
        if self.is_same:
            return first, last
        start = 0 if first == 0 else self.of(first - 1)
        if first and start is not None:
            start += 1
        is_last = last >= len(self.case.before.nodes)
        end = size if is_last else self.of(last)
        if start is None and end is not None:
            start = end - (last - first)
        if end is None and start is not None:
            end = start + (last - first)
        if start is None or end is None or not 0 <= start <= end <= size:
            return None
        return (start, start) if first == last and not is_last else (start, end)


def _lasting(node: Node) -> tuple[str, ...]:
    return tuple(sorted(state for state in node.states if state != "focused"))


def gather_unknown(
    block: list[Node], case: TransitionCase, others: list[TransitionCase]
) -> list[Node]:
    """Return new lines with runs of unknown ones as one placeholder where their number varies."""
    if not any(is_unknown(node) for node in block):
        return block
    if all(other.added == case.added for other in others):
        return block
    like = {kind for each in (case, *others) for kind in each.added}
    most = 2 * max(len(each.added) for each in (case, *others))
    out: list[Node] = []
    run: list[Node] = []
    for place, node in enumerate(block):
        # A single line among unknown ones stands there by chance.
        is_chance = bool(run) and any(map(is_unknown, block[place + 1 : place + 2]))
        if is_unknown(node) or is_chance:
            run.append(node)
            continue
        if run:
            out.append(_as_one(run, like, most))
            run = []
        out.append(node)
    return [*out, _as_one(run, like, most)] if run else out


def _as_one(run: list[Node], like: set[LineKind], most: int) -> Node:
    kinds = like | {(node.role, node.kind) for node in run}
    return unknown_lines(kinds, 1, max(most, len(run)), run[0].depth)


# -- pages that are gone to -------------------------------------------------------------------


def compose_url(case: TransitionCase, there: Occasion, others: list[TransitionCase]) -> str:
    """Return the URL that is reached, with a gap for unknown parts."""
    text = unquote_plus(case.url)
    # The available texts contained in the URL, each as it is written there.
    contained: list[tuple[tuple[str | int, ...], str]] = [((), "")]
    for reference, held in case.texts.items():
        for written in dict.fromkeys((held, _slug(held))):
            if len(written) > 1 and written.lower() in text.lower():
                contained.append((reference, written))
                break
    best, most = "", 0.0
    for reference, old in contained:
        found = _readdress(text, old, there.texts.get(reference)) if reference else text
        hits = 0
        for other in others:
            theirs = _readdress(text, old, other.texts.get(reference)) if reference else text
            hits += theirs is not None and theirs == unquote_plus(other.url)
        share = (hits + (0.6 if reference else 0.5)) / (len(others) + 1)
        if found is not None and share > most:
            best, most = found, share
    if most < 0.5:
        return ""
    return case.url if best == text else best.replace(" ", "+")


def _readdress(text: str, old: str, new: str | None) -> str | None:
    if new is None:
        return None
    return put(text, old, new) if old in text else put(text, old, _slug(new))


def _slug(text: str) -> str:
    return "-".join(text.lower().split())


def compose_page(
    case: TransitionCase,
    there: Occasion,
    others: list[TransitionCase],
    url: str,
    *,
    is_same_page: bool,
) -> Composed:
    """Return the page that a case led to, as it would be when reached from the current one.

    `others` are other cases that led to the same page, or to others of its kind if `is_same_page`
    is false.
    """
    ours, theirs = there.before, case.before
    out: list[Node] = []
    supported = 0
    for number_, node in zip(case.after.whole, case.after.nodes, strict=True):
        line: Node | None = None
        if number_ in ours.bag and number_ in theirs.bag:
            line = node
        elif number_ in theirs.bag:
            # The line of the current page that replaces one that the case carried over.
            like = [at for at in ours.framed(frame_of(node)) if ours.whole[at] not in theirs.bag]
            line = ours.nodes[like[0]] if len(like) == 1 else None
        if line is None:
            line = compose_line(node, case, there, others[:_SUPPORT], is_settled=is_same_page)
        supported += not is_unknown(line)
        out.append(line)
    if not is_same_page:
        out = gather_unknown(out, case, others)
    after = case.transition.after
    title = choose_title(case, there, others, is_settled=is_same_page)
    page = replace(
        after,
        goal=there.situation.observation.goal,
        url=url or case.url,
        title=title,
        tabs=(title,) if len(after.tabs) == 1 else after.tabs,
        nodes=number(out, ours),
        screenshot="",
        captured="",
    )
    return Composed(page, supported / max(1, len(case.after.nodes)))


def choose_title(
    case: TransitionCase, there: Occasion, others: list[TransitionCase], *, is_settled: bool
) -> str:
    """Return the title of the page that is reached."""
    text = case.transition.after.title
    best, most = text, sum(o.transition.after.title == text for o in others) + 0.5 + is_settled
    for reference in case.bound(text):
        new = rewrite(text, reference, case, there)
        hits = sum(rewrite(text, reference, case, o) == o.transition.after.title for o in others)
        if new is not None and hits + 0.6 > most:
            best, most = new, hits + 0.6
    return best


def number(lines: Sequence[Node], before: PageLines) -> tuple[Node, ...]:
    """Return the lines with marks: those of the page before keep theirs, others get new ones."""
    known = {id(node) for node in before.nodes}
    next_mark = max((node.mark for node in before.nodes), default=0) + 1
    used: set[int] = set()
    out = []
    ours = {node.mark: (node.role, node.kind) for node in before.nodes if node.mark}
    for node in lines:
        keeps = id(node) in known or ours.get(node.mark) == (node.role, node.kind)
        if node.mark and (node.mark in used or not keeps):
            node = replace(node, mark=next_mark)
            next_mark += 1
        used.add(node.mark)
        out.append(node)
    return tuple(out)


def fill_from(page: Observation, seen: Sequence[Observation]) -> Observation | None:
    """Return the latest page seen before that agrees with this one as far as this one is known."""
    known = [node for node in read_lines(page).nodes if not is_unknown(node)]
    if len(known) == len(page.nodes):
        return None
    for other in reversed(seen):
        if other.url == page.url and (align_known(page.nodes, other.nodes) is not None):
            return replace(other, goal=page.goal, outcome="", screenshot="", captured="")
    return None


def align_known(predicted: Sequence[Node], seen: Sequence[Node]) -> list[int] | None:
    """Return how many seen lines each predicted one stands for, in order; None if they disagree."""
    if not predicted:
        return [] if not seen else None
    head, rest = predicted[0], predicted[1:]
    bounds = read_range(head)
    if bounds is None:
        if not seen or not agrees(head, seen[0]):
            return None
        further = align_known(rest, seen[1:])
        return None if further is None else [1, *further]
    least, most, kinds = bounds
    for count in range(min(most, len(seen)), least - 1, -1):
        if all((n.role, n.kind) in kinds for n in seen[:count]):
            further = align_known(rest, seen[count:])
            if further is not None:
                return [count, *further]
    return None


def agrees(predicted: Node, seen: Node) -> bool:
    """Return whether a line agrees with its prediction, as far as that is known."""
    if (predicted.role, predicted.kind) != (seen.role, seen.kind):
        return False
    if not is_unknown(predicted):
        same = predicted.name.lower().split() == seen.name.lower().split()
        return same and predicted.value == seen.value and _lasting(predicted) == _lasting(seen)
    start, _, end = predicted.name.partition(GAP)
    return seen.name.startswith(start) and seen.name.endswith(end)
