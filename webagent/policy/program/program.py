"""What a program is, the TOML file that people read and edit, and what its steps act on."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from webagent.action import ACTIONS, Action
from webagent.errors import UsageError, unknown_name
from webagent.files import read_toml
from webagent.memory.pages import read_page
from webagent.policy.finding import find_elements, has_all, plain
from webagent.records import Node, Observation

NAMED = re.compile(r"\{(\w+)\}")
TEXT_OF = {
    "fill": "text",
    "select_option": "option",
    "press": "key",
    "goto": "url",
    "dialog": "reply",
    "answer": "text",
}
"""The argument of an action that a step's `text` stands for."""
ON_ELEMENTS = ("click", "dblclick", "hover", "clear", "check", "uncheck", "fill", "press")
STEPS = (*ON_ELEMENTS, "select_option", "goto", "dialog", "read", "list")
SHOWN, PAGE = "shown", "page"


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """One step; texts may have parameters in braces."""

    do: str
    """An action, `read`, or `list`, whose element leads to the next page."""
    role: str = ""
    name: str = ""
    """The element's name; empty where `row`, `after` or `place` say which it is."""
    row: tuple[str, ...] = ()
    """Texts that stand in the element's row: its other cells."""
    after: str = ""
    """The text that stands right before the element, such as the label of a field."""
    place: int = 0
    """Which of several that fit, counted from 1; 0 where only one may fit."""
    of: int = 0
    """How many have to fit for `place` to hold."""
    text: str = ""
    """What is typed, chosen, pressed or opened."""
    when: str = ""
    """`shown`: only where the element is on the page; `{name}`: only where the row has a value."""
    each: bool = False
    """Whether it is done for every element that fits, one after the other."""
    into: str = ""
    """Of `read`: the column of the result."""
    cell: int = 0
    """Of `read`: which cell of the row, counted from 1; 0 for what the element itself shows."""
    between: tuple[str, str] = ("", "")
    """Of `read`: the texts around the value."""
    columns: tuple[str, ...] = ()
    """Of `list`: the columns that are kept; where it has no header, the tags of its texts."""

    def describe(self) -> str:
        """Return what it acts on, in a person's words."""
        parts = [f"{self.do} {self.role}".strip()]
        parts += [f'"{self.name or self.text}"'] if self.name or self.text else []
        parts += [f"in the row of {' and '.join(map(repr, self.row))}"] if self.row else []
        return " ".join(parts)


@dataclass(frozen=True, slots=True)
class ProgramCheck:
    """How what was written is read back, from a page opened anew."""

    url: str = ""
    """The page that shows it; empty: the page on which the last step ends."""
    shows: tuple[str, ...] = ()
    """Texts that it has to show in one row, and exactly once."""
    anywhere: bool = False
    """Whether they may stand anywhere on the page."""
    gone: int = 0
    """The step whose element may not be there any more, counted from 1; 0 for none."""
    beside: tuple[str, ...] = ()
    """Texts by which the page is known for the right one, so that an error's page tells nothing."""
    known_before: bool = False
    """Whether the page has these texts before anything is entered, too."""
    newest: bool = False
    """Whether the list shows its newest alone, so that one goes when one comes."""
    in_place: bool = False
    """Whether it is also the page on which the values are entered."""
    unchecked: tuple[str, ...] = ()
    """What is written and not shown there."""


@dataclass(frozen=True, slots=True)
class Program:
    """A task as steps with parameters."""

    task: str
    url: str
    parameters: Mapping[str, str]
    """Names, each with where it is used and an example."""
    steps: tuple[ProgramStep, ...]
    check: ProgramCheck = ProgramCheck()
    dialogs: str = "dismiss"

    @property
    def optional(self) -> set[str]:
        """The parameters that may be empty."""
        return {
            name for step in self.steps if step.when != SHOWN for name in NAMED.findall(step.when)
        }

    @property
    def outputs(self) -> list[str]:
        """The columns that the program reads."""
        return [step.into for step in self.steps if step.do == "read"]

    @property
    def is_list(self) -> bool:
        """Whether it reads a list, and so may send nothing."""
        return any(step.do == "list" for step in self.steps)


def expand(template: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of its parameters."""
    return NAMED.sub(lambda found: values.get(found[1], found[0]), template)


def filled(texts: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts with their values, without those whose parameter has none."""
    kept = (each for each in texts if all(values.get(n, "x") for n in NAMED.findall(each)))
    return tuple(expand(each, values) for each in kept)


def same_page(one: str, other: str) -> bool:
    """Return whether two addresses are of one page, whatever its query and fragment say."""
    return re.split(r"[?#]", one)[0] == re.split(r"[?#]", other)[0]


@dataclass(frozen=True, slots=True)
class Record:
    """A row of a page."""

    kind: tuple[str, ...]
    """The roles of its texts: rows of one list have the same."""
    texts: tuple[str, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """What it shows, whatever its numbers are now, such as how long ago it was changed."""
        return tuple(map(without_numbers, self.texts))


def without_numbers(text: str) -> str:
    """Return a text with all its numbers made one."""
    return re.sub(r"\d+", "0", text)


def list_records(page: Observation) -> list[Record]:
    """Return what a page shows, row by row; what may be chosen in a list is not shown."""
    read, rows = read_page(page), dict[int, list[tuple[str, str]]]()
    for unit in read.units:
        if unit.text and read.nodes[unit.line].role != "option":
            found = read.nodes[unit.line].role, plain(unit.text)
            rows.setdefault(read.rows[unit.line], []).append(found)
    return [Record(*zip(*row, strict=True)) for row in rows.values()]


def find_rows(page: Observation, texts: tuple[str, ...]) -> list[Record]:
    """Return the rows of a page in which all of these texts stand, as words."""
    wanted = [plain(each) for each in texts]
    return [row for row in list_records(page) if has_all(wanted, row.texts)]


def count_rows(page: Observation, texts: tuple[str, ...]) -> int:
    """Return in how many rows of a page all of these texts stand, as words."""
    return len(find_rows(page, texts))


def shows_all(page: Observation, texts: tuple[str, ...]) -> bool:
    """Return whether all of these texts stand somewhere on a page, as words."""
    shown = [text for row in list_records(page) for text in row.texts]
    return has_all([plain(each) for each in texts], shown)


def find_all(step: ProgramStep, page: Observation, values: Mapping[str, str]) -> list[Node]:
    """Return the elements of a page that fit a step, in order; `place` is not looked at."""
    name, after, *row = (expand(each, values) for each in (step.name, step.after, *step.row))
    return find_elements(page, step.role, name, row, after, is_text=step.do == "read")


def make_step_action(step: ProgramStep, mark: int, values: Mapping[str, str]) -> Action:
    """Return the action of a step on the element with a mark."""
    given: dict[str, Any] = {}
    names = ACTIONS[step.do].__dataclass_fields__
    if "mark" in names:
        given["mark"] = mark
    if step.do in TEXT_OF:
        given[TEXT_OF[step.do]] = expand(step.text, values)
    return ACTIONS[step.do](**given)


def write_program(program: Program) -> str:
    """Return a program as TOML for people."""
    lines = [
        "# Texts in {braces} are columns of the table. You may change what this file says.",
        f"task = {_toml(program.task)}",
        f"url = {_toml(program.url)}",
    ]
    lines += [f"dialogs = {_toml(program.dialogs)}"] * (program.dialogs != "dismiss")
    lines += ["", "[parameters]"]
    lines += [f"{name} = {_toml(about)}" for name, about in program.parameters.items()]
    for step in program.steps:
        lines += ["", "[[steps]]", *_filled(step)]
    if program.check != ProgramCheck():
        lines += ["", "[check]", *_filled(program.check)]
    return "\n".join([*lines, ""])


def _filled(record: ProgramStep | ProgramCheck) -> list[str]:
    default = asdict(ProgramStep("") if isinstance(record, ProgramStep) else ProgramCheck())
    return [
        f"{name} = {_toml(value)}"
        for name, value in asdict(record).items()
        if value != default[name]
    ]


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_program(path: Path) -> Program:
    """Return the program of a file. Raises `UsageError` with what is wrong in it."""
    found = read_toml(path, UsageError)
    known = {each.name for each in fields(Program)}
    for name in found.keys() - known:
        raise unknown_name(f"key of {path}", name, known)
    steps = []
    for number, each in enumerate(found.get("steps", []), 1):
        steps.append(_read_record(ProgramStep, {"do": "", **each}, f"{path}, step {number}"))
        if steps[-1].do not in STEPS:
            raise unknown_name(f"`do` of {path}, step {number}", steps[-1].do, STEPS)
    check = _read_record(ProgramCheck, found.get("check", {}), f"{path}, check")
    if not steps or not found.get("url"):
        raise UsageError(f"{path} is no program: it has no {'url' if steps else 'steps'}")
    if not 0 <= check.gone <= len(steps):
        raise UsageError(f"{path}, check: there is no step {check.gone}")
    parameters = found.get("parameters", {})
    texts = [
        found.get("task", ""),
        *re.findall(r'"[^"]*"', json.dumps([found["steps"], asdict(check)])),
    ]
    named = {name for text in texts for name in NAMED.findall(text)}
    for name in named - parameters.keys() - {PAGE}:
        raise unknown_name(f"parameter of {path}", name, parameters)
    return Program(
        found.get("task", ""),
        found["url"],
        parameters,
        tuple(steps),
        check,
        found.get("dialogs", "dismiss"),
    )


def _read_record(kind: type[Any], given: Mapping[str, Any], where: str) -> Any:
    known = {each.name: each for each in fields(kind)}
    for name, value in given.items():
        if name not in known:
            raise unknown_name(f"key of {where}", name, known)
        default = getattr(kind("") if kind is ProgramStep else kind(), name)
        expected = list if isinstance(default, tuple) else type(default)
        if type(value) is not expected:
            raise UsageError(f"{where}: {name} is {value!r}, and {expected.__name__} is expected")
    return kind(**{n: tuple(v) if isinstance(v, list) else v for n, v in given.items()})
