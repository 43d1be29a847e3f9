"""Belief in success is checked on episodes the world model was not trained on."""

from collections.abc import Sequence
from dataclasses import replace

from tests.fakes.lessons import episode, node, page
from webagent.action.actions import Click
from webagent.records import Trajectory
from worldmodel.accuracy import HELD_BACK, is_held_back, precision_of_belief
from worldmodel.prediction import Effect, Outcome, Prediction, Source
from worldmodel.transitions import Situation, Transition

PAGE = page("Click on the right one.", node(1, "button", "one"), node(2, "button", "two"))


class Believer:
    """Gives each action the chance of success it was told, and is sure that the page ends."""

    def __init__(self, chances: dict[int, float]) -> None:
        self._chances = chances

    def learn(self, transitions: object) -> None:
        """Nothing."""

    def predict(self, situations: Sequence[Situation]) -> list[Prediction]:
        """By the mark that is clicked."""
        marks = [s.action.mark for s in situations if isinstance(s.action, Click)]
        outcomes = [Outcome(1.0, 0.0, self._chances[mark]) for mark in marks]
        kept = Effect.ENDS, None, 1.0, Source.MODELLED
        return [Prediction(PAGE, outcome, *kept) for outcome in outcomes]


def ended(mark: int, *, succeeded: bool, over: bool = True) -> Transition:
    """A click after which the episode was over."""
    after = replace(PAGE, over=over)
    return Transition((), PAGE, Click(mark), after, succeeded, "lesson", "e")


def test_precision_counts_only_what_was_believed() -> None:
    seen = [ended(1, succeeded=True), ended(1, succeeded=False), ended(2, succeeded=False)]
    world = Believer({1: 0.9, 2: 0.1})
    assert precision_of_belief(world, seen, belief=0.8) == (0.5, 2)


def test_a_page_that_went_on_says_nothing_of_belief() -> None:
    seen = [ended(1, succeeded=False, over=False)]
    assert precision_of_belief(Believer({1: 0.9}), seen, belief=0.8) == (0.0, 0)


def test_one_episode_in_seven_is_held_back_whatever_else_is_played() -> None:
    base: Trajectory = episode((PAGE, Click(1)))
    ids = [f"{number:020x}-1" for number in range(0, 7000 << 48, 1 << 48)]
    held = [i for i in ids if is_held_back(replace(base, id=i))]
    assert abs(len(held) / len(ids) - 1 / HELD_BACK) < 0.02
    assert held == [i for i in ids if is_held_back(replace(base, id=i))]
