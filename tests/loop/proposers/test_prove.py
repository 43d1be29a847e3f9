from dataclasses import replace

import pytest

from loop.proposers.labelled_tasks import build_page_checks
from loop.proposers.verification import (
    EpisodePlayer,
    ProofTask,
    make_mutants,
    prove_proposals,
    verify_proposals,
)
from tasks.task import Json, Task, TaskCheck, TaskProposal
from tests.fakes.desk import ADDRESS, TERRITORY, Desk
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, SelectOption
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.records import Trajectory
from webagent.rollout import World, run_episode

ADDED: Json = {"ticket": {"added": [{"title": "Torn sail 7", "type": "Wish"}]}}
GOAL = 'Open a new ticket titled "Torn sail 7" with type Wish.'
ACTIONS = (
    Click(3),
    Fill(11, "Torn sail 7"),
    SelectOption(12, "Wish"),
    Click(14),
    Answer(),
)
NOTHING_DONE = (Click(2), Answer())


def player(desk: Desk | None = None) -> EpisodePlayer:
    async def world() -> World:
        return desk or Desk()

    return EpisodePlayer(world)


def ticket_task(**changes: object) -> Task:
    task = TERRITORY.task("open", GOAL, 0, 12)
    checks = (TaskCheck("changes", "changes_are", ADDED),)
    return replace(task, checks=checks, **changes)  # type: ignore[arg-type]


async def played(task: Task, *actions: Action) -> Trajectory:
    return await run_episode(task, ScriptedPolicy(play_actions(actions)), Desk())


async def draft_of(task: Task, *actions: Action) -> ProofTask:
    recording = await played(task, *(actions or ACTIONS))
    return ProofTask(TaskProposal(task, "exploration", "a test"), recording)


async def test_a_proposal_whose_checks_tell_its_solution_from_all_else_is_proven() -> None:
    [proof] = await prove_proposals([await draft_of(ticket_task())], player())
    solved = [trial for trial in proof.trials if trial.what == "solution"]
    assert [trial.is_pass for trial in solved] == [True, True]
    assert proof.solution in [trial.episode for trial in solved]
    assert proof.refusals() == ()
    assert {trial.what: trial.value for trial in proof.trials} == {
        "doing nothing": 0.0,
        "giving up": 0.0,
        "solution": 1.0,
        "another value typed": 0.0,
        "another option chosen": 0.0,
        "the last step left out": 0.0,
    }


@pytest.mark.parametrize(
    ("check", "actions", "filter", "reason"),
    [
        (
            TaskCheck("changes", "changes_are", {"ticket": {"added": [{"type": "Wish"}]}}),
            ACTIONS,
            "validity",
            "another value typed",
        ),
        (TaskCheck("changes", "changes_are", {}), NOTHING_DONE, "validity", "doing nothing"),
        (
            TaskCheck("changes", "changes_are", ADDED),
            NOTHING_DONE,
            "feasibility",
            "its solution fails",
        ),
        (TaskCheck("mail", "equals", 1), ACTIONS, "feasibility", "mail was not captured"),
    ],
    ids=["another value passes", "doing nothing passes", "the solution fails", "cannot be told"],
)
async def test_checks_that_do_not_tell_the_solution_from_all_else_are_refused(
    check: TaskCheck, actions: tuple[Action, ...], filter: str, reason: str
) -> None:
    proof_task = await draft_of(replace(ticket_task(), checks=(check,)), *actions)
    [proposal] = await verify_proposals([proof_task], player())
    [refusal] = proposal.refusals
    assert refusal.filter == filter
    assert reason in refusal.reason
    assert bool(proposal.solution) is (filter == "validity")


async def test_a_solution_that_passes_only_at_times_is_refused() -> None:
    proof_task = await draft_of(ticket_task())
    [proposal] = await verify_proposals([proof_task], player(Desk(breaks=True)))
    assert proposal.refusals[0].reason == "its solution passes 1 of 2 times"


async def test_a_proposal_that_nobody_knows_a_solution_of_is_not_feasible() -> None:
    [proof] = await prove_proposals(
        [ProofTask(TaskProposal(ticket_task(), "pages", "a test"))], player()
    )
    assert not proof.solution
    assert "nobody knows a solution" in proof.refusals()[0].reason


async def test_doing_nothing_is_played_once_for_tasks_that_begin_alike() -> None:
    place = player()
    proof_tasks = [await draft_of(ticket_task()), await draft_of(ticket_task(id="desk/other@1"))]
    proofs = await prove_proposals(proof_tasks, place)
    assert [proof.refusals() for proof in proofs] == [(), ()]
    assert place.episodes == 2 + 2 * 5


@pytest.mark.parametrize(
    ("old", "new"), [("7", "8"), ("ada@example.com", "another.ada@example.com")]
)
async def test_a_mutant_types_something_of_the_same_kind(old: str, new: str) -> None:
    task = ticket_task(goal=f'Open a ticket titled "{old}".')
    recording = await played(task, Click(3), Fill(11, old), Click(14), Answer())
    typed = dict(make_mutants(recording, task))["another value typed"]
    assert typed.steps[1].decision.action == Fill(11, new)


async def test_a_wrong_answer_is_a_mutant_of_a_question() -> None:
    task = replace(
        TERRITORY.task("ask", 'What is the status of "Copper harbour map"?', 0, 9),
        checks=(TaskCheck("episode.answer", "same_text", "Closed"),),
    )
    proof_task = await draft_of(task, Click(2), Click(12), Answer("Closed"))
    [proof] = await prove_proposals([proof_task], player())
    assert not proof.refusals()
    assert "another answer" in [trial.what for trial in proof.trials]


async def test_a_site_without_a_database_is_checked_by_its_pages() -> None:
    probes, checks = build_page_checks(f"{ADDRESS}/ticket/3", ["Torn sail 7"])
    task = replace(ticket_task(), checks=checks, probes=probes, records=())
    [proof] = await prove_proposals([await draft_of(task)], player())
    assert [trial.what for trial in proof.trials if trial.is_pass] == [
        "solution",
        "solution",
        "another option chosen",
    ]
