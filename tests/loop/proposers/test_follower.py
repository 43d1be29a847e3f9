import pytest

from loop.proposers.exploration import ExplorationSettings, explore, propose_by_exploration
from loop.proposers.verification import EpisodePlayer, ProofTask, prove_proposals
from tests.fakes.desk import TERRITORY, Desk
from tests.fakes.goal_solver import GoalPart, GoalSolver, parse_goal
from webagent.action.actions import Click
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.records import Ending, Node, Observation, Trajectory
from webagent.rollout import World, run_episode

FEW = ExplorationSettings(steps=120)


async def world() -> World:
    return Desk()


@pytest.mark.parametrize(
    ("goal", "orders"),
    [
        ('Go to the page "Tickets".', [GoalPart("go", page="Tickets")]),
        (
            'What is the status of "Sail" on the page "Tickets"?',
            [GoalPart("ask", "status", "Tickets", "Sail")],
        ),
        (
            'How many versions does "Sail" have on the page "Wiki"?',
            [GoalPart("ask", "versions", "Wiki", "Sail")],
        ),
        ('Search Wiki for "sail".', [GoalPart("search", "Search Wiki", "", "", "sail")]),
        (
            'Open a new ticket titled "Sail" with type Wish and details "It is torn".',
            [
                GoalPart(
                    "send",
                    "Open a new ticket",
                    title="Sail",
                    pairs=(("type", "Wish"), ("details", "It is torn")),
                )
            ],
        ),
        (
            'Change the new status to Closed for "Sail", then go to the page "Home".',
            [
                GoalPart("send", subject="Sail", pairs=(("new status", "Closed"),)),
                GoalPart("go", page="Home"),
            ],
        ),
        (
            'Add to basket for "Pebble Lamp".',
            [GoalPart("send", "Add to basket", subject="Pebble Lamp")],
        ),
        ("Make me a sandwich.", []),
    ],
)
def test_the_built_in_writers_goals_can_be_read_back(goal: str, orders: list[GoalPart]) -> None:
    assert parse_goal(goal) == orders


async def test_what_exploration_proposes_can_be_solved_from_the_goal_alone() -> None:
    found = await explore(TERRITORY, EpisodePlayer(world), 0, FEW)
    pages = [step.observation for episode in found.episodes for step in episode.steps]
    made = await propose_by_exploration(TERRITORY, EpisodePlayer(world), 0, FEW)
    proof_tasks = [
        ProofTask(each, solver=GoalSolver(pages), plays=1) for each in made if not each.refusals
    ]
    proofs = await prove_proposals(proof_tasks, EpisodePlayer(world))
    assert len(proofs) >= 8
    assert all(proof.solution for proof in proofs)


async def test_a_goal_that_no_page_leads_to_is_given_up() -> None:
    start = await run_episode(
        TERRITORY.task("x", "-", 0, 1), ScriptedPolicy(play_actions([])), Desk()
    )
    task = TERRITORY.task("x", 'Go to the page "Nowhere".', 0, 5)
    episode = await run_episode(task, GoalSolver([start.steps[0].observation]), Desk())
    assert episode.ending is Ending.GAVE_UP


async def test_a_button_of_a_list_is_pressed_beside_the_thing_that_is_named() -> None:
    nodes = (
        Node(1, "link", "Pebble Lamp", kind="a"),
        Node(2, "button", "Add to basket"),
        Node(3, "link", "Heron Pen", kind="a"),
        Node(4, "button", "Add to basket"),
    )
    page = Observation("", "http://shop.test/", "Shop", nodes)
    task = TERRITORY.task("x", 'Add to basket for "Heron Pen".', 0, 5)
    decision = await GoalSolver([page]).act(Trajectory("a", task, task.goal), page)
    assert decision.action == Click(4)
