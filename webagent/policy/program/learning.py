"""Recordings of one task become one program, or a sentence that says why not."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import TypeAlias

from webagent.action import is_final
from webagent.errors import UsageError
from webagent.memory.goals import clean
from webagent.memory.pages import is_within, read_page
from webagent.policy.finding import describe_element, line_of, plain, row_texts, text_before
from webagent.policy.program.aligning import (
    ENTERING,
    Column,
    RecordedAction,
    align_actions,
    find_columns,
    list_actions,
    take_paging,
    vary,
)
from webagent.policy.program.goals import align
from webagent.policy.program.program import (
    NAMED,
    PAGE,
    SHOWN,
    Program,
    ProgramCheck,
    ProgramStep,
    count_rows,
    filled,
    find_all,
    find_rows,
    list_records,
    same_page,
    shows_all,
)
from webagent.policy.program.reading import list_readings
from webagent.records import Observation, Trajectory

_LEAST_SHARED = 0.5
"""Share of the steps that recordings of one task have in common."""

_NOT_REPEATED = ("fill", "select_option", "answer")
_MOST_BESIDE = 8
"""Texts by which a page is known."""
_MOST_WORDS = 4
"""Of a label, in the name of a parameter."""

Values: TypeAlias = tuple[str, ...]
"""A text in every recording, in their order."""


def learn_program(recordings: Sequence[Trajectory]) -> Program:
    """Return the program of recordings of one task.

    Raises `UsageError` where nothing tells what to do, with what another recording would need.
    """
    if not recordings:
        raise UsageError("a program is learned from recordings, and there is none that succeeded")
    if len(recordings) == 1:
        both = (recordings[0], vary(recordings[0]))
        pairs = zip(*map(list_actions, both), strict=True)
        return _ProgramWriter(both, [dict(enumerate(pair)) for pair in pairs], True).write()
    columns: list[Column] = [{0: each} for each in list_actions(recordings[0])]
    for number, recording in enumerate(recordings[1:], 1):
        columns = align_actions(columns, list(list_actions(recording)), number)
    count = len(recordings)
    shared = sum(len(column) == count for column in columns)
    if not shared or shared < _LEAST_SHARED * len(columns):
        raise UsageError(
            f"the recordings are of different tasks: {shared} of {len(columns)} steps are in all"
            " of them; give recordings of one"
        )
    return _ProgramWriter(recordings, columns).write()


@dataclass
class _ProgramWriter:
    """Writes the program of aligned recordings; `write` it once."""

    recordings: Sequence[Trajectory]
    columns: list[Column]
    is_single: bool = False
    """Whether one recording was given, and is beside itself with other values."""
    parameters: dict[str, Values] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)

    def write(self) -> Program:
        for column in self.columns:
            self._find_typed(column)
        self._find_named()
        paging = take_paging(self.columns, self.recordings)
        columns = list(self._collapse_loops())
        steps = tuple(
            self._write_step(number, column, columns, is_loop)
            for number, (column, is_loop) in enumerate(columns, 1)
        )
        if paging:
            steps = (*steps, self._write_listing(len(steps) + 1, paging))
        task = self._put_names(self._goal(0), 0)
        self._check_one_task(task, steps)
        unused = [name for name in self.parameters if f"{{{name}}}" not in str(steps)]
        if self.is_single and (unused or task != self._put_names(self._goal(1), 1)):
            raise UsageError(
                "no step depends on something that the goal has in quotation marks; give a second"
                " recording with other values"
            )
        # What is entered has to be in the task, which the guard compares it with.
        entered = {step.text: step for step in steps if step.do in ("fill", "select_option")}
        hidden = {
            done.text
            for column in self.columns
            for done in column.values()
            if done.node and done.node.kind.endswith("password")
        }
        left = {
            text: step.name or step.after
            for text, step in entered.items()
            if text not in hidden and not is_within(plain(text), plain(task))
        }
        for name in self.parameters:
            if f"{{{name}}}" not in task and not any(f"{{{name}}}" in text for text in left):
                left[f"{{{name}}}"] = name
        task += "".join(f' ({name}: "{text}")' for text, name in left.items())
        urls = tuple(recording.task.start_url for recording in self.recordings)
        url = self._generalize(urls, "where it starts")
        if not url:
            shown = " and ".join(dict.fromkeys(urls))
            raise UsageError(f"the recordings begin on different pages, {shown}; begin all on one")
        check = ProgramCheck()
        if not any(step.do == "read" for step in steps) and all(r.last for r in self.recordings):
            check = ProgramCheck() if paging else self._write_check(steps)
            check = replace(check, beside=self._find_beside(steps))
            check = replace(check, known_before=self._is_known_before(check))
        used = {n for e in (task, url, *(str(s) for s in steps)) for n in NAMED.findall(e)}
        return Program(
            clean(task),
            url,
            {name: text for name, text in self.about.items() if name in used},
            steps,
            check,
            "ask" if any(step.do == "dialog" for step in steps) else "dismiss",
        )

    def _check_one_task(self, task: str, steps: tuple[ProgramStep, ...]) -> None:
        """Raise `UsageError` if goals begin with what is no value: another verb is another task."""
        first = NAMED.match(task)
        if first is None or self.about[first[1]].startswith("goes into"):
            return
        using = [step for step in steps if first[0] in str(step)]
        if all(step.name == first[0] and step.role == "button" for step in using):
            shown = " and ".join(map(repr, dict.fromkeys(self.parameters[first[1]])))
            raise UsageError(
                f"the recordings are of different tasks, with goals that begin with {shown}; give"
                " recordings of one, with goals worded alike"
            )

    def _goal(self, number: int) -> str:
        return self.recordings[number].goal or self.recordings[number].task.goal

    def _add_parameter(self, wanted: str, values: Values, about: str) -> str:
        known = next((name for name, each in self.parameters.items() if each == values), "")
        if known:
            return known
        base = "_".join(re.findall(r"\w+", wanted.casefold())[:_MOST_WORDS]) or "value"
        base = f"value_{base}" if base[0].isdigit() else base
        name = base
        number = 2
        while name in self.parameters:
            name, number = f"{base}_{number}", number + 1
        self.parameters[name] = values
        example = next((value for value in values if value), "")
        self.about[name] = f"{about}, such as {example[:60]!r}"
        return name

    def _find_typed(self, column: Column) -> None:
        """Make a parameter of what is typed or chosen and differs between recordings."""
        some = next(iter(column.values()))
        values = tuple(column[i].text if i in column else "" for i in range(len(self.recordings)))
        if some.op in ("fill", "select_option") and len({v for v in values if v}) > 1:
            self._add_parameter(some.label or "text", values, f"goes into {some.label!r}")

    def _find_named(self) -> None:
        """Make parameters of the parts in which the goals differ and that pages show."""
        first = self._goal(0)
        changes = [align(first, self._goal(i)) for i in range(1, len(self.recordings))]
        if not all(each.is_complete for each in changes):
            return
        olds = {old for each in changes for old in each.changes}
        for old in sorted(olds, key=len, reverse=True):
            found = [each.counterparts(old) for each in changes]
            if all(len(each) == 1 and None not in each for each in found):
                values = (old, *(str(next(iter(each))) for each in found))
                values = tuple(v.strip(" \"'“”.") for v in values)
                if all(values) and not any(
                    self._holds(known, values) for known in self.parameters.values()
                ):
                    before = re.findall(r"(\w+)\W*$", first[: first.find(old)])
                    self._add_parameter(
                        before[0] if before else "item", values, "named in the goal"
                    )

    @staticmethod
    def _holds(known: Values, values: Values) -> bool:
        return all(plain(a) == plain(b) or not a for a, b in zip(known, values, strict=True))

    def _put_names(self, text: str, number: int) -> str:
        """Return a text of one recording with the names of parameters where it has their values."""
        pairs = sorted(
            ((values[number], name) for name, values in self.parameters.items()),
            key=lambda pair: -len(pair[0]),
        )
        pattern = "|".join(rf"(?<!\w){re.escape(value)}(?!\w)" for value, _ in pairs if value)
        by_value = {plain(value): name for value, name in reversed(pairs)}
        return (
            re.sub(pattern, lambda m: f"{{{by_value[plain(m[0])]}}}", text, flags=re.IGNORECASE)
            if pattern
            else text
        )

    def _generalize(self, texts: Values, what: str, may_add: bool = False) -> str:
        """Return one text for all recordings, with parameters; empty where there is none."""
        if len(set(texts)) == 1:
            return texts[0]
        templates = {self._put_names(text, i) for i, text in enumerate(texts)}
        if len(templates) == 1:
            return templates.pop()
        start = re.sub(r"\w+$", "", _shared_start(texts))
        rest = tuple(text[len(start) :][::-1] for text in texts)
        end = re.sub(r"\w+$", "", _shared_start(rest))[::-1]
        middle = tuple(text[len(start) : len(text) - len(end)] for text in texts)
        is_named = all(
            part and is_within(plain(part), plain(self._goal(i))) for i, part in enumerate(middle)
        )
        if may_add and is_named:
            return f"{start}{{{self._add_parameter(what, middle, f'names the {what}')}}}{end}"
        return ""

    def _collapse_loops(self) -> Iterator[tuple[Column, bool]]:
        """Yield the steps; of what each recording did to all elements of a kind, the first."""
        columns = list(self.columns)
        while columns:
            run = [columns.pop(0)]
            first = next(iter(run[0].values()))
            kinds = {each.kind for each in run[0].values()}
            may_repeat = first.node and first.op not in _NOT_REPEATED and len(kinds) == 1
            while columns and may_repeat and {e.kind for e in columns[0].values()} == kinds:
                run.append(columns.pop(0))
            numbers = {i for column in run for i in column}
            done = {i: [column[i] for column in run if i in column] for i in numbers}
            is_loop = (
                not self.is_single
                and len(run) > 1
                and len(numbers) == len(self.recordings)
                and all(len(each) == each[0].count_alike() for each in done.values())
            )
            if is_loop:
                yield {i: each[0] for i, each in done.items()}, True
            else:
                yield from ((column, False) for column in run)

    def _write_step(
        self, number: int, column: Column, columns: list[tuple[Column, bool]], is_loop: bool
    ) -> ProgramStep:
        some = next(iter(column.values()))
        if some.op == "answer":
            return self._write_reading(number, column)
        texts = tuple(each.text for each in column.values())
        text = texts[0]
        if len(set(texts)) > 1:
            text = self._put_names(texts[0], next(iter(column)))
            if any(self._put_names(e.text, i) != text for i, e in column.items()):
                raise self._refusal(number, some, "differs in a way that no value explains")
        step = ProgramStep(some.op, role=some.node.role if some.node else "", text=text)
        if is_loop and some.node:
            return replace(step, name=clean(some.node.name), each=True)
        if some.node:
            step = self._describe(number, step, column)
        return replace(step, when=self._find_condition(number, step, column, columns))

    def _find_condition(
        self, number: int, step: ProgramStep, column: Column, columns: list[tuple[Column, bool]]
    ) -> str:
        """Return when a step is done; empty for always."""
        count, some = len(self.recordings), next(iter(column.values()))
        if len(column) == count:
            return ""
        for name in NAMED.findall(step.text):
            if all(bool(v) == (i in column) for i, v in enumerate(self.parameters[name])):
                return f"{{{name}}}"
        for i in set(range(count)) - column.keys():
            following = next((c[i] for c, _ in columns[number:] if i in c), None)
            page = following.page if following else self.recordings[i].last
            if page is not None and find_all(step, page, self._values(i)):
                raise self._refusal(
                    number,
                    some,
                    f"was done in {len(column)} of {count} recordings and could have been done in"
                    " the others; nothing recorded tells when",
                )
        return SHOWN

    def _values(self, number: int) -> Mapping[str, str]:
        return {name: values[number] for name, values in self.parameters.items()}

    def _refusal(self, number: int, done: RecordedAction, why: str) -> UsageError:
        what = describe_element(done.node) if done.node else done.text
        return UsageError(
            f"step {number}, {done.op} {what}, {why}; give one more recording whose goal names what"
            " decides it"
        )

    def _describe(self, number: int, step: ProgramStep, column: Column) -> ProgramStep:
        """Return the step with what tells its element from all others, in every recording."""
        nodes = {i: each.node for i, each in column.items() if each.node}
        names = tuple(clean(node.name) for node in nodes.values())
        name = names[0]
        if len(set(names)) > 1:
            is_in_all = len(names) == len(self.recordings)
            name = self._generalize(names, step.role, may_add=True) if is_in_all else ""
        row = self._find_row(column, name)
        step = replace(step, name=name, row=row)
        befores = {text_before(column[i].page, node) for i, node in nodes.items()}
        if len(befores) == 1 and not name:
            step = replace(step, after=befores.pop())
        if not (name or row or step.after) and len(set(names)) > 1:
            shown = ", ".join(repr(each) for each in names[:3])
            raise self._refusal(number, column[min(column)], f"was {shown}, and no goal names it")
        return self._tell_apart(number, step, column, befores)

    def _tell_apart(
        self, number: int, step: ProgramStep, column: Column, befores: set[str]
    ) -> ProgramStep:
        """Return the step with what else it takes for one element alone to fit."""
        choices = [step, *(replace(step, after=each) for each in befores if len(befores) == 1)]
        places, is_one_row = set[tuple[int, int]](), False
        for choice in choices:
            found = {i: find_all(choice, e.page, self._values(i)) for i, e in column.items()}
            if all(len(each) == 1 for each in found.values()):
                return choice
            if not places:
                is_one_row = all(
                    len({read_page(column[i].page).rows[line_of(column[i].page, e)] for e in each})
                    == 1
                    for i, each in found.items()
                )
                places = {
                    (next((n for n, e in enumerate(each, 1) if e is column[i].node), 0), len(each))
                    for i, each in found.items()
                }
        # Among rows that say other things a place is a guess.
        is_alone = all(
            set(row_texts(e.page, e.node)) <= {plain(e.node.name)}
            for e in column.values()
            if e.node
        )
        is_free = is_alone and not NAMED.search(step.name + "".join(step.row))
        if len(places) == 1 and (is_one_row or (is_free and not self.is_single)):
            place, of = places.pop()
            return replace(step, place=place, of=of)
        raise self._refusal(number, column[min(column)], "is one of several that look the same")

    def _find_row(self, column: Column, name: str) -> tuple[str, ...]:
        """Return the parameters whose values stand in the element's row in every recording."""
        rows = {i: row_texts(e.page, e.node) for i, e in column.items() if e.node}
        found = []
        for parameter, values in self.parameters.items():
            if f"{{{parameter}}}" in name:
                continue
            if all(
                values[i] and any(is_within(plain(values[i]), text) for text in row)
                for i, row in rows.items()
            ):
                found.append(f"{{{parameter}}}")
        some = next(iter(column.values()))
        return tuple(found) if some.op not in ENTERING else ()

    def _write_reading(self, number: int, column: Column) -> ProgramStep:
        """Return the step that reads the answer: the way that finds it in every recording."""
        options: list[set[ProgramStep]] = []
        for i, done in column.items():
            put = partial(self._put_names, number=i)
            options.append(set(list_readings(done.text, done.page, self._values(i), put)))
        both = set.intersection(*options)
        if self.is_single:
            rows = {step for step in both if step.row}
            both = {step for step in rows if NAMED.search("".join(step.row))} or rows
            both = both if len(both) == 1 else set()
        if not both or len(column) < len(self.recordings):
            raise UsageError(
                f"step {number}, the answer {next(iter(column.values())).text!r}, is not found in"
                " the same place of every page; give recordings that end on the page that shows it"
            )
        return min(both, key=lambda step: (not step.row, not step.name, not step.after, str(step)))

    def _write_listing(self, number: int, paging: list[Column]) -> ProgramStep:
        """Return the step that reads a list over several pages."""
        firsts = {
            i: next(column[i] for column in paging if i in column)
            for i in range(len(self.recordings))
        }
        step = ProgramStep("list", role=firsts[0].kind[1])
        step = self._describe(number, step, firsts)
        name = f"{{{PAGE}}}" if step.name.isdecimal() else step.name
        return replace(
            step, name=name, columns=find_columns([e for c in paging for e in c.values()])
        )

    def _write_check(self, steps: tuple[ProgramStep, ...]) -> ProgramCheck:
        """Return how the last page shows, in every recording, what was written."""
        last = [recording.last for recording in self.recordings if recording.last]
        urls = tuple(page.url.partition("#")[0] for page in last)
        url = self._generalize(urls, "page")
        entering = [step for step in steps if step.do in ("fill", "select_option")]
        texts = list(dict.fromkeys(step.text for step in entering if step.text))
        entries = next((c for c in self.columns if next(iter(c.values())).op in ENTERING), {})
        in_place = bool(entries) and all(
            same_page(e.page.url, last[i].url) for i, e in entries.items()
        )
        before = [entries[i].page for i in sorted(entries)] if in_place else []
        shown = [text for text in texts if self._is_shown(text, last)]
        fresh = tuple(text for text in shown if not before or not self._is_shown(text, before))
        if fresh and any(NAMED.search(text) for text in fresh):
            wanted = fresh
            counts = self._count(fresh, last)
            if max(counts) > 1:
                raise UsageError(
                    "what a recording has entered stands twice on the page on which it ends; record"
                    " with values that the site does not have yet"
                )
            if is_row := counts == {1}:
                names = (f"{{{name}}}" for name in self.parameters)
                for text in (*shown, *names):
                    if text not in wanted and self._count((*wanted, text), last) == {1}:
                        wanted = (*wanted, text)
            unchecked = tuple(t for t in texts if t not in wanted and NAMED.search(t))
            newest = is_row and self._is_cut(wanted, last)
            return ProgramCheck(
                url, wanted, not is_row, newest=newest, in_place=in_place, unchecked=unchecked
            )
        for number in range(len(steps), 0, -1):
            step = steps[number - 1]
            own = tuple(f"{{{name}}}" for name in NAMED.findall(step.name + "".join(step.row)))
            if (own or step.each) and not entering and not step.when:
                if own and (new := self._find_new(own, last)):
                    return ProgramCheck(url, (*own, *new))
                gone = all(not find_all(step, page, self._values(i)) for i, page in enumerate(last))
                if gone:
                    return ProgramCheck(url, gone=number)
        return ProgramCheck(url, unchecked=tuple(t for t in texts if NAMED.search(t)))

    def _find_beside(self, steps: tuple[ProgramStep, ...]) -> tuple[str, ...]:
        """Return what the last pages have in common besides their content: headings, fields and
        elements of other roles than those that were acted on for their names."""
        own = {step.role for step in steps if NAMED.search(step.name) or step.row}
        shared: list[dict[str, None]] = []
        for recording in self.recordings:
            nodes = recording.last.nodes if recording.last else ()
            kept = [n for n in nodes if n.name and n.role not in {*own, "option"}]
            kept = [n for n in kept if n.mark or n.kind in ("h1", "h2", "h3", "th")]
            # What stands there twice belongs to rows, and there may be none.
            counts = Counter(clean(text) for n in kept for text in n.name.split(" | "))
            shared.append({text: None for text, count in counts.items() if count == 1})
        common = [text for text in shared[0] if all(text in each for each in shared)]
        return tuple(common[:_MOST_BESIDE])

    def _is_known_before(self, check: ProgramCheck) -> bool:
        """Return whether all recordings begin on the page that they end on, with what tells it."""
        ends = [(r.steps[0].observation, r.last) for r in self.recordings if r.last]
        return all(same_page(a.url, b.url) and shows_all(a, check.beside) for a, b in ends)

    def _find_new(self, own: tuple[str, ...], last: Sequence[Observation]) -> tuple[str, ...]:
        """Return what rows with these texts show only at the end of every recording, as a state."""
        added: list[set[str]] = []
        for i, page in enumerate(last):
            wanted = filled(own, self._values(i))
            now, then = find_rows(page, wanted), list[str]()
            for step in self.recordings[i].steps:
                if not is_final(step.decision.action):
                    then += (t for r in find_rows(step.observation, wanted) for t in r.texts)
            if len(now) != 1 or not then:
                return ()
            added.append(set(now[0].texts).difference(then))
        return tuple(sorted(set.intersection(*added)))

    def _is_shown(self, text: str, pages: Sequence[Observation]) -> bool:
        return all(
            shows_all(page, filled((text,), self._values(i))) for i, page in enumerate(pages)
        )

    def _is_cut(self, texts: tuple[str, ...], pages: Sequence[Observation]) -> bool:
        """Return whether each recording leaves the list as long, with what the last one added."""
        lengths = set[int]()
        for i, page in enumerate(pages):
            [row] = find_rows(page, filled(texts, self._values(i)))
            lengths.add(sum(each.kind == row.kind for each in list_records(page)))
            if i and not find_rows(page, filled(texts, self._values(i - 1))):
                return False
        return len(lengths) == 1

    def _count(self, texts: tuple[str, ...], pages: Sequence[Observation]) -> set[int]:
        """Return in how many rows of the pages these texts stand."""
        return {count_rows(p, filled(texts, self._values(i))) for i, p in enumerate(pages)}


def _shared_start(texts: Values) -> str:
    alike = takewhile(lambda each: len(set(each)) == 1, zip(*texts, strict=False))
    return "".join(each[0] for each in alike)
