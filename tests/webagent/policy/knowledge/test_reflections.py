"""Why an attempt failed: written after it, shown to the next attempt at the same task only."""

from dataclasses import replace

import pytest

from tests.webagent.policy.scenes import HOME, START, TASK, finished, prompt, step, under_way
from webagent.errors import ModelError, SetupError
from webagent.models.canned import CannedModel
from webagent.policy.knowledge import Reflection, Reflections, reflect
from webagent.records import Ending

FAILED = finished(step(HOME, "click(3)", "offers are cheap"), id="first")


async def test_a_reflection_is_written_from_the_episode_alone():
    model = CannedModel(["<think>hm</think>It went to offers.\nSearch instead."])

    reflection = await reflect(model, FAILED)

    system, user = (message.text for message in model.requests[0].messages)
    assert "was not carried out" in system
    assert "Thought: offers are cheap\n   Action: click(3)" in user
    assert "[4] link" in user and "It ended: answered." in user
    assert "score" not in system + user and "reward" not in system + user
    assert reflection.text == "It went to offers. Search instead."
    assert (reflection.task, reflection.seed, reflection.episode) == (TASK.id, TASK.seed, "first")
    assert reflection.weights == "canned" and reflection.usage["requests"] == 1
    assert len(reflection.prompt_hash) == 16


async def test_the_next_attempt_is_told_and_no_other_episode():
    known = Reflections([Reflection(TASK.id, TASK.seed, "first", "Search instead.")])

    told = await prompt(START, HOME, knowledge=(known,))
    other = replace(START, task=replace(TASK, seed=8))

    assert "You have tried this task before" in told
    assert "- Search instead.\nreflections " in told
    assert await prompt(other, HOME, knowledge=(known,)) == await prompt(other, HOME)


def test_the_last_of_many_are_shown():
    many = Reflections(Reflection(TASK.id, TASK.seed, str(n), f"lesson {n}") for n in range(5))

    told = many.recall(TASK, TASK.goal, HOME)

    assert "the last 3 attempts" in told
    assert [f"lesson {n}" in told for n in range(5)] == [False, False, True, True, True]


async def test_an_attempt_that_is_not_over_is_never_looked_back_at():
    for episode in (under_way(step(HOME, "click(2)")), replace(FAILED, ending=Ending.CAPTCHA)):
        model = CannedModel(["x"])
        with pytest.raises(SetupError, match="expected one that the agent finished"):
            await reflect(model, episode)
        assert model.requests == []


async def test_an_empty_reflection_is_the_models_failure():
    with pytest.raises(ModelError, match="empty reflection on first"):
        await reflect(CannedModel(["<think>only this</think>"]), FAILED)
