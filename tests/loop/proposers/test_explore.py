import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.rules import checks_hold
from loop.proposers.exploration import (
    ExplorationRoles,
    ExplorationSettings,
    explore,
    propose_by_exploration,
)
from loop.proposers.explorer import ObservedTransition, by_novelty, by_prediction
from loop.proposers.goals import (
    FormSubmission,
    GrammarWriter,
    ModelWriter,
    is_mentioned,
    name_template,
)
from loop.proposers.labelling import find_page_actions
from loop.proposers.verification import EpisodePlayer
from tasks.task import Task, TaskProposal
from tests.fakes.desk import TERRITORY, Desk
from webagent.errors import SetupError, WorldError
from webagent.models.canned import CannedModel
from webagent.records import Observation, Trajectory
from webagent.rollout import World
from webagent.store import Store

FEW = ExplorationSettings(steps=120)


def player(store: Store | None = None) -> EpisodePlayer:
    async def world() -> World:
        return Desk()

    return EpisodePlayer(world, store)


async def test_an_exploration_finds_the_kinds_of_pages_and_keeps_to_its_budget() -> None:
    place = player()
    found = await explore(TERRITORY, place, 0, FEW)
    paths = {key.partition(" ")[0] for key in found.frontier.nodes}
    assert {"/", "/tickets", "/ticket/*", "/new"} <= paths
    assert len(found.frontier.nodes) <= 8
    assert found.steps == place.steps <= FEW.steps


async def test_the_session_is_never_ended_by_exploring() -> None:
    found = await explore(TERRITORY, player(), 3, FEW)
    assert not any("/out" in step.observation.url for e in found.episodes for step in e.steps)


async def test_the_same_seed_explores_the_same_and_another_differs() -> None:
    def page_actions(episodes: list[Trajectory]) -> list[object]:
        return [step.decision.action for episode in episodes for step in episode.steps]

    first, again, other = [
        page_actions((await explore(TERRITORY, player(), seed, FEW)).episodes) for seed in (1, 1, 2)
    ]
    assert first == again
    assert first != other


async def test_exploration_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with Store.open(tmp_path / "run", create=True) as store:
        half = player(store)
        await explore(TERRITORY, half, 0, ExplorationSettings(steps=60))
        played = half.episodes
        whole = player(store)
        fresh: Counter[str] = Counter()
        whole.on_episode = lambda episode: fresh.update([episode.id])
        before = {t.id for t in store.trajectories()}
        found = await explore(TERRITORY, whole, 0, FEW)
        assert len(before & fresh.keys()) == played
        assert found.steps > 60


@pytest.fixture(scope="module")
def proposed(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[list[TaskProposal], Store]]:
    """What an exploration of 120 steps proposes, with the run that it is kept in."""
    with Store.open(tmp_path_factory.mktemp("explored") / "run", create=True) as store:
        yield asyncio.run(propose_by_exploration(TERRITORY, player(store), 0, FEW)), store


def test_tasks_come_with_goals_checks_and_solutions_that_are_proven(proposed) -> None:
    taken = [each for each in proposed[0] if not each.refusals]
    goals = [each.task.goal for each in taken]
    assert len(taken) >= 8
    assert len(set(goals)) == len(goals)
    for start in ('Open a new ticket titled "', "Change the new status to ", "What is the "):
        assert any(goal.startswith(start) for goal in goals)
    for each in taken:
        assert (each.source, each.task.site) == ("exploration", "desk@1")
        assert each.solution and each.task.checks


def test_no_check_holds_a_key_or_a_time_of_a_new_row(proposed) -> None:
    checks = [check for each in proposed[0] for check in each.task.checks]
    changes = [str(check.expected) for check in checks if check.rule == "changes_are"]
    assert changes
    assert not any(name in each for each in changes for name in ("uuid", "mtime", "noise"))


def solutions_of(proposed) -> list[tuple[TaskProposal, Trajectory]]:
    """The proposals that are taken, each with the episode that solves it."""
    made, store = proposed
    return [(each, store.load(each.solution)) for each in made if not each.refusals]


def forms_of(proposed) -> list[tuple[str, FormSubmission]]:
    """The goals of the tasks that send a form, each with the last form of its solution."""
    return [
        (each.task.goal, find_page_actions(episode.steps[:-1], episode.last)[-1].page_action)
        for each, episode in solutions_of(proposed)
        if each.task.skills[0] in ("form", "button")
    ]


async def test_a_kept_solution_passes_its_own_checks(proposed) -> None:
    for each, episode in solutions_of(proposed):
        assert episode.task.id == each.task.id
        assert (await checks_hold()(episode)).value == 1.0


def test_a_goal_says_all_that_is_entered_into_its_form_and_what_it_is_for(proposed) -> None:
    for goal, form in forms_of(proposed):
        entered = [field.value for field in form.fields if field.kind in ("textbox", "combobox")]
        assert all(is_mentioned(value, goal) for value in entered)
        assert is_mentioned(form.subject, goal) if form.is_particular else entered


def test_what_describes_nothing_new_is_pruned(proposed) -> None:
    kinds = Counter(name_template(form) for _, form in forms_of(proposed))
    assert max(kinds.values()) == 2


async def test_with_a_surprise_the_source_is_curiosity() -> None:
    made = await propose_by_exploration(
        TERRITORY, player(), 0, FEW, ExplorationRoles(surprise=by_novelty())
    )
    assert {each.source for each in made} == {"curiosity"}


async def test_pages_that_surprise_are_gone_to_more_often() -> None:
    visits = []
    for new, elsewhere in ((20.0, 0.0), (0.0, 20.0)):
        roles = ExplorationRoles(
            surprise=lambda m, new=new, old=elsewhere: new if "/new" in m.before.url else old
        )
        found = await explore(TERRITORY, player(), 0, ExplorationSettings(steps=300), roles)
        visits.append(
            sum(n.visits for k, n in found.frontier.nodes.items() if k.startswith("/new"))
        )
    assert visits[0] > visits[1]


async def test_a_model_that_writes_no_usable_task_makes_none() -> None:
    model = CannedModel(["no JSON"] * 400)
    made = await propose_by_exploration(
        TERRITORY, player(), 0, FEW, ExplorationRoles(writer=ModelWriter(model))
    )
    assert made
    assert all(each.refusals for each in made)
    assert GrammarWriter().name == "grammar"


async def first_transitions() -> tuple[ObservedTransition, ObservedTransition]:
    """The first transition of an exploration, and one that stayed on its page."""
    found = await explore(TERRITORY, player(), 0, ExplorationSettings(steps=12))
    first, second = found.episodes[0].steps[:2]
    moved, stayed = (
        ObservedTransition((), first.observation, first.decision.action, after)
        for after in (second.observation, first.observation)
    )
    return moved, stayed


async def test_a_world_model_is_surprised_by_what_it_did_not_predict() -> None:
    from worldmodel.accuracy import CopyPage
    from worldmodel.prediction import Outcome

    copying = by_prediction(CopyPage(Outcome(0.0, 1.0, 0.0)))
    assert [copying(each) for each in await first_transitions()] == [1.0, 0.0]


async def test_the_same_again_surprises_less() -> None:
    moved, _ = await first_transitions()
    novelty = by_novelty()
    assert novelty(moved) > novelty(moved) > novelty(moved)


async def test_a_budget_too_small_for_an_episode_is_refused() -> None:
    with pytest.raises(SetupError, match="3 steps are too few"):
        await explore(TERRITORY, player(), 0, ExplorationSettings(steps=3))


async def test_worlds_that_fail_from_the_beginning_are_named() -> None:
    class Broken(Desk):
        async def reset(self, task: Task) -> Observation:
            raise WorldError("the desk has burnt down")

    async def world() -> World:
        return Broken()

    with pytest.raises(WorldError, match="burnt down"):
        await explore(TERRITORY, EpisodePlayer(world), 0, FEW)
