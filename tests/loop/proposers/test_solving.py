"""Proposals are solved by whoever can, and checks that hold for nothing are none."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.oracles import OraclePolicy
from evaluators.evaluator import FunctionEvaluator, Verdict, evaluator
from loop.proposers.filters import check_feasibility
from loop.proposers.verification import EpisodePlayer, ProposalSolver
from tasks.task import Task, TaskCheck, TaskProposal
from tests.fakes.policy import ScriptedPolicy, oracle
from tests.fakes.world import FakeWorld, fake_task
from webagent.action.actions import Answer
from webagent.errors import PolicyError, WorldError
from webagent.records import Decision, Observation, Trajectory
from webagent.store import Store


async def a_world() -> FakeWorld:
    """A fresh fake one."""
    return FakeWorld()


def proposal(task: Task | None = None) -> TaskProposal:
    """The fake task, proposed."""
    return TaskProposal(task or fake_task(), "pages", "why")


def solver(policy, judge=None, player=None):
    """Three tries in fake worlds."""
    return ProposalSolver(policy, "somebody", player or EpisodePlayer(a_world), 3, judge)


def judging(value: float | None) -> FunctionEvaluator:
    """A judge that always says the same."""

    @evaluator("fixed")
    async def judge(trajectory: Trajectory) -> Verdict:
        return Verdict(value, "as it is")

    return judge


class Seldom(ScriptedPolicy):
    """Succeeds from its third episode on."""

    def __init__(self) -> None:
        super().__init__()
        self.episodes: set[str] = set()

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        self.episodes.add(trajectory.id)
        if len(self.episodes) < 3:
            self._script = [Answer("no")]
        else:
            self._script = oracle
        return await super().act(trajectory, observation)


async def test_one_success_among_the_tries_is_enough() -> None:
    policy = Seldom()
    found = await solver(policy)(proposal())
    assert (found.is_solved, found.tries, found.is_checked) == (True, 3, True)
    assert found.solution in policy.episodes and check_feasibility(found) is None


async def test_nobody_tries_again_once_it_is_solved() -> None:
    played = list[Trajectory]()
    player = EpisodePlayer(a_world, on_episode=played.append)
    assert (await solver(ScriptedPolicy(), player=player)(proposal())).tries == 1
    assert len(played) == 3, "doing nothing, giving up, and one try"


async def test_what_is_never_solved_is_refused_with_the_last_reason() -> None:
    found = await solver(ScriptedPolicy([Answer("no")]))(proposal())
    refusal = check_feasibility(found)
    assert refusal is not None and refusal.filter == "feasibility"
    assert "not solved in 3 tries by somebody" in refusal.reason and "reward" in refusal.reason


async def test_checks_that_hold_for_doing_nothing_are_refused() -> None:
    always = replace(fake_task(), checks=(TaskCheck("episode.answer", "equals", ""),))
    refusal = check_feasibility(await solver(ScriptedPolicy())(proposal(always)))
    assert refusal is not None and refusal.filter == "validity"
    assert refusal.reason == "its checks also hold for doing nothing"


async def test_checks_that_cannot_tell_are_left_to_the_judge() -> None:
    silent = replace(fake_task(), checks=(TaskCheck("missing", "equals", 1),))
    alone = await solver(ScriptedPolicy())(proposal(silent))
    assert not alone.is_solved and "cannot tell of doing nothing" in alone.reason
    judged = await solver(ScriptedPolicy(), judging(1.0))(proposal(silent))
    assert judged.is_solved and not judged.is_checked


@pytest.mark.parametrize(("value", "is_solved"), [(1.0, True), (0.0, False), (None, False)])
async def test_a_task_without_checks_is_solved_when_the_judge_says_so(value, is_solved):
    found = await solver(ScriptedPolicy(), judging(value))(
        proposal(replace(fake_task(), checks=()))
    )
    assert found.is_solved is is_solved


async def test_a_judge_does_not_overrule_checks_that_can_tell() -> None:
    found = await solver(ScriptedPolicy([Answer("no")]), judging(1.0))(proposal())
    assert not found.is_solved


async def test_a_world_that_fails_is_no_failure_of_the_task() -> None:
    async def broken() -> FakeWorld:
        return FakeWorld({"reset": WorldError("gone")})

    assert await solver(ScriptedPolicy(), player=EpisodePlayer(broken))(proposal()) is None


async def test_what_was_played_is_not_played_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "run", create=True) as store:
        first = await solver(ScriptedPolicy(), player=EpisodePlayer(a_world, store))(proposal())

        async def nowhere() -> FakeWorld:
            raise AssertionError("nothing is to be played")

        again = await solver(ScriptedPolicy(), player=EpisodePlayer(nowhere, store))(proposal())
    assert again == first


async def test_the_oracle_of_the_parent_is_asked_and_its_lack_is_named() -> None:
    trajectory = Trajectory("t", replace(fake_task(), parent="miniwob/no-such-task@1"))
    with pytest.raises(PolicyError, match="no oracle exists for no-such-task"):
        await OraclePolicy().act(trajectory, Observation("", "", "", ()))
