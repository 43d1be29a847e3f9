"""The confidence in a remembered page follows how often such pages were right."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.fakes.lessons import node, page
from webagent.action.actions import Click
from worldmodel.accuracy import MeasuredTransition, summarize
from worldmodel.cases import Occasion, TransitionCase
from worldmodel.confidence import Confidence, Traits
from worldmodel.knowable import KnowableLines
from worldmodel.prediction import Prediction, Source
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Transition

HELP, NEWS = 1, 2
MENU = (node(HELP, "link", "Help"), node(NEWS, "link", "News"))


def opened(mark: int, path: str, episode: int) -> Transition:
    """A click that leads to a page there."""
    texts = [node(0, "text", f"This is {path}"), node(0, "text", "Call us")]
    after = replace(page("Look around.", *MENU, *texts), url=f"http://site.test/{path}")
    menu = replace(page("Look around.", *MENU), url="http://site.test/")
    return Transition((), menu, Click(mark), after, True, f"e{episode}-{mark}")


def read(first: int, last: int) -> list[Transition]:
    """News, which three times in ten are behind a login."""
    rng = random.Random(first)
    paths = ["news" if rng.random() < 0.7 else "login" for _ in range(first, last)]
    return [opened(NEWS, path, first + n) for n, path in enumerate(paths)]


def helped(first: int, last: int) -> list[Transition]:
    """A page that is always the same."""
    return [opened(HELP, "help", n) for n in range(first, last)]


def taught(seen: Sequence[Transition]) -> RememberedWorld:
    memory = RememberedWorld()
    memory.learn(seen)
    return memory


def ask(memory: RememberedWorld, mark: int) -> Prediction:
    return memory.predict([opened(mark, "", 0).situation])[0]


def test_the_confidence_is_how_often_such_pages_were_right() -> None:
    always, mostly = taught(helped(0, 40)), taught(read(0, 40))
    assert ask(always, HELP).confidence > 0.95
    told = [MeasuredTransition(t, mostly.predict_one(t.situation)) for t in read(100, 160)]
    right = sum(one.is_exact for one in told) / len(told)
    assert all(abs(one.prediction.confidence - right) < 0.15 for one in told)


def test_a_memory_that_grows_studies_again() -> None:
    memory = taught(helped(0, 10))
    assert ask(memory, HELP).confidence > 0.95
    memory.learn(read(10, 60))
    assert ask(memory, NEWS).confidence < 0.85


def test_every_lesson_leaves_its_own_episode_out() -> None:
    memory, confidence, left_out = taught(read(0, 30)), Confidence(), list[tuple[str, str]]()

    def foresee(case: TransitionCase, without: str) -> tuple[Prediction, Traits]:
        left_out.append((case.transition.episode, without))
        return memory.predict_one(case.situation), Traits()

    confidence.study(memory.cases, foresee)
    assert len(left_out) == 30 and all(own == without for own, without in left_out)
    there, own = Occasion(memory.cases[-1].situation), memory.cases[-1].transition.episode
    assert own in {each[2].transition.episode for each in memory.recall(there)}
    assert own not in {each[2].transition.episode for each in memory.recall(there, own)}


def test_what_is_left_out_is_knowable_again_afterwards() -> None:
    [seen], [later] = helped(0, 1), helped(1, 2)
    knowledge = KnowableLines()
    knowledge.learn([seen])
    line = seen.after.nodes[-1]
    assert knowledge.holds(line, later, ())
    with knowledge.without([seen]):
        assert not knowledge.holds(line, later, ())
    assert knowledge.holds(line, later, ())


def test_the_error_of_the_confidence_is_over_all_that_predicted() -> None:
    [truth] = helped(0, 1)
    told = taught(helped(1, 9)).predict_one(truth.situation)
    sources = Source.REMEMBERED, Source.MODELLED
    tallies = [
        MeasuredTransition(truth, replace(told, source=source, confidence=sure)).tally(None)
        for source, sure in zip(sources, (1.0, 0.4), strict=True)
    ]
    assert summarize(tallies)["confidence_ece"] == pytest.approx(0.3)
