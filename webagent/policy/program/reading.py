"""Values that a program reads off a page, and the ways in which a recorded answer may be read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from webagent.memory.goals import clean
from webagent.memory.pages import is_within, read_page
from webagent.policy.finding import line_of, plain, text_before
from webagent.policy.program.program import ProgramStep, expand, find_all
from webagent.records import Node, Observation


def read_value(step: ProgramStep, node: Node, page: Observation, values: Mapping[str, str]) -> str:
    """Return what a reading step reads off an element; empty where it is not there."""
    if step.cell:
        cells = _list_cells(page, line_of(page, node))
        return cells[step.cell - 1] if step.cell <= len(cells) else ""
    if step.between != ("", ""):
        start, end = (expand(each, values) for each in step.between)
        name = clean(node.name)
        fits = name.startswith(start) and name.endswith(end) and len(name) > len(start + end)
        return name[len(start) : len(name) - len(end)] if fits else ""
    return clean(node.value or node.name)


def list_readings(
    answer: str, page: Observation, values: Mapping[str, str], put_names: Callable[[str], str]
) -> Iterator[ProgramStep]:
    """Yield the steps that read this answer, and nothing else, off a page. `put_names` puts names
    of parameters in place of their values."""
    for step in _list_options(clean(answer), page, values, put_names):
        found = {read_value(step, node, page, values) for node in find_all(step, page, values)}
        if found - {""} == {clean(answer)}:
            yield step


def _list_options(
    answer: str, page: Observation, values: Mapping[str, str], put_names: Callable[[str], str]
) -> Iterator[ProgramStep]:
    for line, node in enumerate(page.nodes):
        cells, shown = _list_cells(page, line), clean(node.value or node.name)
        if node.role == "option" or not any(answer in each for each in (*cells, shown)):
            continue
        base = ProgramStep("read", node.role, into="answer")
        row = tuple(
            f"{{{name}}}"
            for name, value in values.items()
            if value and any(is_within(plain(value), plain(each)) for each in cells)
        )
        for place in (at for at, cell in enumerate(cells) if cell == answer):
            if row:
                yield replace(base, row=row, cell=place + 1)
            if place:
                yield replace(base, row=(put_names(cells[place - 1]),), cell=place + 1)
        if shown == answer:
            if node.value and node.name:
                yield replace(base, name=put_names(clean(node.name)))
            yield replace(base, after=put_names(text_before(page, node)))
        start, middle, end = clean(node.name).partition(answer)
        if middle and (start or end):
            yield replace(base, between=(put_names(start), put_names(end)))


def _list_cells(page: Observation, line: int) -> list[str]:
    """Return what the row of a line shows, cell by cell."""
    read = read_page(page)
    lines = (at for at in read.row_lines(line) if page.nodes[at].role != "option")
    return [unit.text for at in lines for unit in read.units_of(at) if unit.text]
