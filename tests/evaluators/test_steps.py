"""Steps judged by rules: what led nowhere, could not be done or ended it, and nothing more."""

from dataclasses import replace

import pytest

from evaluators.steps import JudgedStep, judge_by_rules
from tests.evaluators.attribution.cases import FORM, HOME, LAMPS, SITE, entered, page, played, said
from webagent.action import Action
from webagent.action.actions import Answer, Click, Fill, GoBack, Goto, Press
from webagent.records import Ending, Observation, Trajectory

RED = page("/lamps/red", "5 button Buy")
CHAIRS = page("/chairs", "6 link Stool")
WAY = ((HOME, Click(1)), (LAMPS, Click(3)), (RED, Answer("41 EUR")))


def judged(
    *turns: tuple[Observation, Action],
    last: Observation | None = None,
    ending: Ending = Ending.ANSWERED,
    succeeded: bool | None = None,
) -> tuple[JudgedStep, ...]:
    episode = played("e", "Find it.", *turns, last=last, ending=ending)
    return judge_by_rules(episode, succeeded=succeeded)


def labels(steps: tuple[JudgedStep, ...]) -> list[str | None]:
    return [step.label for step in steps]


def errors(steps: tuple[JudgedStep, ...]) -> list[int]:
    return [index for index, step in enumerate(steps) if step.is_error]


def redundant(steps: tuple[JudgedStep, ...]) -> list[int]:
    return [index for index, step in enumerate(steps) if step.is_redundant]


def test_a_straight_way_to_a_success_is_correct() -> None:
    found = judged(*WAY, succeeded=True)
    assert labels(found) == ["correct"] * 3
    assert errors(found) == redundant(found) == []


def test_where_the_outcome_is_not_known_or_bad_what_changed_the_page_is_left_open() -> None:
    assert labels(judged(*WAY)) == [None] * 3
    found = judged(*WAY, succeeded=False)
    assert labels(found) == [None, None, "incorrect"]
    assert errors(found) == [2]


def test_no_effect_is_neutral_once_and_incorrect_when_done_again() -> None:
    idle = said(LAMPS, "no effect")
    found = judged(
        (LAMPS, Click(3)), (idle, Click(3)), (idle, Click(4)), last=idle, ending=Ending.STEP_LIMIT
    )
    assert labels(found) == ["neutral", "incorrect", "neutral"]
    assert redundant(found) == [0, 1, 2] and errors(found) == []
    assert "done 2 times" in found[1].reason


def test_what_an_element_does_not_take_is_an_error() -> None:
    bad = said(FORM, "element 2 is not a text field")
    found = judged((FORM, Fill(2, "x")), (bad, Fill(1, "x")), (RED, Answer("")), succeeded=True)
    assert labels(found) == ["incorrect", "correct", "correct"]
    assert errors(found) == [0] and "not a text field" in found[0].reason


def test_an_element_that_cannot_be_reached_is_excused_once() -> None:
    covered = said(LAMPS, "element 3 is covered by a banner")
    found = judged((LAMPS, Click(3)), (covered, Click(3)), last=covered, ending=Ending.STEP_LIMIT)
    assert labels(found) == ["neutral", "incorrect"] and errors(found) == [1]


def test_a_refusal_of_the_guard_is_an_error() -> None:
    refused = said(HOME, "refused: other.test is not among the sites")
    found = judged((HOME, Goto("http://other.test/")), (refused, Click(1)), (LAMPS, Answer("")))
    assert errors(found)[0] == 0


def test_a_note_beside_a_page_that_changed_is_no_failure() -> None:
    noted = said(LAMPS, "a file was downloaded: list.pdf")
    found = judged((HOME, Click(1)), (noted, Answer("done")), succeeded=True)
    assert labels(found) == ["correct", "correct"]


def test_a_way_there_and_back_is_redundant_and_incorrect_the_second_time() -> None:
    circle = ((HOME, Click(2)), (CHAIRS, GoBack()))
    found = judged(*circle, *WAY, succeeded=True)
    assert labels(found) == ["neutral", "neutral", "correct", "correct", "correct"]
    assert redundant(found) == [0, 1]
    assert "the same again before step 3" in found[0].reason
    again = judged(*circle, *circle, *WAY, succeeded=True)
    assert labels(again)[:4] == ["neutral", "neutral", "incorrect", "incorrect"]


def test_a_field_filled_anew_was_filled_for_nothing() -> None:
    first = entered(FORM, 1, "a")
    second = entered(FORM, 1, "b")
    found = judged(
        (FORM, Fill(1, "a")), (first, Fill(1, "b")), (second, Click(2)), last=RED, succeeded=True
    )
    assert redundant(found) == [0] and "anew in step 2" in found[0].reason


def test_moving_the_focus_or_scrolling_leads_somewhere() -> None:
    focused, scrolled = replace(FORM, focus=1), replace(FORM, focus=1, scroll=(100, 0))
    found = judged(
        (FORM, Click(1)),
        (focused, Press(0, "PageDown")),
        (scrolled, Click(2)),
        last=RED,
        succeeded=True,
    )
    assert redundant(found) == []


def test_demonstrated_steps_are_not_called_redundant() -> None:
    episode = played("e", "Find it.", (HOME, Click(2)), (CHAIRS, GoBack()), *WAY)
    steps = tuple(
        replace(step, decision=replace(step.decision, source="demonstration"))
        for step in episode.steps
    )
    assert redundant(judge_by_rules(replace(episode, steps=steps), succeeded=True)) == []


@pytest.mark.parametrize("ending", [Ending.WORLD_FAILED, Ending.MODEL_FAILED, Ending.CAPTCHA])
def test_where_infrastructure_ended_it_nothing_is_said(ending: Ending) -> None:
    assert labels(judged(*WAY, ending=ending)) == [None] * 3


def test_an_episode_without_steps_has_none_to_judge() -> None:
    empty = Trajectory("e", played("e", "x", (HOME, Click(1))).task, ending=Ending.STEP_LIMIT)
    assert judge_by_rules(empty) == ()


def test_a_page_that_ended_the_episode_is_judged_by_how_it_ended() -> None:
    over = replace(page(SITE), over=True, outcome="no effect")
    won = judged((LAMPS, Click(3)), last=over, ending=Ending.TASK_OVER, succeeded=True)
    lost = judged((LAMPS, Click(3)), last=over, ending=Ending.TASK_OVER, succeeded=False)
    assert (labels(won), labels(lost)) == (["correct"], ["incorrect"])
