"""Which pages of an episode a judge is shown: repeats dropped, the relevant ones kept."""

from dataclasses import replace

import pytest

from evaluators.judge import build_judge
from evaluators.judge.keypoints import rank_by_words
from evaluators.judge.pages import (
    EvidencePage,
    drop_repeats,
    limit_images,
    select_relevant,
    view_pages,
)
from evaluators.judge.report import KeyPoint
from tests.evaluators.judge.episodes import ONE_MET, TASK, answered, episode, page
from tests.fakes.pictures import picture
from webagent.models.canned import CannedModel
from webagent.records import Node, Observation

SCREEN = (1280, 720)


def laid_out(*pages: Observation, images: dict[str, bytes] | None = None) -> list[int]:
    """Numbers of the pages that are left once repeats are dropped."""
    held = images or {}
    views = view_pages(
        episode(*pages),
        lambda each: "\n".join(node.name for node in each.nodes),
        lambda each: held.get(each.screenshot),
    )
    return [view.number for view in drop_repeats(views)]


def test_of_consecutive_equal_pages_the_last_is_shown() -> None:
    assert laid_out(page("a"), page("a"), page("b"), page("b"), page("a")) == [2, 4, 5]


def test_pages_that_differ_by_focus_marks_or_spacing_are_equal() -> None:
    first = page("a  lamp", focus=1)
    second = replace(
        first,
        focus=0,
        nodes=(Node(9, "button", "Order", states=("focused",)), Node(0, "text", "a lamp")),
    )
    assert laid_out(first, second) == [2]


@pytest.mark.parametrize(
    "other",
    [
        page("1 lamps"),
        replace(page("0 lamps"), url="http://shop.test/2"),
        replace(page("0 lamps"), nodes=(Node(1, "button", "Order", states=("disabled",)),)),
        replace(page("0 lamps"), nodes=(Node(1, "button", "Order", value="x"),)),
    ],
)
def test_pages_that_differ_by_a_word_a_state_or_an_address_are_both_shown(other):
    assert laid_out(page("0 lamps"), other) == [1, 2]


def test_screenshots_that_differ_by_a_caret_are_equal_and_by_a_tick_are_not() -> None:
    images = {
        "plain": picture(size=SCREEN),
        "caret": picture((300, 200, 300, 215), size=SCREEN),
        "tick": picture((300, 200, 312, 212), size=SCREEN),
        "broken": b"no picture",
    }
    for other, kept in (("caret", [2]), ("tick", [1, 2]), ("broken", [1, 2]), ("", [1, 2])):
        pages = [page("a", screenshot=name) for name in ("plain", other)]
        assert laid_out(*pages, images=images) == kept, other


def test_pages_with_nothing_to_see_are_left_out() -> None:
    assert laid_out(replace(page("a"), nodes=()), page("b")) == [2]


def test_the_page_after_an_answer_is_shown_once_unless_it_changed() -> None:
    same = answered()
    changed = replace(same, last=page("Sorry, the order was cancelled"))

    counts = [
        len(view_pages(each, lambda view: "text", lambda view: None)) for each in (same, changed)
    ]

    assert counts == [3, 4]


def views(*texts: str) -> list[EvidencePage]:
    """Pages with these texts."""
    return [EvidencePage(number, page(text), text) for number, text in enumerate(texts, start=1)]


def test_pages_are_chosen_by_the_rare_words_they_share_with_a_point() -> None:
    pages = views(
        "shop lamps on sale", "shop receipt order 17 confirmed", "shop help", "shop imprint"
    )

    weighed = rank_by_words(pages, [KeyPoint("the order is confirmed in the shop")], "Order")

    assert max(weighed, key=lambda each: each.relevance).number == 2
    assert [each.number for each in select_relevant(weighed, 2)] == [2, 4]


def test_each_point_has_its_page_and_the_last_one_is_always_shown() -> None:
    pages = views("red lamp red lamp", "blue chair", "red lamp in blue", "about us")
    points = [KeyPoint("a red lamp"), KeyPoint("a blue chair")]

    chosen = select_relevant(rank_by_words(pages, points, "Buy"), 3)

    assert [each.number for each in chosen] == [2, 3, 4]
    assert [each.number for each in select_relevant(pages, 1)] == [4]


def test_screenshots_go_with_the_most_relevant_pages() -> None:
    pages = [
        replace(each, image=b"png", relevance=float(relevance))
        for each, relevance in zip(views("a", "b", "c"), (1, 2, 0), strict=True)
    ]

    assert [each.image for each in limit_images(pages, 2)] == [None, b"png", b"png"]
    assert [each.image for each in limit_images(pages, 0)] == [None, None, None]


async def test_a_page_far_from_the_end_is_shown_when_it_bears_on_a_point() -> None:
    pages = [page("Lamps"), page("Order placed: 1 lamp"), *[page(f"Imprint {n}") for n in range(9)]]
    model = CannedModel([ONE_MET.replace("page 3", "page 2")])
    asked = build_judge(
        "evidence", model, key_points={TASK.goal: ["order placed, a lamp"]}, pages=3
    )

    report = await asked.examine(episode(*pages))

    assert report.value == 1.0, report.reason
    assert [shown.page for shown in report.shown] == [2, 10, 11]


async def test_the_model_may_choose_the_pages_by_its_scores() -> None:
    pages = [page(f"Page {n}") for n in range(4)]
    scores = [f"Reasoning: so.\nScore: {score}" for score in (1, 5, 2, 1)]
    model = CannedModel([*scores, ONE_MET])
    asked = build_judge(
        "evidence", model, key_points={TASK.goal: ["order placed"]}, relevance="model"
    )

    report = await asked.examine(episode(*pages))

    assert [(shown.page, shown.relevance) for shown in report.shown] == [(2, 5.0), (4, 1.0)]
    assert "Page 2" in model.requests[2].messages[1].text
