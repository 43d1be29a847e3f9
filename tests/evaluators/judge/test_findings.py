"""Findings are read strictly, and quotes are found as people would find them, or refused."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.judge import JudgementReport, build_judge
from evaluators.judge.evidence import Evidence, appears_in, read_comparisons, read_findings
from evaluators.judge.keypoints import read_points
from evaluators.judge.published import read_questions, read_status, read_verdict
from evaluators.judge.report import KeyPoint, PointFinding, PointVerdict, decide_outcome
from tests.evaluators.judge.episodes import TASK, comparison, episode, finding, findings, page
from webagent.action.actions import Answer
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities
from webagent.models.replies import UnusableError
from webagent.records import Decision, Ending, Step, Trajectory

POINTS = (KeyPoint("a lamp"), KeyPoint("its price", "answer"))
EVIDENCE = Evidence({2: 'button "Red lamp"\n12 euros'}, frozenset((2, 3)), "1. click(3)")
VERDICTS = st.sampled_from(["met", "not met", "cannot tell"])
WORDS = st.lists(st.text(st.characters(codec="ascii", exclude_characters="\"'`\\."), min_size=1))


@settings(deadline=None)
@given(st.text())
def test_no_text_makes_a_reader_fail_otherwise_than_by_saying_what_is_wrong(text: str) -> None:
    for read in (
        lambda: read_findings(text, POINTS, EVIDENCE),
        lambda: read_comparisons(text, (), (), ""),
        lambda: read_points(text),
        lambda: read_verdict(text),
        lambda: read_status(text),
        lambda: read_questions(text),
    ):
        try:
            read()
        except UnusableError as error:
            assert str(error)


@settings(deadline=None)
@given(WORDS, st.data())
def test_words_cut_from_a_page_are_found_on_it(words: list[str], data: st.DataObject) -> None:
    page = " ".join(words)
    start = data.draw(st.integers(0, len(page)))
    quote = page[start : data.draw(st.integers(start, len(page)))]

    assert appears_in(quote, page) == bool(quote.split())


@pytest.mark.parametrize(
    ("quote", "page", "is_found"),
    [
        ("Contact arXiv administrators", 'link "Contact arXiv\\nadministrators"', True),
        ("“RED”  lamp", 'button "Red lamp"', True),
        ("Jupyter Notebook", "element \u200eJupyter\u200e Notebook", True),
        ("12\u00a0euros", "only 12 euros", True),
        ("red … euros", "a red lamp for 12 euros", True),
        ("ﬁne lamp", "a fine lamp", True),
        ("", "a", False),
        ("…", "a", False),
        ("'\"", "a", False),
        ("euros … red", "red lamp for 12 euros", False),
        ("2 eu", "1 eu", False),
    ],
)
def test_a_quote_is_found_whatever_its_spacing_and_marks_and_nothing_else_is(quote, page, is_found):
    assert appears_in(quote, page) is is_found


@settings(deadline=None)
@given(st.lists(VERDICTS, min_size=1))
def test_the_outcome_is_success_only_when_every_point_is_met(verdicts: list[PointVerdict]) -> None:
    points = [PointFinding(KeyPoint("x"), verdict) for verdict in verdicts]

    assert (decide_outcome(points) == "success") == (set(verdicts) == {"met"})
    assert (decide_outcome(points) == "failure") == ("not met" in verdicts)


@pytest.mark.parametrize("agreement", ["contradicts", "missing", "cannot tell", ""])
def test_an_answer_point_is_met_only_by_an_answer_that_agrees(agreement: str) -> None:
    shown = PointFinding(POINTS[1], "met", agreement=agreement)  # type: ignore[arg-type]

    assert shown.settled != "met"
    assert PointFinding(POINTS[1], "met", agreement="agrees").settled == "met"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (comparison(2, "agrees", "13 euros"), "was not found in the answer"),
        (comparison(1, "agrees", "12 euros"), r"the points compared are \[1\]; expected \[2\]"),
        (comparison(2, "fits", "12 euros"), "comparisons.0.agreement"),
    ],
)
def test_an_agreement_needs_words_of_the_answer(reply: str, problem: str) -> None:
    found = tuple(PointFinding(point, "met") for point in POINTS)

    with pytest.raises(UnusableError, match=problem):
        read_comparisons(reply, found, [2], "It is 12 euros.")
    compared = read_comparisons(comparison(2, "agrees", "12 euros"), found, [2], "It is 12 euros.")
    assert [each.agreement for each in compared] == ["", "agrees"]


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
    reply, problem
):
    trajectory = shop(PLACED, BOAST, "this visit went just fine, thank you")
    report, model = await examined(trajectory, reply, reply)

    assert report.value is None
    assert problem in report.reason
    assert problem in model.requests[1].messages[-1].text
    assert report.votes[0].outcome == "cannot tell"
    assert problem in report.votes[0].points[0].refusal

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
    replies = (met("12 euros"), comparison(1, "agrees", "12 euros"))

    report, _ = await examined(trajectory, *replies, points=("[answer] what a lamp costs",))

    assert report.value == 1.0, report.reason


async def test_without_an_action_nothing_has_to_be_new() -> None:
    seen = page(PLACED)
    said = (Step(seen, Decision(Answer("It is ordered already"))),)
    trajectory = replace(episode(seen, seen), steps=said, ending=Ending.ANSWERED)
    replies = (met(PLACED, "page 1"), comparison(1, "agrees", "ordered"))

    report, _ = await examined(trajectory, *replies)

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
async def test_words_on_screenshots_are_held_to_the_same(where, quote, value):
    pages = [replace(page("x", screenshot=name), nodes=()) for name in ("first", "last")]
    model = CannedModel([met(quote, where)] * 2, capabilities=Capabilities(images=True))
    points = {TASK.goal: ["one lamp is ordered"]}
    asked = build_judge("evidence", model, lambda ref: f"png:{ref}".encode(), key_points=points)

    assert (await asked.examine(episode(*pages))).value == value
