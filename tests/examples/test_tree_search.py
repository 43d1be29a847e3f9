"""The example of tree search: as a command on a benchmark's task, and on a site at hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from examples import tree_search
from examples.tree_search import Found, Limits, SearchedSite, search
from tasks.task import Json, Task, TaskCheck
from tests.fakes.lessons import node, page
from webagent.action import Action, Answer
from webagent.action.actions import Click
from webagent.errors import GuardError, SetupError, WorldError
from webagent.records import Decision, Observation, Trajectory

WRONG_FIRST = """
from webagent.action.actions import Click
from webagent.records import Decision


class WrongFirst:
    async def act(self, trajectory, observation):
        return (await self.propose(trajectory, observation, 2))[0]

    async def propose(self, trajectory, observation, n):
        marks = {node.name: node.mark for node in observation.nodes}
        options = [Click(marks["TWO"]), Click(marks["ONE"])]
        return [Decision(each, log_probs=(-float(i),)) for i, each in enumerate(options)][:n]
"""
LETTERS = "ABC"
TASK = Task(
    "fake/lock@1",
    "http://lock.test/",
    "Open the lock.",
    max_steps=6,
    records=("typed",),
    checks=(
        *(TaskCheck("typed", "equals", "BCA"), TaskCheck("episode.ending", "equals", "answered")),
    ),
)


@dataclass
class Lock:
    """A site that keeps the letters that were clicked, where no page shows them."""

    forbidden: str = ""
    breaks_at: str = "-"
    typed: str = ""
    counts: dict[str, int] = field(default_factory=lambda: {"steps": 0, "starts": 0})

    async def reset(self, task: Task) -> Observation:
        """A fresh lock."""
        self.counts["starts"] += 1
        self.typed = ""
        return self._page()

    async def step(self, action: Action) -> Observation:
        """Add a letter."""
        assert isinstance(action, Click)
        letter = LETTERS[action.mark - 1]
        if letter == self.forbidden:
            raise GuardError(f"{letter} is forbidden")
        self.counts["steps"] += 1
        self.typed += letter
        if self.typed == self.breaks_at:
            raise WorldError("the lock broke")
        return self._page()

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """What was typed."""
        return {"typed": self.typed}

    async def close(self) -> None:
        """Nothing is held."""

    def _page(self) -> Observation:
        letters = [node(i, "button", each) for i, each in enumerate(LETTERS, 1)]
        return page("Open the lock.", *letters, node(9, "text", f"{len(self.typed)} typed"))


class Alphabetical:
    """Proposes the letters in order, an answer last, each half as likely as the one before."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The first."""
        return (await self.propose(trajectory, observation, 1))[0]

    async def propose(self, trajectory, observation, n):
        """So many of them."""
        options: list[Action] = [Click(1), Click(2), Click(3), Answer("no")]
        return [
            Decision(each, log_probs=(-0.7 * place,)) for place, each in enumerate(options[:n], 1)
        ]


async def grow(lock: Lock, wanted: str = "BCA", **limits: int) -> Found:
    task = replace(TASK, checks=(TaskCheck("typed", "equals", wanted), TASK.checks[1]))
    return await search(
        SearchedSite(lock, task),
        Alphabetical(),
        Limits(**{"nodes": 100, "branch": 3, "steps": 400, **limits}),
    )


async def test_what_the_checks_ask_for_is_found_and_replayed_steps_are_counted() -> None:
    lock = Lock()
    found = await grow(lock)
    actions = [step.decision.action for step in found.best.trajectory.steps]
    assert (actions, found.best.value) == ([Click(2), Click(3), Click(1)], 1.0)
    assert found.steps == lock.counts["steps"] > found.nodes
    assert lock.counts["starts"] > 1


async def test_no_more_real_steps_are_taken_than_allowed() -> None:
    lock = Lock()
    found = await grow(lock, steps=10)
    assert found.best.value < 1 and lock.counts["steps"] <= 10


@pytest.mark.parametrize("lock", [Lock(forbidden="A"), Lock(breaks_at="A")])
async def test_what_is_refused_or_breaks_the_site_is_a_dead_end_and_no_more(lock: Lock) -> None:
    found = await grow(lock, wanted="BC")
    assert [step.decision.action for step in found.best.trajectory.steps] == [Click(2), Click(3)]


async def test_an_answer_that_is_proposed_takes_no_real_step() -> None:
    lock = Lock()
    task = replace(TASK, max_steps=1, checks=(TaskCheck("episode.answer", "equals", "no"),))
    found = await search(
        SearchedSite(lock, task), Alphabetical(), Limits(nodes=4, branch=4, steps=9)
    )
    assert [step.decision.action for step in found.best.trajectory.steps] == [Answer("no")]
    assert lock.counts["steps"] == 3


@pytest.mark.browser
def test_the_command_finds_on_a_benchmarks_task_what_the_policy_would_not_do(folder, capsys):
    Path("mine.py").write_text(WRONG_FIRST, encoding="utf-8")
    tree_search.main(["miniwob", "click-test-2", "--policy", "python:mine.py:WrongFirst"])
    said = capsys.readouterr().out
    assert "the best state has the value 1.00" in said and said.endswith("played again: 1\n")


@pytest.mark.browser
def test_a_site_that_keeps_what_is_tried_is_not_searched(folder):
    Path("mine.py").write_text(WRONG_FIRST, encoding="utf-8")
    task = Task("own/hours@1", "https://shop.example/", "Read.")
    named = tree_search.NamedPolicy("python:mine.py:WrongFirst")
    with pytest.raises(SetupError, match="keeps what a search tries"):
        tree_search.asyncio.run(tree_search.play(task, named, Limits(2, 2, 2)))
