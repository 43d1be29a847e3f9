"""Search: finds in a tree what the policy would not have done, and pays for every real step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from evaluators.evaluator import Verdict, evaluator
from evaluators.rules import checks_hold
from evaluators.rules.checks import share_of_checks
from tasks.task import Json, Task, TaskCheck
from tests.fakes.lessons import node, page
from webagent.action import Action, Answer
from webagent.action.actions import Click, GiveUp
from webagent.errors import GuardError, WorldError
from webagent.records import SEARCHED, Decision, Ending, Observation, Provenance, Trajectory
from webagent.rollout import StepBudget, collect, plan_episodes, run_episode
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.search import SEARCH, Searched, SearchLimits
from worldmodel.states import dream_states, replay_states
from worldmodel.transitions import Situation

LETTERS = "ABC"
TASK = Task(
    "fake/lock@1",
    "http://lock.test/",
    "Open the lock.",
    max_steps=6,
    site="lock@1",
    records=("typed",),
    checks=(TaskCheck("typed", "equals", "BCA"), TaskCheck("episode.ending", "equals", "answered")),
)


@dataclass
class Lock:
    """A site that keeps the letters that were clicked, where no page shows them."""

    counts: dict[str, int] = field(default_factory=lambda: {"steps": 0, "starts": 0})
    seen: list[Task] = field(default_factory=list)
    typed: str = ""
    forbidden: str = ""
    breaks_at: str = "-"

    async def reset(self, task: Task) -> Observation:
        """A fresh lock."""
        self.seen.append(task)
        self.counts["starts"] += 1
        self.typed = ""
        return self._page()

    async def step(self, action: Action) -> Observation:
        """Add a letter."""
        self.counts["steps"] += 1
        letter = LETTERS[action.mark - 1] if isinstance(action, Click) else ""
        if letter and letter == self.forbidden:
            raise GuardError(f"{letter} is forbidden")
        self.typed += letter
        if self.typed == self.breaks_at:
            raise WorldError("the lock broke")
        return self._page()

    async def evidence(self, task: Task) -> Mapping[str, Json]:
        """What was typed, for tasks that record it."""
        return {"typed": self.typed} if "typed" in task.records else {}

    async def close(self) -> None:
        """Nothing is held."""

    def _page(self) -> Observation:
        letters = [node(i, "button", each) for i, each in enumerate(LETTERS, 1)]
        return page("Open the lock.", *letters, node(9, "text", f"{len(self.typed)} typed"))


class Alphabetical:
    """Proposes the letters in order, an answer last, each half as likely as the one before."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """The first, and then it stops."""
        return Decision(Answer("") if trajectory.steps else Click(1), weights="alone")

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """So many of them."""
        options: list[Action] = [Click(1), Click(2), Click(3), Answer("no")]
        return [
            Decision(each, log_probs=(-0.7 * place,)) for place, each in enumerate(options[:n], 1)
        ]


def searched(lock: Lock, *, limit: int = 400, **limits: object) -> Searched:
    """The policy with a search in that site by the task's checks."""

    async def open_world() -> Lock:
        return lock

    states = replay_states(open_world, share_of_checks, limit, sees_checks=True)
    how = SearchLimits(**{"nodes": 100, **limits})  # type: ignore[arg-type]
    return Searched(Alphabetical(), states, how, replans=False)


@pytest.mark.parametrize("style", ["best-first", "mcts"])
async def test_what_the_checks_ask_for_is_found_and_played_once_more_from_a_fresh_start(
    style: str,
) -> None:
    tried, played = Lock(), Lock()
    episode = await run_episode(TASK, searched(tried, style=style), played)

    assert (await checks_hold()(episode)).value == 1.0
    assert [step.decision.action for step in episode.steps] == [
        *(Click(2), Click(3), Click(1), Answer(""))
    ]
    assert {step.decision.source for step in episode.steps} == {SEARCH}
    assert played.counts == {"steps": 3, "starts": 1}
    usage = episode.steps[0].decision.usage
    assert (usage[SEARCHED], usage["search_starts"]) == tuple(tried.counts.values())
    assert usage["search_failures"] == 0
    assert usage["search_nodes"] < usage[SEARCHED], "replayed steps are charged, too"


async def test_a_step_tells_what_else_was_tried_and_what_came_of_it() -> None:
    episode = await run_episode(TASK, searched(Lock()), Lock())
    values = {each.action: each.value for each in episode.steps[0].decision.candidates}
    assert values["click(2)"] == 1.0
    assert values["click(1)"] == 0.5, "no letter in front of it opens the lock"


async def test_no_more_real_steps_are_taken_than_allowed_and_then_the_policy_acts_alone() -> None:
    lock = Lock()
    episode = await run_episode(TASK, searched(lock, limit=10), Lock())
    assert lock.counts["steps"] <= 10
    assert [step.decision.weights for step in episode.steps] == ["alone", "alone"]
    assert episode.steps[0].decision.usage[SEARCHED] == lock.counts["steps"]
    assert SEARCHED not in episode.steps[1].decision.usage


async def test_searching_steps_are_set_aside_in_the_budget_and_charged_to_it() -> None:
    tried = Lock()

    async def open_world() -> Lock:
        return Lock()

    plan = plan_episodes([TASK, replace(TASK, seed=1)], Provenance(phase="collect"))
    plan = [replace(entry, search_steps=400) for entry in plan]
    budget = StepBudget(410)
    [episode] = await collect(plan, searched(tried), open_world, budget_steps=budget)
    assert budget.spent == tried.counts["steps"] + len(episode.steps)
    assert budget.is_used_up, "the second episode might take 406 more"


@pytest.mark.parametrize("lock", [Lock(forbidden="A"), Lock(breaks_at="A")])
async def test_what_is_refused_or_breaks_the_site_is_a_dead_end_and_no_more(lock: Lock) -> None:
    task = replace(TASK, checks=(TaskCheck("typed", "equals", "BC"),))
    episode = await run_episode(task, searched(lock), Lock())
    assert [step.decision.action for step in episode.steps] == [Click(2), Click(3), Answer("")]
    assert episode.steps[0].decision.usage["search_failures"] > 0


async def test_another_evaluator_and_its_site_never_see_the_checks() -> None:
    shown: list[Trajectory] = []

    @evaluator("looks")
    def judge(trajectory: Trajectory) -> Verdict:
        shown.append(trajectory)
        done = [s.decision.action for s in trajectory.steps[:1]]
        return Verdict(0.9 if done == [Click(3)] else 0.1, "C comes first")

    lock = Lock()

    async def open_world() -> Lock:
        return lock

    states = replay_states(open_world, judge, 100, sees_checks=False)
    limits = SearchLimits(nodes=5, enough=0.9)
    episode = await run_episode(
        TASK, Searched(Alphabetical(), states, limits, replans=False), Lock()
    )

    assert [step.decision.action for step in episode.steps] == [Click(3), Answer("")]
    assert not any(each.task.checks or each.evidence for each in shown)
    assert not any(task.checks or task.records for task in lock.seen)
    assert {each.ending for each in shown} == {Ending.ANSWERED}


async def test_an_answer_that_is_proposed_is_judged_without_a_real_step() -> None:
    task = replace(TASK, checks=(TaskCheck("episode.answer", "equals", "no"),))
    lock = Lock()
    episode = await run_episode(task, searched(lock, nodes=4, branch=4, depth=1), Lock())
    assert [step.decision.action for step in episode.steps] == [Answer("no")]
    assert lock.counts["steps"] == 3


class Foretold:
    """A world model in which one letter promises success, and what follows A is not known."""

    def learn(self, transitions: object) -> None:
        """Nothing is left to learn."""

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """The same page, and the chance of the letter."""
        chances: dict[Action, float] = {Click(1): 0.5, Click(2): 0.2, Click(3): 0.8}
        return [
            Prediction(
                each.observation,
                Outcome(0.0, 0.0, chances.get(each.action, 0.0)),
                Effect.STAYS,
                Ending.GAVE_UP if isinstance(each.action, GiveUp) else None,
                1.0,
                Source.UNKNOWN if each.action == Click(1) else Source.REMEMBERED,
            )
            for each in situations
        ]


async def test_in_a_dream_it_searches_before_every_step_and_touches_no_page() -> None:
    policy = Searched(
        Alphabetical(), dream_states(Foretold(), None), SearchLimits(nodes=6), replans=True
    )
    lock = Lock()
    episode = await run_episode(replace(TASK, max_steps=2), policy, lock)
    assert [step.decision.action for step in episode.steps] == [Click(3), Click(3)]
    assert [step.decision.usage["imagined_steps"] for step in episode.steps] == [6, 3]
    assert lock.counts == {"steps": 2, "starts": 1}
