"""The list of a run's episodes: filtered by one line, sorted by any column, page by page."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.view.contents import Contents, Line, Outcome
from apps.view.pages import Pages, crumbs_of
from apps.view.question import PLAIN, WORDS, Causes, Question, read_question
from evaluators.statistics import wilson
from webagent.errors import SetupError

PER_PAGE = 100
_NEWEST = "-began"
_KEYS: Mapping[str, Callable[[Line, Causes], Any]] = {
    "verdict": lambda line, found: list(Outcome).index(line.outcome),
    "task": lambda line, found: (line.task, line.entry.seed),
    "arm": lambda line, found: line.entry.arm,
    "repeat": lambda line, found: line.entry.repeat,
    "round": lambda line, found: line.entry.round,
    "phase": lambda line, found: line.entry.phase,
    "steps": lambda line, found: line.entry.steps,
    "seconds": lambda line, found: line.entry.seconds,
    "ending": lambda line, found: str(line.entry.ending or ""),
    "cause": lambda line, found: cause_of(line, found) or "~",
    "began": lambda line, found: line.entry.started,
}
"""What each column is sorted by."""


@dataclass(frozen=True, slots=True)
class Column:
    """A head that sorts."""

    name: str
    address: str
    """Of the list sorted by it, the other way round where it is sorted by it already."""
    sorted: str
    """`ascending`, `descending` or `none`, as ARIA has it."""
    kind: str
    """Classes of its cells."""


_KINDS = {
    "verdict": "words",
    "task": "words task",
    "arm": "words",
    "phase": "words spare",
    "ending": "words spare",
    "cause": "words",
    "repeat": "spare",
    "seconds": "spare",
    "began": "spare",
}


def routes(pages: Pages) -> list[BaseRoute]:
    """`/run/NAME/episodes?q=…&sort=-steps&page=2`."""

    def episodes(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.shelf.contents(run)
        known = pages.archivist.known(run, contents)
        asked = dict(request.query_params)
        question, problem = _read(asked.get("q", ""), contents)
        chosen = question.chosen(contents, known.found) if question else []
        lines = _sorted(chosen, asked.get("sort", _NEWEST), known.found)
        number = _number(asked.get("page", "1"), len(lines))
        shown = lines[(number - 1) * PER_PAGE : number * PER_PAGE]
        return pages.show(
            request,
            "episodes.html",
            crumbs_of(run, ("Episodes", "")),
            run=run,
            text=asked.get("q", ""),
            problem=problem,
            hint=question.hint() if question and not chosen else "",
            known=known,
            waits=bool(question and question.needs_causes and known.pending),
            lines=[(line, cause_of(line, known.found)) for line in shown],
            tally=_tally(lines),
            total=len(contents.lines),
            columns=_columns(asked, run.address),
            chips=_chips(contents, known.found),
            words={**{f"{word}:": help for word, help in WORDS.items()}, **PLAIN},
            page=_page(asked, number, len(lines), run.address),
        )

    return [Route("/run/{run}/episodes", episodes)]


def cause_of(line: Line, found: Causes) -> str:
    """What the failure was put down to; empty where it is not known or there is none."""
    cause = found.get(line.entry.id)
    return str(cause.cause) if cause else ""


def _read(text: str, contents: Contents) -> tuple[Question | None, str]:
    try:
        return read_question(text, contents), ""
    except SetupError as error:
        return None, str(error)


def _sorted(lines: Sequence[Line], by: str, found: Causes) -> list[Line]:
    key = _KEYS.get(by.lstrip("-")) or _KEYS["began"]
    return sorted(lines, key=lambda line: key(line, found), reverse=by.startswith("-"))


def _number(text: str, count: int) -> int:
    """The page that is meant, among those there are."""
    number = int(text) if text.isdecimal() and len(text) < 9 else 1
    return max(1, min(number, -(-count // PER_PAGE)))


def _tally(lines: Sequence[Line]) -> dict[str, Any]:
    """How many were chosen, and how often they succeeded."""
    counts = Counter(line.outcome for line in lines)
    scored = counts[Outcome.SUCCEEDED] + counts[Outcome.FAILED]
    low, high = wilson(counts[Outcome.SUCCEEDED], scored)
    return {
        "count": len(lines),
        "steps": sum(line.entry.steps for line in lines),
        "scored": scored,
        "success": counts[Outcome.SUCCEEDED] / scored if scored else 0.0,
        "low": low,
        "high": high,
    }


def _columns(asked: Mapping[str, str], address: str) -> list[Column]:
    by = asked.get("sort", _NEWEST)
    made = []
    for name in _KEYS:
        descending = by == f"-{name}"
        ascending = by == name
        other = (
            name
            if descending
            else f"-{name}"
            if ascending
            else (f"-{name}" if name in ("steps", "seconds", "round", "began") else name)
        )
        way = "descending" if descending else "ascending" if ascending else "none"
        link = _address(asked, address, sort=other, page="")
        made.append(Column(name, link, way, _KINDS.get(name, "")))
    return made


def _chips(contents: Contents, found: Causes) -> list[tuple[str, str, int]]:
    """Filters that choose something here: label, filter, count."""
    chips = [(str(o), str(o), count) for o, count in contents.counts.items() if count]
    disputed = sum(bool(line.doubts) for line in contents.lines)
    if disputed:
        chips.append(("disputed", "disputed", disputed))
    causes = Counter(str(one.cause) for one in found.values())
    return [*chips, *((f"at {name}", f"at:{name}", n) for name, n in causes.most_common())]


def _page(asked: Mapping[str, str], number: int, count: int, address: str) -> dict[str, Any]:
    last = max(1, -(-count // PER_PAGE))
    return {
        "number": number,
        "last": last,
        "before": _address(asked, address, page=str(number - 1)) if number > 1 else "",
        "after": _address(asked, address, page=str(number + 1)) if number < last else "",
        "from": (number - 1) * PER_PAGE + 1 if count else 0,
        "to": min(count, number * PER_PAGE),
    }


def _address(asked: Mapping[str, str], address: str, **changed: str) -> str:
    values = {name: value for name, value in {**asked, **changed}.items() if value}
    return f"{address}/episodes?{urlencode(values)}" if values else f"{address}/episodes"
