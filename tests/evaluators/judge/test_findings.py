"""Findings are read strictly from any text, and quotes are found as people would find them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.judge.evidence import Evidence, appears_in, read_comparisons, read_findings
from evaluators.judge.keypoints import read_points
from evaluators.judge.published import read_questions, read_status, read_verdict
from evaluators.judge.report import KeyPoint, PointFinding, PointVerdict, decide_outcome
from webagent.models.replies import UnusableError

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
@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_no_object_of_another_form_becomes_findings(value: dict[str, object]) -> None:
    with pytest.raises(UnusableError):
        read_findings(json.dumps(value), POINTS, EVIDENCE)


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
def test_a_quote_is_found_whatever_its_spacing_and_marks_and_nothing_else_is(
    quote: str, page: str, is_found: bool
) -> None:
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


def said(number: int, agreement: str, stated: str) -> str:
    """A reply with one comparison."""
    each = {"point": number, "agreement": agreement, "stated": stated}
    return json.dumps({"comparisons": [each]})


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (said(2, "agrees", "13 euros"), "does not stand in the answer"),
        (said(1, "agrees", "12 euros"), r"the points compared are \[1\]; expected \[2\]"),
        (said(2, "fits", "12 euros"), "comparisons.0.agreement"),
    ],
)
def test_an_agreement_needs_words_of_the_answer(reply: str, problem: str) -> None:
    found = tuple(PointFinding(point, "met") for point in POINTS)

    with pytest.raises(UnusableError, match=problem):
        read_comparisons(reply, found, [2], "It is 12 euros.")
    compared = read_comparisons(said(2, "agrees", "12 euros"), found, [2], "It is 12 euros.")
    assert [each.agreement for each in compared] == ["", "agrees"]
