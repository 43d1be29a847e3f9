"""The tasks of a run: results by round, and why the curriculum sampled them."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.report.charts import Strip, colour_classes, draw_strip
from apps.view.contents import Contents, EpisodeLine, EpisodeOutcome
from apps.view.episodes import Causes
from apps.view.pages import Pages, crumbs_of
from evaluators.statistics import wilson
from loop.folder import CURRICULUM, read_monitors
from loop.summary.measure import task_name
from webagent.errors import unknown_name
from webagent.records import SET_APART
from webagent.store import Store

Place = tuple[str, int]
"""Arm and repeat."""


@dataclass(frozen=True, slots=True)
class SampledTask:
    """Why an episode's task was drawn."""

    arm: str
    repeat: int
    round: int
    episode: str
    task: str
    """The task's name; of a task made from another, the name of that."""
    seed: int
    reason: str
    why: str
    value: float
    chance: float
    share: float


@dataclass(frozen=True, slots=True)
class History:
    """All draws of a run, and what was believed of every task after each round."""

    draws: tuple[SampledTask, ...]
    chances: Mapping[Place, Mapping[int, Mapping[str, float]]]
    """By arm and repeat, then by round, each task's chance of success as the curriculum saw it."""
    problems: tuple[str, ...]
    """Lines and files that could not be read."""


@dataclass(frozen=True, slots=True)
class SuccessRate:
    """Successes among scored episodes."""

    round: int
    successes: int
    episodes: int

    @property
    def success(self) -> float:
        """In [0, 1]."""
        return self.successes / self.episodes

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval."""
        return wilson(self.successes, self.episodes)


def read_history(run: Path, store: Store) -> History:
    """Whatever can be read of it; a line that was cut short is told and left out."""
    draws, problems = list[SampledTask](), list[str]()
    for path in sorted((run / CURRICULUM).glob("*/*.jsonl")):
        arm, _, repeat = path.parent.name.rpartition("-")
        if not (repeat.isdigit() and path.stem.isdigit()):
            continue
        read, wrong = _lines(path, arm, int(repeat), int(path.stem))
        draws += read
        problems += wrong
    chances: dict[Place, dict[int, dict[str, float]]] = {}
    for place, state in read_monitors(store):
        known = state.get("chances")
        if isinstance(known, dict):
            chances.setdefault(place, {})[int(state["round"])] = known
    draws.sort(key=lambda draw: (draw.arm, draw.repeat, draw.round))
    return History(tuple(draws), chances, tuple(problems))


def rates_of(lines: Iterable[EpisodeLine], phase: str = "evaluate") -> dict[str, list[SuccessRate]]:
    """Success by arm and round in one phase."""
    good, count = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for line in lines:
        if line.entry.phase == phase and line.outcome in (
            EpisodeOutcome.SUCCEEDED,
            EpisodeOutcome.FAILED,
        ):
            place = line.entry.arm, line.entry.round
            count[place] += 1
            good[place] += line.outcome is EpisodeOutcome.SUCCEEDED
    found: dict[str, list[SuccessRate]] = {}
    for (arm, number), episodes in sorted(count.items()):
        found.setdefault(arm, []).append(SuccessRate(number, good[arm, number], episodes))
    return found


def by_task(contents: Contents) -> dict[str, list[EpisodeLine]]:
    """The episodes of each task, tasks in the order of their names, baselines left out."""
    found: dict[str, list[EpisodeLine]] = {}
    for line in contents.lines:
        if line.entry.phase not in SET_APART:
            found.setdefault(line.task, []).append(line)
    return dict(sorted(found.items()))


def draws_by_task(draws: Iterable[SampledTask]) -> dict[str, list[SampledTask]]:
    """The draws of each task."""
    found: dict[str, list[SampledTask]] = {}
    for draw in draws:
        found.setdefault(draw.task, []).append(draw)
    return found


def mean_chances(history: History, task: str) -> list[tuple[int, float]]:
    """Round and chance, the mean over arms and repeats that keep a curriculum."""
    found: dict[int, list[float]] = {}
    for rounds in history.chances.values():
        for number, known in rounds.items():
            if task in known:
                found.setdefault(number, []).append(float(known[task]))
    return [(number, sum(values) / len(values)) for number, values in sorted(found.items())]


def _lines(path: Path, arm: str, repeat: int, number: int) -> tuple[list[SampledTask], list[str]]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return [], [f"{path.name} of {path.parent.name} cannot be read: {error}"]
    draws = list(_draws(text.splitlines(), arm, repeat, number))
    lost = len(text.splitlines()) - len(draws)
    if not lost:
        return draws, []
    return draws, [f"{CURRICULUM}/{path.parent.name}/{path.name}: {lost} lines cannot be read"]


def _draws(lines: Sequence[str], arm: str, repeat: int, number: int) -> Iterator[SampledTask]:
    for line in lines:
        try:
            told: dict[str, Any] = json.loads(line)
            yield SampledTask(
                arm=arm,
                repeat=repeat,
                round=number,
                episode=str(told["episode"]),
                task=task_name(str(told["task"])),
                seed=int(told["seed"]),
                reason=str(told["reason"]),
                why=str(told["why"]),
                value=float(told["value"]),
                chance=float(told["chance"]),
                share=float(told["share"]),
            )
        except (ValueError, KeyError, TypeError):  # cut short, or of another version
            continue


_SORTS = ("task", "success", "drawn", "chance")


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task in the list."""

    name: str
    address: str
    arms: tuple[tuple[str, SuccessRate, Strip], ...]
    """Each arm with its last round's success, and all its rounds drawn."""
    drawn: int
    reasons: tuple[tuple[str, int], ...]
    chance: float | None
    """What the curriculum believes of its success now; None where there is none."""
    chances: Strip
    cause: str
    """What most of its failures were put down to."""
    failures: int

    def of(self, arm: str) -> tuple[str, SuccessRate, Strip] | None:
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
            colours=colour_classes(contents.values("arm")),
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
        content = _task_page(contents, lines, history, known.found, name)
        return pages.show(request, "task.html", crumbs, run=run, name=name, **content)

    return [Route("/run/{run}/tasks", tasks), Route("/run/{run}/task/{task:path}", task)]


def _draw_rates(rates: Sequence[SuccessRate], colour: str) -> Strip:
    """Return success by round with its intervals as a band."""
    ends = [rate.interval for rate in rates]
    return draw_strip([(rate.round, rate.success) for rate in rates], colour, ends)


def _rows(contents: Contents, history: History, found: Causes, address: str) -> list[TaskLine]:
    drawn, colours = draws_by_task(history.draws), colour_classes(contents.values("arm"))
    rows = []
    for name, lines in by_task(contents).items():
        draws = drawn.get(name, [])
        chances = mean_chances(history, name)
        causes = Counter(str(found[one.entry.id].cause) for one in lines if one.entry.id in found)
        rates = rates_of(lines)
        arms = [(arm, own[-1], _draw_rates(own, colours[arm])) for arm, own in rates.items()]
        rows.append(
            TaskLine(
                name=name,
                address=f"{address}/task/{name}",
                arms=tuple(arms),
                drawn=len(draws),
                reasons=tuple(Counter(draw.reason for draw in draws).most_common()),
                chance=chances[-1][1] if chances else None,
                chances=draw_strip(chances, "neutral"),
                cause=causes.most_common(1)[0][0] if causes else "",
                failures=sum(causes.values()),
            )
        )
    return rows


def _sorted(rows: Sequence[TaskLine], by: str) -> list[TaskLine]:
    keys = {
        "success": lambda row: row.success,
        "drawn": lambda row: -row.drawn,
        "chance": lambda row: 2.0 if row.chance is None else row.chance,
    }
    return sorted(rows, key=keys.get(by, lambda row: row.name))


def _lines_of(contents: Contents, name: str) -> list[EpisodeLine]:
    """The episodes of a task. Raises `SetupError` where there are none."""
    known = by_task(contents)
    if name not in known:
        raise unknown_name("task", name, known)
    return known[name]


def _task_page(
    contents: Contents, lines: Sequence[EpisodeLine], history: History, found: Causes, name: str
) -> dict[str, Any]:
    """What the page of a task shows."""
    draws = [draw for draw in history.draws if draw.task == name]
    causes = Counter(str(found[one.entry.id].cause) for one in lines if one.entry.id in found)
    colours = colour_classes(contents.values("arm"))
    measured = rates_of(lines)
    return {
        "goal": next((line.entry.goal for line in reversed(lines) if line.entry.goal), ""),
        "count": len(lines),
        "measured": [
            (arm, colours[arm], rates, _draw_rates(rates, colours[arm]))
            for arm, rates in measured.items()
        ],
        "tried": rates_of(lines, "collect"),
        "causes": causes.most_common(),
        "history": _by_round(draws, history, contents, name),
        "colours": colours,
        "problems": history.problems,
    }


@dataclass(frozen=True, slots=True)
class TaskRound:
    """What happened to a task in one round of an arm's repeat."""

    arm: str
    repeat: int
    round: int
    before: float | None
    """The chance that was assumed when it was drawn."""
    after: float | None
    value: float | None
    share: float | None
    draws: tuple[tuple[SampledTask, EpisodeLine | None], ...]
    reasons: tuple[tuple[str, int], ...]
    why: str
    successes: int
    scored: int


def _by_round(
    draws: Sequence[SampledTask], history: History, contents: Contents, name: str
) -> list[TaskRound]:
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
            TaskRound(
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
