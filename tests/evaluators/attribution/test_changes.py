"""A failure is put down to the wrong side effect, in words, at the step that gave the value."""

from dataclasses import replace

from benchmarks.rules import RULES
from evaluators.attribution import Attribution, Cause, attribute
from tasks.task import Json, TaskCheck
from tests.evaluators.attribution.cases import page, played
from webagent.action.actions import Answer, Click, Fill
from webagent.records import Score, Trajectory

assert "changes_are" in RULES
FORM = page("/cup", "1 textbox Stock", "2 button Save")


def stocked(stock: str, changes: dict[str, Json]) -> Trajectory:
    """An episode that was to set the stock of a cup to 5, and what it set."""
    expected: Json = {"product": {"changed": [{"after": {"title": "Cup", "stock": 5}}]}}
    goal = f"Set the stock of Cup to 5, not {stock}"
    turns = ((FORM, Fill(1, stock)), (FORM, Click(2)), (FORM, Answer("")))
    episode = played("stock", goal, *turns, evidence={"changes": changes})
    checks = (TaskCheck("changes", "changes_are", expected),)
    return replace(episode, task=replace(episode.task, checks=checks))


def made(stock: int) -> dict[str, Json]:
    """The change that a stock is."""
    before, after = ({"title": "Cup", "stock": each} for each in (3, stock))
    return {"product": {"changed": [{"before": before, "after": after}]}}


def blamed(trajectory: Trajectory) -> Attribution:
    return attribute(trajectory, (Score("success", 0.0, "fails", "checks_hold@2"),))


def test_a_wrong_value_in_a_table_is_named_with_the_step_that_gave_it() -> None:
    found = blamed(stocked("7", made(7)))
    assert (found.cause, found.kind, found.step) == (Cause.GROUNDING, "wrong change", 0)
    assert found.reason == (
        "product: title 'Cup', stock 5 should have been changed;"
        " changed was title 'Cup' from stock 3 to stock 7"
    )


def test_what_else_was_changed_is_named() -> None:
    found = blamed(stocked("5", {**made(5), "basket": {"added": [{"line": "Cup"}]}}))
    assert (found.kind, found.step) == ("wrong change", 1)
    assert found.reason == "basket: line 'Cup' was added, and nothing should be"


def test_a_change_that_was_never_made_is_no_wrong_one() -> None:
    assert blamed(stocked("7", {})).kind != "wrong change"
    assert blamed(stocked("7", {"product": {"added": [], "changed": []}})).kind != "wrong change"
