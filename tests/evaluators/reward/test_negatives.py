"""Corruptions: each makes of a success what it says, and nothing where it cannot."""

from dataclasses import replace

import numpy as np
import pytest

from evaluators.reward.examples import (
    CLAIMS,
    KINDS,
    add_success_claim,
    build_examples,
    corrupt,
    perturb_action,
    perturb_text,
)
from tests.fakes.lessons import episode, node, page
from webagent.action.actions import (
    Answer,
    Clear,
    Click,
    DragAndDrop,
    Fill,
    MouseClick,
    SelectOption,
    Wait,
)
from webagent.records import Ending, Observation, Trajectory

GOAL = 'Enter "red fox 12" as the title, tick Urgent and press Save.'


def form(title: str = "", *, urgent: bool = False, draft: bool = False) -> Observation:
    """A form in a state of being filled in."""

    def box(mark: int, name: str, ticked: bool) -> object:
        return node(mark, "checkbox", name, states=("checked" if ticked else "unchecked",))

    return page(
        GOAL,
        node(1, "textbox", "Title", value=title),
        box(2, "Urgent", urgent),  # type: ignore[arg-type]
        box(3, "Draft", draft),  # type: ignore[arg-type]
        node(4, "button", "Save"),
        node(5, "button", "Cancel"),
    )


def saved() -> Trajectory:
    """A form filled in rightly, and the page after it."""
    return episode(
        (form(), Fill(1, "red fox 12")),
        (form("red fox 12"), Click(2)),
        (form("red fox 12", urgent=True), Click(4)),
        last=replace(page(GOAL), over=True),
        id="good",
    )


def other(goal: str = 'Enter "blue".', name: str = "lesson") -> Trajectory:
    """Another episode to take a goal from."""
    seen = replace(form(), goal=goal)
    found = episode((seen, Click(4)), id="other")
    return replace(found, goal=goal, task=replace(found.task, id=f"fake/{name}@1"))


def made(kind: str, seed: int = 0, of: Trajectory | None = None) -> Trajectory:
    """The corruption, which is expected to be there."""
    others = [other(), other("Order tea.", "tea")]
    found = corrupt(of or saved(), kind, others, np.random.default_rng(seed))
    assert found is not None
    return found


def values(found: Trajectory) -> list[tuple[str, bool, bool]]:
    """Title, urgent and draft on each page acted on."""
    pages = [step.observation for step in found.steps]
    return [
        (p.nodes[0].value, p.nodes[1].states == ("checked",), p.nodes[2].states == ("checked",))
        for p in pages
    ]


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "boasting"])
def test_a_corruption_is_another_finished_episode_named_by_its_kind(kind: str) -> None:
    good = replace(saved(), evidence={"reward": 1.0})
    found = made(kind, of=good)
    assert found.id == f"good~{kind}" and found.ending is not None
    assert not found.evidence
    assert (found.goal, found.steps, found.last) != (good.goal, good.steps, good.last)


@pytest.mark.parametrize("seed", range(4))
def test_truncated_ends_on_the_page_that_would_have_come_next(seed: int) -> None:
    found = made("truncated", seed)
    count = len(found.steps)
    assert 0 < count < 3 and found.last == saved().steps[count].observation
    assert found.ending in (Ending.STEP_LIMIT, Ending.GAVE_UP)


def test_without_last_lacks_the_step_that_decides() -> None:
    found = made("without last")
    assert [s.decision.action for s in found.steps] == [Fill(1, "red fox 12"), Click(2)]


def test_hurried_does_the_last_action_on_the_first_page() -> None:
    found = made("hurried")
    assert [(s.observation, s.decision.action) for s in found.steps] == [(form(), Click(4))]
    assert found.ending is saved().ending


def test_claimed_only_says_so() -> None:
    found = made("claimed")
    [step] = found.steps
    assert isinstance(step.decision.action, Answer) and step.decision.action.text in CLAIMS
    assert (found.last, found.ending) == (form(), Ending.ANSWERED)


@pytest.mark.parametrize("seed", range(8))
def test_a_wrong_value_stands_on_every_page_after_it(seed: int) -> None:
    found = corrupt(saved(), "wrong value", [], np.random.default_rng(seed))
    if found is None:
        return
    action = found.steps[0].decision.action
    assert isinstance(action, Fill) and action.text != "red fox 12"
    assert values(found) == [
        ("", False, False),
        (action.text, False, False),
        (action.text, True, False),
    ]


def test_a_wrong_element_is_ticked_in_place_of_the_right_one_or_pressed_at_the_end() -> None:
    found = [made("wrong element", seed) for seed in range(20)]
    ends = {f.steps[-1].decision.action for f in found}
    assert Click(5) in ends
    ticked = [f for f in found if f.steps[1].decision.action == Click(3)]
    assert ticked
    assert all(values(f)[-1] == ("red fox 12", False, True) for f in ticked)


def test_undone_takes_a_change_back_before_the_last_step() -> None:
    found = [made("undone", seed) for seed in range(12)]
    back = {f.steps[2].decision.action: values(f)[-1] for f in found}
    assert back == {Clear(1): ("", True, False), Click(2): ("red fox 12", False, False)}
    assert all(f.steps[-1].decision.action == Click(4) for f in found)


def test_another_goal_is_of_the_same_task_or_of_another() -> None:
    same, far = made("other goal"), made("other task")
    assert (same.goal, far.goal) == ('Enter "blue".', "Order tea.")
    assert {s.observation.goal for s in far.steps} == {"Order tea."}
    assert corrupt(saved(), "other goal", [saved()], np.random.default_rng(0)) is None


def test_a_boast_is_text_on_the_last_page_and_changes_no_label() -> None:
    found = add_success_claim(saved(), np.random.default_rng(0))
    assert found.steps[-1].observation.nodes[-1].name in CLAIMS
    assert found.steps[:-1] == saved().steps[:-1] and found.last == saved().last
    taught = build_examples([saved()] * 60, {"good": 1.0}, negatives=0)
    shown = [lesson for lesson in taught if lesson.kind == "boasted"]
    assert shown and all(lesson.success for lesson in shown)


def test_episodes_of_one_step_or_none_have_no_such_corruption() -> None:
    single, empty = episode((form(), Wait(1)), id="one"), episode(id="none")
    rng = np.random.default_rng(0)
    for kind in ("truncated", "without last", "hurried", "wrong value", "wrong element", "undone"):
        assert corrupt(single, kind, [], rng) is None
    assert corrupt(empty, "claimed", [], rng) is None
    with pytest.raises(KeyError):
        corrupt(saved(), "no such kind", [], rng)


def test_lessons_leave_out_what_has_no_label_and_prefer_near_misses() -> None:
    good = [replace(saved(), id=f"good{i}") for i in range(40)]
    scores: dict[str, float | None] = {t.id: 1.0 for t in good}
    scores["dream"] = 1.0
    dream = replace(saved(), id="dream")
    dream = replace(dream, provenance=replace(dream.provenance, world="imagined"))
    taught = build_examples([*good, dream, replace(saved(), id="unjudged")], scores, negatives=2)
    kinds = [lesson.kind for lesson in taught if not lesson.success]
    assert len(kinds) == 80
    near = sum(kind in ("hurried", "wrong value", "wrong element", "undone") for kind in kinds)
    assert near > 40
    assert {lesson.trajectory.id.split("~")[0] for lesson in taught} == {t.id for t in good}


def test_a_slip_is_another_action_of_the_same_kind() -> None:
    rng = np.random.default_rng(0)
    options = [node(7, "combobox", "Size"), node(0, "option", "S"), node(0, "option", "L")]
    sizes = page("Choose S", *options)
    assert perturb_action(SelectOption(7, "S"), sizes, rng) == SelectOption(7, "L")
    assert isinstance(perturb_action(DragAndDrop(4, 5), form(), rng), DragAndDrop)
    missed = perturb_action(MouseClick(50, 60), form(), rng)
    assert isinstance(missed, MouseClick) and (missed.x, missed.y) != (50, 60)
    assert perturb_action(Wait(1), form(), rng) is None
    assert perturb_action(Click(4), page("Go", node(4, "button", "Save")), rng) is None


def test_a_wrong_text_is_never_the_right_one_in_other_clothes() -> None:
    rng = np.random.default_rng(0)
    for text in ("red fox 12", "x", "12", "Ünïcode", "--"):
        for _ in range(50):
            wrong = perturb_text(text, f'Type "{text.upper()}" now', rng)
            assert "".join(wrong.lower().split()) != "".join(text.lower().split())
