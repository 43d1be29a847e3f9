"""Dreams: from real pages, and marked as dreams."""

import random
from dataclasses import replace

import pytest

from benchmarks.rules import checks_hold
from tasks.task import Probe, TaskCheck
from tests.fakes.lessons import task
from tests.fakes.toy import SUBMIT, ToyWorld, toy_episode
from tests.worldmodel.test_map import HOME
from tests.worldmodel.test_recall import KNOWN, LISTING
from webagent.action.actions import Click, MouseClick
from webagent.errors import WorldError
from webagent.records import Decision, Step
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import NOT_KNOWN, ImaginedWorld, start_at, start_key
from worldmodel.transitions import Situation

REAL, _ = toy_episode(random.Random(4), "real")
STARTS = {start_key(REAL.task): start_at(REAL)}


async def foresee(situation: Situation) -> Prediction:
    """What the learnt world makes of one situation."""
    return ToyWorld().predict([situation])[0]


def dream() -> ImaginedWorld:
    """A dream of the real episode's task."""
    return ImaginedWorld(foresee, STARTS)


@pytest.mark.slow
async def test_it_starts_from_a_page_that_was_really_seen_and_from_nothing_else() -> None:
    world = dream()
    with pytest.raises(WorldError, match="reset"):
        await world.step(Click(1))
    for other in (task("toy", seed=7), task("other")):
        with pytest.raises(WorldError, match="no real page"):
            await world.reset(other)
    with pytest.raises(WorldError, match="no real page"):
        start_at(replace(REAL, steps=()))
    assert await world.reset(REAL.task) is REAL.steps[0].observation


async def test_a_dream_may_begin_in_the_middle_and_ends_where_nothing_is_known() -> None:
    world = RememberedWorld()
    world.learn(KNOWN)

    async def predict(situation: Situation) -> Prediction:
        return world.predict([situation])[0]

    whole = replace(REAL, steps=(Step(HOME, Decision(Click(4))), Step(LISTING, Decision(Click(5)))))
    dream = ImaginedWorld(predict, {start_key(REAL.task): start_at(whole, 1)})
    assert await dream.reset(REAL.task) is LISTING
    page = await dream.step(Click(5))
    assert page.url == KNOWN[1].after.url
    assert not page.over
    lost = await dream.step(MouseClick(1, 1))
    assert (lost.over, lost.outcome) == (True, NOT_KNOWN)
    evidence = await dream.evidence(REAL.task)
    assert evidence["imagined_success"] is None
    assert evidence["confidence"] == 0.0


async def test_what_is_done_in_it_is_remembered() -> None:
    asked: list[Situation] = []

    async def remembering(situation: Situation) -> Prediction:
        asked.append(situation)
        seen = replace(situation.observation, title=f"page {len(asked)}")
        return Prediction(seen, Outcome(0.0, 0.0, 0.5), Effect.STAYS, None, 0.5, Source.MODELLED)

    world = ImaginedWorld(remembering, STARTS)
    await world.reset(REAL.task)
    for mark in (1, 2):
        await world.step(Click(mark))
    assert [len(each.steps) for each in asked] == [0, 1]
    assert asked[1].observation.title == "page 1"
    assert asked[1].steps[0].decision.action == Click(1)
    await world.reset(REAL.task)
    await world.step(Click(3))
    assert asked[2].steps == ()


@pytest.mark.slow
async def test_its_evidence_says_that_it_was_imagined_and_may_be_of_failure() -> None:
    world = dream()
    await world.reset(REAL.task)
    assert (await world.evidence(REAL.task))["imagined_success"] is None
    page = await world.step(Click(SUBMIT))
    evidence = await world.evidence(REAL.task)
    assert page.over and evidence["imagined"] is True
    assert evidence["imagined_success"] is False, "nothing was ticked"
    chance = evidence["success_probability"]
    assert isinstance(chance, float) and 0 <= chance < 0.5
    await world.close()
    await world.close()


@pytest.mark.slow
async def test_checks_of_what_only_pages_could_tell_abstain_on_a_dream() -> None:
    looked = replace(
        REAL.task,
        probes=(Probe("order", url="http://shop.test/orders", script="document.title"),),
        records=("network",),
        checks=(TaskCheck("order", "equals", "Done"), TaskCheck("network", "contains", "POST")),
    )
    world = dream()
    await world.reset(looked)
    evidence = await world.evidence(looked)
    assert not evidence.keys() & {"order", "network", "uncaptured"}
    verdict = await checks_hold()(replace(REAL, task=looked, evidence=evidence))
    assert verdict.value is None
    assert verdict.reason == ("evidence order was not captured; evidence network was not captured")
