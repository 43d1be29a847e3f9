"""The tasks of a run: results by round, and why the curriculum sampled them."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
class CurriculumDraw:
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
class CurriculumHistory:
    """All draws of a run, and what was believed of every task after each round."""

    draws: Sequence[CurriculumDraw]
    chances: Mapping[Place, Mapping[int, Mapping[str, float]]]
    """By arm and repeat, then by round, each task's chance of success as the curriculum saw it."""
    problems: Sequence[str]
    """Lines and files that could not be read."""

    def mean_chances(self, task: str) -> list[tuple[int, float]]:
        """Return round and chance, the mean over arms and repeats that keep a curriculum."""
        found: dict[int, list[float]] = defaultdict(list)
        for rounds in self.chances.values():
            for number, known in rounds.items():
                if task in known:
                    found[number].append(float(known[task]))
        return [(number, sum(values) / len(values)) for number, values in sorted(found.items())]


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


def read_history(run: Path, store: Store) -> CurriculumHistory:
    """Return whatever can be read of it; a line that was cut short is told and left out."""
    draws, problems = list[CurriculumDraw](), list[str]()
    for path in sorted((run / CURRICULUM).glob("*/*.jsonl")):
        arm, _, repeat = path.parent.name.rpartition("-")
        if not (repeat.isdigit() and path.stem.isdigit()):
            continue
        try:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            problems.append(f"{path.name} of {path.parent.name} cannot be read: {error}")
            continue
        read = [_read_draw(line, arm, int(repeat), int(path.stem)) for line in lines]
        known = [draw for draw in read if draw]
        draws += known
        if lost := len(lines) - len(known):
            where = f"{CURRICULUM}/{path.parent.name}/{path.name}"
            problems.append(f"{where}: {lost} lines cannot be read")
    chances: dict[Place, dict[int, dict[str, float]]] = {}
    for place, state in read_monitors(store):
        if isinstance(found := state.get("chances"), dict):
            chances.setdefault(place, {})[int(state["round"])] = found
    draws.sort(key=lambda draw: (draw.arm, draw.repeat, draw.round))
    return CurriculumHistory(draws, chances, problems)


def _read_draw(line: str, arm: str, repeat: int, number: int) -> CurriculumDraw | None:
    """Return a line of the curriculum; None for one that was cut short or is of another version."""
    try:
        told: dict[str, Any] = json.loads(line)
        return CurriculumDraw(
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
    except (ValueError, KeyError, TypeError):
        return None


def measure_rates(lines: Iterable[EpisodeLine]) -> dict[str, list[SuccessRate]]:
    """Return the measured success by arm, round after round."""
    outcomes: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for line in lines:
        if line.is_measured:
            is_good = line.outcome is EpisodeOutcome.SUCCEEDED
            outcomes[line.entry.arm, line.entry.round].append(is_good)
    found: dict[str, list[SuccessRate]] = {}
    for (arm, number), good in sorted(outcomes.items()):
        found.setdefault(arm, []).append(SuccessRate(number, sum(good), len(good)))
    return found


def group_by_task(contents: Contents) -> dict[str, list[EpisodeLine]]:
    """Return the episodes of each task, tasks in the order of their names, baselines left out."""
    found: dict[str, list[EpisodeLine]] = {}
    for line in contents.lines:
        if line.entry.phase not in SET_APART:
            found.setdefault(line.task, []).append(line)
    return dict(sorted(found.items()))


def _draw_rates(rates: Sequence[SuccessRate], colour: str) -> Strip:
    """Return success by round with its intervals as a band."""
    ends = [rate.interval for rate in rates]
    return draw_strip([(rate.round, rate.success) for rate in rates], colour, ends)


@dataclass(frozen=True, slots=True)
class TaskLine:
    """A task in the list."""

    name: str
    address: str
    arms: Mapping[str, tuple[SuccessRate, Strip]]
    """Each arm's success at its last round, and all its rounds drawn."""
    drawn: int
    reasons: Sequence[tuple[str, int]]
    chance: float | None
    """What the curriculum believes of its success now; None where there is none."""
    chances: Strip
    cause: str
    """What most of its failures were put down to."""
    failures: int

    @property
    def success(self) -> float:
        """Of the arm `self`, else of the last one; -1 where it was never measured."""
        rates = [rate.success for rate, _ in self.arms.values()]
        return self.arms["self"][0].success if "self" in self.arms else rates[-1] if rates else -1.0


_SORTS = {
    "task": lambda row: row.name,
    "success": lambda row: row.success,
    "drawn": lambda row: -row.drawn,
    "chance": lambda row: 2.0 if row.chance is None else row.chance,
}


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/run/NAME/tasks` and `/run/NAME/task/TASK`."""

    def tasks(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.contents.contents(run)
        with run.store() as store:
            history = read_history(run.path, store)
        known = pages.causes.known(run, contents)
        rows = _list_tasks(contents, history, known.found, run.address)
        by = request.query_params.get("sort", "task")
        return pages.show(
            request,
            "tasks.html",
            crumbs_of(run, ("Tasks", "")),
            run=run,
            rows=sorted(rows, key=_SORTS.get(by, _SORTS["task"])),
            sorts=list(_SORTS),
            by=by,
            arms=sorted({arm for row in rows for arm in row.arms}),
            colours=colour_classes(contents.values("arm")),
            has_curriculum=bool(history.draws or history.chances),
            problems=history.problems,
        )

    def task(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.contents.contents(run)
        name, by_task = request.path_params["task"], group_by_task(contents)
        if name not in by_task:
            raise unknown_name("task", name, by_task)
        lines = by_task[name]
        with run.store() as store:
            history = read_history(run.path, store)
        found = pages.causes.known(run, contents).found
        causes = Counter(str(found[one.entry.id].cause) for one in lines if one.entry.id in found)
        colours = colour_classes(contents.values("arm"))
        return pages.show(
            request,
            "task.html",
            crumbs_of(run, ("Tasks", f"{run.address}/tasks"), (name, "")),
            run=run,
            name=name,
            goal=next((line.entry.goal for line in reversed(lines) if line.entry.goal), ""),
            count=len(lines),
            measured=[
                (arm, colours[arm], rates, _draw_rates(rates, colours[arm]))
                for arm, rates in measure_rates(lines).items()
            ],
            causes=causes.most_common(),
            history=_list_rounds(history, contents, name),
            problems=history.problems,
        )

    return [Route("/run/{run}/tasks", tasks), Route("/run/{run}/task/{task:path}", task)]


def _list_tasks(
    contents: Contents, history: CurriculumHistory, found: Causes, address: str
) -> list[TaskLine]:
    colours = colour_classes(contents.values("arm"))
    drawn: dict[str, list[CurriculumDraw]] = defaultdict(list)
    for draw in history.draws:
        drawn[draw.task].append(draw)
    rows = []
    for name, lines in group_by_task(contents).items():
        chances = history.mean_chances(name)
        causes = Counter(str(found[one.entry.id].cause) for one in lines if one.entry.id in found)
        rows.append(
            TaskLine(
                name=name,
                address=f"{address}/task/{name}",
                arms={
                    arm: (rates[-1], _draw_rates(rates, colours[arm]))
                    for arm, rates in measure_rates(lines).items()
                },
                drawn=len(drawn[name]),
                reasons=Counter(draw.reason for draw in drawn[name]).most_common(),
                chance=chances[-1][1] if chances else None,
                chances=draw_strip(chances, "neutral"),
                cause=causes.most_common(1)[0][0] if causes else "",
                failures=causes.total(),
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class TaskRound:
    """What happened to a task in one round of an arm's repeat."""

    arm: str
    repeat: int
    round: int
    draws: Sequence[CurriculumDraw]
    """Those of the round; they agree in what was believed before it."""
    after: float | None
    """The chance of success that was believed after the round."""
    successes: int
    scored: int

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Why it was drawn, with how often."""
        return Counter(draw.reason for draw in self.draws).most_common()


def _list_rounds(history: CurriculumHistory, contents: Contents, name: str) -> list[TaskRound]:
    """Return a row for each round of each arm's repeat, those included that it was not drawn in."""
    by_place: dict[tuple[str, int, int], list[CurriculumDraw]] = defaultdict(list)
    for draw in history.draws:
        if draw.task == name:
            by_place[draw.arm, draw.repeat, draw.round].append(draw)
    after: dict[tuple[str, int, int], float] = {
        (arm, repeat, number): known[name]
        for (arm, repeat), rounds in history.chances.items()
        for number, known in rounds.items()
        if name in known
    }
    rows = []
    for place in sorted({*by_place, *after}):
        draws = by_place[place]
        played = [contents.by_id.get(draw.episode) for draw in draws]
        values = [line.value for line in played if line and line.value is not None]
        successes = sum(value >= 0.5 for value in values)
        rows.append(TaskRound(*place, draws, after.get(place), successes, len(values)))
    return rows
