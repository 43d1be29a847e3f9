"""Episodes as examples: which are found, which never, and how much room they take."""

from dataclasses import replace

import pytest

from tasks.task import Task
from tests.webagent.policy.scenes import (
    HOME,
    RESULTS,
    START,
    TASK,
    fenced,
    finished,
    prompt,
    step,
    under_way,
)
from webagent.errors import SetupError
from webagent.models.prompt import estimate_tokens
from webagent.policy.knowledge import Exemplars, compare_by_words, exemplar_of
from webagent.records import Ending, Provenance, Trajectory


def done(
    goal: str, *, seed: int = 1, task: str = "shop/buy@1", turns: int = 2, **fields
) -> Trajectory:
    """An episode with this goal that is over."""
    steps = [step(replace(HOME, goal=goal), "click(2)", f"thought {n} of it") for n in range(turns)]
    made = Task(task, TASK.start_url, goal=goal, seed=seed)
    return finished(*steps, id=f"{task}:{seed}:{goal}", task=made, goal=goal, **fields)


MUG = done("Buy the blue mug.")
INVOICE = done("Download the last invoice.", seed=2)
WEATHER = done("Tell me about tomorrow's weather.", seed=3)


def test_the_most_similar_tasks_come_first():
    memory = Exemplars(map(exemplar_of, (WEATHER, INVOICE, MUG)), page_share=0.0)

    assert memory.similar(TASK, TASK.goal, HOME)[0].goal == MUG.goal
    found = memory.similar(TASK, "Get my invoice, the last one", HOME)
    assert found[0].goal == INVOICE.goal


def test_pages_count_beside_tasks():
    on_results = replace(INVOICE, steps=(step(RESULTS, "click(4)"),), id="on results")
    memory = Exemplars(map(exemplar_of, (INVOICE, on_results)), page_share=0.5)

    assert memory.similar(TASK, INVOICE.goal, RESULTS)[0].source == "on results"
    assert memory.similar(TASK, INVOICE.goal, HOME)[0].source == INVOICE.id


@pytest.mark.parametrize("task", ["shop/buy@1", "shop/buy@2"])
def test_an_episode_of_the_very_task_and_seed_is_never_shown(task):
    same = done(TASK.goal, seed=TASK.seed, task=task)
    memory = Exemplars([exemplar_of(same), exemplar_of(MUG)], count=5)

    assert [each.goal for each in memory.similar(TASK, TASK.goal, HOME)] == [MUG.goal]
    other_seed = replace(TASK, seed=8)
    assert memory.similar(other_seed, TASK.goal, HOME)[0].goal == TASK.goal


async def test_examples_stand_in_the_prompt_fenced_and_with_their_turns():
    memory = Exemplars([exemplar_of(MUG)])

    told = await prompt(START, HOME, knowledge=(memory,))

    shown = fenced("episode", told)
    assert "Task: Buy the blue mug." in shown
    assert "Thought: thought 0 of it\n   Action: click(2)" in shown
    assert '[2] button "Find"' in shown
    assert "It ended: answered." in shown
    assert told.index("Tasks like yours") < told.index("What you have done so far")


async def test_an_empty_memory_changes_nothing():
    assert await prompt(START, HOME, knowledge=(Exemplars([]),)) == await prompt(START, HOME)


async def test_examples_stay_the_same_through_an_episode():
    memory = Exemplars(map(exemplar_of, (WEATHER, INVOICE, MUG)), count=1)
    later = under_way(step(HOME, "click(2)"))

    first = fenced("episode", await prompt(START, HOME, knowledge=(memory,)))
    second = fenced("episode", await prompt(later, RESULTS, knowledge=(memory,)))

    assert first == second != ""


@pytest.mark.parametrize("bound", [150, 400, 1000, 4000])
def test_examples_keep_to_their_bound_and_say_what_is_left_out(bound):
    memory = Exemplars([exemplar_of(done("Buy mugs.", turns=30))], max_tokens=bound)

    told = memory.recall(TASK, TASK.goal, HOME)

    assert estimate_tokens(told) <= bound + 130
    assert ("left out)" in told) is (bound < 4000)
    assert "Task: Buy mugs." in told


def test_the_same_memory_in_another_order_finds_the_same():
    episodes = [done(f"Buy mug number {n}.", seed=n + 10) for n in range(6)]
    forward, backward = (Exemplars(map(exemplar_of, e)) for e in (episodes, episodes[::-1]))

    assert forward.recall(TASK, TASK.goal, HOME) == backward.recall(TASK, TASK.goal, HOME)


def test_words_are_compared_by_how_rare_they_are():
    compare = compare_by_words(["the mug", "the invoice", "the weather", ""])

    assert compare("the mug") == pytest.approx([1.0, *compare("the mug")[1:]])
    assert compare("mug")[0] > 0.8 > 0.5 > compare("the")[1] > 0
    assert compare("")[0] == compare("mug")[3] == 0.0


@pytest.mark.parametrize(
    ("episode", "found"),
    [
        (under_way(step(HOME, "click(2)")), "is still under way; expected one that the agent fin"),
        (replace(MUG, ending=Ending.WORLD_FAILED), "is world failed; expected one that the agent"),
        (replace(MUG, steps=()), "has no turns"),
    ],
)
def test_an_episode_that_shows_nothing_is_refused(episode, found):
    with pytest.raises(SetupError, match=found):
        exemplar_of(episode)


def test_where_an_example_comes_from_is_kept_and_imagined_ones_say_so():
    dreamt = replace(MUG, provenance=Provenance(world="imagined", run="r1"))
    memory = Exemplars([exemplar_of(dreamt)])

    assert memory.exemplars[0].source == f"r1/{MUG.id}"
    assert "(imagined: no real page was touched)" in memory.recall(TASK, TASK.goal, HOME)


@pytest.mark.parametrize("bounds", [{"count": 0}, {"max_tokens": 0}])
def test_bounds_that_leave_nothing_to_show_are_named(bounds):
    with pytest.raises(SetupError, match="expected at least 1 of both"):
        Exemplars([exemplar_of(MUG)], **bounds)
