"""What is shown of the memory of sites: which entries are found, which never, how much room."""

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
from webagent.policy.knowledge import SiteEntry, SiteMemory, add_example, compare_by_words, new_file
from webagent.records import Ending, Observation, Provenance, Trajectory


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


def memory_of(*episodes: Trajectory, site: str = "shop.test"):
    """A memory with these episodes as examples."""
    file = new_file(site)
    for episode in episodes:
        file = add_example(file, episode)
    return SiteMemory({site: file})


def examples(memory, goal, page=HOME, task=TASK):
    """The goals of the examples that are shown."""
    return [each.text for each in memory.find_examples(task, goal, page)]


def test_the_most_similar_tasks_come_first():
    memory = memory_of(WEATHER, INVOICE, MUG)

    assert examples(memory, TASK.goal)[0] == MUG.goal
    assert examples(memory, "Get my invoice, the last one")[0] == INVOICE.goal


def test_pages_count_beside_tasks():
    on_results = replace(INVOICE, steps=(step(RESULTS, "click(4)"),), task=replace(TASK, seed=9))
    memory = memory_of(INVOICE, on_results)

    def first(page: Observation) -> int:
        return memory.find_examples(TASK, INVOICE.goal, page)[0].seed

    assert (first(RESULTS), first(HOME)) == (9, 2)


def test_the_same_actions_for_the_same_goal_are_kept_once() -> None:
    again = done("Buy the blue mug.", seed=8)
    other = done("Buy the blue mug.", seed=9, turns=3)
    kept = memory_of(MUG, again, other).files["shop.test"].entries
    assert [entry.seed for entry in kept] == [MUG.task.seed, 9]


@pytest.mark.parametrize("task", ["shop/buy@1", "shop/buy@2"])
def test_an_episode_of_the_very_task_and_seed_is_never_shown(task):
    memory = memory_of(done(TASK.goal, seed=TASK.seed, task=task), MUG)

    assert examples(memory, TASK.goal) == [MUG.goal]
    assert examples(memory, TASK.goal, task=replace(TASK, seed=8))[0] == TASK.goal


async def test_examples_stand_in_the_prompt_fenced_and_with_their_turns():
    told = await prompt(START, HOME, knowledge=(memory_of(MUG),))

    shown = fenced("episode", told)
    assert "Task: Buy the blue mug." in shown
    assert "Thought: thought 0 of it\n   Action: click(2)" in shown
    assert '[2] button "Find"' in shown
    assert "It ended: answered." in shown
    assert told.index("Tasks like yours") < told.index("What you have done so far")


async def test_an_empty_memory_changes_nothing():
    empty = SiteMemory({"shop.test": new_file("shop.test")})
    assert await prompt(START, HOME, knowledge=(empty,)) == await prompt(START, HOME)


async def test_examples_stay_the_same_through_an_episode():
    memory = memory_of(WEATHER, INVOICE, MUG)
    later = under_way(step(HOME, "click(2)"))

    first = fenced("episode", await prompt(START, HOME, knowledge=(memory,)))
    second = fenced("episode", await prompt(later, RESULTS, knowledge=(memory,)))

    assert first == second != ""


@pytest.mark.parametrize("turns", [30, 300])
def test_examples_keep_to_their_bound_and_say_what_is_left_out(turns):
    lines = tuple(f"{turn}. Action: click({turn})" for turn in range(turns))
    written = new_file("shop.test").added(SiteEntry("x", "Buy mugs.", lines=lines))

    told = SiteMemory({"shop.test": written}).recall(TASK, TASK.goal, HOME)

    assert estimate_tokens(told) <= 1500 + 130
    assert ("left out)" in told) is (turns == 300)
    assert "Task: Buy mugs." in told


def test_examples_of_another_site_are_shown_its_rules_are_not():
    elsewhere = memory_of(MUG, site="other.test").files["other.test"]
    rule = SiteEntry("r", "Search first.")
    memory = SiteMemory({"other.test": elsewhere.added(rule)})

    told = memory.recall(TASK, TASK.goal, HOME)

    assert "Buy the blue mug." in told and "Search first." not in told
    memory.check_sites([TASK.start_url])
    rules_only = SiteMemory({"other.test": new_file("other.test").added(rule)})
    with pytest.raises(SetupError, match=r"knows other\.test, and the tasks are on shop\.test;"):
        rules_only.check_sites([TASK.start_url])


def test_what_is_retired_is_kept_and_not_shown():
    file = memory_of(MUG).files["shop.test"]
    file = file.added(SiteEntry("r", "Search first."))
    for entry in file.entries:
        file = file.changed(entry.changed(is_retired=True))

    assert SiteMemory({"shop.test": file}).recall(TASK, TASK.goal, HOME) == ""
    assert len(file.entries) == 2


def test_the_same_memory_in_another_order_finds_the_same():
    episodes = [done(f"Buy mug number {n}.", seed=n + 10) for n in range(5)]
    forward, backward = memory_of(*episodes), memory_of(*episodes[::-1])

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
    ],
)
def test_an_episode_that_shows_nothing_is_refused(episode, found):
    with pytest.raises(SetupError, match=found):
        memory_of(episode)


def test_where_an_example_comes_from_is_kept_and_imagined_ones_say_so():
    memory = memory_of(replace(MUG, provenance=Provenance(world="imagined", run="r1")))

    [entry] = memory.files["shop.test"].entries
    assert entry.sources == (MUG.id,) and (entry.task, entry.seed) == ("shop/buy@1", 1)
    assert "(imagined: no real page was touched)" in memory.recall(TASK, TASK.goal, HOME)


def test_examples_of_one_task_do_not_displace_those_of_others():
    many = [done(f"Buy mug number {n}.", seed=n + 10) for n in range(20)]
    other = done("Download the last invoice.", task="shop/invoice@1")

    entries = memory_of(*many, many[0], other).files["shop.test"].entries

    assert [entry.task for entry in entries] == ["shop/buy@1"] * 5 + ["shop/invoice@1"]


def test_of_too_many_examples_those_of_the_task_with_most_go_first():
    tasks = ["shop/buy@1"] * 4 + ["shop/invoice@1", "shop/return@1"]
    file = new_file("shop.test")
    for number, task in enumerate(tasks):
        file = file.added(SiteEntry("x", f"Goal {number}.", task=task).learnt_from("e"))

    kept = file.pruned("examples", 3).of_kind("examples")

    assert [entry.task for entry in kept] == ["shop/buy@1", "shop/invoice@1", "shop/return@1"]
