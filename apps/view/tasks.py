"""The tasks of a run: results by round."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.report.charts import Strip, colour_classes, draw_strip
from apps.view.contents import Contents, EpisodeLine, EpisodeOutcome
from apps.view.pages import Pages, crumbs_of
from evaluators.statistics import wilson
from webagent.errors import unknown_name
from webagent.records import SET_APART


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
    cause: str
    """What most of its failures were put down to."""
    failures: int

    @property
    def success(self) -> float:
        """Of the arm `self`, else of the last one; -1 where it was never measured."""
        rates = [rate.success for rate, _ in self.arms.values()]
        return self.arms["self"][0].success if "self" in self.arms else rates[-1] if rates else -1.0


_SORTS = {"task": lambda row: row.name, "success": lambda row: row.success}


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/run/NAME/tasks` and `/run/NAME/task/TASK`."""

    def tasks(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.contents.contents(run)
        found = pages.causes.known(run, contents).found
        colours = colour_classes(contents.values("arm"))
        rows = []
        for name, lines in group_by_task(contents).items():
            ids = [one.entry.id for one in lines]
            causes = Counter(str(found[id].cause) for id in ids if id in found)
            rates = measure_rates(lines).items()
            rows.append(
                TaskLine(
                    name=name,
                    address=f"{run.address}/task/{name}",
                    arms={arm: (each[-1], _draw_rates(each, colours[arm])) for arm, each in rates},
                    cause=causes.most_common(1)[0][0] if causes else "",
                    failures=causes.total(),
                )
            )
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
            colours=colours,
        )

    def task(request: Request) -> Response:
        run = pages.run(request)
        contents = pages.contents.contents(run)
        name, by_task = request.path_params["task"], group_by_task(contents)
        if name not in by_task:
            raise unknown_name("task", name, by_task)
        lines = by_task[name]
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
        )

    return [Route("/run/{run}/tasks", tasks), Route("/run/{run}/task/{task:path}", task)]
