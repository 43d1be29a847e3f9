"""An agent's response: type of task, status, data; and published mistakes."""

import json

import pytest

from benchmarks.rules import RULES, checks_hold
from tasks.task import Task, TaskCheck
from webagent.action.actions import Answer
from webagent.records import Decision, Ending, Observation, Step, Trajectory

pytestmark = [pytest.mark.very_slow, pytest.mark.usefixtures("scorer")]

ITEMS = {"type": "array", "items": {"type": "string"}}
BASE = {
    "task_type": "retrieve",
    "status": "SUCCESS",
    "retrieved_data": ["Sprite", "Mug"],
    "results_schema": ITEMS,
    "sites": {"shopping": ["http://shop.test"]},
}


def score(answer, **expected):
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return RULES["agent_response"](text, {**BASE, **expected}).value


def said(**fields):
    """A right answer but for these fields; those that are `...` are left out."""
    whole = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": ["Mug", "Sprite"]}
    return {name: value for name, value in {**whole, **fields}.items() if value is not ...}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        (said(), 1.0),
        ("```json\n" + json.dumps(said()) + "\n```", 1.0),
        (said(retrieved_data=["Mug"]), 0.0),
        (said(status="NOT_FOUND_ERROR"), 0.0),
        (said(task_type="navigate"), 0.0),
        ("Mug and Sprite", 0.0),
        ("[" * 100_000, 0.0),
        ("", 0.0),
    ],
)
def test_a_response_is_right_only_in_every_part(answer, value):
    assert score(answer) == value


def test_order_counts_only_where_it_is_asked_for():
    assert score(said(), ordered=True) == 0.0
    assert score(said(retrieved_data=["Sprite", "Mug"]), ordered=True) == 1.0


HEDGED = [
    said(retrieved_data=["^.*$", "^.*$"]),
    said(retrieved_data=[["Sprite", "Mug", "Cup"], ["Sprite", "Mug", "Cup"]]),
    said(status="^.*$"),
]


def test_an_endless_distance_passes_as_published():
    kind = {"type": "array", "items": {"type": "string", "format": "distance"}}
    wanted = {"retrieved_data": ["2km"], "results_schema": kind}

    assert score(said(retrieved_data=["1e99999999999999999999 km"]), **wanted) == 1.0


@pytest.mark.parametrize("answer", HEDGED)
def test_an_answer_that_fits_everything_passes_as_published(answer):
    assert score(answer) == 1.0


def test_one_of_several_right_answers_passes():
    alternatives = {"retrieved_data": [["Sprite", "Sprite Ball"], "^M.g$"]}
    assert score(said(retrieved_data=["sprite ball", "Mug"]), **alternatives) == 1.0


def test_without_published_data_nothing_passes():
    expected = {name: value for name, value in BASE.items() if name != "retrieved_data"}
    answer = json.dumps(said(retrieved_data=None))

    assert RULES["agent_response"](answer, expected).value == 0.0


def test_the_reason_says_where_it_differs():
    verdict = RULES["agent_response"](json.dumps(said(retrieved_data=["Mug", "Cup"])), BASE)

    assert "Expected: [sprite, mug], Got: [mug, cup]" in verdict.reason


@pytest.mark.parametrize(
    "expected",
    [
        None,
        {**BASE, "sites": None},
        {**BASE, "sites": {"shopping": []}},
        {**BASE, "results_schema": {"type": "array", "items": {"type": "money"}}},
        {**BASE, "results_schema": {"type": "string"}},
        {name: value for name, value in BASE.items() if name != "status"},
    ],
)
def test_a_check_that_is_not_as_published_cannot_be_compared(expected):
    with pytest.raises(TypeError):
        RULES["agent_response"](json.dumps(said()), expected)


async def test_the_checks_of_a_task_read_the_answer_of_the_episode():
    task = Task(
        "w/1@1", "http://shop.test", checks=(TaskCheck("episode.answer", "agent_response", BASE),)
    )
    page = Observation("", "http://shop.test", "Shop", ())
    step = Step(page, Decision(Answer(json.dumps(said()))))
    finished = Trajectory("e", task, steps=(step,), ending=Ending.ANSWERED, last=page)

    assert (await checks_hold()(finished)).value == 1.0
