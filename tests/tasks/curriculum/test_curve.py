"""What a try is expected to add: most where successes are rare, little where they teach no more."""

from itertools import pairwise

import numpy as np
import pytest

from tasks.curriculum import TaskKind, TaskRecord
from tasks.curriculum.estimates import Prospect, estimate_prospects
from tests.fakes.course import course


def expected(records: dict[str, TaskRecord], demonstrated: frozenset[str] = frozenset()):
    """What is expected of each of these tasks."""
    kinds = {name: TaskKind(is_demonstrated=name in demonstrated) for name in records}
    return estimate_prospects(kinds, records)


def alone(record: TaskRecord, is_demonstrated: bool = False) -> Prospect:
    """What is expected of a task that is the only one."""
    shown = frozenset({"it"} if is_demonstrated else ())
    return expected({"it": record}, shown)["it"]


def test_a_first_success_promises_more_than_the_twentieth_at_the_same_rate() -> None:
    assert alone(course((1, 4))).gain > 2 * alone(course((5, 20), (5, 20), (5, 20))).gain


def test_what_stays_where_it_is_after_many_successes_has_little_left_to_teach() -> None:
    flat = alone(course((10, 20), (10, 20), (10, 20)))
    rising = alone(course((2, 20), (6, 20), (12, 20)))
    assert rising.gain > 1.5 * flat.gain


@pytest.mark.parametrize("successes", [0, 20])
def test_what_never_and_what_always_succeeds_promises_next_to_nothing(successes: int) -> None:
    sure = alone(course((2 * successes, 40)))
    assert sure.gain < 0.05 * alone(course((1, 4))).gain


def test_hope_falls_with_every_failure() -> None:
    gains = [alone(course((0, tries))).gain for tries in (1, 2, 4, 8, 16, 32)]
    assert gains == sorted(gains, reverse=True)
    assert all(later < sooner for sooner, later in pairwise(gains))


def test_what_other_tasks_have_shown_is_the_prior_of_an_untried_one() -> None:
    hopeless = {f"t{i}": course((0, 10)) for i in range(20)}
    fruitful = {f"t{i}": course((1, 10), (5, 10)) for i in range(20)}
    poor = expected({**hopeless, "new": TaskRecord()})["new"]
    rich = expected({**fruitful, "new": TaskRecord()})["new"]
    assert rich.chance > 2 * poor.chance and rich.gain > 2 * poor.gain


def test_demonstrated_tasks_say_nothing_of_others() -> None:
    shown = {f"t{i}": course((0, 10)) for i in range(20)}
    beside = expected({**shown, "new": TaskRecord()}, frozenset(shown))["new"]
    assert beside == alone(TaskRecord())


def test_demonstrations_count_as_lessons_and_not_as_successes() -> None:
    assert (
        alone(TaskRecord(demonstrations=20), True).gain
        < alone(TaskRecord(demonstrations=1), True).gain
    )
    tried = course((0, 8))
    shown = TaskRecord(tried.rounds, shown=3, shown_successes=3, demonstrations=3)
    assert alone(shown, True).chance < 0.25


def test_the_chance_is_found_where_there_is_evidence() -> None:
    """Curves that were drawn from the same family are told within what their noise leaves."""
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(60):
        ceiling, start, half = rng.uniform(0.3, 1.0), rng.uniform(0.1, 0.9), rng.choice([1.0, 3.0])
        rounds, lessons = [], 0
        for _ in range(5):
            chance = ceiling - ceiling * (1 - start) * half / (half + lessons)
            rounds.append((int(rng.binomial(30, 0.9 * chance)), 30))
            lessons += rounds[-1][0]
        truth = ceiling - ceiling * (1 - start) * half / (half + lessons)
        errors.append(alone(course(*rounds)).chance - truth)
    assert abs(np.mean(errors)) < 0.03
    assert np.std(errors) < 0.08
