"""The figures of merit, by hand on small cases and on a world that was learnt."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.fakes.lessons import node, page
from tests.fakes.toy import ToyWorld, toy_episodes
from webagent.action.actions import Click
from webagent.records import Ending, Observation
from worldmodel.accuracy import CopyPage, Figures, MeasuredTransition, summarize
from worldmodel.prediction import Effect, Outcome, Prediction, Source, WorldModel
from worldmodel.transitions import Situation, Transition, transitions

A, B = node(1, "checkbox", "a", states=("unchecked",)), node(2, "link", "b")
TICKED = replace(A, states=("checked", "focused"))
BEFORE = page("x", A, B)


class Told:
    """Predicts what it is given, one after another."""

    def __init__(self, *told: tuple[Observation, Outcome]) -> None:
        self.told = list(told)

    def learn(self, transitions: object) -> None:
        """Nothing."""

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """The next few."""
        asked, self.told = self.told[: len(situations)], self.told[len(situations) :]
        ending = Ending.TASK_OVER
        return [
            Prediction(page, o, Effect.STAYS, ending if o.ends else None, 1.0, Source.MODELLED)
            for page, o in asked
        ]


def measure(world: WorldModel, seen: Sequence[Transition]) -> Figures:
    """The figures of a world on these transitions."""
    predictions = world.predict([t.situation for t in seen])
    return summarize(
        [MeasuredTransition(*one).tally(None) for one in zip(seen, predictions, strict=True)]
    )


def came_to(after: Observation, succeeded: bool = True) -> Transition:
    """A click on `BEFORE` that led to `after`."""
    return Transition((), BEFORE, Click(1), after, succeeded, "e")


def outcome(succeeds: float = 0.5, ends: float = 0.0) -> Outcome:
    """What is expected of an episode."""
    return Outcome(ends, 0.0, succeeds)


def test_capitals_spacing_and_focus_do_not_count_as_errors() -> None:
    told = page("x", TICKED, replace(B, name=" B "))
    found = measure(
        Told((told, outcome())), [came_to(page("x", replace(A, states=("checked",)), B))]
    )
    assert (found["exact"], found["changed_precision"], found["changed_recall"]) == (1.0, 1.0, 1.0)


def test_changes_are_counted_over_all_pages_together() -> None:
    ticked, renamed = page("x", TICKED, B), page("x", A, replace(B, name="c"))
    world = Told((page("x", TICKED, replace(B, name="c")), outcome()), (BEFORE, outcome()))
    found = measure(world, [came_to(ticked), came_to(renamed)])
    assert found["exact"] == 0.0
    assert found["changed_precision"] == 0.5  # the tick went and came; the renaming did neither
    assert found["changed_recall"] == 0.5  # of two changes one was foreseen
    assert found["changed_f1"] == 0.5


def test_a_line_that_appears_twice_counts_twice() -> None:
    twice = page("x", A, B, node(3, "link", "n"), node(4, "link", "n"))
    found = measure(Told((page("x", A, B, node(3, "link", "n")), outcome())), [came_to(twice)])
    assert (found["changed_precision"], found["changed_recall"]) == (1.0, 0.5)


def test_the_order_of_lines_counts_for_the_page_and_not_for_the_change() -> None:
    new, other = node(3, "link", "n"), node(4, "link", "m")
    found = measure(
        Told((page("x", other, new, A, B), outcome())), [came_to(page("x", new, other, A, B))]
    )
    assert (found["exact"], found["changed_f1"]) == (0.0, 1.0)


def test_standing_still_is_measured_where_nothing_moved() -> None:
    ticked = page("x", TICKED, B)
    world = Told(*((told, outcome()) for told in (BEFORE, ticked, ticked)))
    assert measure(world, [came_to(BEFORE), came_to(BEFORE), came_to(ticked)])["no_change"] == 0.5


def test_an_end_that_did_not_come_is_an_error_of_the_page_too() -> None:
    found = measure(Told((replace(BEFORE, over=True), outcome(ends=0.9))), [came_to(BEFORE)])
    assert (found["ends"], found["exact"], found["no_change"]) == (0.0, 0.0, 0.0)


def test_pages_that_are_over_are_not_compared() -> None:
    found = measure(Told((BEFORE, outcome(ends=0.9))), [came_to(replace(page("x"), over=True))])
    assert (found["transitions"], found["went_on"], found["ends"]) == (1, 0, 1.0)
    assert (found["exact"], found["changed_f1"], found["no_change"]) == (None, None, None)


def test_success_is_scored_by_side_and_by_distance() -> None:
    chances = [(0.9, True), (0.6, False), (0.2, False), (0.4, True)]
    world = Told(*((BEFORE, outcome(chance)) for chance, _ in chances))
    found = measure(world, [came_to(BEFORE, success) for _, success in chances])
    assert found["success"] == 0.5
    assert found["brier"] == pytest.approx((0.01 + 0.36 + 0.04 + 0.36) / 4)
    assert found["failure_called_success"] == 0.5
    assert found["success_called_success"] == 0.5


def test_no_transitions_give_no_figures() -> None:
    found = measure(Told(), [])
    assert (found.pop("transitions"), found.pop("went_on")) == (0, 0)
    assert len(found) > 15 and set(found.values()) == {None}


def test_the_constant_baseline_has_the_frequencies_of_its_transitions() -> None:
    over = replace(BEFORE, over=True)
    seen = [came_to(BEFORE), came_to(over), came_to(page("x", TICKED, B), False), came_to(BEFORE)]
    assert CopyPage.most_frequent(seen).outcome == Outcome(0.25, 0.5, 0.75)


def test_copying_is_right_where_nothing_changes_and_nowhere_else() -> None:
    found = measure(CopyPage(outcome()), [came_to(BEFORE), came_to(page("x", TICKED, B))])
    assert (found["exact"], found["no_change"], found["changed_recall"]) == (0.5, 1.0, 0.0)
    assert found["changed_precision"] is None and found["changed_f1"] == 0.0


@pytest.mark.slow
def test_a_right_world_beats_copying() -> None:
    held_out, scores = toy_episodes(40, seed=2)
    seen, seen_scores = toy_episodes(40, seed=1)
    unseen = list(transitions(held_out, dict(scores)))
    learnt = measure(ToyWorld(), unseen)
    copied = measure(CopyPage.most_frequent(list(transitions(seen, dict(seen_scores)))), unseen)
    assert learnt["exact"] is not None and learnt["exact"] > 0.9
    assert copied["exact"] is not None and copied["exact"] < 0.5
    assert learnt["changed_f1"] is not None and learnt["changed_f1"] > 0.9
    assert learnt["ends"] is not None and learnt["ends"] > 0.95
    assert learnt["brier"] is not None and copied["brier"] is not None
    assert learnt["brier"] < 0.7 * copied["brier"]
