"""The memory of sites after a run: what is counted, what is compared with what, what is saved."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.webagent.policy.scenes import HOME, TASK, finished, step
from webagent.errors import ModelError
from webagent.models.canned import CannedModel
from webagent.policy.knowledge import learn_entries, read_file
from webagent.policy.knowledge.learning import pair_failures
from webagent.records import Ending, Trajectory


def played(
    name: str,
    *,
    task: str = "shop/buy@1",
    seed: int = 0,
    site: str = "shop.test",
    goal: str = TASK.goal,
) -> Trajectory:
    """A finished episode of this task, seed and site, whose thought names a hint."""
    page = replace(HOME, url=f"https://{site}/")
    made = replace(TASK, id=task, seed=seed, goal=goal)
    return finished(step(page, "click(2)", "as [r1] says"), id=name, task=made)


def test_a_failure_is_compared_with_the_success_most_like_it():
    failed = played("f", seed=3, goal="Who closed the order of Ann?")
    other_site = played("far", seed=3, site="other.test")
    other_task = played("task", task="shop/sell@1", seed=3)
    other_goal = played("goal", task="shop/ask@1", seed=5, goal="Who opened the order of Bea?")
    other_seed = played("seed", seed=4)
    same = played("same", seed=3)

    def chosen(*succeeded: Trajectory) -> list[str]:
        judged = [(failed, False), *((each, True) for each in succeeded)]
        return [good.id for _, good in pair_failures(judged)]

    assert chosen(other_site) == []
    assert chosen(other_site, other_task) == ["task"]
    assert chosen(other_task, other_goal) == chosen(other_goal, other_task) == ["goal"]
    assert chosen(other_task, other_seed) == ["seed"]
    assert chosen(other_task, other_seed, same) == ["same"]


async def test_a_run_leaves_counted_and_new_hints_in_the_folder(tmp_path: Path):
    (tmp_path / "shop.test.md").write_text("- r1: Search first.\nmine\n")
    judged = [(played("bad"), False), (played("good"), True)]

    (induced,) = await learn_entries(CannedModel(["ADD: Offers are stale."]), tmp_path, judged)

    rules = read_file(tmp_path, "shop.test").of_kind("rules")
    counts = [(r.id, r.used, r.helped, r.hurt) for r in rules]
    assert counts == [("r1", 2, 1, 1), ("r2", 0, 0, 0)]
    assert rules[1].sources == ("bad", "good")
    assert "\nmine\n" in (tmp_path / "shop.test.md").read_text()
    assert induced.is_usable


async def test_what_was_learnt_before_a_failure_of_the_model_is_kept(tmp_path: Path):
    judged = [(played("bad"), False), (played("worse", seed=1), False), (played("good"), True)]
    model = CannedModel(["ADD: Search first.", ModelError("gone")])

    with pytest.raises(ModelError, match="gone"):
        await learn_entries(model, tmp_path, judged)

    assert [rule.text for rule in read_file(tmp_path, "shop.test").of_kind("rules")] == [
        "Search first."
    ]


async def test_an_episode_that_failed_with_its_world_teaches_nothing(tmp_path: Path):
    lost = replace(played("lost"), ending=Ending.WORLD_FAILED)

    judged = [(lost, False), (replace(lost, id="won"), True)]
    assert await learn_entries(CannedModel([]), tmp_path, judged) == []
    assert list(tmp_path.iterdir()) == []
