"""The world model learns a small world from what happened in it, failures included."""

import random
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.toy import (
    BOXES,
    FIELD,
    SUBMIT,
    TITLE,
    blank_world,
    toy_episodes,
    toy_page,
    toy_step,
    toy_world,
)
from webagent.action import Action, format_action
from webagent.action.actions import Click, Fill
from webagent.records import Observation
from worldmodel.network import NetworkWorld
from worldmodel.transitions import Situation, transitions

SEEN = toy_page(random.Random("new"))
WORD = SEEN.goal.split('"')[1]
RIGHT = next(n.mark for n in SEEN.nodes if n.name == WORD)
WRONG = next(mark for mark in BOXES if mark != RIGHT)


def situation(action: Action, seen: Observation = SEEN) -> Situation:
    """The action at the start of an episode."""
    return Situation(seen, (), action)


@pytest.mark.slow
@pytest.mark.parametrize(
    "action",
    [Click(RIGHT), Click(WRONG), Click(TITLE), Fill(FIELD, WORD), Click(SUBMIT)],
    ids=format_action,
)
def test_the_next_page_is_foreseen(action: Action) -> None:
    [page] = toy_world().imagine([situation(action)])
    expected = toy_step(SEEN, action)
    assert (page.nodes, page.over, page.outcome) == (
        *(expected.nodes, expected.over, expected.outcome),
    )


@pytest.mark.slow
def test_ends_and_idle_clicks_are_told_from_the_rest() -> None:
    ends, idle, ticks = toy_world().outcomes([situation(Click(m)) for m in (SUBMIT, TITLE, RIGHT)])
    assert ends.ends > 0.9 > 0.1 > max(idle.ends, ticks.ends)
    assert idle.nothing > 0.9 > 0.1 > ticks.nothing


@pytest.mark.slow
def test_the_right_box_promises_success_and_a_wrong_one_failure() -> None:
    good, bad = toy_world().outcomes([situation(Click(m)) for m in (RIGHT, WRONG)])
    assert good.succeeds > 0.7 > 0.3 > bad.succeeds


@pytest.mark.slow
def test_outcomes_do_not_depend_on_what_else_is_asked() -> None:
    many = toy_world().outcomes([situation(Click(m)) for m in (RIGHT, SUBMIT, TITLE)])
    [alone] = toy_world().outcomes([situation(Click(SUBMIT))])
    assert (many[1].ends, many[1].succeeds) == pytest.approx((alone.ends, alone.succeeds), abs=1e-4)


@pytest.mark.slow
def test_nothing_asked_is_nothing_answered() -> None:
    assert toy_world().outcomes([]) == [] == toy_world().predict([])


@pytest.mark.slow
def test_an_imagined_page_has_no_screenshot() -> None:
    shown = replace(SEEN, screenshot="sha256:real")
    [page] = toy_world().imagine([situation(Click(RIGHT), shown)])
    assert page.screenshot == ""


def test_sampled_dreams_follow_their_generator() -> None:
    unsure = blank_world(toy_episodes(20, seed=1)[0])

    def dream(seed: int) -> Observation:
        return unsure.imagine([situation(Click(RIGHT))], [np.random.default_rng(seed)])[0]

    assert dream(1) == dream(1)
    assert len({dream(seed).nodes for seed in range(8)} | {SEEN.nodes}) > 1


@pytest.mark.slow
def test_the_network_is_as_sure_as_all_that_it_wrote_is_likely() -> None:
    ticks, idle = toy_world().predict([situation(Click(RIGHT)), situation(Click(TITLE))])
    goes_on = 1 - ticks.outcome.ends - ticks.outcome.nothing
    assert 0.8 < ticks.confidence < goes_on, "the lines that change have to be right, too"
    assert idle.confidence == pytest.approx(idle.outcome.nothing, abs=1e-3)


@pytest.mark.slow
def test_failures_can_weigh_more_and_tasks_are_the_groups() -> None:
    episodes, scores = toy_episodes(12, seed=3)
    rows = toy_world().rows(transitions(episodes, dict(scores)), failure_weight=3.0)
    failed = sum(len(t.steps) for t in episodes if not scores[t.id])
    assert sum(row.weight == 3.0 for row in rows) == failed > 0
    assert {row.group for row in rows} == {"toy"}


def test_unjudged_and_imagined_episodes_teach_the_world_nothing() -> None:
    episodes, scores = toy_episodes(3, seed=3)
    dreamt = replace(episodes[0], provenance=replace(episodes[0].provenance, world="imagined"))
    judged = {**scores, episodes[1].id: None}
    found = list(transitions([dreamt, *episodes[1:]], judged))
    assert {t.episode for t in found} == {episodes[2].id}
    assert len(found) == len(episodes[2].steps)


@pytest.mark.slow
def test_a_saved_world_model_foresees_the_same(tmp_path: Path) -> None:
    toy_world().model.save(tmp_path)
    asked = [situation(Click(RIGHT))]
    [loaded], [saved] = NetworkWorld.load(tmp_path).outcomes(asked), toy_world().outcomes(asked)
    assert asdict(loaded) == pytest.approx(asdict(saved), abs=1e-5)
