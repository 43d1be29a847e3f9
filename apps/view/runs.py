"""The first page: all runs with their tasks and outcomes, searched and sorted."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from apps.report.templating import format_moment
from apps.view.columns import SortableColumn, list_heads
from apps.view.contents import Contents, EpisodeOutcome, Run
from apps.view.figures import benchmark_of, read_settings
from apps.view.outcome import RunOutcome, outcome_of
from apps.view.pages import Pages
from evaluators.statistics import wilson
from webagent.errors import StoreError

_PATIENCE = 0.6
"""Seconds for reading runs that were not read before; the rest follows while the page is shown."""


@dataclass(frozen=True, slots=True)
class LatestSuccess:
    """How often the arm that counts succeeds, after its last round."""

    arm: str
    round: int
    success: float
    low: float
    high: float
    episodes: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list of runs."""

    run: Run
    state: dict[str, str]
    outcome: RunOutcome
    contents: Contents | None
    """None while it has not been read, or where it cannot be."""
    problem: str = ""

    @property
    def standing(self) -> LatestSuccess | None:
        """None where nothing was measured."""
        return standing(self.contents) if self.contents else None

    @property
    def broken(self) -> int:
        """Episodes that say nothing of the policy, where there are others."""
        counts = self.contents.counts if self.contents else {}
        found = counts.get(EpisodeOutcome.BROKEN, 0)
        return found if self.contents and found < len(self.contents.of_policy) else 0

    @property
    def benchmark(self) -> str:
        """What was played."""
        found = benchmark_of(self.contents) if self.contents else ""
        return "one task" if found.startswith("live@") else found

    @property
    def arms(self) -> str:
        """The arms there are, baselines apart."""
        lines = self.contents.of_policy if self.contents else ()
        return ", ".join(sorted({line.entry.arm for line in lines if line.entry.arm}))

    @property
    def steps(self) -> int:
        """All that the policy took."""
        return sum(line.entry.steps for line in self.contents.of_policy) if self.contents else 0

    @property
    def episodes(self) -> int:
        """All that the policy played."""
        return len(self.contents.of_policy) if self.contents else 0

    @property
    def began(self) -> float:
        """When the first episode began, in seconds since 1970; 0 where none did."""
        lines = self.contents.lines if self.contents else ()
        return min((line.entry.started for line in lines), default=0.0)

    @property
    def begun(self) -> str:
        """The same for people."""
        return format_moment(self.began) if self.began else ""

    def has(self, words: list[str]) -> bool:
        """Return whether the list shows all these words for the run."""
        shown = (self.run.title, self.outcome.goal, self.outcome.word, self.benchmark, self.arms)
        text = " ".join((*shown, self.problem)).casefold()
        return all(word in text for word in words)


_COLUMNS: Mapping[str, SortableColumn[[RunRow]]] = {
    "run": SortableColumn(lambda row: row.run.title.casefold(), "words task"),
    "outcome": SortableColumn(lambda row: (row.outcome.word, -row.run.changed()), "words"),
    "benchmark": SortableColumn(lambda row: row.benchmark, "words spare"),
    "success %, last round": SortableColumn(
        lambda row: row.standing.success if row.standing else -1.0, "words", most_first=True
    ),
    "episodes": SortableColumn(lambda row: row.episodes, "spare", most_first=True),
    "steps": SortableColumn(lambda row: row.steps, "spare", most_first=True),
    "arms": SortableColumn(lambda row: row.arms, "words spare"),
    "begun": SortableColumn(lambda row: row.began, "spare roomy", most_first=True),
}


def routes(pages: Pages) -> list[BaseRoute]:
    """Return `/?q=…&sort=-steps`."""

    def runs(request: Request) -> Response:
        request.state.version = pages.all_runs()["version"]
        query = request.query_params
        until = time.monotonic() + _PATIENCE
        rows = []
        for run in pages.archive.runs():
            state = pages.state(run)
            settings, _ = read_settings(run)
            contents, problem = None, ""
            try:
                if pages.contents.has(run) or time.monotonic() <= until:
                    contents = pages.contents.contents(run)
                else:
                    pages.read_later(run)
            except StoreError as error:
                problem = str(error)
            outcome = outcome_of(run, settings, contents, is_live=state["kind"] == "running")
            rows.append(RunRow(run, state, outcome, contents, problem))
        words = query.get("q", "").casefold().split()
        chosen = [row for row in rows if row.has(words)]
        by = query.get("sort", "")
        if column := _COLUMNS.get(by.lstrip("-")):
            chosen.sort(key=column.key, reverse=by.startswith("-"))

        def link(sort: str) -> str:
            values = {"q": query.get("q", ""), "sort": sort}
            return f"/?{urlencode({key: value for key, value in values.items() if value})}"

        return pages.show(
            request,
            "runs.html",
            rows=chosen,
            total=len(rows),
            text=query.get("q", ""),
            columns=list_heads(_COLUMNS, by, link),
            folder=pages.archive.folder.resolve(),
        )

    return [Route("/", runs)]


def standing(contents: Contents) -> LatestSuccess | None:
    """Return the last round of the arm `self`, else of the last arm that was measured."""
    measured = [line for line in contents.lines if line.is_measured]
    arms = [line.entry.arm for line in measured]
    if not arms:
        return None
    arm = "self" if "self" in arms else max(arms)
    number = max(line.entry.round for line in measured if line.entry.arm == arm)
    own = [line for line in measured if (line.entry.arm, line.entry.round) == (arm, number)]
    good = sum(line.outcome is EpisodeOutcome.SUCCEEDED for line in own)
    return LatestSuccess(arm, number, good / len(own), *wilson(good, len(own)), len(own))
