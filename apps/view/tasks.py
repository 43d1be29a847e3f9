"""The tasks of a run: how each went by round, and what the curriculum made of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.report.colours import SHAPES
from apps.report.markup import Markup
from apps.view.contents import Contents, Line
from apps.view.history import (
    Draw,
    History,
    Rate,
    by_task,
    draws_by_task,
    mean_chances,
    rates_of,
    read_history,
)
from apps.view.pages import Pages, crumbs_of
from apps.view.question import Causes
from apps.view.strip import chances as drawn_chances
from apps.view.strip import rounds as drawn_rounds
from webagent.errors import unknown_name

_SORTS = ("task", "success", "drawn", "chance")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task in the list."""

    name: str
    address: str
    arms: tuple[tuple[str, Rate, Markup], ...]
    """Each arm with its last round's success, and all its rounds drawn."""
    drawn: int
    reasons: tuple[tuple[str, int], ...]
    chance: float | None
    """What the curriculum believes of its success now; None where there is none."""
    chances: Markup
    cause: str
    """What most of its failures were put down to."""
    failures: int

    def of(self, arm: str) -> tuple[str, Rate, Markup] | None:
        """What is known of an arm."""
        return next((found for found in self.arms if found[0] == arm), None)

    @property
    def success(self) -> float:
        """Of the arm `self`, else of the last one; -1 where it was never measured."""
        known = {arm: rate for arm, rate, _ in self.arms}
        rate = known.get("self") or (self.arms[-1][1] if self.arms else None)
        return rate.success if rate else -1.0


def routes(pages: Pages) -> list[BaseRoute]:
    """`/run/NAME/tasks` and `/run/NAME/task/TASK`."""

    def tasks(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.shelf.contents(run)
        with run.store() as store:
            history = read_history(run.path, store)
        known = pages.archivist.known(run, contents)
        rows = _rows(contents, history, known.found, run.address)
        by = request.query_params.get("sort", "task")
        return pages.show(
            request,
            "tasks.html",
            crumbs_of(run, ("Tasks", "")),
            run=run,
            rows=_sorted(rows, by),
            sorts=_SORTS,
            by=by,
            arms=sorted({arm for row in rows for arm, _, _ in row.arms}),
            colours=colours_of(contents),
            has_curriculum=bool(history.draws or history.chances),
            problems=history.problems,
        )

    def task(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.shelf.contents(run)
        name = request.path_params["task"]
        with run.store() as store:
            history = read_history(run.path, store)
        lines = _lines_of(contents, name)
        known = pages.archivist.known(run, contents)
        crumbs = crumbs_of(run, ("Tasks", f"{run.address}/tasks"), (name, ""))
        content = _told(contents, lines, history, known.found, name)
        return pages.show(request, "task.html", crumbs, run=run, name=name, **content)

    return [Route("/run/{run}/tasks", tasks), Route("/run/{run}/task/{task:path}", task)]


def colours_of(contents: Contents) -> Mapping[str, str]:
    """The class of each arm's colour, the same as in its report."""
    from loop.arms import ARMS

    names = [*contents.values("arm")]
    return {
        name: f"a{list(ARMS).index(name) if name in ARMS else (2 + place) % len(SHAPES)}"
        for place, name in enumerate(names)
    }


def _rows(contents: Contents, history: History, found: Causes, address: str) -> list[TaskRow]:
    drawn, colours = draws_by_task(history.draws), colours_of(contents)
    rows = []
    for name, lines in by_task(contents).items():
        draws = drawn.get(name, [])
        chances = mean_chances(history, name)
        causes = Counter(str(found[one.entry.id].cause) for one in lines if one.entry.id in found)
        rates = rates_of(lines)
        arms = [(arm, own[-1], drawn_rounds(own, colours[arm])) for arm, own in rates.items()]
        rows.append(
            TaskRow(
                name=name,
                address=f"{address}/task/{name}",
                arms=tuple(arms),
                drawn=len(draws),
                reasons=tuple(Counter(draw.reason for draw in draws).most_common()),
                chance=chances[-1][1] if chances else None,
                chances=drawn_chances(chances),
                cause=causes.most_common(1)[0][0] if causes else "",
                failures=sum(causes.values()),
            )
        )
    return rows


def _sorted(rows: Sequence[TaskRow], by: str) -> list[TaskRow]:
    keys = {
        "success": lambda row: row.success,
        "drawn": lambda row: -row.drawn,
        "chance": lambda row: 2.0 if row.chance is None else row.chance,
    }
    return sorted(rows, key=keys.get(by, lambda row: row.name))


def _lines_of(contents: Contents, name: str) -> list[Line]:
    """The episodes of a task. Raises `SetupError` where there are none."""
    known = by_task(contents)
    if name not in known:
        raise unknown_name("task", name, known)
    return known[name]


def _told(
    contents: Contents, lines: Sequence[Line], history: History, found: Causes, name: str
) -> dict[str, Any]:
    """What the page of a task shows."""
    draws = [draw for draw in history.draws if draw.task == name]
    causes = Counter(str(found[one.entry.id].cause) for one in lines if one.entry.id in found)
    colours = colours_of(contents)
    measured = rates_of(lines)
    return {
        "goal": next((line.entry.goal for line in reversed(lines) if line.entry.goal), ""),
        "count": len(lines),
        "measured": [
            (arm, colours[arm], rates, drawn_rounds(rates, colours[arm]))
            for arm, rates in measured.items()
        ],
        "tried": rates_of(lines, "collect"),
        "causes": causes.most_common(),
        "history": _by_round(draws, history, contents, name),
        "colours": colours,
        "problems": history.problems,
    }


@dataclass(frozen=True, slots=True)
class RoundRow:
    """What happened to a task in one round of an arm's repeat."""

    arm: str
    repeat: int
    round: int
    before: float | None
    """The chance that was assumed when it was drawn."""
    after: float | None
    value: float | None
    share: float | None
    draws: tuple[tuple[Draw, Line | None], ...]
    reasons: tuple[tuple[str, int], ...]
    why: str
    successes: int
    scored: int


def _by_round(
    draws: Sequence[Draw], history: History, contents: Contents, name: str
) -> list[RoundRow]:
    """A row for each round of each arm's repeat, the rounds included that it was not drawn in."""
    places = {(draw.arm, draw.repeat, draw.round) for draw in draws}
    for (arm, repeat), rounds in history.chances.items():
        places |= {(arm, repeat, number) for number, known in rounds.items() if name in known}
    rows = []
    for arm, repeat, number in sorted(places):
        own = [d for d in draws if (d.arm, d.repeat, d.round) == (arm, repeat, number)]
        played = [(draw, contents.by_id.get(draw.episode)) for draw in own]
        values = [line.value for _, line in played if line and line.value is not None]
        chance = history.chances.get((arm, repeat), {}).get(number, {}).get(name)
        rows.append(
            RoundRow(
                arm=arm,
                repeat=repeat,
                round=number,
                before=own[0].chance if own else None,
                after=chance,
                value=own[0].value if own else None,
                share=own[0].share if own else None,
                draws=tuple(played),
                reasons=tuple(Counter(draw.reason for draw in own).most_common()),
                why=own[0].why if own else "",
                successes=sum(value >= 0.5 for value in values),
                scored=len(values),
            )
        )
    return rows
