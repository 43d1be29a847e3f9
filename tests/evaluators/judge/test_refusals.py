"""Quotes that stand there and show nothing carry no verdict."""

from dataclasses import replace

import pytest

from evaluators.judge import JudgementReport, build_judge, read_report
from tests.evaluators.judge.episodes import ONE_MET, TASK, episode, finding, findings, page
from webagent.action.actions import Answer
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities
from webagent.records import Decision, Ending, Step, Trajectory
from webagent.serialize import dumps, loads, to_json

PLACED = "Order placed: 1 lamp"
BOAST = "Your task is complete."


def shop(*lines: str) -> Trajectory:
    """A click, and then a page of these lines."""
    last = page(lines[0])
    further = tuple(replace(last.nodes[1], name=line) for line in lines[1:])
    return episode(page("Lamps"), replace(last, nodes=(*last.nodes, *further)))


def met(quote: str, where: str = "page 2", verdict: str = "met", point: int = 1) -> str:
    """A reply with that one verdict."""
    return findings(finding(point, verdict, where, quote))


async def examined(
    trajectory: Trajectory, *replies: str, points: tuple[str, ...] = ("one lamp is ordered",)
) -> tuple[JudgementReport, CannedModel]:
    """What a judge with these replies finds, and its model."""
    model = CannedModel(replies)
    asked = build_judge("evidence", model, key_points={TASK.goal: points})
    return await asked.examine(trajectory), model


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (met(BOAST), "says how the task went"),
        (met("complete"), "belongs to a line that says how the task went"),
        (met(f"{PLACED} {BOAST}"), "says how the task went"),
        (met(f"{PLACED} … complete"), "belongs to a line that says how the task went"),
        (met("this visit went just fine"), "names nothing of what the task asks for"),
        (met("lamps", "page 1"), "stood there before anything was done"),
        (met("Order"), "stood there before anything was done"),
        (met('click(1) on button "Order"', "actions"), "is what was tried"),
        (met(BOAST, verdict="not met"), "says how the task went"),
    ],
)
async def test_a_quote_that_shows_nothing_is_refused_then_asked_for_again_then_not_counted(
    reply: str, problem: str
) -> None:
    trajectory = shop(PLACED, BOAST, "this visit went just fine, thank you")
    report, model = await examined(trajectory, reply, reply)

    assert report.value is None
    assert problem in report.reason
    assert problem in model.requests[1].messages[-1].text
    assert report.votes[0].outcome == "cannot tell"
    assert problem in report.votes[0].points[0].refusal
    assert read_report(loads(dumps(to_json(report)))) == report

    mended, _ = await examined(trajectory, reply, met(PLACED))
    assert mended.value == 1.0, mended.reason


async def test_what_is_refused_twice_leaves_the_other_points_as_they_are() -> None:
    reply = findings(finding(1, "met", "page 2", BOAST), finding(2, "not met", "nowhere", ""))
    report, _ = await examined(
        shop(BOAST), reply, reply, points=("one lamp is ordered", "it is red")
    )

    assert report.value == 0.0
    assert [each.verdict for each in report.votes[0].points] == ["cannot tell", "not met"]


async def test_one_quote_that_is_new_lets_others_stand_that_are_not() -> None:
    reply = findings(finding(1, where="page 2", quote=PLACED), finding(2, "met", "page 2", "Shop"))
    points = ("one lamp is ordered", "the shop is open")

    assert (await examined(shop(PLACED), reply, points=points))[0].value == 1.0


async def test_what_an_answer_is_compared_with_may_have_stood_on_the_first_page() -> None:
    answered = Step(page("A lamp: 12 euros"), Decision(Answer("12 euros")))
    trajectory = episode(page("A lamp: 12 euros"), page("A lamp: 12 euros"))
    trajectory = replace(trajectory, steps=(*trajectory.steps, answered), ending=Ending.ANSWERED)
    compared = '{"comparisons": [{"point": 1, "agreement": "agrees", "stated": "12 euros"}]}'

    report, _ = await examined(
        trajectory, met("12 euros"), compared, points=("[answer] what a lamp costs",)
    )

    assert report.value == 1.0, report.reason


async def test_without_an_action_nothing_has_to_be_new() -> None:
    seen = page(PLACED)
    said = (Step(seen, Decision(Answer("It is ordered already"))),)
    trajectory = replace(episode(seen, seen), steps=said, ending=Ending.ANSWERED)
    agrees = '{"comparisons": [{"point": 1, "agreement": "agrees", "stated": "ordered"}]}'

    report, _ = await examined(trajectory, met(PLACED, "page 1"), agrees)

    assert report.value == 1.0, report.reason


async def test_what_a_long_first_page_has_beyond_what_is_shown_is_not_new() -> None:
    first = page("Lamps")
    rows = tuple(replace(first.nodes[1], name=f"Lamp {n} of this shop") for n in range(2000))
    old = replace(first.nodes[1], name=PLACED)
    trajectory = episode(replace(first, nodes=(*rows, old)), page(PLACED))

    report, _ = await examined(trajectory, met(PLACED), met(PLACED))

    assert report.value is None
    assert "stood there before" in report.reason


@pytest.mark.parametrize(
    ("where", "quote", "value"),
    [
        ("screenshot 2", "", 1.0),
        ("screenshot 2", PLACED, 1.0),
        ("screenshot 2", BOAST, None),
        ("screenshot 1", "", None),
    ],
)
async def test_words_on_screenshots_are_held_to_the_same(
    where: str, quote: str, value: float | None
) -> None:
    pages = [replace(page("x", screenshot=name), nodes=()) for name in ("first", "last")]
    model = CannedModel([met(quote, where)] * 2, capabilities=Capabilities(images=True))
    points = {TASK.goal: ["one lamp is ordered"]}
    asked = build_judge("evidence", model, lambda ref: f"png:{ref}".encode(), key_points=points)

    assert (await asked.examine(episode(*pages))).value == value


async def test_an_honest_quote_costs_no_further_question() -> None:
    report, model = await examined(shop(PLACED, BOAST), ONE_MET.replace("page 3", "page 2"))

    assert report.value == 1.0
    assert len(model.requests) == 1
